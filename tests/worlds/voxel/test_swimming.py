"""Claims about water, lava, ladders and webs: what swims, sinks, climbs and holds."""

import pytest

from tests.worlds.voxel.walker import BLOCKS, FLOOR_Y, Agent, blocks_per_s
from worlds.voxel.body import fluid_at_box
from worlds.voxel.tables import FLUID_LAVA, FLUID_NONE, FLUID_WATER


def test_holding_jump_in_water_swims_up_and_letting_go_sinks():
    agent = Agent(y=FLOOR_Y + 1).fill("water", (0, FLOOR_Y, 0), (31, FLOOR_Y + 5, 31)).tick(jump=True, times=30)
    risen = agent.position[1]
    assert risen > FLOOR_Y + 3
    assert agent.tick(times=60).position[1] < risen - 1


def test_sneaking_in_water_sinks_faster():
    depths = []
    for sneak in (False, True):
        agent = Agent(y=FLOOR_Y + 9).fill("water", (0, FLOOR_Y, 0), (31, FLOOR_Y + 12, 31))
        depths.append(agent.tick(sneak=sneak, times=20).position[1])
    assert depths[1] < depths[0] - 1


@pytest.mark.parametrize("fluid", ["water", "lava"])
def test_a_swimmer_hops_out_onto_the_shore(fluid):
    agent = Agent(y=FLOOR_Y - 1).fill(fluid, (8, FLOOR_Y - 3, 8), (12, FLOOR_Y - 1, 12))
    agent.tick(forward=1, jump=True, times=60)
    assert agent.position[1] >= FLOOR_Y
    assert agent.position[2] > 13


def test_walking_is_slower_in_water_than_in_air_and_slowest_in_lava():
    speeds = []
    for fluid in ("air", "water", "lava"):
        agent = Agent().fill(fluid, (0, FLOOR_Y, 0), (31, FLOOR_Y + 3, 31))
        speeds.append(blocks_per_s(agent, forward=1))
    assert speeds[1] == pytest.approx(20 * 0.02 * 0.98 / 0.2, rel=1e-3)
    assert speeds[2] == pytest.approx(20 * 0.02 * 0.98 / 0.5, rel=1e-3)
    assert speeds[0] > speeds[1]


@pytest.mark.parametrize(
    ("y", "fluid"), [(FLOOR_Y + 0.88, FLUID_WATER), (FLOOR_Y + 0.89, FLUID_NONE), (FLOOR_Y - 0.2, FLUID_WATER)]
)
def test_a_box_is_in_water_up_to_eight_ninths_of_the_cell(y, fluid):
    agent = Agent().fill("water", (0, FLOOR_Y, 0), (31, FLOOR_Y, 31))
    assert fluid_at_box(agent.block_XZY, BLOCKS, 10.2, y, 10.2, 10.8, y + 1.8, 10.8) == fluid
    agent.fill("lava", (0, FLOOR_Y, 0), (31, FLOOR_Y, 31))
    assert (fluid_at_box(agent.block_XZY, BLOCKS, 10.2, y, 10.2, 10.8, y + 1.8, 10.8) == FLUID_LAVA) == bool(fluid)


def ladder() -> Agent:
    agent = Agent(z=11.5).fill("stone", (0, FLOOR_Y, 13), (31, FLOOR_Y + 8, 13))
    return agent.fill("ladder[facing=north]", (0, FLOOR_Y, 12), (31, FLOOR_Y + 8, 12)).tick(forward=1, times=30)


def test_a_ladder_is_climbed_at_2_35_blocks_a_second_and_held_by_sneaking():
    agent = ladder()
    before = agent.position[1]
    rise = agent.tick(forward=1, times=10).position[1] - before
    assert rise * 2 == pytest.approx(2.352, rel=1e-3)
    agent.tick(sneak=True, times=2)
    held = agent.position[1]
    assert agent.tick(sneak=True, times=20).position[1] == held
    agent.tick(times=3)
    slid = agent.position[1]
    assert slid - agent.tick(times=10).position[1] == pytest.approx(1.5)


def test_a_cobweb_holds_a_walker_and_a_fall():
    walker = Agent().fill("cobweb", (0, FLOOR_Y, 12), (31, FLOOR_Y + 1, 31)).tick(forward=1, times=60)
    assert walker.position[2] < 14
    faller = Agent(y=FLOOR_Y + 20).fill("cobweb", (0, FLOOR_Y, 0), (31, FLOOR_Y + 2, 31))
    while not faller.is_on_ground:
        faller.tick()
    assert faller.fall_damage == 0
