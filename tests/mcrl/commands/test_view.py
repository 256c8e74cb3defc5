"""`mcrl view` says in one sentence what does not fit, before anything is served."""

import subprocess
import sys

import pytest

from eval.suites.task_place import read_task
from eval.viewer.session import ViewerSession
from mcrl.cli import main
from mcrl.commands.screen.view import _opening
from task_synthesis.task import to_json_line
from tests.mcrl.commands.command_line import refusal


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["--port", "99999"], "--port must be in [0, 65535], got 99999"),
        (["--host", "0.0.0.0"], "--host 0.0.0.0 can be reached by others, so it needs --token"),
        (["--host", "0.0.0.0", "--token", "short"], "--token has 5 characters"),
        (["--any-file"], "--any-file is for --token"),
        (["nothing.jsonl"], "nothing.jsonl"),
        (["unseen_seeds:0"], "unseen_seeds"),
        (["--policy", "nobody"], "nobody: no such checkpoint or run folder"),
        (["--prot", "1"], "did you mean --port?"),
    ],
)
def test_what_does_not_fit_is_one_sentence_and_exit_code_2(argv, said, capsys):
    pytest.importorskip("viser", reason="needs viser: pip install 'mcrl[view]'")
    assert main(["view", *argv]) == 2
    told = capsys.readouterr().err.strip()
    assert said in told
    assert "\n" not in told


def test_without_viser_it_says_what_to_install():
    script = (
        "import sys; sys.modules['viser'] = None\nfrom mcrl.cli import main\nsys.exit(main(['view', '--port', '0']))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 2
    assert "pip install 'viser>=1.1,<1.2'" in done.stderr


def test_a_folder_of_tasks_whose_name_is_a_number_is_no_number_of_a_task(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert "2024: no file or folder, nor a suite" in refusal(capsys, "view", "2024")
    task = read_task("unseen_seeds:3", where="test")
    (tmp_path / "2024").mkdir()
    (tmp_path / "2024" / "tasks.jsonl").write_text(to_json_line(task) + "\n")
    session = ViewerSession()
    _opening("2024", "noop", "voxel")(session)
    assert session.goal.task() == task
