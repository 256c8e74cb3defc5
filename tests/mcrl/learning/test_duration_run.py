"""The way of a duration from the worker's clock to the learner's loss, the log and the checkpoint."""

import dataclasses
import json
import shutil
import time
from functools import partial

import numpy as np
import pytest
import torch

from mcrl import checkpoint
from mcrl.assembly import build_worker
from mcrl.config import PPOConfig, RolloutConfig, TrainConfig, from_json, to_json
from mcrl.dataflow.flow import FlowLimits
from mcrl.learning.duration import DurationWeighter
from mcrl.recipes import laptop
from mcrl.rollout.recorder import FragmentRecorder
from mcrl.rollout.rollout_worker import RolloutWorker
from mcrl.telemetry.metrics import read_metrics
from mcrl.train import resume, train
from mcrl.work import WorkKind
from task_synthesis.playing.curriculum import ShuffledTasks
from task_synthesis.playing.task_env import TaskEnv
from tests.mcrl.corridor import CorridorEnv, make_task
from tests.mcrl.corridor_policy import CORRIDOR, CorridorPolicy
from tests.mcrl.corridor_run import make_config
from tests.mcrl.dataflow.corridor_source import snapshot
from tests.mcrl.learning.corridor_learner import CONFIG, make_learner, make_worker, weights
from tests.task_synthesis.fixtures import SIDE, some_tasks
from worlds.types import ActionBatch
from worlds.voxel.backend import VoxelBackend

MODES = ("linear", "ipw", "task_balanced")


class SlowCorridor(CorridorEnv):
    """A corridor on a clock of its own: a step takes 1 s, and 2 s for each episode that begins are resets."""

    now_ns = 10**12

    def step(self, actions):
        transition = super().step(actions)
        resets = int(transition.observation.first_E.sum())
        SlowCorridor.now_ns += 10**9 * (1 + 2 * resets)
        return dataclasses.replace(transition, reset_ns=2 * resets * 10**9)


def test_a_worker_times_the_engine_and_neither_inference_nor_resets(monkeypatch):
    monkeypatch.setattr("mcrl.rollout.rollout_worker.time.monotonic_ns", lambda: SlowCorridor.now_ns)
    source = ShuffledTasks([make_task(index) for index in range(4)], split="train", seed=0)
    options = {"fragment_steps": 24, "worker_id": 0, "seed": 0, "precision": "fp32", "is_timed": True}
    worker = RolloutWorker(SlowCorridor(source, 3), CorridorPolicy(), None, **options)
    fragments = worker.collect()
    assert sum(len(fragment.goals) for fragment in fragments) > 3
    for fragment in fragments:
        assert fragment.step_s_G.dtype == np.float32
        np.testing.assert_allclose(fragment.step_s_G, np.ones(len(fragment.goals)), rtol=1e-6)


def test_the_real_env_says_how_much_of_a_step_went_into_the_next_episode():
    task = dataclasses.replace(some_tasks()[0], max_ticks=12, task_id="")
    backend = VoxelBackend(1, size_blocks=(SIDE, SIDE, SIDE), image_px=(32, 32))
    env = TaskEnv(backend, lambda _: task, action_repeat=4)
    env.reset()
    for decision in range(1, 7):
        begin_ns = time.monotonic_ns()
        transition = env.step(ActionBatch.noop(1))
        elapsed_ns = time.monotonic_ns() - begin_ns
        assert bool(transition.truncated_E[0]) == (decision % 3 == 0)
        assert (0 < transition.reset_ns < elapsed_ns) if decision % 3 == 0 else transition.reset_ns == 0


def test_a_worker_that_is_not_timed_says_nothing_of_time():
    assert all(fragment.step_s_G is None for fragment in make_worker(CorridorPolicy()).collect())


def test_the_time_of_a_goal_is_the_mean_over_its_steps():
    recorder = FragmentRecorder(1, 4)
    env = CorridorEnv(ShuffledTasks([make_task(0), make_task(1)], split="train", seed=0), 1)
    observation = env.reset()
    for step in range(4):
        observation.first_E[:] = step in (0, 1)
        recorder.see(observation, np.zeros((1, 2), np.uint8))
        recorder.act(np.zeros((1, 2), np.uint8), log_prob_E=np.zeros(1), value_E=np.zeros(1))
        transition = env.step(ActionBatch.noop(1))
        recorder.result(transition, np.zeros(1), step_s=float(step + 1))
    (fragment,) = recorder.cut([{}], version=0, worker_id=0, sequence=0)
    np.testing.assert_allclose(fragment.step_s_G, [1.0, 3.0])


def learned(mode, change=lambda fragments: fragments):
    config = dataclasses.replace(CONFIG, duration_weighting=mode)
    learner, worker = make_learner(CorridorPolicy(), config), make_worker(CorridorPolicy())
    metrics = [learner.update(change(worker.collect())) for _ in range(2)]
    return weights(learner.policy), metrics


def timed(seconds):
    """Return a change that gives fragment b seconds[b % len] a step."""

    def change(fragments):
        return [
            dataclasses.replace(f, step_s_G=np.full(len(f.goals), seconds[b % len(seconds)], np.float32))
            for b, f in enumerate(fragments)
        ]

    return change


def test_in_lockstep_linear_and_ipw_learn_what_none_learns():
    plain, plain_metrics = learned("none")
    for mode in ("linear", "ipw"):
        untimed, metrics = learned(mode)
        assert all(torch.equal(untimed[name], plain[name]) for name in plain)
        assert {name: metrics[-1][name] for name in plain_metrics[-1]} == plain_metrics[-1]
        equal, metrics = learned(mode, timed([0.0371]))
        for name in plain:
            torch.testing.assert_close(equal[name], plain[name], rtol=1e-4, atol=1e-6)
        assert metrics[-1]["duration/effective_share"] == pytest.approx(1)


def test_unequal_durations_change_what_is_learned_and_values_least():
    plain, plain_metrics = learned("none")
    weighted, metrics = learned("linear", timed([0.1, 0.4]))
    assert any(not torch.equal(weighted[name], plain[name]) for name in plain)
    assert metrics[0]["value_loss"] == pytest.approx(plain_metrics[0]["value_loss"], rel=0.2)
    assert metrics[0]["duration/weight_max"] == pytest.approx(1.6)
    assert metrics[0]["duration/weight_min"] == pytest.approx(0.4)


def test_the_policy_loss_is_linear_in_the_weights():
    def policy_loss(mode, seconds):
        config = dataclasses.replace(CONFIG, minibatch_sequences=4, duration_weighting=mode)
        fragments = timed(seconds)(make_worker(CorridorPolicy()).collect())
        return make_learner(CorridorPolicy(), config).update(fragments)["policy_loss"]

    # Weights 0.5 and 1.5, then 1.5 and 0.5: together twice the weight of 1, at a ratio of 1 where nothing is clipped.
    first, second = policy_loss("linear", [1.0, 3.0]), policy_loss("linear", [3.0, 1.0])
    assert abs(first) > 1e-3
    assert first + second == pytest.approx(2 * policy_loss("none", [1.0]), abs=1e-5)


def test_a_learner_counts_what_was_begun_and_reaches_no_batch():
    learner = make_learner(CorridorPolicy(), dataclasses.replace(CONFIG, duration_weighting="ipw"))
    fragments = make_worker(CorridorPolicy()).collect()
    family = fragments[0].families[0]
    metrics = learner.update(fragments, {WorkKind(family, None): 8})
    assert metrics["duration/refused_steps"] == 8
    assert metrics[f"acceptance/{family}"] < 1


def test_without_weighting_no_metric_is_added_and_no_number_kept():
    learner = make_learner(CorridorPolicy())
    metrics = learner.update(make_worker(CorridorPolicy()).collect(), {WorkKind("a/x", None): 5})
    prefixes = ("duration/", "acceptance/", "step_share/", "weighted_share/")
    assert not any(name.startswith(prefixes) for name in metrics)
    assert not any(name.startswith("duration/") for name in learner.numbers())


@pytest.mark.parametrize("mode", MODES)
def test_a_run_logs_its_weights_and_keeps_the_books_in_its_checkpoint(tmp_path, mode):
    config = make_config(tmp_path)
    config = dataclasses.replace(config, ppo=dataclasses.replace(config.ppo, duration_weighting=mode))
    result = train(config, parts=CORRIDOR)
    rows = [line for line in read_metrics(tmp_path / "run" / "metrics.jsonl") if line["stage"] == "ppo"]
    for row in rows:
        assert 0 < row["duration/effective_share"] <= 1 + 1e-6
        assert row["acceptance/approach/emerald_block"] == 1.0
        assert row["step_share/approach/emerald_block"] > 0
        assert row["weighted_share/approach/emerald_block"] > 0
    saved = checkpoint.load_state(result.checkpoint).learner
    weighter = DurationWeighter(mode)
    weighter.restore(saved, where=result.checkpoint)
    assert weighter.numbers() == {name: value for name, value in saved.items() if name.startswith("duration/")}
    assert weighter.acceptance() == {"approach/emerald_block": 1.0, "approach/redstone_block": 1.0}


def test_a_resumed_run_goes_on_with_the_books_it_had(tmp_path):
    config = make_config(tmp_path)
    config = dataclasses.replace(config, ppo=dataclasses.replace(config.ppo, duration_weighting="task_balanced"))

    def steps_known(result):
        numbers = checkpoint.load_state(result.checkpoint).learner
        return sum(value for name, value in numbers.items() if name.startswith("duration/started/"))

    straight = train(config, parts=CORRIDOR)
    expected = steps_known(straight)
    for name in ("final", "iteration_000006"):
        shutil.rmtree(tmp_path / "run" / "checkpoints" / name)
    assert steps_known(resume(tmp_path / "run", parts=CORRIDOR)) == pytest.approx(expected)
    # 6 batches of 64 steps, a hundredth of them forgotten with each
    assert expected == pytest.approx(64 * sum(0.99**age for age in range(6)))


def test_a_config_older_than_the_setting_reads_as_unweighted():
    fields = json.loads(to_json(laptop()))
    del fields["ppo"]["duration_weighting"]
    assert from_json(json.dumps(fields), where="config.json") == laptop()
    assert laptop().ppo.duration_weighting == "none"


def test_an_unknown_weighting_is_refused_with_the_choices():
    with pytest.raises(ValueError, match="ppo.duration_weighting must be one of none, linear, ipw, task_balanced"):
        PPOConfig(duration_weighting="quadratic")


def factory_of(mode, placement):
    config = TrainConfig(
        recipe="test",
        ppo=PPOConfig(fragment_steps=4, fragments_per_batch=3, duration_weighting=mode),
        rollout=RolloutConfig(placement=placement, num_workers=1, envs_per_worker=3),
        precision="fp32",
    )
    return partial(build_worker, config, CORRIDOR, [make_task(index) for index in range(4)], None)


@pytest.mark.parametrize(
    ("mode", "placement", "is_timed"),
    [("none", "ray", False), ("linear", "inline", False), ("linear", "ray", True), ("ipw", "ray", True)],
)
def test_work_is_timed_where_it_is_weighed_and_workers_can_overtake_each_other(mode, placement, is_timed):
    fragments = factory_of(mode, placement)(0, 0).collect()
    assert all((fragment.step_s_G is not None) == is_timed for fragment in fragments)


@pytest.mark.ray
@pytest.mark.slow
@pytest.mark.usefixtures("ray_session")
def test_ray_workers_hand_over_how_long_the_engine_took():
    from mcrl.dataflow.ray.source import RaySource

    limits = FlowLimits(num_workers=1, envs_per_worker=3, fragments_per_batch=3, max_staleness=0)
    source = RaySource(factory_of("linear", "ray"), limits)
    try:
        source.publish(snapshot(0))
        fragments = source.take(3)
        assert source.take_refused() == {}
    finally:
        source.close()
    # All envs of a lockstep share the engine's time; a second would be a thousand times a step of the corridor.
    assert all(np.all((f.step_s_G > 0) & (f.step_s_G < 1)) for f in fragments)
