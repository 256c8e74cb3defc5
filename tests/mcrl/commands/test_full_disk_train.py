"""Claims about `mcrl train` on a full disk."""

import errno
from pathlib import Path

from tests.mcrl.commands.command_line import refusal


def test_it_says_how_to_go_on_once_there_is_room(tmp_path, capsys, monkeypatch):
    """The same command would find that a run is there, where its config was written already."""
    run_dir = tmp_path / "run"

    def fill(config, *, command) -> None:
        Path(config.run_dir).mkdir(exist_ok=True)
        (run_dir / "config.json").write_text("{}")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("mcrl.train.train", fill)
    said = refusal(capsys, "train", "smoke", "--no-report", "--run-dir", str(run_dir))
    assert said == f"mcrl: the disk is full; free some of it, then continue with `mcrl train --resume {run_dir}`"
