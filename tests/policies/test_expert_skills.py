"""Claims about the expert's skills on devices, items and animals, in plain and in full worlds."""

import numpy as np
import pytest

from policies.expert import ExpertAgent
from policies.expert.archery import shoot_at_quarry, solve_shot
from policies.expert.decide import WAY_OF_SKILL
from policies.expert.ground import NO_FLOOR, build_ground, can_go, floor_of
from policies.expert.mind import ARCHERY, empty_mind
from policies.expert.routes import plan_walks
from task_synthesis.placement.reachability import UNREACHED
from task_synthesis.playing.task_env import Outcome, TaskEnv
from task_synthesis.skills import SKILLS
from task_synthesis.synthesis_config import SynthesisConfig
from task_synthesis.synthesize import Synthesizer
from tests.worlds.voxel.arena import GROUND_Y, SIZE, TABLES, Arena
from worlds.blocks import state_of
from worlds.spec import BLOCK_BITS
from worlds.types import BUTTONS, EYE_HEIGHT_BLOCKS, SNEAK_EYE_HEIGHT_BLOCKS
from worlds.voxel.arrows import ARROW_DRAG, ARROW_GRAVITY
from worlds.voxel.backend import VoxelBackend
from worlds.voxel.bow import BOW_SPEED
from worlds.voxel.engine_tables import engine_tables

LEAST_SUCCESS = {"interact": 0.95, "pick_up": 0.95, "place": 0.95, "hunt": 0.85, "archery": 0.7}
GROUND = build_ground(engine_tables().blocks)


def success_rate(skill: str, detail: str, num_tasks: int) -> float:
    """The share of synthesised tasks of one skill that the expert solves."""
    config = SynthesisConfig(skills={skill: 1.0}, detail=detail)
    tasks = Synthesizer(config, split="train", seed=3, num_parallel=16, num_threads=1).run(num_tasks)
    env = TaskEnv(VoxelBackend(num_tasks, size_blocks=(64, 64, 64), image_px=(16, 16)), lambda e: tasks[e])
    expert = ExpertAgent(env, is_teaching=False)
    observation, outcome_E = env.reset(), np.full(num_tasks, Outcome.RUNNING)
    while (outcome_E == Outcome.RUNNING).any():
        transition = env.step(expert.act(observation))
        observation = transition.observation
        outcome_E = np.where(outcome_E == Outcome.RUNNING, transition.outcome_E, outcome_E)
    return float((outcome_E == Outcome.SUCCESS).mean())


def test_the_expert_has_a_way_for_every_skill():
    assert set(WAY_OF_SKILL) == set(SKILLS)


@pytest.mark.slow
@pytest.mark.parametrize("detail", ["plain", "full"])
@pytest.mark.parametrize("skill", list(LEAST_SUCCESS))
def test_the_expert_solves_the_skills_that_need_a_hand(skill, detail):
    assert success_rate(skill, detail, 48) >= LEAST_SUCCESS[skill] - 0.05  # 48 tasks: room for chance


@pytest.fixture
def yard():
    """A 32 x 32 floor of stone at level 10, uint16 [X, Z, Y]."""
    block_XZY = np.zeros((32, 32, 64), np.uint16)
    block_XZY[:, :, :10] = state_of("stone")
    return block_XZY


def test_floors_have_the_height_of_what_lies_there(yard):
    yard[5, 5, 10] = state_of("stone_slab")
    assert floor_of(yard, GROUND, 4, 10, 4) == 10.0
    assert floor_of(yard, GROUND, 5, 11, 5) == 10.5
    assert floor_of(yard, GROUND, 5, 10, 5) == NO_FLOOR


def test_nobody_jumps_a_fence_or_walks_into_lava(yard):
    yard[5, 5, 10] = state_of("oak_fence")
    top = floor_of(yard, GROUND, 5, 11, 5)
    assert not can_go(yard, GROUND, 4, 5, 10.0, 1, 0, 11, top)
    yard[7, 7, 9] = state_of("lava")
    assert floor_of(yard, GROUND, 7, 10, 7) == NO_FLOOR


def test_nobody_steps_onto_deep_snow_under_a_low_ceiling(yard):
    yard[5, 5, 10] = state_of("snow[layers=4]")
    height = floor_of(yard, GROUND, 5, 11, 5)
    assert height == 10.375
    assert can_go(yard, GROUND, 4, 5, 10.0, 1, 0, 11, height)
    yard[4, 5, 12] = state_of("oak_leaves")  # two blocks above the floor, where the head goes up
    assert not can_go(yard, GROUND, 4, 5, 10.0, 1, 0, 11, height)


@pytest.mark.parametrize(("eye_blocks", "is_seen"), [(EYE_HEIGHT_BLOCKS, True), (SNEAK_EYE_HEIGHT_BLOCKS, False)])
def test_a_walk_ends_where_the_target_is_seen_from_the_height_of_the_deed(yard, eye_blocks, is_seen):
    yard[10, :, 10], yard[10, :, 11] = state_of("stone"), state_of("stone_slab")  # a wall 1.5 high
    yard[12, 16, 11] = state_of("crafting_table") | 1 << BLOCK_BITS
    cost_XZY = np.empty((32, 32, 64), np.uint16)
    plan_walks(
        yard, engine_tables().blocks.outline, GROUND, 12.5, 11.5, 16.5, 3.2, True, eye_blocks, 1, np.zeros((1, 2)), 0,
        0.0, 9.5, 10.0, 16.5, cost_XZY,
    )  # fmt: skip
    assert (cost_XZY[9, 16, 10] == 0) == is_seen


def test_an_archer_draws_the_bow_and_without_arrows_goes_where_those_lie_that_were_shot():
    def keys(num_arrows: int) -> set[str]:
        arena = Arena()
        arena.give("bow")
        if num_arrows:
            arena.give("arrow", num_arrows, slot=1)
        arena.put_mob("cow", 16.5, GROUND_Y, 26.5, slot=1)
        mind = empty_mind(1, np.full((1, SIZE, SIZE, 64), UNREACHED, np.uint16))
        mind.skill_E[0], mind.slot_E[0], mind.tool_E[0] = ARCHERY, 1, 0
        state, pressed_B, camera_2 = arena.state, np.zeros(len(BUTTONS), bool), np.zeros(2)
        shoot_at_quarry(
            0, state.terrain.block_EXZY[0], TABLES, GROUND, state.bodies, state.hands, state.mobs, mind, 4.0, pressed_B,
            camera_2,
        )  # fmt: skip
        return {button for button, is_pressed in zip(BUTTONS, pressed_B, strict=True) if is_pressed}

    assert "use" in keys(16)
    assert "use" not in keys(0)
    assert "forward" in keys(0)


@pytest.mark.parametrize(
    ("dx", "dy", "dz", "vx"), [(12.0, 0.0, 3.0, 0.0), (8.0, -3.0, 14.0, 0.1), (20.0, 4.0, 0.0, -0.1)]
)
def test_a_solved_shot_passes_through_the_animal(dx, dy, dz, vx):
    yaw, pitch = np.radians(solve_shot(dx, dy, dz, vx, 0.0, 0.0))
    velocity = BOW_SPEED * np.array([-np.sin(yaw) * np.cos(pitch), -np.sin(pitch), np.cos(yaw) * np.cos(pitch)])
    place, nearest = np.zeros(3), np.inf
    for tick in range(20):
        for share in np.linspace(0, 1, 20):
            target = np.array([dx + vx * (tick + share), dy, dz])
            nearest = min(nearest, np.linalg.norm(place + share * velocity - target))
        place = place + velocity
        velocity = velocity * ARROW_DRAG - (0.0, ARROW_GRAVITY, 0.0)
    assert nearest < 0.15
