"""Claims about walking, jumping and sneaking, against the published numbers of 1.16.5."""

import numpy as np
import pytest

from tests.worlds.voxel.walker import BLOCKS, FLOOR_Y, SIZE, Agent, blocks_per_s
from worlds.voxel import body, landing, motion
from worlds.voxel.body import is_box_free, move_box
from worlds.voxel.link import link
from worlds.voxel.motion import move_agent

# ---- Walking ----


@pytest.mark.parametrize(
    ("keys", "speed"),
    [
        ({"forward": 1}, 4.317),
        ({"forward": 1, "sprint": True}, 5.612),
        ({"forward": 1, "sneak": True}, 1.295),
        ({"forward": -1}, 4.317),
        ({"forward": -1, "sprint": True}, 4.317),
    ],
)
def test_steady_speed_is_the_published_one(keys, speed):
    assert blocks_per_s(Agent(), **keys) == pytest.approx(speed, rel=2e-3)


def test_walking_diagonally_is_no_faster_than_input_allows():
    straight, diagonal = blocks_per_s(Agent(), forward=1), blocks_per_s(Agent(), forward=1, strafe=1)
    assert diagonal == pytest.approx(straight / 0.98, rel=1e-3)


def test_yaw_zero_walks_south_and_yaw_ninety_walks_west():
    south, west = Agent().tick(forward=1, times=10), Agent().tick(forward=1, yaw_deg=90.0, times=10)
    assert south.position[2] > 11
    assert south.position[0] == pytest.approx(10.5)
    assert west.position[0] < 10
    assert west.position[2] == pytest.approx(10.5)


def test_strafing_left_at_yaw_zero_goes_east():
    assert Agent().tick(strafe=1, times=10).position[0] > 11


def test_walking_across_the_edge_of_the_torus_comes_out_on_the_other_side():
    agent = Agent(z=31.5).tick(forward=1, times=20)
    assert 0 < agent.position[2] < 10
    assert agent.position[1] == FLOOR_Y


@pytest.mark.parametrize("floor", ["soul_sand", "honey_block"])
def test_soul_sand_and_honey_keep_two_fifths_of_the_speed_of_a_tick(floor):
    # A steady speed v of which the block keeps 0.4 and the drag 0.546: v = 0.4 * 0.546 * v + 0.098.
    assert blocks_per_s(Agent().floor(floor), forward=1) == pytest.approx(20 * 0.098 / (1 - 0.4 * 0.546), rel=1e-3)


def test_blue_ice_slides_farther_than_ice_and_ice_than_stone():
    slides = {}
    for floor in ("stone", "ice", "blue_ice"):
        agent = Agent().floor(floor).tick(forward=1, times=20)
        before = agent.position[2]
        slides[floor] = agent.tick(times=20).position[2] - before
    assert slides["blue_ice"] > slides["ice"] > 4 * slides["stone"] > 0


# ---- Steps, walls and jumps ----


def test_jump_peaks_at_1_2522_blocks_and_repeats_only_after_ten_ticks():
    agent = Agent().tick(times=2)
    heights = [agent.tick(jump=True).position[1] - FLOOR_Y for _ in range(13)]
    assert max(heights) == pytest.approx(1.2522, abs=1e-3)
    assert heights[11] == 0
    assert heights[12] == pytest.approx(0.42)


def test_a_slab_is_a_step_and_a_block_is_a_wall_to_a_walker():
    slab, wall = Agent(), Agent()
    slab.fill("oak_slab[type=bottom]", (0, FLOOR_Y, 13), (31, FLOOR_Y, 31)).tick(forward=1, times=30)
    wall.fill("stone", (0, FLOOR_Y, 13), (31, FLOOR_Y, 31)).tick(forward=1, times=30)
    assert slab.position[1] == FLOOR_Y + 0.5
    assert wall.position[1] == FLOOR_Y
    assert wall.position[2] == pytest.approx(13 - 0.3)


def test_stairs_are_walked_up_from_the_front_and_not_from_the_back():
    front, back = Agent(), Agent()
    front.fill("oak_stairs[facing=south]", (0, FLOOR_Y, 13), (31, FLOOR_Y, 13)).tick(forward=1, times=15)
    back.fill("oak_stairs[facing=north]", (0, FLOOR_Y, 13), (31, FLOOR_Y, 13)).tick(forward=1, times=40)
    assert front.position[1] == FLOOR_Y + 1
    assert back.position[1] == FLOOR_Y
    assert back.position[2] < 13


@pytest.mark.parametrize(("wall", "is_passed"), [("stone", True), ("oak_fence[links=10]", False)])
def test_a_jumper_gets_over_a_block_and_not_over_a_fence(wall, is_passed):
    agent = Agent().fill(wall, (0, FLOOR_Y, 13), (31, FLOOR_Y, 13)).tick(forward=1, jump=True, times=60)
    assert (agent.position[2] > 13.7) == is_passed


def test_a_closed_gate_stops_and_an_open_one_does_not():
    ends = []
    for is_open in ("false", "true"):
        agent = Agent().fill(f"oak_fence_gate[facing=south,open={is_open}]", (0, FLOOR_Y, 13), (31, FLOOR_Y, 13))
        ends.append(agent.tick(forward=1, times=40).position[2])
    assert ends[0] < 13.2
    assert ends[1] > 14


def test_the_move_of_a_box_without_a_step_height_stops_at_a_slab():
    agent = Agent().fill("oak_slab[type=bottom]", (0, FLOOR_Y, 12), (31, FLOOR_Y, 12))
    start = 10.5, float(FLOOR_Y), 11.5
    flat = move_box(agent.block_XZY, BLOCKS.collision, *start, 0.3, 1.8, 0.0, -0.1, 0.5, 0.0, True)
    step = move_box(agent.block_XZY, BLOCKS.collision, *start, 0.3, 1.8, 0.0, -0.1, 0.5, 0.6, True)
    assert flat == pytest.approx((0.0, 0.0, 0.2))
    assert step == pytest.approx((0.0, 0.5, 0.5))


# ---- Sneaking and sprinting ----


def test_sneaking_stops_at_an_edge_and_walking_does_not():
    sneaker, walker = (Agent().fill("air", (0, 10, 13), (31, FLOOR_Y - 1, 31)) for _ in range(2))
    sneaker.tick(forward=1, sneak=True, times=100)
    walker.tick(forward=1, times=40)
    assert sneaker.position[1] == FLOOR_Y
    assert 13.2 < sneaker.position[2] < 13.31
    assert walker.position[1] < FLOOR_Y


def test_a_low_ceiling_lets_only_a_sneaker_in_and_keeps_it_down():
    agent = Agent().fill("oak_slab[type=top]", (0, FLOOR_Y + 1, 13), (31, FLOOR_Y + 1, 16))
    agent.tick(forward=1, times=40)
    assert agent.position[2] == pytest.approx(13 - 0.3)
    agent.tick(forward=1, sneak=True, times=30)
    assert agent.position[2] > 13.5
    agent.tick(times=5)
    assert agent.bodies.is_sneaking_E[0]
    agent.tick(forward=1, times=80)
    assert agent.position[2] > 17
    assert not agent.bodies.is_sneaking_E[0]


@pytest.mark.parametrize(
    ("keys", "is_sprinting"),
    [
        ({"forward": 1}, True),
        ({"forward": 1, "strafe": 1}, True),
        ({"strafe": 1}, False),
        ({"forward": -1}, False),
        ({"forward": 0.2}, False),
        ({"forward": 1, "sneak": True}, False),
    ],
)
def test_sprinting_starts_only_with_full_forward_input(keys, is_sprinting):
    agent = Agent().tick(sneak=keys.get("sneak", False))  # a sneaker is slow from its second tick on
    assert agent.tick(sprint=True, **keys).bodies.is_sprinting_E[0] == is_sprinting


def test_a_sprint_outlives_its_key_and_ends_at_a_wall_or_without_forward():
    agent = Agent().fill("stone", (0, FLOOR_Y, 20), (31, FLOOR_Y + 1, 20)).tick(forward=1, sprint=True)
    assert agent.tick(forward=1, times=10).bodies.is_sprinting_E[0]
    assert not agent.tick(forward=1, times=40).bodies.is_sprinting_E[0]
    assert not Agent().tick(forward=1, sprint=True, times=5).tick().bodies.is_sprinting_E[0]


def test_a_body_never_gets_into_a_block_whatever_its_keys():
    rng = np.random.default_rng(0)
    names = (
        "stone", "oak_slab[type=bottom]", "oak_slab[type=top]", "oak_stairs[facing=east]", "oak_fence[links=5]", "ice",
        "snow[layers=4]", "cactus", "water", "ladder[facing=west]", "cobweb", "slime_block", "glass_pane[links=10]",
        "oak_trapdoor[half=top]", "chest", "enchanting_table",
    )  # fmt: skip
    for _ in range(8):
        agent = Agent(y=FLOOR_Y + 8)
        for name in names:
            for cell in rng.integers((0, FLOOR_Y, 0), (SIZE, FLOOR_Y + 5, SIZE), (60, 3)):
                agent.fill(name, tuple(cell))
        agent.fill("air", (9, FLOOR_Y + 4, 9), (11, FLOOR_Y + 11, 11))
        for _ in range(250):
            forward, strafe = rng.integers(-1, 2, 2)
            jump, sneak, sprint = rng.random(3) < (0.5, 0.3, 0.5)
            agent.tick(
                forward=forward, strafe=strafe, jump=jump, sneak=sneak, sprint=sprint, yaw_deg=rng.uniform(-180, 180)
            )
            x, y, z = agent.position
            height = 1.5 if agent.bodies.is_sneaking_E[0] else 1.8
            assert is_box_free(
                agent.block_XZY, BLOCKS.collision, x - 0.3 + 1e-6, y + 1e-6, z - 0.3 + 1e-6, x + 0.3 - 1e-6,
                y + height - 1e-6, z + 0.3 - 1e-6,
            )  # fmt: skip
            assert np.isfinite(agent.bodies.velocity_E3).all()


@pytest.mark.slow
def test_compiled_kernels_give_the_same_bytes_as_plain_python():
    import numba

    known = link(body.SOURCES, numba.njit(nogil=True, error_model="numpy"), {})
    compiled = link((*landing.SOURCES, *motion.SOURCES), numba.njit(nogil=True, error_model="numpy"), known)[
        "move_agent"
    ]
    plain, fast = (Agent().fill("oak_stairs[facing=south]", (0, FLOOR_Y, 14), (31, FLOOR_Y, 14)) for _ in range(2))
    rng = np.random.default_rng(1)
    for _ in range(300):
        forward, strafe = (int(part) for part in rng.integers(-1, 2, 2))
        jump, sneak, sprint = (bool(part) for part in rng.random(3) < (0.5, 0.2, 0.5))
        for agent, move in ((plain, move_agent), (fast, compiled)):
            agent.bodies.yaw_deg_E[0] += 7.0
            move(0, agent.state.terrain, agent.bodies, BLOCKS, forward, strafe, jump, sneak, sprint)
    for one, other in zip(plain.bodies, fast.bodies, strict=True):
        assert one.tobytes() == other.tobytes()
