"""What a status says of the part of a run that is under way, or was when the run ended."""

import dataclasses
import time

import pytest

from mcrl.cli import main
from mcrl.commands.training.status import status_lines
from mcrl.telemetry.run_status import StatusFile, read_status
from mcrl.train import train
from tests.mcrl.corridor_policy import CORRIDOR
from tests.mcrl.corridor_run import ROLLOUT, TRAIN_DEMOS, StopIn, make_config
from tests.mcrl.telemetry.written_status import write


def test_what_a_part_waits_for_is_told_and_is_not_time_of_that_part(tmp_path):
    file = StatusFile(tmp_path, "laptop")
    file.show("ppo", 3, 9)
    before = read_status(tmp_path)
    with file.aside("success check", 5) as show:
        assert (read_status(tmp_path).what, read_status(tmp_path).total) == ("success check", 5)
        show(5)
        time.sleep(0.05)
    file.end("finished")
    after = read_status(tmp_path)
    assert (after.what, after.done, after.total, after.done_at_start) == ("ppo", 3, 9, before.done_at_start)
    assert after.part_started_s >= before.part_started_s + 0.05


def test_a_part_that_is_done_has_no_time_left(tmp_path):
    for done, said in ((2, "2 / 4 (50%), 1 s left"), (4, "4 / 4 (100%)")):
        now_s = time.time()
        status = write(tmp_path, what="imitation", done=done, total=4, part_started_s=now_s - 1, updated_s=now_s)
        assert any(line.endswith(said) for line in status_lines("run", status, "running", now_s=now_s))


def test_restarts_are_told_by_whose_they_are_and_only_where_there_were_any(tmp_path):
    for workers, queue, said in (
        (0.0, 0.0, None),
        (2.0, 0.0, "2 of workers"),
        (1.0, 1.0, "1 of workers, 1 of the queue"),
    ):
        status = write(tmp_path, what="ppo", metrics={"worker_restarts": workers, "queue_restarts": queue})
        lines = [line for line in status_lines("run", status, "running", now_s=time.time()) if "restarts" in line]
        assert [line.partition("restarts")[2].strip() for line in lines] == ([] if said is None else [said])


@pytest.mark.parametrize(
    ("which_env", "lost"), [(TRAIN_DEMOS, " of train demos: a resume begins that part anew"), (ROLLOUT, "")]
)
def test_a_run_that_was_stopped_tells_what_begins_again(which_env, lost, tmp_path, capsys):
    parts = dataclasses.replace(CORRIDOR, make_env=StopIn(which_env, 30).make_env)
    train(make_config(tmp_path), parts=parts)
    run_dir = tmp_path / "run"
    status = read_status(run_dir)
    assert status.lost_text == (f"{status.done}{lost}" if lost else "")
    assert main(["status", str(run_dir)]) == 0
    assert ("begins that part anew" in capsys.readouterr().out) == bool(lost)


@pytest.mark.parametrize(
    ("state", "said"),
    [
        ("finished", "holds a run already; this one goes to runs/smoke-2"),
        ("stopped", "already, which did not end (`mcrl train --resume runs/smoke` goes on with it); this one goes to"),
    ],
)
def test_who_begins_anew_is_told_of_a_run_that_could_go_on(state, said, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    run_dir = tmp_path / "runs" / "smoke"
    run_dir.mkdir(parents=True)
    (run_dir / "config.json").touch()
    write(run_dir, state=state)
    assert main(["train", "smoke", "--pretrained-weights", "none.safetensors"]) == 2
    assert said in capsys.readouterr().err
