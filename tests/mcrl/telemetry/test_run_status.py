import dataclasses
import json
import os
import shlex
import subprocess
import sys

import pytest

from mcrl.cli import main
from mcrl.commands.training.status import duration_text
from mcrl.config import PPOConfig
from mcrl.telemetry.metrics import read_metrics
from mcrl.telemetry.run_status import (
    StatusFile,
    failure_text,
    is_crashed,
    process_start,
    read_status,
    report_in_status,
    resume_command,
)
from mcrl.train import resume, train
from tests.mcrl.commands.command_line import refusal
from tests.mcrl.corridor_policy import CORRIDOR
from tests.mcrl.corridor_run import ROLLOUT, StopIn, make_config
from tests.mcrl.telemetry.written_status import write


def test_a_finished_run_tells_its_last_update_and_check(tmp_path, capsys):
    train(make_config(tmp_path), parts=CORRIDOR)
    run_dir = tmp_path / "run"
    status = read_status(run_dir)
    assert (status.state, status.what, status.done, status.total) == ("finished", "ppo", 6, 6)
    last = [line for line in read_metrics(run_dir / "metrics.jsonl") if line["stage"] == "ppo"][-1]
    assert status.metrics == {name: value for name, value in last.items() if name not in ("stage", "step", "time_s")}
    assert set(status.val) == {"ppo_success", "episodes"}
    assert main(["status", str(run_dir)]) == 0
    printed = capsys.readouterr().out
    for said in ("finished", "48 produced = 48 consumed + 0 dropped + 0 waiting", "on val tasks after ppo"):
        assert said in printed
    assert f"report       not made yet; `mcrl train --resume {run_dir}` makes it" in printed
    (run_dir / "report.html").touch()
    main(["status", str(run_dir)])
    assert "not made yet" not in capsys.readouterr().out


def test_the_idle_shares_are_shares(tmp_path):
    train(make_config(tmp_path), parts=CORRIDOR)
    for line in read_metrics(tmp_path / "run" / "metrics.jsonl"):
        if line["stage"] == "ppo":
            assert 0 <= line["learner_idle"] <= 1
            assert 0 <= line["workers_idle"] <= 1


def test_a_stopped_run_says_so_and_runs_again_when_resumed(tmp_path, capsys):
    config = make_config(tmp_path)
    parts = dataclasses.replace(CORRIDOR, make_env=StopIn(ROLLOUT, 12).make_env)
    train(config, parts=parts)
    run_dir = tmp_path / "run"
    assert read_status(run_dir).state == "stopped"
    assert main(["status", str(run_dir)]) == 0
    assert f"mcrl train --resume {run_dir}" in capsys.readouterr().out
    resume(run_dir, parts=CORRIDOR)
    status = read_status(run_dir)
    assert status.state == "finished"
    assert status.done_at_start > 0
    assert status.counted_from == 0  # inline the counts go on with the environments


def test_a_finished_run_that_is_resumed_still_tells_what_it_came_to(tmp_path):
    train(make_config(tmp_path), parts=CORRIDOR)
    finished = read_status(tmp_path / "run")
    resume(tmp_path / "run", parts=CORRIDOR)
    again = read_status(tmp_path / "run")
    assert again.metrics
    for name in ("state", "what", "done", "total", "metrics", "val"):
        assert getattr(again, name) == getattr(finished, name)


def test_a_run_from_a_given_policy_does_not_speak_of_a_clone(tmp_path, capsys):
    config = make_config(tmp_path, ppo=PPOConfig(num_iterations=0))
    clone = train(config, parts=CORRIDOR).checkpoint
    given = dataclasses.replace(make_config(tmp_path), run_dir=str(tmp_path / "given"), initial_policy=str(clone))
    train(given, parts=dataclasses.replace(CORRIDOR, make_env=StopIn(1, 12).make_env))  # in its rollout
    for name, said in (("run", "after imitation"), ("given", "by the initial policy")):
        main(["status", str(tmp_path / name)])
        assert f"on val tasks {said}" in capsys.readouterr().out


def test_counts_from_before_are_not_told_of_workers_that_count_anew(tmp_path):
    for counted_from, told in ((0, 3.0), (40, None)):
        write(tmp_path, metrics={"fragments_produced": 3.0})
        status = StatusFile(tmp_path, "laptop")
        status.count_from(counted_from)
        status.show("ppo", 40, 50)
        assert read_status(tmp_path).metrics.get("fragments_produced") == told


def test_fragments_that_are_counted_anew_say_from_where(tmp_path, capsys):
    write(tmp_path, counted_from=40, metrics={"fragments_produced": 3.0})
    main(["status", str(tmp_path)])
    assert "3 produced" in (printed := capsys.readouterr().out)
    assert "; since iteration 40" in printed


def test_a_run_on_a_cluster_is_continued_there(tmp_path, capsys):
    write(tmp_path, state="stopped", ray_address="192.0.2.1:6379")
    assert main(["status", str(tmp_path)]) == 0
    assert f"mcrl train --resume {tmp_path} --ray-address 192.0.2.1:6379" in capsys.readouterr().out


def test_a_run_that_uses_no_cluster_names_none_whatever_the_environment_does(tmp_path, monkeypatch):
    monkeypatch.setenv("RAY_ADDRESS", "192.0.2.1:6379")
    train(make_config(tmp_path), parts=CORRIDOR)
    assert read_status(tmp_path / "run").ray_address == ""


def test_a_status_that_cannot_be_read_stops_no_resume(tmp_path, capsys):
    (tmp_path / "status.json").write_text("{")
    (tmp_path / "config.json").write_text("{}")
    assert main(["train", "--resume", str(tmp_path)]) == 2
    assert "config.json: missing fields" in capsys.readouterr().err


def test_a_finished_run_takes_no_more_workers_and_needs_no_cluster(tmp_path, monkeypatch, capsys):
    train(make_config(tmp_path), parts=CORRIDOR)
    run_dir = tmp_path / "run"
    config = json.loads((run_dir / "config.json").read_text())
    config["rollout"]["placement"] = "ray"
    (run_dir / "config.json").write_text(json.dumps(config))
    assert main(["scale", str(run_dir), "--num-workers", "2"]) == 2
    assert "the training is finished" in capsys.readouterr().err
    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:1")
    assert main(["train", "--resume", str(run_dir), "--no-report"]) == 2  # its policy is none of the presets
    assert "tensor" in (said := capsys.readouterr().err)
    assert "cluster" not in said


def test_the_progress_of_an_update_is_written_with_it(tmp_path):
    status_file = StatusFile(tmp_path, "laptop")
    for done in range(1, 4):
        status_file.hear("ppo", {"success": 0.5})
        status_file.show("ppo", done, 10)
        assert read_status(tmp_path).done == done


def test_a_status_older_than_clusters_is_read(tmp_path):
    write(tmp_path, started_s=1000.0, updated_s=1600.0)
    fields = json.loads((tmp_path / "status.json").read_text())
    del fields["ray_address"], fields["trained_before_s"]
    (tmp_path / "status.json").write_text(json.dumps(fields))
    assert (read_status(tmp_path).ray_address, read_status(tmp_path).trained_s) == ("", 600.0)


def test_a_failed_run_names_its_error(tmp_path, capsys):
    def broken(config, source, num_envs):
        raise RuntimeError("no such engine")

    with pytest.raises(RuntimeError):
        train(make_config(tmp_path), parts=dataclasses.replace(CORRIDOR, make_env=broken))
    assert main(["status", str(tmp_path / "run")]) == 1
    assert "RuntimeError: no such engine" in capsys.readouterr().out


def test_a_run_whose_process_is_gone_has_crashed(tmp_path, capsys):
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    write(tmp_path, pid=child.pid, process_start=process_start(child.pid))
    assert not is_crashed(read_status(tmp_path))
    child.kill()
    if process_start(os.getpid()):  # its parent has not asked for its end yet, and it is told for all that
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert is_crashed(read_status(tmp_path))
    child.wait()
    assert is_crashed(read_status(tmp_path))
    assert main(["status", str(tmp_path), "--json", "-"]) == 1
    assert json.loads(capsys.readouterr().out)["state"] == "crashed"


@pytest.mark.skipif(not process_start(os.getpid()), reason="this system does not say when a process began")
def test_another_process_under_the_same_id_is_not_the_run(tmp_path):
    write(tmp_path, process_start="1")
    assert is_crashed(read_status(tmp_path))


def test_a_number_that_no_process_has_is_no_run(tmp_path):
    write(tmp_path, pid=2**62, process_start="")
    assert is_crashed(read_status(tmp_path))


def test_what_runs_on_another_host_is_not_called_crashed(tmp_path):
    write(tmp_path, host="elsewhere", pid=2**22 + 1)
    assert not is_crashed(read_status(tmp_path))


def test_the_time_left_counts_only_what_this_process_did(tmp_path):
    status = write(tmp_path, done_at_start=50, done=60, total=100, part_started_s=1000.0, updated_s=1020.0)
    assert status.eta_s == pytest.approx(80.0)
    assert dataclasses.replace(status, done=50).eta_s is None


def test_a_run_has_trained_in_all_its_processes_and_not_while_its_report_was_made(tmp_path):
    write(tmp_path, what="ppo", started_s=1000.0, updated_s=1600.0)  # killed after ten minutes
    StatusFile(tmp_path, "laptop")
    assert read_status(tmp_path).trained_before_s == 600.0
    write(tmp_path, what="ppo", trained_before_s=600.0, started_s=5000.0, updated_s=5030.0)
    with report_in_status(tmp_path, "laptop"):
        assert read_status(tmp_path).trained_s == 630.0
    StatusFile(tmp_path, "laptop")  # only to make the report again
    assert read_status(tmp_path).trained_s == 630.0


def test_a_reader_never_sees_half_a_status(tmp_path):
    writer = StatusFile(tmp_path, "laptop")
    reader = (
        f"from mcrl.telemetry.run_status import read_status; from pathlib import Path; p = Path({str(tmp_path)!r})\n"
    )
    reader += "while read_status(p).state == 'running': pass"
    child = subprocess.Popen([sys.executable, "-c", reader], stderr=subprocess.PIPE, text=True)
    for step in range(300):
        writer.hear("ppo", {f"name_{i}": float(step) for i in range(200)})
    writer.end("finished")
    assert child.wait(timeout=120) == 0, child.stderr.read()


def test_nan_is_null_in_the_file(tmp_path):
    writer = StatusFile(tmp_path, "laptop")
    writer.hear("ppo", {"entropy": float("nan"), "success": 0.5})
    assert "NaN" not in (tmp_path / "status.json").read_text()
    assert read_status(tmp_path).metrics == {"entropy": None, "success": 0.5}


def test_a_run_that_failed_at_its_start_has_no_share_of_nothing(tmp_path, capsys):
    write(tmp_path, what="start", done=0, total=0)
    assert main(["status", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert "nothing done yet" in said
    assert "0 / 0" not in said


def test_a_refusal_speaks_for_itself_and_another_error_says_its_kind():
    assert failure_text(ValueError("no such preset")) == "no such preset"
    assert failure_text(KeyError("a")) == "KeyError: 'a'"


def test_a_folder_in_place_of_the_status_is_one_sentence(tmp_path, capsys):
    (tmp_path / "status.json").mkdir()
    expected = "status.json: a folder stands where a file is wanted; remove it"
    assert expected in refusal(capsys, "status", tmp_path)
    train(make_config(tmp_path), parts=CORRIDOR)
    run_dir = tmp_path / "run"
    (run_dir / "status.json").unlink()
    (run_dir / "status.json").mkdir()
    with pytest.raises(ValueError, match=expected):
        resume(run_dir, parts=CORRIDOR)


def test_a_pipe_gets_the_status_and_stays_a_pipe(tmp_path):
    write(tmp_path)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with open(os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)) as reader:
        assert main(["status", str(tmp_path), "--json", str(pipe)]) == 0
        assert json.loads(reader.read())["state"] == "running"
    assert pipe.is_fifo()


@pytest.mark.parametrize(("seconds", "text"), [(0.4, "0 s"), (200, "3 min 20 s"), (7500, "2 h 05 min")])
def test_durations_read_as_people_say_them(seconds, text):
    assert duration_text(seconds) == text


def test_the_command_that_resumes_can_be_pasted():
    assert shlex.split(resume_command("runs/my run", "")) == ["mcrl", "train", "--resume", "runs/my run"]
    assert resume_command("runs/a", "auto") == "mcrl train --resume runs/a --ray-address auto"


@pytest.mark.parametrize("end", [KeyboardInterrupt, BrokenPipeError])  # of Ctrl-C, and of `mcrl train ... | head`
def test_the_report_is_a_part_of_the_run(tmp_path, capsys, end):
    def stopped_report():
        with report_in_status(tmp_path, "laptop"):
            main(["status", str(tmp_path)])
            raise end

    write(tmp_path, state="finished")
    with pytest.raises(end):
        stopped_report()
    assert "running" in (printed := capsys.readouterr().out)
    assert "report       0 / 1" in printed
    assert read_status(tmp_path).state == "stopped"
    with report_in_status(tmp_path, "laptop"):
        pass
    assert (read_status(tmp_path).state, read_status(tmp_path).what) == ("finished", "report")


def test_a_status_shows_how_many_workers_act(tmp_path, capsys):
    write(tmp_path, metrics={"rollout_workers": 3.0})
    main(["status", str(tmp_path)])
    assert "workers      3 act" in capsys.readouterr().out
