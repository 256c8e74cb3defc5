"""Claims about the events that end a task of each skill: the agent's deed on the target, or on another of its kind."""

import dataclasses

import numpy as np
import pytest

from task_synthesis.playing.success import Judge, Outcome
from task_synthesis.skills import SKILLS
from task_synthesis.task import Difficulty, TaskSpec
from worlds.blocks import BLOCK_ID, state_of
from worlds.items import ITEM_ID
from worlds.mobs.kinds import MOB_ID
from worlds.spec import Placement, WorldSpec
from worlds.types import (
    BUTTON_INDEX,
    EVENT_BLOCK_BROKEN,
    EVENT_BLOCK_PLACED,
    EVENT_BLOCK_USED,
    EVENT_DEATH,
    EVENT_ITEM_PICKED,
    EVENT_MOB_KILLED,
    EVENT_MOB_SHOT,
    EVENT_MOB_STRUCK,
    ActionBatch,
    Pose,
    TickBatch,
)
from worlds.voxel.backend import VoxelBackend

KINDS = {"block": ("gold_block", "pumpkin"), "mob": ("cow", "pig"), "item": ("item:apple", "item:bone")}
TARGET, SAME, OTHER = 1, 0, 2  # places in the list of objects
GOLD, COW, APPLE = BLOCK_ID["gold_block"], MOB_ID["cow"], ITEM_ID["apple"]
DOOR = state_of("oak_door[facing=east]")


def task_of(skill: str) -> TaskSpec:
    """A task with the target in the middle of three objects: another of its kind, itself, one of another kind."""
    kind, other = ("oak_door[facing=east]", "chest") if skill == "interact" else KINDS[SKILLS[skill].target]
    return TaskSpec(
        family=f"{skill}/{kind.partition('[')[0]}",
        band="near",
        world=WorldSpec(seed=1, size_blocks=(32, 64, 32), detail="plain"),
        placements=tuple(
            Placement(kind=name, position=position)
            for name, position in ((kind, (4, 30, 4)), (kind, (31, 30, 12)), (other, (20, 30, 20)))
        ),
        target_index=TARGET,
        start=Pose(10.5, 30.0, 10.5, 0.0, 0.0),
        goal_view=Pose(10.0, 32.0, 10.0, 0.0, 0.0),
        inventory=(),
        max_ticks=100,
        difficulty=Difficulty(
            distance_blocks=8.0, path_blocks=8.0, target_yaw_deg=0.0, height_blocks=0.0, in_sight=True,
            visible_at_start=True, goal_area=0.1, view_overlap=0.5, num_same_kind=1, num_other_kind=1,
        ),
    )  # fmt: skip


@pytest.fixture(scope="module")
def backend() -> VoxelBackend:
    engine = VoxelBackend(1, size_blocks=(32, 64, 32), image_px=(4, 4))
    engine.reset([0], [task_of("approach").episode()])
    return engine


def outcome(backend: VoxelBackend, skill: str, *events: tuple[int, int, int, int], has_acted: bool = True) -> Outcome:
    """How a tick with these events is judged."""
    judge = Judge(backend)
    judge.begin(0, task_of(skill))
    tick: TickBatch = backend.observe()
    tick.event_EN4 = np.zeros((1, 8, 4), np.int32)
    for row, event in enumerate(events):
        tick.event_EN4[0, row] = event
    actions = ActionBatch.noop(1)
    actions.buttons_EB[:, BUTTON_INDEX["attack"]] = has_acted
    return Outcome(int(judge.outcomes(tick, actions, num_ticks=1)[0]))


def cell(x: int, y: int, z: int) -> int:
    return (x % 32 * 32 + z % 32) * 64 + y


@pytest.mark.parametrize(
    ("skill", "event", "expected"),
    [
        ("break", (EVENT_BLOCK_BROKEN, GOLD, TARGET + 1, 9), Outcome.SUCCESS),
        ("break", (EVENT_BLOCK_BROKEN, GOLD, SAME + 1, 9), Outcome.WRONG_OBJECT),
        ("break", (EVENT_BLOCK_BROKEN, BLOCK_ID["pumpkin"], OTHER + 1, 9), Outcome.RUNNING),
        ("break", (EVENT_BLOCK_USED, GOLD, TARGET + 1, 9), Outcome.RUNNING),
        ("interact", (EVENT_BLOCK_USED, DOOR, TARGET + 1, 9), Outcome.SUCCESS),
        ("interact", (EVENT_BLOCK_USED, DOOR, SAME + 1, 9), Outcome.WRONG_OBJECT),
        ("interact", (EVENT_BLOCK_USED, DOOR, 0, 9), Outcome.RUNNING),
        ("interact", (EVENT_BLOCK_USED, BLOCK_ID["chest"], OTHER + 1, 9), Outcome.RUNNING),
        ("interact", (EVENT_BLOCK_BROKEN, DOOR, TARGET + 1, 9), Outcome.WRONG_OBJECT),
        ("hunt", (EVENT_MOB_STRUCK, COW, TARGET + 1, 6), Outcome.RUNNING),
        ("hunt", (EVENT_MOB_KILLED, COW, TARGET + 1, EVENT_MOB_STRUCK), Outcome.SUCCESS),
        ("hunt", (EVENT_MOB_KILLED, COW, TARGET + 1, EVENT_MOB_SHOT), Outcome.WRONG_OBJECT),
        ("hunt", (EVENT_MOB_STRUCK, COW, SAME + 1, 6), Outcome.WRONG_OBJECT),
        ("hunt", (EVENT_MOB_STRUCK, MOB_ID["pig"], OTHER + 1, 6), Outcome.RUNNING),
        ("hunt", (EVENT_MOB_STRUCK, COW, 0, 6), Outcome.RUNNING),
        ("archery", (EVENT_MOB_SHOT, COW, TARGET + 1, 4), Outcome.SUCCESS),
        ("archery", (EVENT_MOB_SHOT, COW, SAME + 1, 4), Outcome.WRONG_OBJECT),
        ("archery", (EVENT_MOB_STRUCK, COW, TARGET + 1, 1), Outcome.RUNNING),
        ("archery", (EVENT_MOB_KILLED, COW, TARGET + 1, EVENT_MOB_STRUCK), Outcome.WRONG_OBJECT),
        ("pick_up", (EVENT_ITEM_PICKED, APPLE, 1, TARGET + 1), Outcome.SUCCESS),
        ("pick_up", (EVENT_ITEM_PICKED, APPLE, 1, SAME + 1), Outcome.WRONG_OBJECT),
        ("pick_up", (EVENT_ITEM_PICKED, APPLE, TARGET + 1, 0), Outcome.RUNNING),
        ("place", (EVENT_BLOCK_PLACED, 1, 0, cell(31, 31, 12)), Outcome.SUCCESS),
        ("place", (EVENT_BLOCK_PLACED, 1, 0, cell(32, 30, 12)), Outcome.SUCCESS),
        ("place", (EVENT_BLOCK_PLACED, 1, 0, cell(32, 31, 12)), Outcome.RUNNING),
        ("place", (EVENT_BLOCK_PLACED, 1, 0, cell(4, 30, 5)), Outcome.WRONG_OBJECT),
        ("place", (EVENT_BLOCK_PLACED, 1, 0, cell(20, 30, 21)), Outcome.RUNNING),
        ("place", (EVENT_BLOCK_BROKEN, GOLD, TARGET + 1, 9), Outcome.WRONG_OBJECT),
        ("approach", (EVENT_BLOCK_BROKEN, GOLD, TARGET + 1, 9), Outcome.RUNNING),
    ],
)
def test_the_event_decides_by_skill_and_object(backend, skill, event, expected):
    assert outcome(backend, skill, event) == expected


def test_cells_are_numbered_by_the_sides_of_worlds_that_are_no_squares(backend):
    task = task_of("place")
    world = dataclasses.replace(task.world, size_blocks=(64, 64, 32))
    judge, acting = Judge(backend), ActionBatch.noop(1)
    judge.begin(0, dataclasses.replace(task, world=world, task_id=""))
    acting.buttons_EB[:, BUTTON_INDEX["use"]] = True
    tick: TickBatch = backend.observe()
    tick.event_EN4 = np.zeros((1, 8, 4), np.int32)
    tick.event_EN4[0, 0] = (EVENT_BLOCK_PLACED, 1, 0, (31 * 32 + 12) * 64 + 31)  # on the target
    assert judge.outcomes(tick, acting, num_ticks=1)[0] == Outcome.SUCCESS


def test_success_wins_over_a_wrong_object_and_death_over_both(backend):
    right, wrong = (EVENT_BLOCK_BROKEN, GOLD, TARGET + 1, 9), (EVENT_BLOCK_BROKEN, GOLD, SAME + 1, 9)
    assert outcome(backend, "break", wrong, right) == Outcome.SUCCESS
    assert outcome(backend, "break", wrong, right, (EVENT_DEATH, 0, 0, 0)) == Outcome.DEATH


def test_who_has_done_nothing_yet_neither_succeeds_nor_fails(backend):
    item = (EVENT_ITEM_PICKED, APPLE, 1, TARGET + 1)  # a monster has pushed the agent onto it
    assert outcome(backend, "pick_up", item) == Outcome.SUCCESS
    assert outcome(backend, "pick_up", item, has_acted=False) == Outcome.RUNNING
    wrong = (EVENT_ITEM_PICKED, APPLE, 1, SAME + 1)
    assert outcome(backend, "pick_up", wrong, has_acted=False) == Outcome.RUNNING
    assert outcome(backend, "pick_up", (EVENT_DEATH, 0, 0, 0), has_acted=False) == Outcome.DEATH


def judged_in(backend: VoxelBackend, judge: Judge, actions: ActionBatch, *, is_fault: bool = False) -> Outcome:
    """How a tick in which the agent takes the target is judged; where the engine fails in it, the agent dies too."""
    tick: TickBatch = backend.observe()
    tick.event_EN4 = np.zeros((1, 8, 4), np.int32)
    tick.event_EN4[0, 0] = (EVENT_ITEM_PICKED, APPLE, 1, TARGET + 1)
    if is_fault:
        tick.event_EN4[0, 1] = (EVENT_DEATH, 0, 0, 0)
        tick.is_fault_E, tick.health_E = np.array([True]), np.zeros(1, np.float32)
    return judge.outcomes(tick, actions, num_ticks=1)[0]


def test_who_has_acted_in_the_episode_before_has_done_nothing_yet(backend):
    judge, acting = Judge(backend), ActionBatch.noop(1)
    acting.buttons_EB[:, BUTTON_INDEX["attack"]] = True
    judge.begin(0, task_of("pick_up"))
    judge.outcomes(backend.observe(), acting, num_ticks=1)
    judge.begin(0, task_of("pick_up"))
    assert judged_in(backend, judge, ActionBatch.noop(1)) == Outcome.RUNNING
    assert judged_in(backend, judge, acting) == Outcome.SUCCESS


def test_who_has_acted_may_stand_still_when_it_is_done(backend):
    judge, acting = Judge(backend), ActionBatch.noop(1)
    acting.buttons_EB[:, BUTTON_INDEX["forward"]] = True
    judge.begin(0, task_of("pick_up"))
    judge.outcomes(backend.observe(), acting, num_ticks=1)
    assert judged_in(backend, judge, ActionBatch.noop(1)) == Outcome.SUCCESS


def test_a_tick_that_the_backend_has_written_over_is_looked_at_anew(backend, monkeypatch):
    monkeypatch.setattr(backend, "is_line_clear", lambda env_K, eye_K3, cell_K3: np.ones(len(env_K), bool))
    judge, acting = Judge(backend), ActionBatch.noop(1)
    acting.buttons_EB[:, BUTTON_INDEX["forward"]] = True
    judge.begin(0, task_of("approach"))
    tick: TickBatch = backend.observe()
    tick.pose_E5 = np.array([[10.5, 30.0, 10.5, 0.0, 0.0]])
    assert judge.outcomes(tick, acting, num_ticks=1)[0] == Outcome.RUNNING
    tick.pose_E5[0] = (31.5, 30.0, 10.5, 0.0, 30.0)  # before the target, and facing it
    assert judge.outcomes(tick, acting, num_ticks=1)[0] == Outcome.SUCCESS


def test_who_turns_has_acted(backend):
    judge, turning = Judge(backend), ActionBatch.noop(1)
    turning.camera_deg_E2[0, 0] = 1.0
    judge.begin(0, task_of("pick_up"))
    assert judged_in(backend, judge, turning) == Outcome.SUCCESS


def test_a_fault_wins_over_death_and_deed(backend):
    judge, acting = Judge(backend), ActionBatch.noop(1)
    acting.buttons_EB[:, BUTTON_INDEX["attack"]] = True
    judge.begin(0, task_of("pick_up"))
    assert judged_in(backend, judge, acting, is_fault=True) == Outcome.FAULT
