"""Claims about walking, jumping, sneaking, swimming and falling, against the constants of Java Edition 1.16.5."""

import numpy as np
import pytest

from worlds.blocks import BLOCK_ID, fluid_table, solid_table
from worlds.voxel.motion import move_agent

SOLID, FLUID = solid_table(), fluid_table()
FLOOR_Y = 20


class Body:
    """One body on a 32 x 64 x 32 stone plain, stepped tick by tick."""

    def __init__(self, x: float = 10.5, y: float = FLOOR_Y, z: float = 10.5) -> None:
        self.block_XZY = np.zeros((32, 32, 64), np.uint16)
        self.block_XZY[:, :, :FLOOR_Y] = BLOCK_ID["stone"]
        self.position = np.array([x, y, z])
        self.velocity = np.zeros(3)
        self.state = (y == FLOOR_Y, False, False, 0, 0.0)
        self.damage = 0.0

    def tick(self, *, forward=0, strafe=0, jump=False, sneak=False, sprint=False, yaw_deg=0.0, times=1):
        for _ in range(times):
            *state, damage = move_agent(
                self.block_XZY, SOLID, FLUID, BLOCK_ID["ice"], self.position, self.velocity, yaw_deg, forward, strafe,
                jump, sneak, sprint, *self.state,
            )  # fmt: skip
            self.state = tuple(state)
            self.damage += damage
        return self

    @property
    def is_on_ground(self) -> bool:
        return self.state[0]


def speed_after(ticks: int, **keys) -> float:
    body = Body().tick(times=ticks, **keys)
    before = body.position.copy()
    body.tick(**keys)
    return float(np.hypot(*(body.position - before)[[0, 2]]))


@pytest.mark.parametrize(
    ("keys", "blocks_per_s"),
    [
        ({"forward": 1}, 4.317),
        ({"forward": 1, "sprint": True}, 5.612),
        ({"forward": 1, "sneak": True}, 1.295),
        ({"forward": -1}, 4.317),
    ],
)
def test_steady_speed_is_the_published_one(keys, blocks_per_s):
    assert speed_after(40, **keys) * 20 == pytest.approx(blocks_per_s, rel=2e-3)


def test_walking_diagonally_is_no_faster_than_input_allows():
    assert speed_after(40, forward=1, strafe=1) == pytest.approx(speed_after(40, forward=1) / 0.98, rel=1e-3)


def test_yaw_zero_walks_south_and_yaw_ninety_walks_west():
    south, west = Body().tick(forward=1, times=10), Body().tick(forward=1, yaw_deg=90.0, times=10)
    assert south.position[2] > 11
    assert south.position[0] == pytest.approx(10.5)
    assert west.position[0] < 10
    assert west.position[2] == pytest.approx(10.5)


def test_strafing_left_at_yaw_zero_goes_east():
    assert Body().tick(strafe=1, times=10).position[0] > 11


def test_jump_peaks_at_1_2522_blocks_and_repeats_only_after_ten_ticks():
    body = Body().tick(times=2)
    heights = [body.tick(jump=True).position[1] - FLOOR_Y for _ in range(13)]
    assert max(heights) == pytest.approx(1.2522, abs=1e-3)
    assert heights[11] == 0
    assert heights[12] == pytest.approx(0.42)


def test_a_full_block_is_a_wall_to_a_walker_and_a_step_to_a_jumper():
    walker, jumper = Body(), Body()
    for body in (walker, jumper):
        body.block_XZY[:, 13, FLOOR_Y] = BLOCK_ID["stone"]
    walker.tick(forward=1, times=40)
    jumper.tick(forward=1, jump=True, times=40)
    assert walker.position[2] == pytest.approx(13 - 0.3)
    assert jumper.position[2] > 14


def test_sneaking_stops_at_an_edge_and_walking_does_not():
    sneaker, walker = Body(), Body()
    for body in (sneaker, walker):
        body.block_XZY[:, 13:, FLOOR_Y - 4 : FLOOR_Y] = 0
    sneaker.tick(forward=1, sneak=True, times=100)
    walker.tick(forward=1, times=40)
    assert sneaker.position[1] == FLOOR_Y
    assert sneaker.position[2] < 13.31
    assert walker.position[1] < FLOOR_Y


@pytest.mark.parametrize(("height", "damage"), [(3.0, 0), (4.0, 1), (10.0, 7)])
def test_falling_hurts_by_the_blocks_beyond_three(height, damage):
    body = Body(y=FLOOR_Y + height)
    body.state = (False, False, False, 0, 0.0)
    body.tick(times=120)
    assert body.is_on_ground
    assert body.damage == damage


def test_falling_into_water_does_not_hurt():
    body = Body(y=FLOOR_Y + 12)
    body.block_XZY[:, :, FLOOR_Y : FLOOR_Y + 3] = BLOCK_ID["water"]
    body.state = (False, False, False, 0, 0.0)
    body.tick(times=120)
    assert body.damage == 0


def test_holding_jump_in_water_swims_up_and_letting_go_sinks():
    body = Body(y=FLOOR_Y + 1)
    body.block_XZY[:, :, FLOOR_Y : FLOOR_Y + 6] = BLOCK_ID["water"]
    body.tick(jump=True, times=30)
    risen = body.position[1]
    body.tick(times=60)
    assert risen > FLOOR_Y + 3
    assert body.position[1] < risen - 1


def test_ice_slides_farther_than_stone():
    stone, ice = Body(), Body()
    ice.block_XZY[:, :, FLOOR_Y - 1] = BLOCK_ID["ice"]
    for body in (stone, ice):
        body.tick(forward=1, times=20)
        body.tick(times=1)
    before = stone.position[2], ice.position[2]
    for body in (stone, ice):
        body.tick(times=20)
    assert ice.position[2] - before[1] > 4 * (stone.position[2] - before[0])


def test_walking_across_the_edge_of_the_torus_comes_out_on_the_other_side():
    body = Body(z=31.5).tick(forward=1, times=20)
    assert 0 < body.position[2] < 10
    assert body.position[1] == FLOOR_Y
