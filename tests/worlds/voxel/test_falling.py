"""Claims about falling: what it costs in half hearts, and what softens it."""

import pytest

from tests.worlds.voxel.walker import FLOOR_Y, Agent


def drop(height: float, *, floor: str = "stone", **keys) -> Agent:
    agent = Agent(y=FLOOR_Y + height).floor(floor)
    while not agent.is_on_ground:
        agent.tick(**keys)
    return agent


@pytest.mark.parametrize(("height", "half_hearts"), [(3.0, 0), (4.0, 1), (10.0, 7), (23.0, 19)])
def test_falling_hurts_by_the_blocks_beyond_three_but_for_the_tick_of_the_landing(height, half_hearts):
    assert drop(height).fall_damage == half_hearts


@pytest.mark.parametrize(
    ("floor", "keys", "half_hearts"),
    [
        ("hay_block", {}, 4),
        ("honey_block", {}, 4),
        ("slime_block", {}, 0),
        ("slime_block", {"sneak": True}, 16),
        ("white_bed", {}, 8),
        ("sand", {}, 16),
    ],
)
def test_soft_blocks_break_a_fall_of_twenty_blocks(floor, keys, half_hearts):
    assert drop(20.0, floor=floor, **keys).fall_damage == half_hearts


def test_falling_into_water_or_through_vines_does_not_hurt():
    water = Agent(y=FLOOR_Y + 12).fill("water", (0, FLOOR_Y, 0), (31, FLOOR_Y, 31))
    ladder = Agent(y=FLOOR_Y + 12).fill("vine[facing=south]", (10, FLOOR_Y, 10), (10, FLOOR_Y + 4, 10))
    for agent in (water, ladder):
        agent.tick(times=120)
        assert agent.is_on_ground
        assert agent.fall_damage == 0


def test_slime_throws_back_and_a_sneaker_stays_down():
    peaks = []
    for sneak in (False, True):
        agent = drop(10.0, floor="slime_block", sneak=sneak)
        peaks.append(max(agent.tick(sneak=sneak).position[1] for _ in range(30)) - FLOOR_Y)
    assert 5 < peaks[0] < 10
    assert peaks[1] == 0
