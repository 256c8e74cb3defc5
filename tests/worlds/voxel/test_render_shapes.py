"""Slabs, plants, water, entities and light, as both renderers draw them."""

import numpy as np
import pytest

from tests.worlds.voxel.scenes import (
    ANIMAL,
    DICE_MODEL,
    EYE,
    LOOKS,
    PLAIN_ATLAS,
    STATE,
    draw,
    empty_world,
    entity,
    look_row,
    put,
)
from worlds.types import INSTANCE_FIRST_OBJECT, INSTANCE_SKY, INSTANCE_TERRAIN
from worlds.voxel.looks import PACKED_CROSS, PACKED_LIGHT, PACKED_ROW, PACKED_SPECIAL
from worlds.voxel.render import render_scalar
from worlds.voxel.render_lanes import render_lanes

RENDERERS = pytest.mark.parametrize("render", [render_scalar, render_lanes], ids=["scalar", "lanes"])
OBJECT = INSTANCE_FIRST_OBJECT


@RENDERERS
def test_a_slab_is_half_as_high_as_a_block(render):
    slab, block = empty_world(), empty_world()
    put(slab, 16, 29, 19, "slab", slot=0)
    put(block, 16, 29, 19, slot=0)
    drawn = draw(render, [slab, block], [(16.5, 29.5, 16.5, 0, 0)] * 2, px=(64, 64))
    height, whole = ((drawn.instance[n, :, 32] == OBJECT).sum() for n in range(2))
    assert drawn.depth[0, 40, 32] == pytest.approx(drawn.depth[1, 40, 32], abs=1e-4)
    assert height == whole // 2


@RENDERERS
def test_a_plant_shows_both_its_sides_and_lets_see_through_its_holes(render):
    world = empty_world()
    put(world, 16, 30, 16, "plant", slot=0)
    eyes = [(16.5 + 2 * np.sin(a), 30.5, 16.5 - 2 * np.cos(a), np.degrees(a), 0) for a in np.arange(8) * np.pi / 4]
    instance = draw(render, [world], eyes, px=(64, 64)).instance
    share = (instance == OBJECT)[:, 24:40, 26:38].mean(axis=(1, 2))
    assert (share > 0.2).all()
    assert (share < 0.95).all()
    assert (instance[:, 24:40, 26:38] == INSTANCE_SKY).any(axis=(1, 2)).all()


@RENDERERS
def test_a_diagonal_reads_from_left_to_right_on_both_sides(render):
    world = empty_world()
    put(world, 16, 30, 16, "diagonal")  # the plane x = z
    eyes = [(17.5, 30.5, 15.5, 45, 0), (15.5, 30.5, 17.5, -135, 0)]
    for image in draw(render, [world], eyes, px=(64, 64), looks=[look_row(fov=30)]).image:
        assert [int(np.argmax(image[at])) for at in ((24, 24), (24, 40), (40, 24))] == [0, 1, 2]


@RENDERERS
def test_a_face_without_a_texture_is_not_drawn(render):
    world = empty_world()
    put(world, 16, 30, 19, "pane", slot=0)
    drawn = draw(render, [world], [(*EYE, 0, 0), (16.5, 33.5, 19.5, 0, 90)])
    assert drawn.instance[0, 16, 16] == OBJECT
    assert drawn.instance[1, 16, 16] == INSTANCE_SKY


@RENDERERS
def test_water_lies_eight_ninths_high_under_air_and_full_under_water(render):
    world = empty_world()
    world[:, :, :20] = STATE["water"]
    straight_down = draw(render, [world], [(16.5, 24.0, 16.5, 0, 90)])
    assert straight_down.depth[0, 16, 16] == pytest.approx(24 - 19 - 8 / 9, abs=0.01)
    world[16, :, :] = 0
    world[16, :, :20] = STATE["water"]
    world[:16] = 0  # a wall of water, seen from the west
    drawn = draw(render, [world], [(12.5, 18.5, 16.5, -90, 0)], px=(65, 65))
    assert drawn.depth[0, 32, 32] == pytest.approx(3.5, abs=0.01)


@RENDERERS
def test_an_eye_in_water_sees_through_water_in_blue(render):
    world, dry = empty_world(), empty_world()
    world[:, :, :35] = STATE["water"]
    for either in (world, dry):
        put(either, 16, 30, 20, slot=0)
    drawn = draw(render, [world, dry], [(*EYE, 0, 0)] * 2, atlas=PLAIN_ATLAS)
    np.testing.assert_array_equal(drawn.instance[0], drawn.instance[1])
    assert drawn.image[0, 16, 16, 2] > drawn.image[0, 16, 16, 0] + 10
    from_above = draw(render, [world], [(16.5, 40.5, 16.5, 0, 90)])
    assert (from_above.instance == INSTANCE_TERRAIN).all()


@RENDERERS
def test_an_eye_between_surface_and_lid_of_a_water_cell_is_not_under_water(render):
    world = empty_world()
    world[:, :, :20] = STATE["water"]
    drawn = draw(render, [world], [(16.5, 19.95, 16.5, 0, 0)])
    assert (drawn.instance[0, :14] == INSTANCE_SKY).all()
    assert (drawn.instance[0, 20:] == INSTANCE_TERRAIN).all()


@RENDERERS
def test_light_falls_with_its_level_and_never_to_black(render):
    world = empty_world()
    world[:, 20, :] = STATE["stone"]
    levels = (15, 11, 7, 3, 0)
    level = np.broadcast_to(np.array(levels)[:, None, None, None], (len(levels), *world.shape))
    drawn = draw(render, [world] * len(levels), [(*EYE, 0, 0)] * len(levels), atlas=PLAIN_ATLAS, level=level)
    shown = drawn.image[:, 16, 16, 0].astype(int)
    assert shown[0] == pytest.approx(128 * 0.8, abs=1)
    assert (np.diff(shown) < -3).all()
    assert shown[-1] >= 5


@RENDERERS
def test_a_lamp_shines_in_the_dark(render):
    world = empty_world()
    put(world, 16, 30, 20, "lamp")
    put(world, 14, 30, 20, "stone")
    image = draw(render, [world], [(*EYE, 0, 0)], atlas=PLAIN_ATLAS, level=0).image[0]
    assert image[16, 16, 0] == pytest.approx(128 * 0.8, abs=1)
    assert image[16, 30, 0] < 20


@RENDERERS
def test_a_placed_slab_takes_the_light_of_the_cell_before_it(render):
    world = empty_world()
    put(world, 16, 30, 19, "slab")
    level = np.full((1, *world.shape), 15)
    level[0, 16, 19, 30] = 0
    dark, lit = (
        draw(render, [world], [(*EYE, 0, 5)], atlas=PLAIN_ATLAS, level=at).image[0, 18, 16, 0] for at in (level, 15)
    )
    assert dark == lit == pytest.approx(128 * 0.8, abs=2)


@RENDERERS
def test_the_sky_is_dark_blue_at_night_and_grey_in_rain(render):
    looks = [look_row(), look_row(daylight=0.0, sun_angle=270.0), look_row(daylight=0.6875, rain=1.0)]
    day, night, rain = draw(render, [empty_world()] * 3, [(*EYE, 0, -30)] * 3, looks=looks).image.astype(int)[:, 20, 16]
    assert day[2] > 200
    assert night.max() < 60
    assert night[2] > 1.5 * night[0]
    assert np.ptp(rain) < np.ptp(day) / 2


@RENDERERS
@pytest.mark.parametrize(
    ("angle", "yaw", "pitch"), [(30.0, -90, -30), (90.0, 0, -90), (150.0, 90, -30), (270.0, 0, -90)]
)
def test_sun_and_moon_stand_where_the_time_puts_them(render, angle, yaw, pitch):
    looks = [look_row(sun_angle=angle, daylight=0.0 if angle > 180 else 1.0)]
    image = draw(render, [empty_world()], [(*EYE, yaw, pitch)], looks=looks).image[0].astype(int)
    assert image[16, 16].sum() > image[4, 4].sum() + 100


@RENDERERS
def test_tint_colours_blocks_and_leaves_mobs_alone(render):
    world = empty_world()
    put(world, 17, 30, 20)
    looks = [look_row(tint=(1.5, 1.0, 0.5))]
    animals = [[entity(DICE_MODEL, 15.5, 30.0, 20.5, instance=5)]]
    drawn = draw(render, [world], [(16.5, 30.5, 16.5, 0, 0)], looks=looks, entities=animals, atlas=PLAIN_ATLAS)
    block, mob = drawn.image[0, 16, 12].astype(int), drawn.image[0, 16, 20].astype(int)
    assert drawn.instance[0, 16, 20] == 5
    np.testing.assert_allclose(block, 128 * 0.8 * np.array((1.5, 1.0, 0.5)), atol=2)
    assert np.ptp(mob) <= 1


@RENDERERS
def test_a_model_shows_the_face_it_turns_to_the_eye(render):
    """At yaw 0 it looks south: an eye to the north sees its back, in the order of FACES the north one."""
    world = empty_world()
    seen = []
    for yaw in (0, 90, 180, 270):
        rows = [[entity(DICE_MODEL, 16.5, 30.0, 20.5, yaw, instance=3)]]
        seen.append(draw(render, [world], [(*EYE, 0, 0)], entities=rows).image[0, 16, 16, 0])
    # Its right is -x, its own west: turned west it shows that, towards the eye its front, turned east its left.
    expected = [(40 * face + 20) * 0.8 for face in (4, 0, 5, 1)]
    np.testing.assert_allclose(seen, expected, atol=2)


@RENDERERS
def test_blocks_hide_entities_and_entities_hide_blocks(render):
    world = empty_world()
    put(world, 16, 30, 20, slot=0)
    near, far = entity(DICE_MODEL, 16.5, 30.0, 18.5, instance=9), entity(DICE_MODEL, 16.5, 30.0, 23.5, instance=8)
    drawn = draw(render, [world, world], [(*EYE, 0, 0)] * 2, entities=[[far, near], [far]])
    assert drawn.instance[:, 16, 16].tolist() == [9, OBJECT]
    assert drawn.depth[0, 16, 16] == pytest.approx(1.5, abs=0.01)


@RENDERERS
def test_scale_shrinks_an_entity_about_its_feet(render):
    world = empty_world()
    rows = [[entity(DICE_MODEL, 16.5, 30.0, 20.0, instance=3, scale=size)] for size in (1.0, 0.5)]
    drawn = draw(render, [world, world], [(16.5, 30.0, 16.5, 0, 0)] * 2, entities=rows, px=(64, 64))
    heights = [(drawn.instance[n, :, 32] == 3).sum() for n in range(2)]
    assert heights[1] == pytest.approx(heights[0] / 2, abs=2)
    assert all((drawn.instance[n, 33:] == INSTANCE_SKY).all() for n in range(2))


@RENDERERS
def test_a_hurt_mob_is_red(render):
    rows = [[entity(DICE_MODEL, 16.5, 30.0, 20.5, hurt=at, instance=3)] for at in (0.0, 1.0)]
    drawn = draw(render, [empty_world()] * 2, [(*EYE, 0, 0)] * 2, entities=rows, atlas=PLAIN_ATLAS)
    well, hurt = drawn.image[:, 16, 16].astype(int)
    assert hurt[0] > well[0] + 30
    assert hurt[1] < well[1] - 30


@RENDERERS
def test_swinging_moves_a_leg_and_nothing_else(render):
    world = empty_world()
    rows = [[entity(ANIMAL, 16.5, 30.0, 20.5, 90, swing=at, instance=3)] for at in (0.0, 0.8)]
    drawn = draw(render, [world] * 2, [(*EYE, 0, 0)] * 2, entities=rows, px=(64, 64))
    still, swung = (drawn.instance[n] == 3 for n in range(2))
    changed = np.argwhere(still != swung)
    assert len(changed) > 3
    assert (drawn.image[0, 20:28, 28:36] == drawn.image[1, 20:28, 28:36]).all()


def test_packed_looks_tell_cubes_plants_and_fluids_apart():
    packed_S8 = LOOKS.packed_S8
    assert (packed_S8[STATE["dice"], :6] == LOOKS.texture_S6[STATE["dice"]]).all()
    assert packed_S8[STATE["lamp"], 0] >> PACKED_LIGHT == 15
    for state, code in (("plant", PACKED_CROSS), ("sprout", 2), ("water", 3)):
        assert packed_S8[STATE[state], 0] & PACKED_SPECIAL
        assert packed_S8[STATE[state], 0] & ((1 << PACKED_ROW) - 1) == code
