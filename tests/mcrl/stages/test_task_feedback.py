"""Claims about what the run learns of its tasks: counted once, sent to the workers, kept by checkpoints."""

import dataclasses
import json
import signal

import numpy as np
import pytest

from mcrl import checkpoint
from mcrl.assembly import build_worker, make_sampler
from mcrl.config import CurriculumConfig, PPOConfig, RolloutConfig, TaskConfig, TrainConfig
from mcrl.dataflow.weights.params import ParamLayout
from mcrl.stages.task_feedback import TaskFeedback
from mcrl.telemetry.metrics import read_metrics, rollout_metrics
from mcrl.train import resume, train
from task_synthesis.playing.curriculum import AdaptiveTasks, MixedTasks, ShuffledTasks
from task_synthesis.playing.task_env import Outcome
from tests.mcrl.corridor import make_task
from tests.mcrl.corridor_policy import CORRIDOR, CorridorPolicy
from tests.mcrl.corridor_run import ROLLOUT, StopIn, make_config
from tests.mcrl.fragments import make_fragment

TASKS = [make_task(index) for index in range(4)]
# Forgets nothing, so that what it counted can be told from the sums.
ADAPTIVE = CurriculumConfig(order="adaptive", key="kind", memory_episodes=1e12)


def config_of(curriculum: CurriculumConfig) -> TrainConfig:
    return TrainConfig(recipe="test", tasks=TaskConfig(curriculum=curriculum))


def counted(statistics) -> float:
    return sum(played for _, played in statistics["families"].values())


@pytest.mark.parametrize(
    ("order", "kind"), [("shuffled", ShuffledTasks), ("mixed", MixedTasks), ("adaptive", AdaptiveTasks)]
)
def test_every_order_of_the_config_makes_its_sampler(order, kind):
    curriculum = CurriculumConfig(order=order)
    config = dataclasses.replace(
        config_of(curriculum), tasks=TaskConfig(skills={"approach": 1.0, "break": 0.0}, curriculum=curriculum)
    )
    sampler = make_sampler(config, TASKS, 0)
    assert type(sampler) is kind
    assert sampler(0) in TASKS


@pytest.mark.parametrize("values", [{"order": "random"}, {"key": "colour"}, {"exploration": 0.0}])
def test_a_curriculum_that_cannot_be_is_refused(values):
    with pytest.raises(ValueError, match="curriculum"):
        CurriculumConfig(**values)


def test_ends_are_reported_by_their_task_and_faults_are_not():
    feedback = TaskFeedback(make_sampler(config_of(ADAPTIVE), TASKS, 0), TASKS)
    outcome_T = np.array([Outcome.SUCCESS, Outcome.RUNNING, Outcome.TIME_LIMIT, Outcome.FAULT])
    fragment = make_fragment(
        goals=(None, None),
        task_ids=(TASKS[0].task_id, TASKS[1].task_id),
        families=(TASKS[0].family, TASKS[1].family),
        goal_index_T=np.array([0, 1, 1, 1]),
        terminated_T=outcome_T == Outcome.SUCCESS,
        truncated_T=np.isin(outcome_T, (Outcome.TIME_LIMIT, Outcome.FAULT)),
        outcome_T=outcome_T,
    )
    feedback.hear([fragment, make_fragment(task_ids=("strange",), terminated_T=np.ones(4, bool))])
    assert feedback.statistics()["families"] == {"redstone_block": [1.0, 1.0], "emerald_block": [0.0, 1.0]}


def test_a_worker_knows_what_came_with_the_weights():
    config = dataclasses.replace(
        config_of(ADAPTIVE),
        ppo=PPOConfig(fragment_steps=4, fragments_per_batch=2),
        rollout=RolloutConfig(envs_per_worker=2),
        precision="fp32",
    )
    made = []

    def recorded(config, tasks, seed):
        made.append(make_sampler(config, tasks, seed))
        return made[-1]

    worker = build_worker(config, dataclasses.replace(CORRIDOR, make_sampler=recorded), TASKS, None, 0, 0)
    statistics = {"key": "kind", "families": {"emerald_block": [90.0, 100.0]}}
    policy = CorridorPolicy()
    worker.load(ParamLayout(policy).snapshot(policy, 0, task_statistics=statistics))
    assert made[0].statistics() == statistics
    worker.load(ParamLayout(policy).snapshot(policy, 1))
    assert made[0].statistics() == statistics


def test_what_was_learned_of_tasks_survives_a_stop_and_every_episode_counts_once(tmp_path):
    tasks = dataclasses.replace(make_config(tmp_path).tasks, curriculum=ADAPTIVE)
    config = make_config(tmp_path, tasks=tasks)
    stopper = StopIn(ROLLOUT, num_tasks=20, number=signal.SIGTERM)
    stopped = train(config, parts=dataclasses.replace(CORRIDOR, make_env=stopper.make_env))
    before = checkpoint.load_state(stopped.checkpoint)
    assert 0 < before.iteration < 6
    finished = resume(tmp_path / "run", parts=CORRIDOR)
    after = checkpoint.load_state(finished.checkpoint)
    lines = [line for line in read_metrics(tmp_path / "run" / "metrics.jsonl") if line["stage"] == "ppo"]
    episodes_before = sum(line["episodes"] for line in lines[: before.iteration])
    assert counted(before.task_statistics) == pytest.approx(episodes_before)
    assert counted(after.task_statistics) == pytest.approx(sum(line["episodes"] for line in lines))
    assert 1 <= lines[-1]["curriculum_families"] <= 2


def test_a_checkpoint_older_than_the_statistics_is_still_read(tmp_path):
    result = train(make_config(tmp_path), parts=CORRIDOR)
    path = result.checkpoint / "state.json"
    fields = json.loads(path.read_text())
    del fields["task_statistics"]
    path.write_text(json.dumps(fields))
    assert checkpoint.load_state(result.checkpoint).task_statistics == {}


def test_parts_of_the_reward_are_logged_apart_an_episode():
    parts_TP = np.zeros((4, 3), np.float32)
    parts_TP[3] = 1.0, 0.3, -0.1
    ends = np.array([False, True, False, True])
    outcome_T = np.where(ends, int(Outcome.TIME_LIMIT), 0)
    outcome_T[3] = Outcome.SUCCESS
    fragment = make_fragment(truncated_T=ends, outcome_T=outcome_T, reward_parts_TP=parts_TP)
    metrics = rollout_metrics([fragment])
    assert metrics["success"] == 0.5
    assert metrics["reward/milestones"] == pytest.approx(0.15)
    assert metrics["reward/shaping"] == pytest.approx(-0.05)
    assert "reward/success" not in rollout_metrics([make_fragment(truncated_T=ends, outcome_T=outcome_T)])
