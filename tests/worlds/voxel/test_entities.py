"""The list of what is drawn besides blocks, and putting mobs into a world."""

import math

import numpy as np
import pytest

from tests.worlds.mobs.mob_yard import FLOOR_Y, Yard
from worlds.blocks import BLOCK_ID, state_of
from worlds.items import ITEM_ID
from worlds.mobs.kinds import MOB_ID, MOBS
from worlds.mobs.models import ARROW_MODEL, ITEM_MODEL_START
from worlds.mobs.spawn import place_mob, spawn_ambient
from worlds.spec import BLOCK_MASK
from worlds.types import INSTANCE_FIRST_OBJECT, INSTANCE_TERRAIN
from worlds.voxel.entities import list_entities
from worlds.voxel.scene import ENTITY_COLUMNS, MAX_ENTITIES, NUM_ENTITY_COLUMNS
from worlds.voxel.state import MAX_ARROWS, MAX_DROPS, MAX_MOBS, NO_MOB

MIX = (("cow", 3.0), ("sheep", 1.0), ("iron_golem", 0.5))


def listed(yard):
    """Return the rows of a yard's entities as dictionaries by column."""
    entity_MF = np.full((MAX_ENTITIES, NUM_ENTITY_COLUMNS), 99.0, np.float32)
    state = yard.state
    number = list_entities(0, state.mobs, state.arrows, state.drops, state.clock, yard.tables, entity_MF)
    assert (entity_MF[number:] == 99.0).all()
    return [dict(zip(ENTITY_COLUMNS, row, strict=True)) for row in entity_MF[:number].tolist()]


def arrow(yard, vx, vy, vz, *, is_stuck=False, row=0):
    arrows = yard.state.arrows
    arrows.life_ticks_EA[0, row], arrows.is_stuck_EA[0, row] = 100, is_stuck
    arrows.position_EA3[0, row], arrows.velocity_EA3[0, row] = (10.0, 25.0, 10.0), (vx, vy, vz)


def drop(yard, item, age_ticks, row=0):
    drops = yard.state.drops
    drops.item_ED[0, row], drops.count_ED[0, row] = ITEM_ID[item], 1
    drops.position_ED3[0, row], drops.age_ticks_ED[0, row] = (9.0, 20.0, 9.0), age_ticks


def test_an_empty_env_has_no_entities():
    assert listed(Yard()) == []


def test_everything_fits_into_the_list():
    assert MAX_MOBS + MAX_ARROWS + MAX_DROPS <= MAX_ENTITIES
    yard = Yard()
    for row in range(MAX_MOBS):
        yard.mob("chicken", row + 0.5, 2.5, row=row)
    for row in range(MAX_ARROWS):
        arrow(yard, 0.0, 0.0, 1.0, row=row)
    for row in range(MAX_DROPS):
        drop(yard, "stone", 0, row=row)
    assert len(listed(yard)) == MAX_MOBS + MAX_ARROWS + MAX_DROPS


def test_a_mob_is_drawn_where_it_stands_with_its_own_instance():
    yard = Yard()
    yard.mob("pig", 8.5, 7.5, row=3, object_slot=2)
    yard.mob("cow", 4.5, 4.5, row=5)
    yard.state.mobs.yaw_deg_EM[0, 3] = 40.0
    pig, cow = listed(yard)
    assert (pig["model"], pig["x"], pig["y"], pig["z"], pig["yaw_deg"]) == (MOB_ID["pig"], 8.5, FLOOR_Y, 7.5, 40.0)
    assert (pig["pitch_deg"], pig["scale"], pig["hurt"], pig["swing_rad"]) == (0.0, 1.0, 0.0, 0.0)
    assert pig["instance"] == INSTANCE_FIRST_OBJECT + 1  # object slot + 1 is 2, so slot 1
    assert cow["instance"] == INSTANCE_TERRAIN


def test_legs_swing_with_the_way_walked_and_rest_with_the_mob():
    yard = Yard()
    yard.mob("cow", 8.5, 7.5)
    yard.state.mobs.velocity_EM3[0, 0] = (0.3, 0.0, 0.0)
    swings = []
    for limb in np.linspace(0.0, 2.0 * math.pi / 2.66, 40):
        yard.state.mobs.limb_EM[0, 0] = limb
        swings.append(listed(yard)[0]["swing_rad"])
    assert max(swings) == pytest.approx(1.4, rel=0.01)
    assert min(swings) == pytest.approx(-1.4, rel=0.01)
    assert swings[0] == pytest.approx(swings[-1], abs=1e-5)
    yard.state.mobs.velocity_EM3[0, 0] = 0.0
    assert listed(yard)[0]["swing_rad"] == 0.0


def test_a_hurt_mob_is_red():
    yard = Yard()
    yard.mob("cow", 8.5, 7.5)
    yard.state.mobs.hurt_ticks_EM[0, 0] = 4
    assert listed(yard)[0]["hurt"] == 1.0


def test_a_creeper_swells_while_its_fuse_burns():
    yard = Yard()
    yard.mob("creeper", 8.5, 7.5)
    scales = []
    for burnt in (0, 15, 30):
        yard.state.mobs.attack_ticks_EM[0, 0] = burnt
        scales.append(listed(yard)[0]["scale"])
    assert scales == pytest.approx([1.0, 1.125, 1.25])


@pytest.mark.parametrize(
    ("velocity", "yaw_deg", "pitch_deg"),
    [
        ((0, 0, 2), 0.0, 0.0),
        ((-2, 0, 0), 90.0, 0.0),
        ((2, 0, 0), -90.0, 0.0),
        ((0, -1, 1), 0.0, 45.0),
        ((0, 3, 3), 0.0, -45.0),
    ],
)
def test_an_arrow_points_where_it_flies(velocity, yaw_deg, pitch_deg):
    yard = Yard()
    arrow(yard, *velocity)
    (row,) = listed(yard)
    assert row["model"] == ARROW_MODEL
    assert row["yaw_deg"] == pytest.approx(yaw_deg, abs=1e-4)
    assert row["pitch_deg"] == pytest.approx(pitch_deg, abs=1e-4)
    assert row["instance"] == INSTANCE_TERRAIN


def test_a_stuck_arrow_keeps_its_direction():
    yard = Yard()
    yard.wall("stone", [12], range(20, 30), range(32))
    arrow(yard, 1.5, 0.0, 0.0)
    yard.play(10)
    assert yard.state.arrows.is_stuck_EA[0, 0]
    assert listed(yard)[0]["yaw_deg"] == pytest.approx(-90.0, abs=1e-3)


def test_an_item_turns_and_bobs_over_its_place():
    yard = Yard()
    rows = []
    for age in range(0, 130, 5):
        drop(yard, "diamond", age)
        rows.append(listed(yard)[0])
    assert {row["model"] for row in rows} == {ITEM_MODEL_START + ITEM_ID["diamond"]}
    heights = [row["y"] for row in rows]
    assert 20.0 <= min(heights) < 20.05
    assert 20.15 < max(heights) <= 20.2001
    assert rows[1]["yaw_deg"] - rows[0]["yaw_deg"] == pytest.approx(5 * 180 / math.pi / 20, rel=1e-4)
    assert all(0.0 <= row["yaw_deg"] < 360.0 for row in rows)
    assert rows[0]["scale"] == 0.25


def test_place_mob_leaves_nothing_of_the_mob_before():
    yard = Yard()
    yard.mob("zombie", 8.5, 8.5)
    yard.play(60)
    place_mob(yard.state, 0, 0, MOB_ID["cow"], 3, 33.5, 20.0, 5.5, 10.0)
    fresh = Yard()
    place_mob(fresh.state, 0, 0, MOB_ID["cow"], 3, 1.5, 20.0, 5.5, 10.0)
    for name, array in fresh.state.mobs._asdict().items():
        assert np.array_equal(getattr(yard.state.mobs, name), array), name


def ground_of(yard):
    block_XZY = yard.state.terrain.block_EXZY[0] & BLOCK_MASK
    is_ground_XZY = np.isin(block_XZY, [BLOCK_ID["stone"], BLOCK_ID["grass_block"]])
    return (block_XZY.shape[2] - 1 - is_ground_XZY[:, :, ::-1].argmax(axis=2)).astype(np.int16)


def spawned(yard, number, seed):
    count = spawn_ambient(yard.state, 0, MIX, number, seed, yard.tables.blocks, ground_of(yard))
    rows = np.flatnonzero(yard.state.mobs.kind_EM[0] != NO_MOB)
    return count, rows


def test_ambient_mobs_stand_around_the_agent_on_dry_ground():
    yard = Yard(size=128)
    rng = np.random.default_rng(1)
    for x in range(128):
        for z in range(128):
            draw = rng.random()
            if draw < 0.1:
                yard.block("water" if draw < 0.05 else "lava", x, FLOOR_Y - 1, z)
            elif draw < 0.3:
                yard.wall("stone", [x], range(FLOOR_Y, FLOOR_Y + 1 + int(draw * 20) % 4), [z])
            elif draw < 0.35:
                yard.block("cactus", x, FLOOR_Y, z)
            elif draw < 0.5:
                yard.block("grass", x, FLOOR_Y, z)
    count, rows = spawned(yard, 12, seed=3)
    assert count == len(rows) >= 8
    blocks = yard.tables.blocks
    for row in rows:
        x, y, z = yard.place(row)
        cell = yard.state.terrain.block_EXZY[0, int(x), int(z), int(y) - 1] & BLOCK_MASK
        assert blocks.is_solid_S[cell]
        assert yard.is_free(row)
        gap = np.abs(np.array([x, z]) - 64.0)
        assert 5.0 < np.linalg.norm(gap) < 41.0


def test_ambient_mobs_do_not_overlap_and_keep_rows_in_use():
    yard = Yard()
    yard.mob("zombie", 10.5, 10.5, row=1, object_slot=1)
    before = yard.place(1)
    count, rows = spawned(yard, 16, seed=0)
    assert count <= 15
    assert yard.state.mobs.kind_EM[0, 1] == MOB_ID["zombie"]
    assert np.array_equal(yard.place(1), before)
    for i in rows:
        for j in rows[rows > i]:
            kinds = [MOBS[yard.state.mobs.kind_EM[0, row]] for row in (i, j)]
            gap = np.abs(yard.place(i) - yard.place(j))[[0, 2]]
            gap = np.minimum(gap, 32.0 - gap)
            assert gap.max() >= (kinds[0].width + kinds[1].width) / 2


def test_ambient_mobs_follow_the_seed_and_the_mix():
    ends = {}
    for seed in (5, 5, 6):
        yard = Yard(size=64)
        spawned(yard, 8, seed)
        ends.setdefault(seed, []).append(yard.state.mobs.position_EM3.copy())
    assert np.array_equal(*ends[5])
    assert not np.array_equal(ends[5][0], ends[6][0])
    kinds = []
    for seed in range(30):
        yard = Yard(size=64)
        spawned(yard, 6, seed)
        kinds += yard.state.mobs.kind_EM[0, :6].tolist()
    assert set(kinds) <= {MOB_ID["cow"], MOB_ID["sheep"], MOB_ID["iron_golem"], NO_MOB}
    assert kinds.count(MOB_ID["cow"]) > kinds.count(MOB_ID["sheep"]) > kinds.count(MOB_ID["iron_golem"])


def test_a_world_under_water_gets_no_mobs():
    yard = Yard()
    yard.wall("water", range(32), range(FLOOR_Y, FLOOR_Y + 3), range(32))
    assert spawned(yard, 8, seed=1)[0] == 0


def test_a_mob_may_stand_on_a_slab_over_the_ground():
    yard = Yard()
    yard.state.terrain.block_EXZY[0, :, :, FLOOR_Y] = state_of("stone_slab")
    count, rows = spawned(yard, 4, seed=1)
    assert count == 4
    assert {yard.place(row)[1] for row in rows} == {FLOOR_Y + 0.5}
