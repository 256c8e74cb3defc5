import contextlib
import dataclasses
import os
import time
from functools import partial

import pytest

from mcrl.config import RolloutConfig
from mcrl.dataflow.groups.worker_group import LocalWorkers, WorkerGroup
from mcrl.dataflow.weights.params import ParamLayout
from mcrl.seeding import derive_seed
from mcrl.stages import evaluator
from mcrl.stages.evaluator import ChecksBeside, Evaluator, play_val_tasks
from mcrl.telemetry.metrics import read_metrics
from mcrl.train import train
from tests.mcrl.corridor import make_task
from tests.mcrl.corridor_policy import CORRIDOR, CorridorPolicy
from tests.mcrl.corridor_run import make_config

TASKS = [make_task(index, "val") for index in range(6)]


def snapshot(version):
    policy = CorridorPolicy(seed=version)
    return ParamLayout(policy).snapshot(policy, version)


def evaluators(config, num_workers):
    return WorkerGroup(Evaluator, LocalWorkers(partial(Evaluator, config, CORRIDOR), num_workers))


class BusyWorkers(LocalWorkers):
    """Workers that are never done."""

    def is_done(self, submitted):
        return False


def test_one_evaluator_plays_what_the_learners_process_would_have_played(tmp_path):
    config = make_config(tmp_path)
    group = evaluators(config, 1)
    group.call("load", snapshot(3))
    seed = derive_seed(config.seed, "validation")
    expected = play_val_tasks(config, CORRIDOR, CorridorPolicy(seed=3).eval(), TASKS, seed=seed)
    assert group.call("play", TASKS) == expected


@pytest.mark.parametrize("num_workers", [2, 8])
def test_several_evaluators_play_every_task_once(tmp_path, num_workers):
    group = evaluators(make_config(tmp_path), num_workers)
    group.call("load", snapshot(0))
    assert [record.task_id for record in group.call("play", TASKS)] == [task.task_id for task in TASKS]


def test_no_two_evaluators_draw_alike(tmp_path, monkeypatch):
    seeds = []

    def noting(*args, seed):
        seeds.append(seed)
        return play_val_tasks(*args, seed=seed)

    monkeypatch.setattr(evaluator, "play_val_tasks", noting)
    group = evaluators(make_config(tmp_path), 3)
    group.call("load", snapshot(0))
    group.call("play", TASKS)
    assert len(set(seeds)) == 3


def test_a_check_is_reported_with_the_version_it_was_of(tmp_path):
    seen = []
    checks = ChecksBeside(evaluators(make_config(tmp_path), 1), TASKS, lambda *check: seen.append(check))
    checks.poll()
    checks.finish()
    assert seen == []
    for version in (2, 4):
        assert checks.offer(snapshot(version))
    checks.finish()
    assert [(version, len(records)) for version, records in seen] == [(2, 6), (4, 6)]
    assert checks.num_skipped == 0
    checks.close()


def test_a_run_that_ends_keeps_a_check_that_was_done_and_tells_of_one_that_was_not(tmp_path, caplog):
    seen = []
    group = evaluators(make_config(tmp_path), 1)
    checks = ChecksBeside(group, TASKS, lambda version, records: seen.append(version))
    assert checks.offer(snapshot(2))
    checks.close()
    assert seen == [2]
    assert not caplog.messages

    make = partial(Evaluator, make_config(tmp_path), CORRIDOR)
    checks = ChecksBeside(
        WorkerGroup(Evaluator, BusyWorkers(make, 1)), TASKS, lambda version, records: seen.append(version)
    )
    assert checks.offer(snapshot(4))
    checks.close()
    assert seen == [2]
    assert caplog.messages == ["val check 4 is given up: the run ends here"]


@pytest.mark.ray
@pytest.mark.usefixtures("ray_session")
def test_a_check_whose_evaluator_died_between_its_weights_and_its_tasks_is_lost_alone(tmp_path, caplog):
    import ray
    from ray.exceptions import RayActorError

    from mcrl.dataflow.ray.worker_group import RayWorkers

    class DyingWorkers(RayWorkers):
        """Their process dies, and is started again, when it has its weights."""

        def submit(self, method, shares):
            submitted = super().submit(method, shares)
            if method == "load":
                ray.get(submitted)
                first_id = self._process_id()
                ray.kill(self._actors[0], no_restart=False)
                # The kill takes its time: the first answers after it may still be those of the process to be killed.
                deadline_s = time.monotonic() + 120.0
                while self._process_id() in (None, first_id) and time.monotonic() < deadline_s:
                    time.sleep(0.2)
            return submitted

        def _process_id(self):
            with contextlib.suppress(RayActorError):
                return ray.get(self._actors[0].__ray_call__.remote(lambda _: os.getpid()))

    group = WorkerGroup(Evaluator, DyingWorkers(partial(Evaluator, make_config(tmp_path), CORRIDOR), 1))
    checks = ChecksBeside(group, TASKS, lambda *check: pytest.fail("no check was played"))
    assert checks.offer(snapshot(2))
    checks.finish()
    assert checks.num_skipped == 1
    assert caplog.messages == ["val check 2 lost: an evaluator was started again between its weights and its tasks"]
    checks.close()


def test_evaluators_need_processes_and_something_to_do(tmp_path):
    with pytest.raises(ValueError, match="which placement inline does not use"):
        RolloutConfig(num_evaluators=1)
    with pytest.raises(ValueError, match="no work without val_every"):
        make_config(tmp_path, rollout=RolloutConfig(placement="split", envs_per_worker=8, num_evaluators=1))


@pytest.mark.ray
@pytest.mark.usefixtures("ray_session")
def test_a_run_is_checked_beside_learning_and_ends_with_every_check_reported(tmp_path):
    rollout = RolloutConfig(placement="split", envs_per_worker=8, num_evaluators=1)
    config = make_config(tmp_path, rollout=rollout, val_every=3)
    config = dataclasses.replace(config, ppo=dataclasses.replace(config.ppo, num_iterations=5))
    assert train(config, parts=CORRIDOR).exit_code == 0
    lines = [line for line in read_metrics(tmp_path / "run" / "metrics.jsonl") if line["stage"] == "val"]
    assert [line["step"] for line in lines if "ppo_success" in line] == [3, 5]
