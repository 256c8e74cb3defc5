"""Claims about what hurts an agent besides falls and mobs: drowning, cactus, lava, magma."""

import pytest

from tests.worlds.voxel.walker import FLOOR_Y, Agent
from worlds.types import DAMAGE_BLOCK, DAMAGE_DROWNING
from worlds.voxel.state import FULL_AIR_TICKS


def test_drowning_begins_after_320_ticks_and_goes_on_every_20():
    agent = Agent().fill("water", (0, FLOOR_Y, 0), (31, FLOOR_Y + 5, 31))
    hurts = [tick for tick in range(1, 401) if agent.hurt() == (2.0, DAMAGE_DROWNING)]
    assert hurts == [320, 340, 360, 380, 400]


def test_breath_comes_back_by_four_ticks_a_tick_once_the_head_is_out():
    agent = Agent().fill("water", (0, FLOOR_Y, 0), (31, FLOOR_Y + 5, 31))
    for _ in range(100):
        agent.hurt()
    agent.fill("air", (0, FLOOR_Y + 1, 0), (31, FLOOR_Y + 5, 31))
    agent.hurt()
    assert agent.bodies.air_ticks_E[0] == 204
    for _ in range(40):
        agent.hurt()
    assert agent.bodies.air_ticks_E[0] == FULL_AIR_TICKS


@pytest.mark.parametrize(
    ("block", "cell", "sneak", "half_hearts"),
    [
        ("lava", (10, FLOOR_Y, 10), False, 4.0),
        ("cactus", (10, FLOOR_Y, 11), False, 1.0),
        ("cactus", (10, FLOOR_Y, 12), False, 0.0),
        ("sweet_berry_bush", (10, FLOOR_Y, 10), False, 1.0),
        ("magma_block", (10, FLOOR_Y - 1, 10), False, 1.0),
        ("magma_block", (10, FLOOR_Y - 1, 10), True, 0.0),
        ("magma_block", (10, FLOOR_Y - 2, 10), False, 0.0),
    ],
)
def test_blocks_hurt_whoever_touches_them(block, cell, sneak, half_hearts):
    agent = Agent(z=10.75).fill(block, cell).tick(sneak=sneak, times=2)
    assert agent.hurt(moved_blocks=0.1) == (half_hearts, DAMAGE_BLOCK)
