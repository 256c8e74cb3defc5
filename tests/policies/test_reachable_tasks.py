"""A claim about synthesis that needs legs: whatever it accepts, a body can get to, on the engine's own physics.

Synthesis believes in a map of cells. The walk is proved without that map: the expert, which plans by the real
collision boxes, goes there. It gets four times the limit, since a slow walk is a walk.
"""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policies.expert import ExpertAgent
from task_synthesis.playing.task_env import Outcome, TaskEnv
from task_synthesis.synthesis_config import at_scale
from task_synthesis.synthesize import Synthesizer
from task_synthesis.task import TaskSpec
from worlds.voxel.backend import VoxelBackend

TASKS_A_DRAW = 12
# Animals walk off: whether those are met says nothing about the walk that was accepted.
WALKS = dict.fromkeys(("approach", "break", "interact", "place", "pick_up"), 1.0)


def accepted(seed: int) -> list[TaskSpec]:
    """Tasks of every distance that a world of 64 blocks has, from a few full worlds, with four times their limits."""
    bands = {"near": 1.0, "easy": 1.0, "medium": 1.0}
    config = at_scale(skills=WALKS, side_blocks=64, bands=bands, tasks_per_world=4, image_px=64)
    tasks = Synthesizer(config, split="train", seed=seed, num_parallel=4, num_threads=1).run(TASKS_A_DRAW)
    return [dataclasses.replace(task, max_ticks=4 * task.max_ticks, task_id="") for task in tasks]


def unreached(tasks: list[TaskSpec]) -> list[str]:
    """Tasks that the expert did not get done, in words."""
    backend = VoxelBackend(len(tasks), size_blocks=tasks[0].world.size_blocks, image_px=(16, 16))
    env = TaskEnv(backend, lambda e: tasks[e])
    expert = ExpertAgent(env, is_teaching=False)
    observation, outcome_E = env.reset(), np.full(len(tasks), Outcome.RUNNING)
    while (outcome_E == Outcome.RUNNING).any():
        transition = env.step(expert.act(observation))
        observation = transition.observation
        outcome_E = np.where(outcome_E == Outcome.RUNNING, transition.outcome_E, outcome_E)
    return [
        f"{task.family} in {task.world.biome} {task.world.seed}: {Outcome(outcome).name}"
        for task, outcome in zip(tasks, outcome_E.tolist(), strict=True)
        if outcome != Outcome.SUCCESS
    ]


@settings(max_examples=2, derandomize=True, deadline=None, database=None)
@given(seed=st.integers(0, 10**6))
def test_accepted_tasks_are_reachable_on_foot(seed):
    assert unreached(accepted(seed)) == []


@pytest.mark.slow
@settings(max_examples=20, derandomize=True, deadline=None, database=None)
@given(seed=st.integers(10**6, 10**7))
def test_the_expert_reaches_all_but_one_of_the_accepted_tasks_of_any_worlds(seed):
    # Draw 1799449 has one in the mountains that it does not get to: a walk that is not proved, nor proved to be none.
    assert len(unreached(accepted(seed))) <= 1
