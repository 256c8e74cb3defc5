"""Claims about running an ablation: nothing finished is done again, and one run's end is not that of the others."""

import dataclasses
import fcntl
import hashlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from eval.ablation import ablation_run
from eval.ablation.ablation_plan import plan
from eval.ablation.ablation_run import EngineFailedError, TrainingFailedError, finish_run, judge_run
from eval.ablation.ablations import ABLATIONS, Ablation, Variant
from mcrl import assembly
from mcrl.cli import main
from mcrl.config import to_json
from mcrl.interrupt import StopRequest
from mcrl.recipes import RECIPES
from mcrl.telemetry.metrics import MetricsLog
from tests.eval.suite_fixtures import save_checkpoint
from tests.mcrl.corridor import CorridorEnv, make_task
from tests.mcrl.watched_process import is_running, started, wait_until

SHRUNK = "--recipe smoke --num-tasks 8 --tasks.num-train-tasks 16 --tasks.num-val-tasks 8 --ppo.num-iterations 1"
SHRUNK += " --imitation.num-demo-steps 256 --imitation.num-val-demo-steps 64 --imitation.num-updates 4"


@pytest.fixture
def planned(tmp_path):
    """The first run of an ablation, none of it done."""
    return plan(ABLATIONS["auxiliary"], RECIPES["smoke"](), [0], tmp_path)[0]


def test_a_training_that_fails_is_reported_with_its_output(planned):
    start_dir = Path(planned.start.run_dir)
    start_dir.mkdir(parents=True)
    (start_dir / "config.json").write_text(to_json(planned.start))
    (start_dir / "tasks_train.jsonl").write_text("not a task\n")
    with (
        StopRequest() as stop,
        pytest.raises(TrainingFailedError, match=r"exit code 2 \(.*not a line of JSON.*\), see .*train.log"),
    ):
        finish_run(planned, stop)
    assert "tasks_train.jsonl:1: not a line of JSON" in (start_dir / "train.log").read_text()


def test_a_run_that_is_being_trained_is_not_trained_twice(planned):
    start_dir = Path(planned.start.run_dir)
    start_dir.mkdir(parents=True)
    with (start_dir / "lock").open("w") as lock, StopRequest() as stop:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(ValueError, match="another process trains this run"):
            finish_run(planned, stop)


def test_a_finished_run_is_neither_trained_nor_judged_again(planned):
    tasks = [make_task(index, split="val") for index in range(4)]
    _write_finished(planned)
    _write_judged(planned, tasks, ["success", "death", "time_limit", "success"])
    with StopRequest() as stop:
        finish_run(planned, stop)
    result = judge_run(planned, tasks, label="val", num_envs=4)
    assert result.success_N == (True, False, False, True)
    assert result.commit == "0123456789ab"  # of who played, whoever reads it
    assert result.learning_s == 36.0
    ppo = planned.config.ppo
    assert result.ppo_ticks == ppo.num_iterations * ppo.fragments_per_batch * ppo.fragment_steps * 4
    assert result.expert_ticks == planned.config.imitation.num_demo_steps * 4
    # Other tasks of that name, or other weights, are not what was judged: they want the checkpoint, which is none here.
    with pytest.raises(ValueError, match="final"):
        judge_run(planned, tasks[:3], label="val", num_envs=4)
    with pytest.raises(ValueError, match="final"):
        judge_run(planned, tasks, label="val", num_envs=2)
    (planned.run_dir / "checkpoints" / "final" / "model.safetensors").write_bytes(b"trained again")
    with pytest.raises(ValueError, match="final"):
        judge_run(planned, tasks, label="val", num_envs=4)


def test_a_run_whose_longer_imitation_is_owed_goes_on(planned, monkeypatch):
    imitation = dataclasses.replace(planned.config.imitation, control_updates=4)
    owing = dataclasses.replace(planned, config=dataclasses.replace(planned.config, imitation=imitation))
    _write_finished(owing)
    (owing.run_dir / "config.json").write_text(to_json(owing.config))
    trained = []

    def train(run_dir, log_path, stop):
        trained.append(run_dir)
        (run_dir / "checkpoints" / "imitation-long").mkdir()
        return 0

    monkeypatch.setattr(ablation_run, "_train", train)
    with StopRequest() as stop:
        for _ in range(2):
            finish_run(owing, stop)
    assert trained == [owing.run_dir]


def test_episodes_that_the_engine_failed_count_for_nobody(planned):
    tasks = [make_task(index, split="val") for index in range(4)]
    _write_finished(planned)
    _write_judged(planned, tasks, ["success", "fault", "time_limit", "fault"])
    result = judge_run(planned, tasks, label="val", num_envs=4)
    assert result.success_N == (True, None, False, None)
    assert result.success_rate == 0.5


def test_an_engine_that_fails_in_every_episode_is_said_and_played_again_later(planned, monkeypatch):
    save_checkpoint(planned.run_dir / "checkpoints" / "final")
    num_played = []

    def failing(config, source, num_envs):
        num_played.append(num_envs)
        return CorridorEnv(source, num_envs, config.env.image_px, fault_at_step=0)

    monkeypatch.setattr(assembly, "make_env", failing)
    for _ in range(2):
        with pytest.raises(EngineFailedError, match="the engine failed in every episode that was to judge it"):
            judge_run(planned, [make_task(0, split="val")], label="val", num_envs=4)
    assert num_played == [1, 1]


def _write_finished(planned):
    """Leave a finished run and the one it started from, as far as an ablation asks."""
    for config in (planned.start, planned.config):
        (Path(config.run_dir) / "checkpoints" / "final").mkdir(parents=True)
    MetricsLog(Path(planned.start.run_dir) / "metrics.jsonl").write("imitation", 4, {"elapsed_s": 30.0})
    log = MetricsLog(planned.run_dir / "metrics.jsonl")
    log.write("ppo", 1, {"take_s": 1.0, "learn_s": 2.0})
    log.write("ppo", 2, {"take_s": 1.0, "learn_s": 2.0})


def _write_judged(planned, tasks, outcomes):
    """Leave the result of a run as judged by another commit."""
    final = planned.run_dir / "checkpoints" / "final"
    final.mkdir(parents=True, exist_ok=True)
    (final / "model.safetensors").write_bytes(b"weights")
    judged = {
        "tasks_sha256": hashlib.sha256("".join(task.task_id for task in tasks).encode()).hexdigest(),
        "num_envs": len(tasks),
        "weights_sha256": hashlib.sha256(b"weights").hexdigest(),
        "commit": "0123456789ab",
        "outcomes": outcomes,
    }
    (planned.run_dir / "judged_val.json").write_text(json.dumps(judged))


@pytest.mark.parametrize(
    "ending", [{"ppo.num_iterations": 0}, {"imitation.ppo_from_dagger": True, "imitation.num_updates": 8}]
)
def test_a_variant_that_ends_with_dagger_or_goes_on_from_it_pays_for_its_labels_and_its_time(ending, tmp_path):
    settings = {"imitation.dagger_rounds": 2, "imitation.dagger_steps": 100, **ending}
    tasks = [make_task(0, split="val")]
    ablation = Ablation(name="x", question="x", variants=(Variant(name="dagger", settings=settings),))
    planned = plan(ablation, RECIPES["smoke"](), [0], tmp_path)[0]
    start = planned.start or planned.config
    assert start.imitation.dagger_rounds == 2
    Path(start.run_dir).mkdir(parents=True)
    planned.run_dir.mkdir(exist_ok=True)
    log = MetricsLog(Path(start.run_dir) / "metrics.jsonl")
    log.write("imitation", 4, {"elapsed_s": 30.0})
    for number in (1.0, 2.0):
        log.write("dagger", 0, {"round": number, "play_s": 10.0})
        log.write("dagger", 4, {"elapsed_s": 1.0})
        log.write("dagger", 8, {"elapsed_s": 5.0})
    ppo_s = 0.0
    if planned.start is not None:
        MetricsLog(planned.run_dir / "metrics.jsonl").write("ppo", 1, {"take_s": 1.0, "learn_s": 2.0})
        ppo_s = 3.0
    _write_judged(planned, tasks, ["success"])
    result = judge_run(planned, tasks, label="val", num_envs=1)
    assert result.learning_s == 30.0 + 2 * (10.0 + 5.0) + ppo_s
    assert result.expert_ticks == (planned.config.imitation.num_demo_steps + 200) * 4


@pytest.mark.slow
def test_an_ablation_runs_through_a_failure_and_an_interruption(tmp_path, capsys):
    """The whole way, by the command line: interrupted, then one run broken, then mended; the table is complete."""
    argv = ["ablate", "pretraining", "--out", str(tmp_path), "--seeds", "0", *SHRUNK.split()]
    process = subprocess.Popen([sys.executable, "-m", "mcrl.cli", *argv], stderr=subprocess.PIPE, text=True)
    while not list(tmp_path.glob("runs/*/checkpoints/imitation")):
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.2)
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=120)
    assert process.returncode == 143
    assert "mcrl: interrupted; run the same command again; it goes on from what is finished" in said
    assert not list(tmp_path.glob("pretraining_val-*.md"))
    (clone,) = tmp_path.glob("runs/*/checkpoints/imitation/model.safetensors")
    written_ns = clone.stat().st_mtime_ns

    planned = plan(ABLATIONS["pretraining"], _config(argv), [0], tmp_path)
    scratch_dir = planned[2].run_dir
    scratch_dir.mkdir(exist_ok=True)
    (scratch_dir / "tasks_train.jsonl").write_text("not a task\n")
    assert main(argv) == 1
    assert "PPO from scratch, seed 0: training ended with exit code 2" in capsys.readouterr().out
    (path,) = tmp_path.glob("pretraining_val-*.md")
    table = path.read_text()
    assert re.search(r"\| imitation, then PPO \|.*\n\| no PPO \|", table)
    assert "| PPO from scratch |" not in table

    (scratch_dir / "tasks_train.jsonl").unlink()
    assert main(argv) == 0
    assert "| PPO from scratch |" in path.read_text()
    assert clone.stat().st_mtime_ns == written_ns
    assert not os.path.exists(scratch_dir / "checkpoints" / "imitation")


@pytest.mark.slow
def test_the_training_of_an_ablation_that_is_killed_outright_saves_itself_and_ends(tmp_path):
    argv = ["ablate", "pretraining", "--out", str(tmp_path), "--seeds", "0", *SHRUNK.split()]
    process = started(argv)
    wait_until(lambda: list(tmp_path.glob("runs/*/status.json")), "a training")
    (status_path,) = tmp_path.glob("runs/*/status.json")
    pid = json.loads(status_path.read_text())["pid"]
    process.kill()
    process.communicate()
    wait_until(lambda: not is_running(pid), "the end of the training")
    assert json.loads(status_path.read_text())["state"] == "stopped"


def _config(argv):
    from mcrl.commands.evaluation.ablate import read_ablation_options

    return read_ablation_options(ABLATIONS["pretraining"], argv[2:]).config
