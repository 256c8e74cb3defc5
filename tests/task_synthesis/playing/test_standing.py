"""Claims about successes that are no events: what is added up along an episode, with whom, and what is kept of it."""

import dataclasses

import numpy as np
import pytest

from task_synthesis.playing import success
from task_synthesis.playing.success import Judge, Outcome
from task_synthesis.skills import SKILLS
from task_synthesis.standing import Standing
from task_synthesis.task import TaskSpec
from tests.task_synthesis.playing.test_success import beside, task_of, wrong_index
from worlds.types import BUTTON_INDEX, ActionBatch, TickBatch
from worlds.voxel.backend import VoxelBackend

STAY_TICKS = 40
APPROACH = list(SKILLS).index("approach")


def stay_beside(standing: Standing) -> np.ndarray:
    """To have stood within three blocks for two seconds on end."""
    is_near_N = np.linalg.norm(standing.from_feet_N3[:, [0, 2]], axis=1) <= 3.0
    return np.where(is_near_N, standing.num_ticks / STAY_TICKS, -np.inf)


def walk_round(standing: Standing) -> np.ndarray:
    """To have gone once round, either way, never farther off than five blocks."""
    now_N, before_N = (
        np.arctan2(-delta_N3[:, 2], -delta_N3[:, 0])
        for delta_N3 in (standing.from_feet_N3, standing.from_feet_before_N3)
    )
    is_near_N = np.linalg.norm(standing.from_feet_N3[:, [0, 2]], axis=1) <= 5.0
    turned_N = (now_N - before_N + np.pi) % (2 * np.pi) - np.pi
    return np.where(is_near_N, turned_N / (2 * np.pi), -np.inf)


class Yard:
    """Judges where an agent stands that is put wherever a test wants it, with nothing that would stop it."""

    def __init__(self, task: TaskSpec) -> None:
        self.task = task
        self.backend = VoxelBackend(1, size_blocks=(64, 64, 64), image_px=(4, 4))
        self.backend.reset([0], [task.episode()])
        self.judge = Judge(self.backend)
        self.judge.begin(0, task)

    def put(
        self, index: int, bearing_deg: float, away_blocks: float, *, num_ticks: int = 4, acts: bool = True
    ) -> Outcome:
        """Judge a step that ended `away_blocks` from the floor of object `index`."""
        x, y, z = self.task.placements[index].position
        bearing = np.radians(bearing_deg)
        tick: TickBatch = self.backend.observe()
        tick.pose_E5 = tick.pose_E5.copy()
        tick.pose_E5[0, :3] = (x + 0.5 + away_blocks * np.cos(bearing), y, z + 0.5 + away_blocks * np.sin(bearing))
        actions = ActionBatch.noop(1)
        actions.buttons_EB[:, BUTTON_INDEX["forward"]] = acts
        return Outcome(int(self.judge.outcomes(tick, actions, num_ticks=num_ticks)[0]))


@pytest.fixture
def yard(monkeypatch: pytest.MonkeyPatch) -> Yard:
    """A task with two of a kind, whose success is to stay beside the one that is meant."""
    monkeypatch.setitem(success._RULES, APPROACH, stay_beside)
    task = task_of("approach")
    x, y, z = task.placements[task.target_index].position
    placements = list(task.placements)
    other = wrong_index(task)
    placements[other] = dataclasses.replace(placements[other], position=((x + 20) % 64, y, z))
    return Yard(dataclasses.replace(beside(task, task.target_index), placements=tuple(placements), task_id=""))


@pytest.mark.parametrize("num_ticks", [1, 4, 8])
def test_ticks_add_up_to_a_success_whatever_a_step_holds(yard, num_ticks):
    num_steps = STAY_TICKS // num_ticks
    ends = [yard.put(yard.task.target_index, 90.0, 2.0, num_ticks=num_ticks) for _ in range(num_steps)]
    assert ends == [Outcome.RUNNING] * (num_steps - 1) + [Outcome.SUCCESS]


def test_who_leaves_begins_anew(yard):
    target = yard.task.target_index
    assert {yard.put(target, 90.0, 2.0) for _ in range(9)} == {Outcome.RUNNING}
    assert yard.put(target, 90.0, 4.0) == Outcome.RUNNING
    assert {yard.put(target, 90.0, 2.0) for _ in range(9)} == {Outcome.RUNNING}
    assert yard.put(target, 90.0, 2.0) == Outcome.SUCCESS


def test_the_whole_of_it_with_another_of_the_kind_is_the_wrong_object(yard):
    ends = [yard.put(wrong_index(yard.task), 90.0, 2.0) for _ in range(10)]
    assert ends == [Outcome.RUNNING] * 9 + [Outcome.WRONG_OBJECT]


def test_nothing_counts_before_the_agent_has_done_something(yard):
    target = yard.task.target_index
    assert {yard.put(target, 90.0, 2.0, acts=False) for _ in range(20)} == {Outcome.RUNNING}
    assert [yard.put(target, 90.0, 2.0) for _ in range(10)] == [Outcome.RUNNING] * 9 + [Outcome.SUCCESS]


def test_the_next_episode_begins_with_nothing(yard):
    target = yard.task.target_index
    assert {yard.put(target, 90.0, 2.0) for _ in range(9)} == {Outcome.RUNNING}
    yard.judge.begin(0, yard.task)
    assert yard.put(target, 90.0, 2.0) == Outcome.RUNNING


@pytest.mark.parametrize("way", [1, -1])
def test_a_way_round_is_added_up_from_step_to_step_and_one_back_taken_off(yard, monkeypatch, way):
    monkeypatch.setitem(success._RULES, APPROACH, walk_round)
    target = yard.task.target_index
    bearings_deg = [*range(0, 200, 10), *range(190, 100, -10), *range(110, 360, 10)]
    assert {yard.put(target, way * bearing_deg, 3.0) for bearing_deg in bearings_deg} == {Outcome.RUNNING}
    assert yard.put(target, way * 360.0, 3.0) == Outcome.SUCCESS


def test_a_way_round_begins_where_the_episode_begins(yard, monkeypatch):
    monkeypatch.setitem(success._RULES, APPROACH, walk_round)
    target = yard.task.target_index
    yard.put(target, 0.0, 3.0)
    yard.judge.begin(0, yard.task)
    assert {yard.put(target, bearing_deg, 3.0) for bearing_deg in range(90, 450, 30)} == {Outcome.RUNNING}
    assert yard.put(target, 450.0, 3.0) == Outcome.SUCCESS


def test_a_judge_that_reads_what_another_saved_goes_on_with_it(yard, monkeypatch):
    monkeypatch.setitem(success._RULES, APPROACH, walk_round)
    target = yard.task.target_index
    assert {yard.put(target, bearing_deg, 3.0) for bearing_deg in range(0, 350, 10)} == {Outcome.RUNNING}
    state = yard.judge.saved()
    yard.put(target, 0.0, 9.0)
    yard.judge.begin(0, yard.task)
    yard.judge.load_saved(state)
    assert yard.put(target, 350.0, 3.0) == Outcome.RUNNING
    assert yard.put(target, 360.0, 3.0) == Outcome.SUCCESS
