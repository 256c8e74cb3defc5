"""Claims about partial credit, on made-up states and on the real engine."""

import dataclasses

import numpy as np
import pytest

from task_synthesis.playing.milestones import MILESTONES, REWARD_PARTS, PartialCredit, RewardConfig
from task_synthesis.playing.success import Outcome
from task_synthesis.playing.task_env import TaskEnv
from tests.mcrl.corridor import make_task
from worlds.spec import BLOCK_MASK, Episode, Placement, WorldSpec
from worlds.types import (
    BUTTON_INDEX,
    EVENT_BLOCK_USED,
    EVENT_MOB_SHOT,
    EVENT_MOB_STRUCK,
    INSTANCE_FIRST_OBJECT,
    MAX_EVENTS,
    ActionBatch,
    Pose,
    TickBatch,
)
from worlds.voxel.backend import VoxelBackend

CONFIG = RewardConfig(in_view=0.05, centred=0.05, within_reach=0.1, first_hit=0.1)
TOTAL = 0.3
PLAIN = make_task(0)
PX = 6
TARGET = (16, 30, 16)
FAR = (8.5, 30.0, 16.5)
NEAR = (14.5, 30.0, 16.5)


def task_of(skill: str, kind: str):
    placements = (Placement(kind="white_wool", position=(2, 30, 2)), Placement(kind=kind, position=TARGET))
    family = f"{skill}/{kind.removeprefix('item:')}" if ":" not in kind else f"{skill}/{kind}"
    return dataclasses.replace(PLAIN, family=family, placements=placements, target_index=1, task_id="")


BREAK = task_of("break", "gold_block")


def state(num_envs=1, feet=FAR, area=0.0, center=(0.9, 0.9), crosshair=0, events=()) -> TickBatch:
    """A made-up tick in which all envs are alike."""
    event_EN4 = np.zeros((num_envs, MAX_EVENTS, 4), np.int32)
    event_EN4[:, : len(events)] = np.array(events, np.int32).reshape(-1, 4)
    target_E7 = np.zeros((num_envs, 7), np.float32)
    if area:
        target_E7[:, :3] = area, *center
    mob_EM6 = np.full((num_envs, 4, 6), -1.0)
    return TickBatch(
        image_EHWC=np.zeros((num_envs, PX, PX, 3), np.uint8),
        instance_EHW=np.full((num_envs, PX, PX), crosshair, np.int32),
        depth_EHW=None,
        target_E7=target_E7,
        pose_E5=np.array([[*feet, 0.0, 0.0]] * num_envs),
        is_on_ground_E=np.ones(num_envs, bool),
        health_E=np.full(num_envs, 20.0, np.float32),
        item_ES=np.full((num_envs, 36), -1, np.int32),
        count_ES=np.zeros((num_envs, 36), np.int32),
        selected_E=np.zeros(num_envs, np.int32),
        mob_EM6=mob_EM6,
        event_EN4=event_EN4,
        is_fault_E=np.zeros(num_envs, bool),
    )


def pressing(*keys: str) -> ActionBatch:
    actions = ActionBatch.noop(1)
    for key in keys:
        actions.buttons_EB[:, BUTTON_INDEX[key]] = True
    return actions


def started(task=BREAK, config=CONFIG, discount: float = 0.98, first: TickBatch | None = None) -> PartialCredit:
    credit = PartialCredit(config, 1, discount=discount)
    credit.begin([0], [task], first or state())
    return credit


def pay(credit: PartialCredit, tick: TickBatch, *keys: str, outcome: Outcome = Outcome.RUNNING) -> tuple[float, float]:
    paid_E2 = credit.pay(tick, pressing(*keys), np.array([int(outcome)]))
    return pytest.approx(float(paid_E2[0, 0]), abs=1e-6), pytest.approx(float(paid_E2[0, 1]), abs=1e-6)


AIMED = INSTANCE_FIRST_OBJECT + 1


def test_each_milestone_is_paid_when_it_is_first_reached_and_never_again():
    credit = started()
    way = [
        (state(area=0.01), (), 0.05),
        (state(area=0.01, center=(0.5, 0.6)), (), 0.05),
        (state(area=0.2, center=(0.5, 0.5), feet=NEAR), (), 0.1),
        (state(area=0.2, center=(0.5, 0.5), feet=NEAR, crosshair=AIMED), ("attack",), 0.1),
    ]
    assert [pay(credit, tick, *keys)[0] for tick, keys, _ in way] == [worth for _, _, worth in way]
    for tick, keys, _ in way * 3:
        assert pay(credit, tick, *keys)[0] == 0.0
    credit.begin([0], [BREAK], state())
    assert pay(credit, way[0][0])[0] == 0.05


def test_whatever_is_done_an_episode_pays_each_milestone_at_most_once():
    rng = np.random.default_rng(0)
    num_envs = 32
    credit = PartialCredit(CONFIG, num_envs, discount=0.98)
    credit.begin(list(range(num_envs)), [BREAK] * num_envs, state(num_envs))
    earned_E = np.zeros(num_envs)
    for _ in range(300):
        tick = state(num_envs)
        tick.target_E7[:, :3] = rng.random((num_envs, 3)) * (rng.random((num_envs, 1)) < 0.5)
        tick.instance_EHW[:] = rng.integers(0, 4, (num_envs, 1, 1))
        tick.pose_E5[:, :3] = np.array(TARGET) + rng.uniform(-6, 6, (num_envs, 3))
        tick.event_EN4[:, :, :3] = rng.integers(0, 12, (num_envs, MAX_EVENTS, 3))
        actions = ActionBatch.noop(num_envs)
        actions.buttons_EB[:] = rng.random(actions.buttons_EB.shape) < 0.5
        earned_E += credit.pay(tick, actions, np.zeros(num_envs, np.int64))[:, 0]
    assert earned_E == pytest.approx(np.full(num_envs, TOTAL), abs=1e-5)


@pytest.mark.parametrize("task", [BREAK, task_of("interact", "chest"), task_of("hunt", "cow")])
def test_a_forged_hit_pays_nothing(task):
    kinds = (EVENT_BLOCK_USED, EVENT_MOB_STRUCK, EVENT_MOB_SHOT)
    config = RewardConfig(first_hit=0.5)
    forgeries = [
        state(area=0.2, feet=NEAR, events=[(kind, 7, slot, 0) for kind in kinds])
        for slot in (0, 1, 3)  # terrain, the wool, nothing: the target is slot 2
    ]
    forgeries.append(state(area=0.2, feet=NEAR, crosshair=INSTANCE_FIRST_OBJECT))  # work on the wool
    forgeries.append(state(area=0.2, feet=FAR, crosshair=AIMED))  # work on the target from afar
    credit = started(task, config)
    for tick in forgeries:
        assert pay(credit, tick, "attack", "use")[0] == 0.0
    # Looking at it without a hand on it is no hit either.
    assert pay(credit, state(area=0.2, feet=NEAR, crosshair=AIMED))[0] == 0.0


@pytest.mark.parametrize(
    ("skill", "kind", "event", "wrong"),
    [
        ("interact", "chest", EVENT_BLOCK_USED, EVENT_MOB_STRUCK),
        ("hunt", "cow", EVENT_MOB_STRUCK, EVENT_MOB_SHOT),
        ("archery", "cow", EVENT_MOB_SHOT, EVENT_MOB_STRUCK),
    ],
)
def test_the_agents_event_on_the_target_is_a_hit_of_its_skill_only(skill, kind, event, wrong):
    credit = started(task_of(skill, kind), RewardConfig(first_hit=0.5))
    assert pay(credit, state(area=0.1, feet=NEAR, events=[(wrong, 0, 2, 1)]))[0] == 0.0
    assert pay(credit, state(area=0.1, feet=NEAR, events=[(event, 0, 2, 1)]))[0] == 0.5


def test_what_the_first_view_shows_is_not_paid():
    credit = started(first=state(area=0.1, center=(0.5, 0.5)))
    assert pay(credit, state(area=0.1, center=(0.5, 0.5)))[0] == 0.0


def test_every_success_is_worth_the_same_however_it_came():
    straight = pay(started(), state(), outcome=Outcome.SUCCESS)[0]
    credit = started()
    first = credit.pay(state(area=0.1), pressing(), np.array([0]))[0, 0]
    last = credit.pay(state(), pressing(), np.array([int(Outcome.SUCCESS)]))[0, 0]
    assert straight == TOTAL
    assert first + last == pytest.approx(TOTAL)


def test_a_fault_and_a_failure_pay_nothing_extra():
    for outcome in (Outcome.FAULT, Outcome.WRONG_OBJECT, Outcome.DEATH):
        assert pay(started(), state(), outcome=outcome)[0] == 0.0
    assert pay(started(), state(area=0.1, feet=NEAR), outcome=Outcome.FAULT) == (0.0, 0.0)


SHAPED = RewardConfig(shaping_per_block=0.05)


def test_walking_in_a_circle_earns_nothing_from_shaping():
    credit = started(config=SHAPED, discount=1.0)
    ring = [(8.5 + dx, 30.0, 16.5 + dz) for dx, dz in ((2, 0), (4, 3), (1, 5), (0, 0))] * 5
    assert sum(float(credit.pay(state(feet=feet), pressing(), np.array([0]))[0, 1]) for feet in ring) == pytest.approx(
        0, abs=1e-5
    )


@pytest.mark.parametrize("axis", [0, 2])
@pytest.mark.parametrize(("source", "nearer_blocks"), [("generated", 4.0), ("anvil:" + "0" * 64, -4.0)])
def test_the_way_goes_through_the_border_of_a_torus_and_not_through_that_of_a_real_save(axis, source, nearer_blocks):
    """The target stands in the second row of blocks; the agent walks away from it towards the border."""
    side, target, feet = BREAK.world.size_blocks[axis], [16, 30, 16], [16.5, 30.0, 16.5]
    target[axis] = 1
    wool, gold = BREAK.placements
    world = dataclasses.replace(BREAK.world, source=source)
    moved = (wool, dataclasses.replace(gold, position=tuple(target)))
    credit = PartialCredit(SHAPED, 1, discount=1.0)
    feet[axis] = side - 4.5
    credit.begin([0], [dataclasses.replace(BREAK, world=world, placements=moved, task_id="")], state(feet=tuple(feet)))
    feet[axis] = side - 0.5
    assert pay(credit, state(feet=tuple(feet)))[1] == 0.05 * nearer_blocks


@pytest.mark.parametrize("end", [Outcome.SUCCESS, Outcome.WRONG_OBJECT, Outcome.DEATH, Outcome.TIME_LIMIT])
def test_discounted_shaping_depends_on_the_first_and_last_state_only(end):
    discount, rng = 0.9, np.random.default_rng(1)
    totals = []
    for _ in range(3):
        credit, total = started(config=SHAPED, discount=discount), 0.0
        for step in range(6):
            is_last = step == 5
            feet = NEAR if is_last else (float(rng.uniform(5, 20)), 30.0, 16.5)
            outcome = np.array([int(end if is_last else Outcome.RUNNING)])
            total += discount**step * float(credit.pay(state(feet=feet), pressing(), outcome)[0, 1])
        totals.append(total)
    potential_end = -0.05 * 2.0 if end == Outcome.TIME_LIMIT else 0.0
    assert totals == pytest.approx([discount**6 * potential_end + 0.05 * 8.0] * 3, abs=1e-5)


def test_the_potential_follows_a_target_that_walks():
    credit = started(task_of("hunt", "cow"), SHAPED, discount=1.0)
    tick = state()
    tick.mob_EM6[0, 2] = 0, 2, 8.5, 30.0, 16.5, 10.0  # stands where the agent stands
    assert pay(credit, tick)[1] == 0.05 * 8.0
    assert pay(credit, state())[1] == 0.0


def test_an_animal_that_is_not_the_target_moves_no_potential():
    credit = started(task_of("hunt", "cow"), SHAPED, discount=1.0)
    tick = state()
    tick.mob_EM6[0, 3] = 0, 1, 8.5, 30.0, 16.5, 10.0  # the other object's slot
    assert pay(credit, tick)[1] == 0.0


@pytest.mark.parametrize("values", [{"in_view": -0.1}, {"in_view": 0.5, "first_hit": 0.5}, {"shaping_per_block": -1}])
def test_milestones_that_could_outweigh_success_are_refused(values):
    with pytest.raises(ValueError, match="rewards"):
        RewardConfig(**values)
    assert not RewardConfig().is_on


def real_task(backend: VoxelBackend):
    """Break a gold block that stands 3 blocks from the start, behind the agent's back."""
    world = WorldSpec(seed=3, size_blocks=(32, 64, 32), detail="plain")
    backend.reset([0], [Episode(world=world, start=Pose(16.5, 60.0, 16.5, 0.0, 0.0))])
    block_XZY = backend.state.terrain.block_EXZY[0]
    top = max(int(np.flatnonzero(block_XZY[16, z] & BLOCK_MASK)[-1]) for z in range(13, 20)) + 1
    placements = (Placement(kind="gold_block", position=(16, top, 13)),)
    return dataclasses.replace(
        make_task(0),
        family="break/gold_block",
        world=world,
        placements=placements,
        target_index=0,
        start=Pose(16.5, float(top), 16.5, 0.0, 20.0),
        goal_view=Pose(16.5, top + 3.0, 16.5, 180.0, 30.0),
        inventory=(("diamond_pickaxe", 1),),
        max_ticks=80,
        task_id="",
    )


def test_on_the_engine_the_reward_is_the_sum_of_its_parts_and_success_stays_one_of_them():
    backend = VoxelBackend(1, size_blocks=(32, 64, 32), image_px=(32, 32))
    task = real_task(backend)
    credit = PartialCredit(dataclasses.replace(CONFIG, shaping_per_block=0.02), 1, discount=0.98)
    reports = []

    class Source:
        def __call__(self, env_index):
            return task

        def report(self, task, *, is_success):
            reports.append((task.task_id, is_success))

    env = TaskEnv(backend, Source(), action_repeat=4, partial_credit=credit)
    env.reset()
    parts = []
    for _ in range(60):
        actions = pressing("attack")
        actions.camera_deg_E2[0] = (0.0, 3.0 if len(parts) % 20 < 15 else 0.0)
        step = env.step(actions)
        assert step.reward_E[0] == pytest.approx(step.reward_parts_EP[0].sum())
        assert (step.reward_parts_EP[0, 0] == 1) == (step.outcome_E[0] == Outcome.SUCCESS)
        parts.append(step.reward_parts_EP[0].copy())
        if step.terminated_E[0] or step.truncated_E[0]:
            break
    assert reports == [(task.task_id, parts[-1][0] == 1)]
    milestones = sum(part[REWARD_PARTS.index("milestones")] for part in parts)
    assert 0 < milestones <= TOTAL + 1e-6
    assert len(MILESTONES) == 4
