"""What hostile mobs do: hunt, strike, shoot, explode, climb."""

import numpy as np
import pytest

from tests.worlds.mobs.mob_yard import FLOOR_Y, Yard, events
from worlds.mobs.kinds import BEHAVIOUR_MASK, MOB_ID
from worlds.types import DAMAGE_ARROW, DAMAGE_MOB, EVENT_DAMAGE, EVENT_NONE
from worlds.voxel.combat import hurt_mob
from worlds.voxel.mob_attacks import blast_damage
from worlds.voxel.mob_moods import MOOD_CHASE, MOOD_IDLE, MOOD_PANIC
from worlds.voxel.mobs import attack
from worlds.voxel.state import NO_MOB


def test_a_zombie_hunts_the_agent_and_strikes_every_twenty_ticks():
    yard = Yard()
    yard.mob("zombie", 6.5, 16.0)
    yard.play(120)
    assert yard.state.mobs.mood_EM[0, 0] == MOOD_CHASE
    health = float(yard.state.bodies.health_E[0])
    assert health < 20.0
    yard.play(20)
    assert float(yard.state.bodies.health_E[0]) == health - 3.0


@pytest.mark.parametrize(
    ("kind", "reach_blocks"),
    [("zombie", 1.428), ("spider", 2.144), ("cave_spider", 2.144), ("polar_bear", 2.144), ("iron_golem", 2.905)],
)
def test_a_blow_lands_as_far_off_as_in_the_game(kind, reach_blocks):
    for off, is_struck in ((-0.01, True), (0.01, False)):
        yard = Yard()
        m = yard.mob(kind, 16.0, 16.0)
        yard.agent_at(16.0 + reach_blocks + off, FLOOR_Y, 16.0)
        state, tables, row = yard.state, yard.tables.mobs, MOB_ID[kind]
        attack(
            0, m, state.terrain.block_EXZY[0], yard.tables.blocks.collision, state.bodies, state.mobs, state.arrows,
            state.drops, state.log, state.clock, tables, tables.behaviour_K[row] & BEHAVIOUR_MASK, True,
            reach_blocks + off, 0.0, 0.0,
        )  # fmt: skip
        assert (events(yard) != []) == is_struck


def test_a_zombie_behind_a_wall_does_not_notice_the_agent():
    yard = Yard()
    yard.wall("stone", range(10, 11), range(FLOOR_Y, FLOOR_Y + 5), range(32))
    yard.wall("stone", range(28, 29), range(FLOOR_Y, FLOOR_Y + 5), range(32))
    yard.mob("zombie", 6.5, 16.0)
    yard.play(60)
    assert yard.state.mobs.mood_EM[0, 0] == MOOD_IDLE
    yard.wall("glass", range(10, 11), range(FLOOR_Y, FLOOR_Y + 5), range(32))
    yard.play(10)
    assert (
        yard.state.mobs.mood_EM[0, 0] == MOOD_IDLE
    )  # glass has a collision box: the game's mobs do not see through it
    yard.wall("grass", range(10, 11), range(FLOOR_Y, FLOOR_Y + 5), range(32))
    yard.play(10)
    assert yard.state.mobs.mood_EM[0, 0] == MOOD_CHASE


def test_a_zombie_farther_than_sixteen_blocks_stays_calm():
    yard = Yard(size=64)
    yard.mob("zombie", 14.0, 32.0)
    yard.play(30)
    assert yard.state.mobs.mood_EM[0, 0] == MOOD_IDLE


def test_a_zombie_goes_around_a_wall_to_the_agent():
    yard = Yard()
    yard.wall("stone", range(11, 12), range(FLOOR_Y, FLOOR_Y + 3), range(14, 19))
    yard.block("air", 11, FLOOR_Y + 1, 16)  # a window
    yard.mob("zombie", 8.5, 16.5)
    yard.play(250)
    assert yard.distance_to_agent() < 2.0


def test_a_skeleton_keeps_its_distance_and_shoots_every_forty_ticks():
    yard = Yard()
    yard.mob("skeleton", 12.0, 16.0)
    shots, was_flying = [], 0
    for tick in range(200):
        yard.state.bodies.health_E[0] = 20.0
        yard.play(1)
        if yard.state.mobs.attack_ticks_EM[0, 0] == 40:
            shots.append(tick)
        was_flying = max(was_flying, int((yard.state.arrows.life_ticks_EA[0] > 0).sum()))
    assert len(shots) >= 4
    assert set(np.diff(shots)) == {40}
    assert was_flying >= 1
    assert 5.0 < yard.distance_to_agent() < 14.0
    assert any(row[:2] == [EVENT_DAMAGE, DAMAGE_ARROW] for row in events(yard))


def test_a_creeper_explodes_after_thirty_ticks_beside_the_agent_and_breaks_no_block():
    yard = Yard()
    yard.mob("creeper", 14.5, 16.0)
    blocks = yard.state.terrain.block_EXZY.copy()
    lit = next(t for t in range(60) if yard.play(1) or yard.state.mobs.attack_ticks_EM[0, 0] > 0)
    assert lit < 10
    yard.play(28)
    assert yard.state.mobs.kind_EM[0, 0] == MOB_ID["creeper"]
    distance = yard.distance_to_agent()
    yard.play(1)
    assert yard.state.mobs.kind_EM[0, 0] == NO_MOB
    expected = min(20.0, blast_damage(distance))
    assert [EVENT_DAMAGE, DAMAGE_MOB, int(expected), 0] in events(yard)
    assert np.array_equal(yard.state.terrain.block_EXZY, blocks)


def test_blast_damage_is_the_games_formula_for_power_three():
    assert [blast_damage(distance) for distance in (0.0, 1.5, 3.0, 4.5, 5.99, 6.0)] == [43, 28, 16, 7, 1, 0]


def test_a_creeper_calms_down_when_the_agent_runs_away():
    yard = Yard(size=64)
    yard.mob("creeper", 30.5, 32.0)
    yard.play(15)
    assert yard.state.mobs.attack_ticks_EM[0, 0] > 5
    yard.agent_at(50.0, FLOOR_Y, 32.0)
    yard.play(40)
    assert yard.state.mobs.attack_ticks_EM[0, 0] == 0
    assert yard.state.mobs.kind_EM[0, 0] == MOB_ID["creeper"]


def test_a_spider_climbs_the_wall_that_stops_a_zombie():
    heights = {}
    for kind in ("spider", "zombie"):
        yard = Yard()
        yard.wall("stone", range(14, 15), range(FLOOR_Y, FLOOR_Y + 4), range(32))
        yard.wall("stone", range(2, 3), range(FLOOR_Y, FLOOR_Y + 12), range(32))
        yard.agent_at(20.0, FLOOR_Y, 16.5)
        yard.mob(kind, 11.0, 16.5)
        yard.state.mobs.mood_EM[0, 0], yard.state.mobs.mood_ticks_EM[0, 0] = MOOD_CHASE, 100
        yard.play(90)
        heights[kind] = yard.place()[0]
    assert heights["spider"] > 15.0
    assert heights["zombie"] < 14.0


@pytest.mark.parametrize(("kind", "mood"), [("wolf", MOOD_IDLE), ("iron_golem", MOOD_IDLE), ("cow", MOOD_PANIC)])
def test_an_arrow_of_a_skeleton_turns_nobody_against_the_agent(kind, mood):
    yard = Yard()
    victim = yard.mob(kind, 20.5, 16.0, row=1)
    hurt_mob(
        0, victim, yard.state.mobs, yard.state.drops, yard.state.log, yard.state.clock, yard.tables.mobs, 2.0, 1.0,
        0.0, EVENT_NONE,
    )  # fmt: skip
    yard.play(1)
    assert yard.state.mobs.mood_EM[0, victim] == mood
    assert yard.state.mobs.hurt_ticks_EM[0, victim] > 0
