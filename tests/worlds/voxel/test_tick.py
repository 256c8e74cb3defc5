"""The tick as a whole, played as plain Python: what its parts do to one another."""

import numpy as np
import pytest

from tests.worlds.voxel.arena import GROUND_Y, TABLES, Arena
from worlds.types import BUTTON_INDEX, BUTTONS
from worlds.voxel.state import FULL_HEALTH
from worlds.voxel.tick import tick_env

# Walking on stone ends at v = 0.91 x 0.6 (v + a) with a = 0.98 x 0.1; the position moves by v + a.
_WALK_SPEED = 0.098 / (1.0 - 0.91 * 0.6)


def _play(arena, *keys, ticks):
    buttons_EB = np.zeros((1, len(BUTTONS)), bool)
    buttons_EB[0, [BUTTON_INDEX[key] for key in keys]] = True
    tick_env(0, ticks, arena.state, TABLES, buttons_EB, np.zeros((1, 2)))


def _speed(arena, *keys):
    """Return how far the agent comes in one tick, in blocks."""
    z = float(arena.state.bodies.position_E3[0, 2])
    _play(arena, *keys, ticks=1)
    return float(arena.state.bodies.position_E3[0, 2]) - z


def _archer():
    arena = Arena()
    arena.give("bow", 1, 0)
    arena.give("arrow", 5, 1)
    arena.state.bodies.position_E3[0] = (16.5, GROUND_Y, 2.5)
    return arena


def test_a_fifth_of_the_speed_is_left_while_a_bow_is_drawn_and_all_of_it_after():
    arena = _archer()
    _play(arena, "forward", "use", ticks=20)
    assert _speed(arena, "forward", "use") == pytest.approx(0.2 * _WALK_SPEED, rel=1e-3)
    _play(arena, "forward", ticks=20)
    assert _speed(arena, "forward") == pytest.approx(_WALK_SPEED, rel=1e-3)


def test_the_tick_that_lets_an_arrow_go_is_walked_at_full_input():
    arena, still = _archer(), _archer()
    _play(arena, "use", ticks=20)
    assert _speed(arena, "forward") == pytest.approx(_speed(still, "forward"))


def test_nobody_begins_to_sprint_with_a_drawn_bow_and_who_sprints_goes_on():
    arena = _archer()
    _play(arena, "use", ticks=2)
    _play(arena, "forward", "use", "sprint", ticks=3)
    assert not arena.state.bodies.is_sprinting_E[0]
    arena = _archer()
    _play(arena, "forward", "sprint", ticks=3)
    _play(arena, "forward", "use", "sprint", ticks=5)
    assert arena.state.bodies.is_sprinting_E[0]


def test_a_meal_slows_too_and_a_bow_without_arrows_does_not():
    arena = _archer()
    arena.give("apple", 1, 0)
    arena.state.bodies.health_E[0] = 10.0
    _play(arena, "forward", "use", ticks=20)
    assert _speed(arena, "forward", "use") == pytest.approx(0.2 * _WALK_SPEED, rel=1e-3)
    arena = _archer()
    arena.give("", 0, 1)
    _play(arena, "forward", "use", ticks=20)
    assert _speed(arena, "forward", "use") == pytest.approx(_WALK_SPEED, rel=1e-3)


def test_a_berry_bush_hurts_who_walks_in_it_and_not_who_stands():
    arena = Arena()
    for x in (15, 16, 17):
        arena.put("sweet_berry_bush", x, GROUND_Y, 16)
    _play(arena, ticks=40)
    assert arena.state.bodies.health_E[0] == FULL_HEALTH
    _play(arena, "left", ticks=5)
    assert arena.state.bodies.health_E[0] == FULL_HEALTH - 1


def test_a_step_over_the_border_of_the_world_is_as_short_as_any_other():
    arena = Arena()
    for x in (31, 0):
        arena.put("sweet_berry_bush", x, GROUND_Y, 16)
    arena.state.bodies.position_E3[0] = (0.0, GROUND_Y, 16.5)
    arena.state.bodies.velocity_E3[0, 0] = -0.0035  # 0.8 of it in a bush: too little to be scratched
    _play(arena, ticks=1)
    assert 31.99 < arena.state.bodies.position_E3[0, 0] < 32.0
    assert arena.state.bodies.health_E[0] == FULL_HEALTH
