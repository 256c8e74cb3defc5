"""Claims about who is judged to have done what, on the real engine."""

import dataclasses

import numpy as np
import pytest

from task_synthesis.playing.curriculum import ShuffledTasks
from task_synthesis.playing.task_env import Outcome, TaskEnv
from task_synthesis.task import TaskSpec
from tests.task_synthesis.fixtures import some_tasks
from worlds.types import BUTTON_INDEX, EYE_HEIGHT_BLOCKS, ActionBatch, Pose
from worlds.voxel.backend import VoxelBackend

SIZE = (64, 64, 64)


def task_of(skill: str) -> TaskSpec:
    """A task of `skill` with a wrong object of the target's kind."""
    return next(task for task in some_tasks() if task.skill == skill and task.difficulty.num_same_kind)


def wrong_index(task: TaskSpec) -> int:
    kind = task.placements[task.target_index].kind
    return next(i for i, p in enumerate(task.placements) if p.kind == kind and i != task.target_index)


def beside(task: TaskSpec, index: int, *, away_blocks: float = 2.0, turn_deg: float = 0.0) -> TaskSpec:
    """The task with a start `away_blocks` south of object `index`, on its level, facing it but for `turn_deg`."""
    x, y, z = task.placements[index].position
    pitch_deg = float(np.degrees(np.arctan2(EYE_HEIGHT_BLOCKS - 0.5, away_blocks)))
    start = Pose(x + 0.5, float(y), z + 0.5 + away_blocks, 180.0 + turn_deg, pitch_deg)
    return dataclasses.replace(task, start=start, task_id="")


class Scene:
    """One env with a flat floor and free air around every object, so that only the judged thing matters."""

    def __init__(self, task: TaskSpec) -> None:
        self.backend = VoxelBackend(1, size_blocks=SIZE, image_px=(32, 32))
        self.env = TaskEnv(self.backend, lambda _: task, action_repeat=1)
        self.env.reset()
        block_XZY = self.backend.state.terrain.block_EXZY[0]
        for placement in task.placements:
            x, y, z = placement.position
            kept = block_XZY[x, z, y]
            columns = np.ix_(np.arange(x - 3, x + 4) % 64, np.arange(z - 3, z + 5) % 64)
            for level in range(64):
                block_XZY[(*columns, level)] = 1 if level < y else 0
            block_XZY[x, z, y] = kept

    def step(self, *keys: str) -> Outcome:
        actions = ActionBatch.noop(1)
        actions.buttons_EB[0, BUTTON_INDEX["inventory"]] = True  # does nothing, but who does nothing never succeeds
        for key in keys:
            actions.buttons_EB[0, BUTTON_INDEX[key]] = True
        transition = self.env.step(actions)
        self.transition = transition
        return Outcome(int(transition.outcome_E[0]))


def test_standing_before_the_target_and_facing_it_is_success():
    task = task_of("approach")
    scene = Scene(beside(task, task.target_index))
    assert scene.step() == Outcome.SUCCESS
    assert scene.transition.terminated_E[0]
    assert scene.transition.reward_E[0] == 1


@pytest.mark.parametrize(("away_blocks", "turn_deg"), [(2.8, 0.0), (2.0, 35.0), (2.0, 180.0)])
def test_too_far_or_looking_away_is_not_yet_success(away_blocks, turn_deg):
    task = task_of("approach")
    scene = Scene(beside(task, task.target_index, away_blocks=away_blocks, turn_deg=turn_deg))
    assert scene.step() == Outcome.RUNNING


def test_a_block_in_between_hides_the_target_from_judgement():
    task = task_of("approach")
    scene = Scene(beside(task, task.target_index))
    x, y, z = task.placements[task.target_index].position
    scene.backend.state.terrain.block_EXZY[0, x, (z + 1) % 64, y : y + 3] = 1
    assert scene.step() == Outcome.RUNNING


def test_approaching_a_wrong_object_of_the_same_kind_is_a_failure():
    task = task_of("approach")
    scene = Scene(beside(task, wrong_index(task)))
    assert scene.step() == Outcome.WRONG_OBJECT
    assert scene.transition.terminated_E[0]
    assert not scene.transition.truncated_E[0]
    assert scene.transition.reward_E[0] == 0


def test_breaking_the_target_is_success_and_approaching_it_is_not():
    task = task_of("break")
    scene = Scene(beside(task, task.target_index))
    outcomes = [scene.step("attack") for _ in range(40)]
    assert outcomes[0] == Outcome.RUNNING
    assert Outcome.SUCCESS in outcomes
    assert set(outcomes[: outcomes.index(Outcome.SUCCESS)]) <= {Outcome.RUNNING}


def test_breaking_a_wrong_object_of_the_same_kind_is_a_failure():
    task = task_of("break")
    scene = Scene(beside(task, wrong_index(task)))
    outcomes = [scene.step("attack") for _ in range(40)]
    assert next(outcome for outcome in outcomes if outcome != Outcome.RUNNING) == Outcome.WRONG_OBJECT


def test_a_target_that_vanishes_without_the_agent_is_no_success():
    task = task_of("break")
    scene = Scene(beside(task, task.target_index))
    x, y, z = task.placements[task.target_index].position
    scene.backend.state.terrain.block_EXZY[0, x, z, y] = 0
    assert {scene.step() for _ in range(5)} == {Outcome.RUNNING}


def test_death_terminates_and_the_time_limit_truncates():
    task = task_of("approach")
    dying = Scene(beside(task, task.target_index, away_blocks=2.9))
    dying.backend.state.bodies.health_E[:] = 0
    assert dying.step() == Outcome.DEATH
    assert dying.transition.terminated_E[0]
    waiting = Scene(dataclasses.replace(beside(task, task.target_index, away_blocks=2.9), max_ticks=3, task_id=""))
    assert [waiting.step() for _ in range(3)] == [Outcome.RUNNING, Outcome.RUNNING, Outcome.TIME_LIMIT]
    assert waiting.transition.truncated_E[0]
    assert not waiting.transition.terminated_E[0]


def test_the_judgement_looks_across_the_border_of_the_torus():
    task = task_of("approach")
    x, y, _ = task.placements[task.target_index].position
    placements = list(task.placements)
    placements[task.target_index] = dataclasses.replace(placements[task.target_index], position=(x, y, 63))
    moved = dataclasses.replace(task, placements=tuple(placements), task_id="")
    scene = Scene(beside(moved, task.target_index))
    assert 0 < scene.backend.state.bodies.position_E3[0, 2] < 3
    assert scene.step() == Outcome.SUCCESS


@pytest.mark.parametrize("is_fault", [True, False])
def test_a_fault_of_the_engine_is_no_step_to_learn_from_and_no_failure_of_the_task(is_fault, monkeypatch):
    source = ShuffledTasks([dataclasses.replace(some_tasks()[0], max_ticks=1, task_id="")], split="train", seed=0)
    reports = []
    monkeypatch.setattr(source, "report", lambda task, *, is_success: reports.append(is_success))
    env = TaskEnv(VoxelBackend(1, size_blocks=SIZE, image_px=(32, 32)), source, action_repeat=1)
    env.reset()
    play = env.backend.step
    fault = {"is_fault_E": np.array([is_fault])}
    monkeypatch.setattr(env.backend, "step", lambda *args, **named: dataclasses.replace(play(*args, **named), **fault))
    transition = env.step(ActionBatch.noop(1))
    assert transition.truncated_E.tolist() == [True]
    assert (transition.is_valid_E.tolist(), reports) == (([False], []) if is_fault else ([True], [False]))
