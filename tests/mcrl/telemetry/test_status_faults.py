"""Claims about a status.json that no run wrote: each fault is one sentence that names the file."""

import json

import pytest

from mcrl.cli import main
from mcrl.config import to_json
from mcrl.recipes import RECIPES
from tests.mcrl.commands.command_line import refusal
from tests.mcrl.telemetry.written_status import write


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"state": "running"}', "[" * 200_000, "9" * 5000], ids=lambda text: text[:20]
)
def test_a_damaged_status_is_one_sentence(tmp_path, capsys, text):
    (tmp_path / "status.json").write_text(text)
    assert "status.json" in refusal(capsys, "status", tmp_path)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"metrics": None}, "metrics must be an object, got NoneType"),
        ({"metrics": {"rollout_workers": "x"}}, "metrics.rollout_workers must be a finite float, got 'x'"),
        ({"val": {"ppo_success": []}}, "val.ppo_success must be a finite float, got []"),
        ({"updated_s": None}, "updated_s must be a finite float, got None"),
        ({"total": "5"}, "total must be int, got '5'"),
        ({"state": "resting"}, "state must be one of 'running', 'finished', 'stopped', 'failed', got 'resting'"),
        ({"done": 1, "total": 10**400}, "total is 1000"),
        ({"pid": -1}, "pid is -1, which counts nothing"),
    ],
)
def test_a_status_with_a_field_that_no_run_writes_is_one_sentence(tmp_path, capsys, changes, said):
    write(tmp_path)
    path = tmp_path / "status.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
    sentence = refusal(capsys, "status", tmp_path)
    assert f"status.json: {said}" in sentence
    assert "a run writes it again at its next update" in sentence


def test_a_folder_without_a_run_is_one_sentence(tmp_path, capsys):
    assert "name a run folder" in refusal(capsys, "status", tmp_path)


@pytest.mark.parametrize(("config", "said"), [('{"recipe": "sm', "config.json is not JSON"), (None, "is missing")])
def test_who_cannot_resume_is_told_why_beside_how(tmp_path, capsys, config, said):
    write(tmp_path, state="stopped")
    if config is not None:
        (tmp_path / "config.json").write_text(config)
    assert main(["status", str(tmp_path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    go_on = next(number for number, line in enumerate(lines) if line.startswith("  go on with"))
    assert lines[go_on + 1].startswith("  but first")
    assert said in lines[go_on + 1]
    assert "at at" not in lines[go_on + 1]


def test_who_can_resume_is_told_no_more(tmp_path, capsys):
    write(tmp_path, state="stopped")
    (tmp_path / "config.json").write_text(to_json(RECIPES["smoke"]()))
    assert main(["status", str(tmp_path)]) == 0
    assert "but first" not in capsys.readouterr().out
