"""Claims about tasks among things: drawn in ViZDoom and MiniWorld, and played there to their ends."""

from pathlib import Path

import numpy as np
import pytest

from task_synthesis.foreign.thing_layout import draw_thing_start, draw_things
from task_synthesis.foreign.thing_tasks import make_tasks
from task_synthesis.foreign.walkable_floor import NO_FLOOR, WalkableFloor
from task_synthesis.placement.starts import most_path_blocks
from task_synthesis.playing.task_env import Outcome, TaskEnv
from task_synthesis.skills import type_of
from task_synthesis.synthesis_config import SynthesisConfig
from task_synthesis.task import BANDS, from_json_line, to_json_line
from tests.worlds.adapters.thing_engines import ENGINES, choice_or_skip, make_backend, python_with
from worlds.adapters.engine import Scan
from worlds.adapters.engine_choice import EngineChoice
from worlds.adapters.engines.floor_plan import floor_plan
from worlds.adapters.thing_worlds import THING_WORLDS
from worlds.types import BUTTON_INDEX, ActionBatch

NUM_TASKS = 8


def floor_of(seed: int, level: int = 3) -> WalkableFloor:
    """The rooms of a seed, with their floor at `level` of the box."""
    is_air_XZY = np.repeat(floor_plan(seed).is_free_XZ[:, :, None], 10, axis=2)
    is_air_XZY[:, :, :level] = is_air_XZY[:, :, level + 4 :] = False
    return WalkableFloor(Scan(["stone", "air"], is_air_XZY.astype(np.uint16)))


def test_a_floor_is_where_the_rooms_are():
    is_free_XZ = floor_plan(3).is_free_XZ
    assert np.array_equal(floor_of(3).floor_XZ, np.where(is_free_XZ, 3, NO_FLOOR))


def test_a_walk_is_as_long_as_the_shortest_way_around_corners():
    is_air_XZY = np.zeros((9, 9, 8), bool)
    is_air_XZY[1:8, 1:8, 2:6] = True
    is_air_XZY[4, 1:7] = False  # a wall, open at z = 7
    walk_XZ = WalkableFloor(Scan(["stone", "air"], is_air_XZY.astype(np.uint16))).walks(
        3, 1, most_blocks=50, blocked=set()
    )
    assert walk_XZ[3, 4] == 3
    assert walk_XZ[2, 2] == pytest.approx(2**0.5)
    # Down the wall, past it without cutting a corner, and up again.
    assert walk_XZ[5, 1] == 14
    assert np.isinf(walk_XZ[4, 3])


def test_steps_of_one_block_are_walked_and_higher_ones_are_not():
    is_air_XZY = np.zeros((8, 3, 10), bool)
    for x, floor in zip(range(1, 7), (2, 3, 4, 4, 6, 6), strict=True):
        is_air_XZY[x, 1, floor:] = True
    walk_XZ = WalkableFloor(Scan(["stone", "air"], is_air_XZY.astype(np.uint16))).walks(
        1, 1, most_blocks=50, blocked=set()
    )
    assert np.isfinite(walk_XZ[:, 1]).tolist() == [False, True, True, True, True, False, False, False]


def test_layouts_keep_things_apart_and_starts_in_the_band_and_in_sight():
    config = SynthesisConfig(num_same_kind=(1, 2), num_other_kind=(1, 3))
    kinds = THING_WORLDS["vizdoom"][0].kinds
    num_starts, high = 0, BANDS["near"][1]
    for seed in range(120):
        rng, floor = np.random.default_rng(seed), floor_of(seed)
        placements = draw_things(rng, floor, kinds, config)
        if isinstance(placements, str):
            continue
        place_N2 = np.array([placement.position for placement in placements])[:, [0, 2]]
        apart_NN = np.hypot(*(place_N2[:, None] - place_N2).transpose(2, 0, 1))
        assert apart_NN[~np.eye(len(place_N2), dtype=bool)].min() >= 2
        num_same = sum(placement.kind == placements[0].kind for placement in placements)
        assert 2 <= num_same <= 3
        assert len({placement.kind for placement in placements}) == 1 + len(placements) - num_same
        (x, _, z), *others = (placement.position for placement in placements)
        walk_XZ = floor.walks(x, z, most_blocks=40.0, blocked=set())
        assert max(walk_XZ[at_x, at_z] for at_x, _, at_z in others) <= 18.0  # of which it is asked to be told apart
        start = draw_thing_start(rng, floor, placements, BANDS["near"])
        if isinstance(start, str):
            continue
        num_starts += 1
        at_x, at_z = int(start.pose.x), int(start.pose.z)
        off_N3 = np.array([placement.position for placement in placements]) - (at_x, 3, at_z)
        assert np.linalg.norm(off_N3, axis=1).min() >= 4.0
        around_XZ = floor.walks(x, z, most_blocks=60.0, blocked={(other[0], other[2]) for other in others})
        assert start.path_blocks == around_XZ[at_x, at_z]  # not through the others
        assert start.path_blocks <= most_path_blocks(float(np.hypot(at_x - x, at_z - z))) <= most_path_blocks(high)
        assert 5 <= np.hypot(start.pose.x - x - 0.5, start.pose.z - z - 0.5) <= 12
        assert start.path_blocks >= np.hypot(start.pose.x - x - 0.5, start.pose.z - z - 0.5) - 1e-9
        assert floor.is_seen(np.array(start.pose[:3]) + (0, 1.62, 0), np.array([x + 0.5, 3.5, z + 0.5]))
    assert num_starts >= 60


def test_a_target_may_stand_alone_and_there_may_be_fewer_kinds_than_others_are_asked_for():
    kinds = THING_WORLDS["vizdoom"][0].kinds
    alone = SynthesisConfig(num_same_kind=(0, 0), num_other_kind=(0, 0))
    drawn = [draw_things(np.random.default_rng(seed), floor_of(seed), kinds, alone) for seed in range(10)]
    assert all(len(placements) == 1 for placements in drawn if not isinstance(placements, str))
    assert any(not isinstance(placements, str) for placements in drawn)
    three = SynthesisConfig(num_same_kind=(1, 1), num_other_kind=(3, 3))
    drawn = [draw_things(np.random.default_rng(seed), floor_of(seed), kinds[:2], three) for seed in range(10)]
    assert {len(placements) for placements in drawn if not isinstance(placements, str)} == {3}


def test_other_skills_than_approach_are_refused_before_the_engine_starts():
    choice = EngineChoice(engine="vizdoom", python=Path("/no/such/python"))
    with pytest.raises(ValueError, match="of skill approach alone"):
        make_tasks(choice, "vizdoom:rooms", 1, split="train", skills={"break": 1.0})


def test_a_things_kind_is_something_to_walk_to_and_a_misspelt_one_is_nothing():
    assert type_of("vizdoom:green_armor") == "block"
    with pytest.raises(ValueError, match="green_armour"):
        type_of("vizdoom:green_armour")


@pytest.fixture(scope="module", params=ENGINES)
def made(request):
    """An engine and tasks in its worlds."""
    if python_with(request.param) is None:
        choice_or_skip(request.param)
    tasks = make_tasks(
        choice_or_skip(request.param),
        f"{request.param}:rooms",
        NUM_TASKS,
        split="held_out",
        bands={"near": 1.0},
        num_same_kind=(1, 2),
    )
    return request.param, tasks


@pytest.mark.slow
def test_tasks_are_of_the_split_and_survive_their_line_of_json(made):
    _, tasks = made
    assert len({task.task_id for task in tasks}) == NUM_TASKS
    for task in tasks:
        assert task.split == "held_out"
        assert from_json_line(to_json_line(task)) == task


class Walker:
    """Turns to a place and walks there, round what it bumps into."""

    def __init__(self, env: TaskEnv, place_3: np.ndarray) -> None:
        self._env, self._place_3, self._bumped, self._last_3 = env, place_3, 0, np.zeros(3)

    def play(self) -> Outcome:
        tick = self._env.backend.observe()
        for step in range(60):
            tick_pose_5 = tick.pose_E5[0]
            to_3 = self._place_3 - tick_pose_5[:3] - (0, 1.12, 0)
            yaw_deg = np.degrees(np.arctan2(-to_3[0], to_3[2])) - tick_pose_5[3]
            pitch_deg = np.degrees(np.arctan2(-to_3[1], np.hypot(to_3[0], to_3[2]))) - tick_pose_5[4]
            yaw_deg = (yaw_deg + 180) % 360 - 180
            actions = ActionBatch.noop(1)
            actions.camera_deg_E2[0] = pitch_deg / 4, yaw_deg / 4
            self._bumped = 4 if step > 2 and np.linalg.norm(tick_pose_5[:3] - self._last_3) < 0.1 else self._bumped - 1
            self._last_3 = tick_pose_5[:3].copy()
            actions.buttons_EB[0, BUTTON_INDEX["forward"]] = abs(yaw_deg) < 40 or self._bumped > 0
            actions.buttons_EB[0, BUTTON_INDEX["left"]] = self._bumped > 0
            transition = self._env.step(actions)
            if transition.outcome_E[0] != Outcome.RUNNING:
                return Outcome(int(transition.outcome_E[0]))
            tick = self._env.backend.observe()
        return Outcome.TIME_LIMIT


@pytest.mark.slow
def test_who_walks_to_the_target_succeeds_and_who_walks_to_its_twin_fails(made):
    engine, tasks = made
    ends = {"target": [], "twin": []}
    backend = make_backend(engine, 1)
    for task in tasks:
        for whom, index in (("target", 0), ("twin", 1)):
            env = TaskEnv(backend, lambda e, task=task: task)
            observation = env.reset()
            goal = observation.goals[0]
            assert goal.mask_HW.mean() == pytest.approx(task.difficulty.goal_area, abs=0.002)
            place_3 = np.add(task.placements[index].position, 0.5)
            ends[whom].append(Walker(env, place_3).play())
    backend.close()
    assert ends["target"].count(Outcome.SUCCESS) >= 0.7 * NUM_TASKS, ends
    # Without a start from which the twin can be seen, a straight walk need not lead there.
    assert ends["twin"].count(Outcome.WRONG_OBJECT) >= 2, ends
    assert Outcome.FAULT not in ends["target"] + ends["twin"]
