import math

import numpy as np
import pytest

from tests.worlds.voxel.arena import GROUND_Y, TABLES, Arena
from worlds.items import ITEM_ID
from worlds.mobs.kinds import MOB_ID
from worlds.types import DAMAGE_ARROW, EVENT_ARROW_SHOT, EVENT_DAMAGE, EVENT_MOB_KILLED, EVENT_MOB_SHOT
from worlds.voxel.arrows import OWNER_AGENT, OWNER_AGENT_CRITICAL, arrow_damage, move_arrows, shoot_arrow
from worlds.voxel.bow import bow_power
from worlds.voxel.drops import move_drops

ARROW, GOLEM = ITEM_ID["arrow"], MOB_ID["iron_golem"]


def shoot(arena, x=16.5, y=20.0, z=16.5, direction=(1.0, 0.5, 0.2), speed=3.0, owner=OWNER_AGENT, spread=0.0):
    s = arena.state
    return shoot_arrow(0, s.arrows, s.clock, x, y, z, *direction, speed, spread, owner)


def fly(arena, ticks=1):
    s = arena.state
    for _ in range(ticks):
        move_arrows(0, s.terrain, s.bodies, s.mobs, s.arrows, s.drops, s.log, s.clock, TABLES)
        s.clock.tick_E[0] += 1


def nothing_but_air():
    arena = Arena()
    arena.state.terrain.block_EXZY[:] = 0
    arena.state.bodies.position_E3[0] = (0.5, 60.0, 0.5)
    return arena


def test_flight_equals_the_closed_recurrence():
    """v -> 0.99 v, vy -> 0.99 vy - 0.05: sums of geometric series, with -5 the speed of endless fall."""
    arena = nothing_but_air()
    start, velocity = np.array([16.5, 20.0, 16.5]), np.array([0.8, 2.1, 0.3])
    shoot(arena, direction=velocity, speed=np.linalg.norm(velocity))
    for n in range(1, 61):
        fly(arena)
        left = 0.99**n
        run = (1.0 - left) / 0.01
        position = start + [velocity[0] * run, (velocity[1] + 5.0) * run - 5.0 * n, velocity[2] * run]
        wrapped = [position[0] % 32, position[1], position[2] % 32]
        np.testing.assert_allclose(arena.state.arrows.position_EA3[0, 0], wrapped, atol=1e-9)
        expected = [velocity[0] * left, (velocity[1] + 5.0) * left - 5.0, velocity[2] * left]
        np.testing.assert_allclose(arena.state.arrows.velocity_EA3[0, 0], expected, atol=1e-12)


def test_water_damps_to_six_tenths():
    arena = nothing_but_air()
    arena.put("water", 16, 20, 16)
    shoot(arena, direction=(1.0, 0.0, 0.0), speed=0.2)
    fly(arena)
    np.testing.assert_allclose(arena.state.arrows.velocity_EA3[0, 0], [0.12, -0.05, 0.0], atol=1e-12)


@pytest.mark.parametrize(("ticks", "power"), [(0, 0.0), (3, 0.1075), (10, 0.416667), (20, 1.0), (60, 1.0)])
def test_bow_power_is_the_published_one(ticks, power):
    assert bow_power(ticks) == pytest.approx(power, abs=1e-4)


def archer(draw_ticks, arrows=3):
    arena = Arena()
    arena.give("bow")
    arena.give("arrow", arrows, slot=9)
    arena.look_at(16.5, GROUND_Y + 1.62, 30.0)
    if draw_ticks:
        arena.press("use", ticks=draw_ticks)
    arena.press()
    return arena


def test_a_released_bow_shoots_one_arrow_of_the_inventory():
    arena = archer(20)
    assert arena.count("arrow") == 2
    assert arena.events() == [(EVENT_ARROW_SHOT, ARROW, 100, 0)]
    arrows = arena.state.arrows
    assert arrows.owner_EA[0, 0] == OWNER_AGENT_CRITICAL
    np.testing.assert_allclose(arrows.position_EA3[0, 0], [16.5, GROUND_Y + 1.52, 16.5], atol=1e-9)
    assert np.linalg.norm(arrows.velocity_EA3[0, 0]) == pytest.approx(3.0, rel=0.05)
    assert arrows.velocity_EA3[0, 0, 2] > 2.9


def test_half_a_draw_shoots_slower_and_two_ticks_do_not_shoot():
    arena = archer(10)
    assert np.linalg.norm(arena.state.arrows.velocity_EA3[0, 0]) == pytest.approx(3.0 * 0.416667, rel=0.05)
    assert arena.state.arrows.owner_EA[0, 0] == OWNER_AGENT
    arena = archer(2)
    assert arena.count("arrow") == 3
    assert arena.events() == []


def test_no_arrows_no_shot():
    arena = archer(0, arrows=1)
    arena.give("", slot=9, count=0)
    arena.press("use", ticks=25)
    assert arena.state.hands.bow_ticks_E[0] == 0
    arena.press()
    assert arena.events() == []


def test_changing_the_slot_lets_the_bow_go_without_a_shot():
    arena = archer(0)
    arena.press("use", ticks=20)
    arena.press("use", "hotbar.2")
    arena.press()
    assert arena.count("arrow") == 3
    assert arena.events() == []


def test_an_arrow_keeps_the_motion_of_the_archer():
    still, moving = archer(20), Arena()
    moving.give("bow")
    moving.give("arrow", 3, slot=9)
    moving.look_at(16.5, GROUND_Y + 1.62, 30.0)
    moving.state.bodies.velocity_E3[0] = (0.3, -0.5, 0.1)
    moving.press("use", ticks=20)
    moving.press()
    difference = moving.state.arrows.velocity_EA3[0, 0] - still.state.arrows.velocity_EA3[0, 0]
    np.testing.assert_allclose(difference, [0.3, 0.0, 0.1], atol=1e-12)


def test_spread_has_the_stated_deviation():
    arena = nothing_but_air()
    directions = []
    for tick in range(600):
        arena.state.clock.tick_E[0] = tick
        row = shoot(arena, direction=(1.0, 0.0, 0.0), speed=1.0, spread=0.0075)
        directions.append(arena.state.arrows.velocity_EA3[0, row] - [1.0, 0.0, 0.0])
    np.testing.assert_allclose(np.std(directions, axis=0), 0.0075, rtol=0.12)
    np.testing.assert_allclose(np.mean(directions, axis=0), 0.0, atol=0.001)


def test_damage_is_twice_the_speed_rounded_up_and_more_when_critical():
    assert arrow_damage(1, 1, 1, 3.0, False) == 6
    assert arrow_damage(1, 1, 1, 2.51, False) == 6
    assert arrow_damage(1, 1, 1, 0.2, False) == 1
    critical = {arrow_damage(1, tick, 1, 3.0, True) for tick in range(200)}
    assert critical == {6, 7, 8, 9, 10}


def test_an_arrow_hurts_the_first_mob_on_its_way_and_is_gone():
    arena = Arena()
    arena.put_mob("iron_golem", 20.0, GROUND_Y, 16.5, slot=2)
    arena.put_mob("iron_golem", 22.0, GROUND_Y, 16.5, row=1)
    shoot(arena, y=GROUND_Y + 1.0, direction=(1.0, 0.0, 0.0))
    fly(arena, 2)
    assert arena.events() == [(EVENT_MOB_SHOT, GOLEM, 2, 6)]
    assert arena.state.arrows.life_ticks_EA[0, 0] == 0
    assert arena.state.mobs.velocity_EM3[0, 0, 0] == pytest.approx(0.4)
    assert arena.state.mobs.health_EM[0, 1] == 100.0


def test_a_kill_with_the_bow_says_so():
    arena = Arena()
    arena.put_mob("chicken", 19.0, GROUND_Y, 16.5)
    shoot(arena, y=GROUND_Y + 0.4, direction=(1.0, 0.0, 0.0))
    fly(arena)
    assert arena.events()[-1] == (EVENT_MOB_KILLED, MOB_ID["chicken"], 0, EVENT_MOB_SHOT)


def test_boxes_are_grown_by_three_tenths():
    for aside, hits in ((0.49, True), (0.51, False)):
        arena = Arena()
        arena.put_mob("chicken", 19.0, GROUND_Y, 16.5)
        shoot(arena, y=GROUND_Y + 0.4, z=16.5 + aside, direction=(1.0, 0.0, 0.0))
        fly(arena)
        assert bool(arena.events()) == hits


def test_an_arrow_bounces_off_a_mob_that_cannot_be_hurt():
    arena = Arena()
    arena.put_mob("iron_golem", 19.0, GROUND_Y, 16.5)
    arena.state.mobs.hurt_ticks_EM[0, 0] = 5
    shoot(arena, y=GROUND_Y + 1.0, direction=(1.0, 0.0, 0.0))
    fly(arena)
    assert arena.state.arrows.velocity_EA3[0, 0, 0] == pytest.approx(-0.297)
    assert arena.events() == []


def test_the_arrow_of_a_mob_hurts_the_agent_and_no_event_tells_of_mobs_it_hits():
    arena = Arena()
    arena.put_mob("skeleton", 22.5, GROUND_Y, 16.5, row=3)
    shoot(arena, x=22.0, y=GROUND_Y + 1.0, direction=(-1.0, 0.0, 0.0), speed=1.6, owner=3)
    fly(arena, 5)
    assert arena.state.bodies.health_E[0] == 16.0
    assert arena.events() == [(EVENT_DAMAGE, DAMAGE_ARROW, 4, 0)]
    arena = Arena()
    arena.put_mob("cow", 19.5, GROUND_Y, 16.5, row=1)
    arena.put_mob("skeleton", 22.5, GROUND_Y, 16.5, row=3)
    shoot(arena, x=22.0, y=GROUND_Y + 1.0, direction=(-1.0, 0.0, 0.0), speed=1.6, owner=3)
    fly(arena, 3)
    assert arena.state.mobs.health_EM[0, 1] == 6.0
    assert arena.events() == []


def test_the_agent_is_not_hit_by_its_own_arrow():
    arena = Arena()
    shoot(arena, y=GROUND_Y + 1.0, direction=(0.0, 1.0, 0.0), speed=0.3)
    fly(arena, 30)
    assert arena.state.bodies.health_E[0] == 20.0


def test_grass_does_not_stop_an_arrow_and_stone_does():
    arena = Arena()
    arena.put("grass", 18, 10, 16)
    arena.put("stone", 20, 10, 16)
    shoot(arena, y=GROUND_Y + 0.4, direction=(1.0, 0.0, 0.0))
    fly(arena, 3)
    arrows = arena.state.arrows
    assert arrows.is_stuck_EA[0, 0]
    assert arrows.position_EA3[0, 0, 0] == pytest.approx(20.0 - 0.05, abs=1e-4)
    stuck = arrows.position_EA3[0, 0].copy()
    fly(arena, 20)
    np.testing.assert_array_equal(arrows.position_EA3[0, 0], stuck)


def test_a_stuck_arrow_falls_when_its_block_goes_and_vanishes_after_its_time():
    arena = Arena()
    arena.put("stone", 20, 13, 16)
    shoot(arena, y=GROUND_Y + 3.4, direction=(1.0, 0.0, 0.0))
    fly(arena, 3)
    arena.put("air", 20, 13, 16)
    fly(arena, 40)
    arrows = arena.state.arrows
    assert arrows.position_EA3[0, 0, 1] == pytest.approx(GROUND_Y, abs=0.06)
    assert arrows.is_stuck_EA[0, 0]
    left = arrows.life_ticks_EA[0, 0]
    assert left == 1200 - 43
    arrows.life_ticks_EA[0, 0] = 2
    fly(arena)
    assert arrows.life_ticks_EA[0, 0] == 1
    fly(arena)
    assert arrows.life_ticks_EA[0, 0] == 0


def test_the_agent_takes_its_own_stuck_arrow_back_but_not_that_of_a_mob():
    for owner, count in ((OWNER_AGENT, 1), (0, 0)):
        arena = Arena()
        shoot(arena, x=18.0, y=GROUND_Y + 1.0, direction=(-0.1, -1.0, 0.0), owner=owner)
        s = arena.state
        for _ in range(3):
            fly(arena)
            move_drops(0, s.terrain, s.bodies, s.hands, s.drops, s.log, s.clock, TABLES)
        assert arena.count("arrow") == count


def test_the_oldest_arrow_gives_way():
    arena = nothing_but_air()
    for speed in range(1, 10):
        shoot(arena, direction=(0.0, 1.0, 0.0), speed=speed / 10.0)
        fly(arena)
    speeds = [math.hypot(*velocity) for velocity in arena.state.arrows.velocity_EA3[0]]
    assert (arena.state.arrows.life_ticks_EA[0] > 0).all()
    assert max(speeds) == speeds[0]  # the ninth took the first one's row
