import numpy as np
import pytest

from tests.worlds.voxel.arena import GROUND_Y, TABLES, Arena
from worlds.items import ITEM_ID
from worlds.mobs.kinds import MOB_ID
from worlds.types import (
    DAMAGE_ARROW,
    DAMAGE_FALL,
    DAMAGE_MOB,
    EVENT_DAMAGE,
    EVENT_DEATH,
    EVENT_MOB_KILLED,
    EVENT_MOB_STRUCK,
    EVENT_NONE,
)
from worlds.voxel.combat import INVULNERABLE_TICKS, attack_strength, blow_damage, hurt_agent, hurt_mob
from worlds.voxel.state import NO_MOB

COW = MOB_ID["cow"]


def arena_with_cow(item="", kind="cow", slot=0):
    """A cow whose box begins 1.05 blocks in front of the eye."""
    arena = Arena()
    arena.put_mob(kind, 16.5, GROUND_Y, 18.0, slot=slot)
    arena.look_at(16.5, GROUND_Y + 1.0, 18.0)
    if item:
        arena.give(item)
    return arena


def health(arena, row=0):
    return float(arena.state.mobs.health_EM[0, row])


@pytest.mark.parametrize(
    ("item", "damage", "cooldown_s"),
    [
        # minecraft.wiki/w/Damage and the weapons' pages for Java Edition 1.16: half hearts of a full blow, seconds.
        ("wooden_sword", 4, 0.625), ("stone_sword", 5, 0.625), ("iron_sword", 6, 0.625), ("golden_sword", 4, 0.625),
        ("diamond_sword", 7, 0.625), ("netherite_sword", 8, 0.625), ("wooden_axe", 7, 1.25), ("stone_axe", 9, 1.25),
        ("iron_axe", 9, 1.11), ("diamond_axe", 9, 1.0), ("netherite_axe", 10, 1.0), ("golden_axe", 7, 1.0),
        ("iron_pickaxe", 4, 0.83), ("iron_shovel", 4.5, 1.0), ("iron_hoe", 1, 0.33), ("stick", 1, 0.25),
    ],
)  # fmt: skip
def test_a_full_blow_costs_the_published_half_hearts_after_the_published_cooldown(item, damage, cooldown_s):
    arena = arena_with_cow(item, kind="iron_golem")
    arena.press("attack")
    assert 100.0 - health(arena) == damage
    blows_per_s = TABLES.items.attack_speed_I[ITEM_ID[item]]
    ticks = cooldown_s * 20
    assert attack_strength(np.ceil(ticks), blows_per_s) == 1.0
    assert attack_strength(ticks - 1.1, blows_per_s) < 1.0


def test_damage_grows_with_the_square_of_the_cooldown():
    assert blow_damage(5.0, 1.0, False) == 5.0
    assert blow_damage(5.0, 0.5, False) == pytest.approx(5.0 * 0.4)
    assert blow_damage(5.0, 0.0, False) == 1.0
    assert attack_strength(0, 4.0) == pytest.approx(0.1)
    arena = arena_with_cow("iron_sword", kind="iron_golem")
    arena.press("attack")
    arena.press(ticks=INVULNERABLE_TICKS)
    arena.state.mobs.hurt_ticks_EM[0, 0] = 0
    before = health(arena)
    arena.press("attack")
    strength = (11 + 0.5) / 12.5
    assert before - health(arena) == pytest.approx(6.0 * (0.2 + 0.8 * strength**2), abs=1e-5)


def test_only_a_fresh_press_strikes():
    arena = arena_with_cow("stone_sword", kind="iron_golem")
    arena.press("attack", ticks=30)
    assert health(arena) == 95.0
    arena.state.mobs.hurt_ticks_EM[0, 0] = 0
    arena.press()
    arena.press("attack")
    assert health(arena) < 95.0


def test_a_blow_into_the_air_starts_the_cooldown():
    arena = Arena()
    arena.give("stone_sword")
    arena.state.bodies.pitch_deg_E[0] = -60.0
    arena.press("attack")
    assert arena.state.hands.swing_ticks_E[0] == 0


def test_an_arm_that_mines_has_no_strength_for_a_blow():
    arena = Arena()
    arena.put("stone", 16, GROUND_Y + 1, 18)
    arena.look_at_block(16, GROUND_Y + 1, 18)
    arena.press("attack", ticks=10)
    assert arena.state.hands.swing_ticks_E[0] == 0


def test_a_falling_blow_is_critical_and_a_sprinting_one_is_not():
    arena = arena_with_cow("iron_sword", kind="iron_golem")
    arena.state.bodies.is_on_ground_E[0] = False
    arena.state.bodies.fall_blocks_E[0] = 0.3
    arena.press("attack")
    assert health(arena) == 91.0
    arena = arena_with_cow("iron_sword", kind="iron_golem")
    arena.state.bodies.is_on_ground_E[0] = False
    arena.state.bodies.is_sprinting_E[0] = True
    arena.state.bodies.fall_blocks_E[0] = 0.3
    arena.press("attack")
    assert health(arena) == 94.0


@pytest.mark.parametrize("block", ["water", "ladder"])
def test_no_critical_blow_in_water_or_on_a_ladder(block):
    arena = arena_with_cow("iron_sword", kind="iron_golem")
    arena.put(block, 16, GROUND_Y, 16)
    arena.state.bodies.is_on_ground_E[0] = False
    arena.state.bodies.fall_blocks_E[0] = 0.3
    arena.press("attack")
    assert health(arena) == 94.0


def test_a_blow_knocks_back_and_a_sprinting_one_farther():
    arena = arena_with_cow()
    arena.press("attack")
    np.testing.assert_allclose(arena.state.mobs.velocity_EM3[0, 0], [0.0, 0.4, 0.4], atol=1e-12)
    arena = arena_with_cow()
    arena.state.bodies.is_sprinting_E[0] = True
    arena.state.bodies.velocity_E3[0] = (0.0, 0.0, 0.2)
    arena.press("attack")
    np.testing.assert_allclose(arena.state.mobs.velocity_EM3[0, 0], [0.0, 0.4, 0.7], atol=1e-12)
    assert arena.state.bodies.velocity_E3[0, 2] == pytest.approx(0.12)
    assert not arena.state.bodies.is_sprinting_E[0]


def test_a_weak_blow_of_a_sprinter_throws_no_farther_and_does_not_stop_it():
    arena = arena_with_cow()
    arena.state.bodies.is_sprinting_E[0] = True
    arena.state.hands.swing_ticks_E[0] = 0
    arena.press("attack")
    np.testing.assert_allclose(arena.state.mobs.velocity_EM3[0, 0], [0.0, 0.4, 0.4], atol=1e-12)
    assert arena.state.bodies.is_sprinting_E[0]


def test_a_blow_lifts_nobody_who_is_in_the_air():
    arena = arena_with_cow()
    arena.state.mobs.is_on_ground_EM[0, 0] = False
    arena.state.mobs.velocity_EM3[0, 0] = (0.0, -0.2, 0.0)
    arena.press("attack")
    np.testing.assert_allclose(arena.state.mobs.velocity_EM3[0, 0], [0.0, -0.2, 0.4], atol=1e-12)


def test_a_mob_is_invulnerable_for_ten_ticks():
    arena = arena_with_cow(kind="iron_golem")
    s = arena.state

    def hurt(event_kind=EVENT_MOB_STRUCK):
        return hurt_mob(0, 0, s.mobs, s.drops, s.log, s.clock, TABLES.mobs, 2.0, 0.0, 1.0, event_kind)

    assert hurt()
    assert not hurt()
    assert s.mobs.hurt_ticks_EM[0, 0] == 10
    assert s.mobs.is_alarmed_EM[0, 0]
    assert len(arena.events()) == 1
    s.mobs.hurt_ticks_EM[0, 0], s.mobs.is_alarmed_EM[0, 0] = 0, False
    assert hurt(EVENT_NONE)
    assert not hurt(EVENT_NONE)
    assert s.mobs.hurt_ticks_EM[0, 0] == 10
    assert not s.mobs.is_alarmed_EM[0, 0]  # a golem does not hunt the agent for what another did
    assert health(arena) == 96.0
    assert arena.events() == []


def test_reach_to_mobs_is_three_blocks():
    arena = arena_with_cow()
    arena.look_at(16.5, GROUND_Y + 1.62, 30.0)
    arena.state.mobs.kind_EM[0, 0] = MOB_ID["zombie"]
    arena.state.mobs.position_EM3[0, 0, 2] = 16.5 + 3.0 + 0.3 + 0.01
    arena.press("attack")
    assert arena.events() == []
    arena.press()
    arena.state.mobs.position_EM3[0, 0, 2] -= 0.02
    arena.press("attack")
    assert len(arena.events()) == 1


def test_a_block_in_front_shields_a_mob_and_a_mob_in_front_shields_a_block():
    arena = arena_with_cow()
    arena.put("stone", 16, 11, 17)
    arena.put("stone", 16, 10, 17)
    arena.press("attack")
    assert health(arena) == 10.0
    assert arena.state.hands.mine_cell_E[0] >= 0
    arena = arena_with_cow()
    arena.put("dirt", 16, 10, 19)
    arena.put("dirt", 16, 11, 19)
    arena.press("attack", ticks=40)
    assert health(arena) == 9.0
    assert arena.at(16, 10, 19) != 0


def test_a_mob_out_of_reach_still_shields_the_block_behind_it():
    arena = arena_with_cow()
    arena.look_at(16.5, GROUND_Y + 1.2, 20.0)
    arena.put("dirt", 16, 11, 20)
    arena.state.mobs.position_EM3[0, 0, 2] = 16.5 + 3.0 + 0.46
    arena.press("attack", ticks=40)
    assert arena.at(16, 11, 20) != 0
    assert arena.events() == []
    arena.state.mobs.kind_EM[0, 0] = NO_MOB
    arena.press("attack", ticks=40)
    assert arena.at(16, 11, 20) == 0


def test_mobs_beyond_the_seam_of_the_world_can_be_hit():
    arena = arena_with_cow()
    arena.state.bodies.position_E3[0, 2] = 31.5
    arena.state.mobs.position_EM3[0, 0, 2] = 1.0
    arena.press("attack")
    assert health(arena) == 9.0
    assert arena.state.mobs.velocity_EM3[0, 0, 2] > 0.0


def test_events_tell_of_the_blow_and_of_the_kill():
    arena = arena_with_cow("diamond_sword", slot=6)
    arena.press("attack")
    assert arena.events() == [(EVENT_MOB_STRUCK, COW, 6, 7)]
    arena.press(ticks=20)
    arena.state.mobs.hurt_ticks_EM[0, 0] = 0
    arena.press("attack")
    assert arena.events() == [(EVENT_MOB_STRUCK, COW, 6, 3), (EVENT_MOB_KILLED, COW, 6, EVENT_MOB_STRUCK)]
    assert arena.state.mobs.kind_EM[0, 0] == NO_MOB
    assert arena.dropped() == {ITEM_ID["beef"]: 2}


def test_the_agent_loses_health_is_pushed_and_is_safe_for_ten_ticks():
    arena = Arena()
    s = arena.state
    assert hurt_agent(0, s.bodies, s.log, 3.0, DAMAGE_MOB, -2.0, 0.0)
    assert s.bodies.health_E[0] == 17.0
    np.testing.assert_allclose(s.bodies.velocity_E3[0], [-0.4, 0.4, 0.0], atol=1e-12)
    for _ in range(9):
        arena.press()
        assert not hurt_agent(0, s.bodies, s.log, 3.0, DAMAGE_ARROW, 0.0, 0.0)
    arena.press()
    assert hurt_agent(0, s.bodies, s.log, 3.5, DAMAGE_ARROW, 0.0, 0.0)
    assert arena.events() == [(EVENT_DAMAGE, DAMAGE_MOB, 3, 0), (EVENT_DAMAGE, DAMAGE_ARROW, 4, 0)]


def test_a_fall_hurts_even_after_a_blow_and_death_is_told_once():
    arena = Arena()
    s = arena.state
    hurt_agent(0, s.bodies, s.log, 1.0, DAMAGE_MOB, 0.0, 0.0)
    assert hurt_agent(0, s.bodies, s.log, 40.0, DAMAGE_FALL, 0.0, 0.0)
    assert not hurt_agent(0, s.bodies, s.log, 40.0, DAMAGE_FALL, 0.0, 0.0)
    assert s.bodies.health_E[0] == 0.0
    assert arena.events()[1:] == [(EVENT_DAMAGE, DAMAGE_FALL, 19, 0), (EVENT_DEATH, DAMAGE_FALL, 0, 0)]
