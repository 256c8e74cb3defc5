import errno
import os
from pathlib import Path

import pytest

from mcrl.cli import main
from mcrl.telemetry.prometheus import GAUGES, exposition
from tests.mcrl.commands.command_line import refusal
from tests.mcrl.telemetry.written_status import write


def test_prometheus_samples_carry_labels_and_reasons():
    metrics = {"steps_per_s": 12.5, "success": None, "fragments_dropped/stale": 3.0, "unknown": 1.0}
    lines = exposition(metrics, labels={"run": 'a"b'}).splitlines()
    assert 'mcrl_steps_per_second{run="a\\"b"} 12.5' in lines
    assert 'mcrl_fragments_dropped{run="a\\"b",reason="stale"} 3.0' in lines
    assert len([line for line in lines if not line.startswith("#")]) == 3
    assert len({gauge.name for gauge in GAUGES}) == len(GAUGES)


def test_the_status_of_a_run_can_be_written_for_prometheus(tmp_path):
    write(tmp_path, metrics={"success": 0.5})
    out = tmp_path / "collector" / "mcrl.prom"
    assert main(["status", str(tmp_path), "--prometheus", str(out)]) == 0
    assert 'state="running"} 0.5' in out.read_text()


def test_a_run_that_failed_before_it_had_any_number_is_told_of(tmp_path):
    write(tmp_path, metrics={}, state="failed")
    out = tmp_path / "mcrl.prom"
    assert main(["status", str(tmp_path), "--prometheus", str(out)]) == 1
    assert 'state="failed"} 1' in out.read_text()


@pytest.mark.parametrize(
    ("name", "said"), [("l\u00e4ufe", "l\u00e4ufe"), ("l\udce4ufe", "l?ufe")], ids=["utf-8", "latin-1"]
)
def test_the_name_of_a_run_may_hold_any_letters(tmp_path, name, said):
    (tmp_path / name).mkdir()
    write(tmp_path / name, metrics={"success": 0.5})
    out = tmp_path / "mcrl.prom"
    assert main(["status", str(tmp_path / name), "--prometheus", str(out)]) == 0
    assert f'run="{said}"' in out.read_text(encoding="utf-8")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full, a disk without room")
def test_a_full_disk_leaves_the_last_numbers_and_nothing_beside_them(tmp_path, capsys, monkeypatch):
    def full(fd):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    run_dir, folder = tmp_path / "run", tmp_path / "collector"
    run_dir.mkdir()
    folder.mkdir()
    write(run_dir, metrics={"success": 0.5})
    (folder / "mcrl.prom").write_text("the last ones")
    monkeypatch.setattr(os, "fsync", full)
    sentence = refusal(capsys, "status", run_dir, "--prometheus", folder / "mcrl.prom")
    assert f"{folder / 'mcrl.prom'}: the disk is full" in sentence
    assert [(path.name, path.read_text()) for path in folder.iterdir()] == [("mcrl.prom", "the last ones")]
