"""Mobs: how they move, what they do to the agent, where they never go."""

import math

import numba
import numpy as np
import pytest

from tests.worlds.mobs.mob_yard import FLOOR_Y, Yard, events, send, strike
from worlds.items import ITEM_ID
from worlds.mobs.kinds import BEHAVIOUR_CREEPER, BEHAVIOUR_MELEE, BEHAVIOUR_PASSIVE, BEHAVIOUR_RANGED, MOB_ID, MOBS
from worlds.types import DAMAGE_MOB, EVENT_DAMAGE, EVENT_NONE
from worlds.voxel import arrows, body, chance, combat, drops, inventory, log, mobs, raycast
from worlds.voxel.link import link
from worlds.voxel.mob_moods import MOOD_IDLE, MOOD_PANIC, MOOD_WALK, PANIC_TICKS
from worlds.voxel.state import NO_MOB

KINDS = [kind.name for kind in MOBS]


def test_there_are_nine_harmless_and_four_hostile_kinds_or_more():
    behaviours = [kind.behaviour for kind in MOBS]
    assert sum(behaviour < BEHAVIOUR_MELEE for behaviour in behaviours) >= 9
    assert sum(behaviour >= BEHAVIOUR_MELEE for behaviour in behaviours) >= 4
    assert {BEHAVIOUR_PASSIVE, BEHAVIOUR_RANGED, BEHAVIOUR_CREEPER} <= set(behaviours)


@pytest.mark.parametrize(
    ("kind", "health", "width", "height"),
    [
        ("cow", 10, 0.9, 1.4), ("sheep", 8, 0.9, 1.3), ("pig", 10, 0.9, 0.9), ("chicken", 4, 0.4, 0.7),
        ("wolf", 8, 0.6, 0.85), ("rabbit", 3, 0.4, 0.5), ("zombie", 20, 0.6, 1.95), ("skeleton", 20, 0.6, 1.99),
        ("spider", 16, 1.4, 0.9), ("creeper", 20, 0.6, 1.7), ("iron_golem", 100, 1.4, 2.7),
    ],
)  # fmt: skip
def test_health_and_box_are_those_of_the_game(kind, health, width, height):
    row = MOBS[MOB_ID[kind]]
    assert (row.health, row.width, row.height) == (health, width, height)


@pytest.mark.parametrize("kind", ["cow", "zombie", "horse"])
def test_a_mob_on_flat_ground_walks_at_the_closed_form_of_its_speed(kind):
    yard = Yard()
    yard.agent_at(16, FLOOR_Y + 30, 16)
    yard.mob(kind, 8.5, 8.5)
    send(yard, 8.5, 22.0)
    yard.play(40)
    before = yard.place()
    yard.play(20)
    speed = yard.tables.mobs.speed_K[MOB_ID[kind]]
    # The limit of v' = 0.546 v + 0.98 speed**2; a body moves by v before friction is taken off.
    assert yard.place()[2] - before[2] == pytest.approx(20 * 0.98 * speed**2 / (1 - 0.6 * 0.91), rel=0.01)


def test_a_mob_left_alone_strolls_and_rests():
    yard = Yard()
    yard.mob("cow", 8.5, 8.5, is_busy=True)
    moods = []
    for _ in range(120):
        yard.play(10)
        moods.append(int(yard.state.mobs.mood_EM[0, 0]))
    assert {MOOD_IDLE, MOOD_WALK} == set(moods)
    assert yard.state.mobs.limb_EM[0, 0] > 8.0


def test_a_struck_cow_flees_for_five_seconds_and_calms_down():
    yard = Yard()
    yard.mob("cow", 14.5, 16.0)
    strike(yard)
    start = yard.distance_to_agent()
    yard.play(60)
    assert yard.state.mobs.mood_EM[0, 0] == MOOD_PANIC
    assert yard.distance_to_agent() > start + 3.0
    yard.play(PANIC_TICKS - 60 + 2)
    assert yard.state.mobs.mood_EM[0, 0] == MOOD_IDLE


def test_a_wolf_strikes_back_but_does_not_begin():
    yard = Yard()
    yard.mob("wolf", 12.5, 16.0)
    yard.play(100)
    assert events(yard) == []
    strike(yard)
    yard.play(60)
    assert [EVENT_DAMAGE, DAMAGE_MOB, 4, 0] in events(yard)


def test_a_cow_never_hurts_the_agent():
    yard = Yard()
    yard.mob("cow", 15.5, 15.0, is_busy=True)
    strike(yard)
    yard.play(200)
    assert [row for row in events(yard) if row[0] == EVENT_DAMAGE] == []


def test_a_mob_jumps_onto_a_block_and_steps_onto_a_slab():
    yard = Yard()
    yard.wall("stone_slab", range(10, 14), range(FLOOR_Y, FLOOR_Y + 1), range(32))
    yard.wall("stone", range(14, 20), range(FLOOR_Y, FLOOR_Y + 1), range(32))
    yard.wall("stone", range(17, 20), range(FLOOR_Y + 1, FLOOR_Y + 2), range(32))
    yard.mob("pig", 7.5, 8.5)
    send(yard, 18.0, 8.5)
    yard.play(250)
    assert yard.place()[1] == FLOOR_Y + 2


def test_a_mob_does_not_jump_over_a_fence():
    yard = Yard()
    yard.wall("oak_fence[links=5]", range(10, 11), range(FLOOR_Y, FLOOR_Y + 1), range(32))
    yard.wall("oak_fence[links=5]", range(0, 1), range(FLOOR_Y, FLOOR_Y + 1), range(32))
    yard.mob("sheep", 5.5, 8.5)
    for _ in range(20):
        send(yard, 14.0, 8.5)
        yard.play(20)
        assert 0.5 < yard.place()[0] < 10.5


@pytest.mark.parametrize("danger", ["air", "lava", "water"])
def test_a_strolling_mob_stops_before_cliffs_and_fluids(danger):
    yard = Yard()
    yard.wall("air", range(10, 14), range(FLOOR_Y - 6, FLOOR_Y), range(32))
    yard.wall(danger, range(10, 14), range(FLOOR_Y - 6, FLOOR_Y), range(32))
    yard.agent_at(16, FLOOR_Y + 30, 16)
    yard.mob("cow", 7.5, 8.5)
    for _ in range(30):
        send(yard, 16.0, 8.5)
        yard.play(20)
        assert yard.place()[1] == FLOOR_Y


def test_a_mob_in_water_swims_to_the_top():
    yard = Yard()
    yard.wall("water", range(4, 12), range(FLOOR_Y - 6, FLOOR_Y), range(4, 12))
    yard.mob("pig", 8.0, 8.0, y=FLOOR_Y - 6)
    yard.play(120)
    assert FLOOR_Y - 1.0 < yard.place()[1] < FLOOR_Y


def test_mobs_that_overlap_come_apart():
    yard = Yard()
    yard.mob("cow", 8.5, 8.5, row=0)
    yard.mob("sheep", 8.8, 8.6, row=1)
    yard.play(40)
    assert np.abs(yard.place(0) - yard.place(1)).max() > 0.85


def test_a_mob_pushes_the_agent_softly():
    yard = Yard()
    yard.mob("cow", 16.3, 16.0)
    state = yard.state
    mobs.move_mobs(
        0, state.terrain, state.bodies, state.mobs, state.arrows, state.drops, state.log, state.clock, yard.tables
    )
    assert -0.1 < state.bodies.velocity_E3[0, 0] < 0.0
    assert state.mobs.velocity_EM3[0, 0, 0] > 0.0


def test_a_knocked_back_mob_flies_on():
    yard = Yard()
    yard.mob("iron_golem", 8.5, 8.5)
    strike(yard, push=(1.0, 0.0))
    yard.play(3)
    assert yard.place()[0] > 9.0
    assert yard.place()[1] > FLOOR_Y + 0.5


@pytest.mark.parametrize(("kind", "lost"), [("cow", 5), ("chicken", 0), ("cat", 0)])
def test_a_fall_of_eight_blocks_costs_five_half_hearts_but_not_those_who_land_softly(kind, lost):
    yard = Yard()
    yard.mob(kind, 8.5, 8.5, y=FLOOR_Y + 8.0)
    yard.state.mobs.is_on_ground_EM[0, 0] = False
    yard.play(120)
    assert yard.place()[1] == FLOOR_Y
    assert yard.state.mobs.health_EM[0, 0] == MOBS[MOB_ID[kind]].health - lost


def test_a_fall_does_not_make_a_wolf_angry():
    yard = Yard()
    yard.mob("wolf", 12.5, 16.0, y=FLOOR_Y + 8.0)
    yard.state.mobs.is_on_ground_EM[0, 0] = False
    yard.play(100)
    assert yard.state.mobs.health_EM[0, 0] < 8.0
    assert events(yard) == []


def test_a_mob_that_dies_leaves_its_row_and_its_drop():
    yard = Yard()
    yard.mob("pig", 8.5, 8.5)
    strike(yard, half_hearts=50.0)
    yard.play(1)
    assert yard.state.mobs.kind_EM[0, 0] == NO_MOB
    assert ITEM_ID["porkchop"] in yard.state.drops.item_ED[0]


def test_a_mob_that_walks_over_the_border_comes_in_on_the_other_side():
    yard = Yard()
    yard.mob("cow", 30.5, 8.5)
    send(yard, 34.0, 8.5)
    yard.play(60)
    assert 1.0 < yard.place()[0] < 3.0


def test_a_hunter_takes_the_short_way_over_the_border():
    yard = Yard()
    yard.agent_at(2.0, FLOOR_Y, 16.0)
    yard.mob("zombie", 26.0, 16.0)
    yard.play(90)
    assert yard.distance_to_agent() < 2.0


def rough_yard(seed):
    """Return a yard of humps, holes, slabs, fences, cactus, water and lava with eight mobs of any kind."""
    rng = np.random.default_rng(seed)
    yard = Yard(seed=seed)
    height_XZ = (rng.random((8, 8)) * 5).astype(int).repeat(4, 0).repeat(4, 1)
    names = ("stone", "oak_fence", "stone_slab", "cactus", "water", "lava", "oak_stairs", "glass_pane", "cobweb")
    for x in range(32):
        for z in range(32):
            yard.wall("stone", [x], range(FLOOR_Y, FLOOR_Y + height_XZ[x, z]), [z])
            if rng.random() < 0.08:
                yard.block(names[rng.integers(len(names))], x, FLOOR_Y + height_XZ[x, z], z)
    row = 0
    while row < 8:
        x, z = rng.random(2) * 32
        yard.mob(KINDS[rng.integers(len(KINDS))], x, z, y=FLOOR_Y + float(height_XZ[int(x), int(z)]), row=row)
        if yard.is_free(row):
            yard.state.mobs.mood_ticks_EM[0, row] = 0
            row += 1
    yard.agent_at(16.0, FLOOR_Y + height_XZ[16, 16] + 0.0, 16.0)
    return yard


@pytest.mark.parametrize("seed", range(6))
def test_no_mob_is_ever_inside_a_block(seed):
    yard = rough_yard(seed)
    for _ in range(60):
        yard.state.bodies.health_E[0] = 20.0
        yard.play(5)
        for row in np.flatnonzero(yard.state.mobs.kind_EM[0] >= 0):
            assert yard.is_free(row), KINDS[yard.state.mobs.kind_EM[0, row]]
            x, y, z = yard.place(row)
            assert 0.0 <= x < 32.0
            assert 0.0 <= z < 32.0
            assert y >= FLOOR_Y
    assert np.isfinite(yard.state.mobs.velocity_EM3).all()
    assert (np.abs(yard.state.mobs.yaw_deg_EM) <= 180.0).all()
    assert yard.state.mobs.limb_EM[0].sum() > 40.0


def test_the_same_seed_plays_the_same_bytes_and_another_does_not():
    def end(seed):
        yard = rough_yard(0)
        yard.state.clock.key_E[0] = seed
        yard.play(150)
        return b"".join(np.ascontiguousarray(array).tobytes() for array in yard.state.mobs)

    assert end(5) == end(5)
    assert end(5) != end(6)


@pytest.fixture(scope="module")
def compiled():
    modules = (chance, log, body, raycast, inventory, drops, combat, arrows, mobs)
    sources = [source for module in modules for source in module.SOURCES]
    return link(sources, numba.njit(nogil=True, error_model="numpy"), {})


@pytest.mark.slow  # compiles for about 20 s
def test_compiled_mobs_move_as_plain_python_ones(compiled):
    plain, fast = rough_yard(3), rough_yard(3)
    for _ in range(300):
        for yard, move in ((plain, mobs.move_mobs), (fast, compiled["move_mobs"])):
            state = yard.state
            move(
                0, state.terrain, state.bodies, state.mobs, state.arrows, state.drops, state.log, state.clock,
                yard.tables,
            )  # fmt: skip
            state.clock.tick_E[0] += 1
    for name, array in plain.state.mobs._asdict().items():
        np.testing.assert_allclose(getattr(fast.state.mobs, name), array, rtol=0, atol=1e-9, err_msg=name)


def test_no_event_names_a_mob_that_the_agent_did_not_touch():
    yard = Yard()
    yard.mob("cow", 8.5, 8.5, y=FLOOR_Y + 30.0)
    yard.state.mobs.is_on_ground_EM[0, 0] = False
    yard.play(80)
    assert yard.state.mobs.kind_EM[0, 0] == NO_MOB
    assert all(row[0] == EVENT_NONE for row in events(yard))


def test_a_mob_looks_where_it_walks():
    yard = Yard()
    yard.mob("cow", 8.5, 8.5)
    send(yard, 20.0, 8.5)
    yard.play(20)
    yaw = math.radians(yard.state.mobs.yaw_deg_EM[0, 0])
    assert (-math.sin(yaw), math.cos(yaw)) == pytest.approx((1.0, 0.0), abs=1e-6)
