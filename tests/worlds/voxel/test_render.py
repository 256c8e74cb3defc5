"""What both renderers promise: geometry of the camera, cubes, fog, masks and labels."""

import numba
import numpy as np
import pytest

from tests.worlds.voxel.scenes import (
    EYE,
    SIZE,
    STATE,
    draw,
    draw_scene,
    empty_world,
    look_row,
    make_scene,
    put,
)
from worlds.types import INSTANCE_FIRST_OBJECT, INSTANCE_SKY, INSTANCE_TERRAIN
from worlds.voxel.render import render_scalar
from worlds.voxel.render_lanes import render_lanes

RENDERERS = pytest.mark.parametrize("render", [render_scalar, render_lanes], ids=["scalar", "lanes"])


@RENDERERS
@pytest.mark.parametrize(
    ("yaw", "pitch", "offset"),
    [
        (0, 0, (0, 0, 1)),
        (90, 0, (-1, 0, 0)),
        (180, 0, (0, 0, -1)),
        (-90, 0, (1, 0, 0)),
        (40, 90, (0, -1, 0)),
        (0, -90, (0, 1, 0)),
    ],
)
def test_centre_of_the_picture_lies_where_yaw_and_pitch_point(render, yaw, pitch, offset):
    world = empty_world()
    put(world, *(16 + 5 * offset[0], 30 + 5 * offset[1], 16 + 5 * offset[2]), "gold", slot=3)
    drawn = draw(render, [world], [(*EYE, yaw, pitch)])
    assert (drawn.instance[0, 15:17, 15:17] == INSTANCE_FIRST_OBJECT + 3).all()
    assert drawn.depth[0, 16, 16] == pytest.approx(4.5, abs=0.02)


@RENDERERS
def test_picture_is_not_mirrored(render):
    world = empty_world()
    put(world, 14, 30, 22, slot=0)  # facing south (+z), west (-x) is on the right
    put(world, 16, 33, 22, slot=1)
    instance = draw(render, [world], [(*EYE, 0, 0)]).instance[0]
    assert np.argwhere(instance == INSTANCE_FIRST_OBJECT)[:, 1].min() > 16
    assert np.argwhere(instance == INSTANCE_FIRST_OBJECT + 1)[:, 0].max() < 16


@RENDERERS
@pytest.mark.parametrize("yaw", [0, 90, 180, 270])
def test_side_textures_stand_upright_and_read_from_left_to_right(render, yaw):
    world = empty_world()
    facing = {0: (0, 2), 90: (-2, 0), 180: (0, -2), 270: (2, 0)}[yaw]
    put(world, 16 + facing[0], 30, 16 + facing[1], "corners")
    image = draw(render, [world], [(*EYE, yaw, 0)], px=(64, 64), looks=[look_row(fov=40)]).image[0]
    quarters = [image[24, 24], image[24, 40], image[40, 24]]
    assert [int(np.argmax(color)) for color in quarters] == [0, 1, 2]
    assert image[40, 40].max() == 0


@RENDERERS
@pytest.mark.parametrize("state", ["dice", "dice_slab"])
def test_each_of_six_faces_wears_its_own_texture(render, state):
    offsets = {0: (3, 0, 0), 1: (-3, 0, 0), 2: (0, 3, 0), 3: (0, -3, 0), 4: (0, 0, 3), 5: (0, 0, -3)}
    aims = {0: (-90, 5), 1: (90, 5), 2: (0, -90), 3: (0, 90), 4: (0, 5), 5: (180, 5)}
    light = {0: 0.6, 1: 0.6, 2: 0.5, 3: 1.0, 4: 0.8, 5: 0.8}
    worlds = [empty_world() for _ in offsets]
    for world, offset in zip(worlds, offsets.values(), strict=True):
        put(world, 16 + offset[0], 30 + offset[1], 16 + offset[2], state)
    drawn = draw(render, worlds, [(*EYE, *aims[face]) for face in offsets])
    expected = [(40 * face + 20) * light[face] for face in offsets]
    np.testing.assert_allclose(drawn.image[:, 16, 16, 0], expected, atol=1)


@RENDERERS
def test_brightness_scales_the_picture(render):
    world = empty_world()
    world[:, :, :28] = STATE["stone"]
    looks = [look_row(brightness=value) for value in (1.0, 0.5)]
    noon, dusk = draw(render, [world, world], [(*EYE, 0, 80)] * 2, looks=looks).image.astype(int)
    assert np.abs(noon - 2 * dusk).max() <= 2


@RENDERERS
def test_rays_end_at_the_view_range(render):
    world = empty_world()
    put(world, 16, 30, 27, slot=0)
    seen, unseen = (draw(render, [world], [(*EYE, 0, 0)], range_blocks=value) for value in (11.0, 10.0))
    assert seen.instance[0, 16, 16] == INSTANCE_FIRST_OBJECT
    assert (unseen.instance == INSTANCE_SKY).all()
    assert (unseen.depth == 10.0).all()


@RENDERERS
@pytest.mark.parametrize("fog", [0.25, 1.0, 4.0])
def test_fog_hides_the_step_at_the_view_range(render, fog):
    """A wall just inside the range looks like the sky that replaces it just outside."""
    world = empty_world()
    world[:, 31, :] = STATE["stone"]
    looks = [look_row(fov=20, fog=fog)]
    wall, sky = (draw(render, [world], [(*EYE, 0, 0)], range_blocks=at, looks=looks).image for at in (14.55, 14.4))
    assert np.abs(wall.astype(int) - sky).max() < 12


@RENDERERS
def test_denser_fog_starts_nearer(render):
    world = empty_world()
    world[:, 24, :] = STATE["stone"]
    looks = [look_row(fov=20, fog=value) for value in (1.0, 2.0)]
    clear, dense = draw(render, [world, world], [(*EYE, 0, 0)] * 2, looks=looks).image[:, 16, 16].astype(int)
    assert dense[2] > clear[2] + 40


@RENDERERS
def test_world_looks_the_same_across_its_seam(render):
    rng = np.random.default_rng(3)
    world = np.where(rng.random((SIZE, SIZE, 64)) < 0.02, rng.integers(1, len(STATE), (SIZE, SIZE, 64)), 0)
    world = world.astype(np.uint16)
    eyes = [(x, 30.5, 16.2, yaw, 10) for x, yaw in ((3.3, 20), (17.4, 140), (30.1, -80))]
    moved = [((x + 37) % SIZE, y, (z + 11) % SIZE, yaw, pitch) for x, y, z, yaw, pitch in eyes]
    one, other = draw(render, [world], eyes), draw(render, [np.roll(world, (37, 11), axis=(0, 1))], moved)
    assert np.mean(one.instance != other.instance) < 0.0005


@RENDERERS
def test_a_void_state_ends_rays_and_shows_the_sky(render):
    world = empty_world()
    world[:, 20, :] = STATE["void"]
    world[:, 22, :] = STATE["stone"]
    drawn = draw(render, [world], [(*EYE, 0, 0)])
    assert (drawn.instance[0, 10:22, 10:22] == INSTANCE_SKY).all()
    assert (drawn.depth[0, 10:22, 10:22] == 16.0).all()


@RENDERERS
@pytest.mark.parametrize("state", ["nothing", "air"])
def test_cells_of_nothing_are_looked_through_even_where_the_field_says_block(render, state):
    """The field stays 0 where a block was taken away."""
    world = empty_world()
    world[:, 20, :] = STATE["gold"]
    put(world, 16, 30, 24, slot=2)
    scene = make_scene([world])
    scene.block_WXZY[0, :, 20, :] = STATE[state]
    drawn = draw_scene(render, scene, [(*EYE, 0, 0)])
    assert drawn.instance[0, 16, 16] == INSTANCE_FIRST_OBJECT + 2
    assert drawn.instance[0, 4, 4] == INSTANCE_SKY


@RENDERERS
def test_a_cube_around_the_eye_is_not_drawn(render):
    world = empty_world()
    put(world, 16, 30, 16, "gold", slot=1)
    put(world, 16, 30, 20, slot=2)
    drawn = draw(render, [world], [(*EYE, 0, 0)])
    assert drawn.instance[0, 16, 16] == INSTANCE_FIRST_OBJECT + 2
    assert not (drawn.instance == INSTANCE_FIRST_OBJECT + 1).any()


@RENDERERS
def test_target_labels_describe_the_mask(render):
    rng = np.random.default_rng(5)
    worlds = [empty_world() for _ in range(4)]
    for world in worlds[:3]:
        for x, y, z in rng.integers((12, 26, 20), (21, 35, 24), (9, 3)):
            put(world, x, y, z, slot=2)
    eyes = [(*EYE, 0, 0)] * 4
    drawn = draw(render, worlds, eyes, px=(48, 64), target=INSTANCE_FIRST_OBJECT + 2)
    for instance, label in zip(drawn.instance, drawn.target, strict=True):
        rows, columns = np.nonzero(instance == INSTANCE_FIRST_OBJECT + 2)
        if len(rows) == 0:
            assert (label == 0).all()
            continue
        center_x, center_y = (columns.mean() + 0.5) / 64, (rows.mean() + 0.5) / 48
        box = [columns.min() / 64, rows.min() / 48, (columns.max() + 1) / 64, (rows.max() + 1) / 48]
        np.testing.assert_allclose(label, [len(rows) / (48 * 64), center_x, center_y, *box], rtol=1e-5)
    assert (drawn.target[:3, 0] > 0).all()


@RENDERERS
def test_depth_may_be_left_out(render):
    world = empty_world()
    world[:, :, :28] = STATE["stone"]
    scene = make_scene([world])
    with_depth = draw_scene(render, scene, [(*EYE, 0, 30)])
    without = draw_scene(render, scene, [(*EYE, 0, 30)], has_depth=False)
    np.testing.assert_array_equal(without.image, with_depth.image)
    np.testing.assert_array_equal(without.instance, with_depth.instance)


@RENDERERS
def test_far_textures_are_averaged_instead_of_sampled(render):
    world = empty_world(64)
    world[:, 60, :] = STATE["stripes"]  # 43.5 blocks away: a pixel covers about 15 texels
    image = draw(render, [world], [(*EYE, 0, 0)], px=(64, 64), range_blocks=64.0).image
    assert np.abs(np.diff(image[0].astype(int), axis=0)).max() < 5  # stripes of 30 and 128


@RENDERERS
def test_thread_count_does_not_change_a_byte(render):
    if numba.config.NUMBA_NUM_THREADS < 2:
        pytest.skip("numba was started with one thread")
    rng = np.random.default_rng(4)
    worlds = [(rng.integers(0, len(STATE), (SIZE, SIZE, 64)) * (rng.random((SIZE, SIZE, 64)) < 0.05)) for _ in range(4)]
    worlds = [world.astype(np.uint16) for world in worlds]
    before, pictures = numba.get_num_threads(), []
    try:
        for num_threads in (1, 2):
            numba.set_num_threads(num_threads)
            pictures.append(draw(render, worlds, [(*EYE, 90.0 * n, 10) for n in range(4)], target=INSTANCE_TERRAIN))
    finally:
        numba.set_num_threads(before)
    for name in ("image", "instance", "depth", "target"):
        np.testing.assert_array_equal(getattr(pictures[0], name), getattr(pictures[1], name))
