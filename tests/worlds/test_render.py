from dataclasses import dataclass

import numba
import numpy as np
import pytest

from worlds.blocks import BLOCK_ID, BLOCKS
from worlds.generate.terrain import generate
from worlds.spec import BLOCK_BITS, WorldSpec
from worlds.textures.atlas import MIP_OFFSETS, build_atlas
from worlds.types import INSTANCE_FIRST_OBJECT, INSTANCE_SKY, INSTANCE_TERRAIN
from worlds.voxel.distance import build_distance
from worlds.voxel.render import render_scalar
from worlds.voxel.render_lanes import render_lanes

RENDERERS = pytest.mark.parametrize("render", [render_scalar, render_lanes], ids=["scalar", "lanes"])
STONE, WATER, GOLD = BLOCK_ID["stone"], BLOCK_ID["water"], BLOCK_ID["gold_block"]
SIZE = 32
EYE = (16.5, 30.5, 16.5)


@dataclass
class Picture:
    image: np.ndarray
    instance: np.ndarray
    depth: np.ndarray
    target: np.ndarray


def plain_textures():
    """Return one grey for every texture, so that a test sees light, fog and shape alone."""
    return {name: np.full((16, 16, 3), 128, np.uint8) for kind in BLOCKS for name in kind.textures if name}


PLAIN_ATLAS = build_atlas(plain_textures())


def draw(
    render, worlds, eyes, *, px=(32, 32), fov=70.0, range_blocks=16.0, target=0, atlas=PLAIN_ATLAS, brightness=1.0
):
    """Draw one view a world from block arrays [X, Z, Y]; with depth."""
    block_WXZY = np.stack(worlds)
    distance_WXZY = np.empty(block_WXZY.shape, np.uint8)
    for block_XZY, distance_XZY in zip(block_WXZY, distance_WXZY, strict=True):
        build_distance(block_XZY, distance_XZY)
    eye_V5 = np.array(eyes, np.float64)
    num_views = len(eye_V5)
    world_index_V = np.arange(num_views) % len(worlds)
    picture = Picture(
        np.full((num_views, *px, 3), 77, np.uint8),
        np.full((num_views, *px), -1, np.int32),
        np.full((num_views, *px), -1.0, np.float32),
        np.full((num_views, 7), -1.0, np.float32),
    )
    render(
        block_WXZY, distance_WXZY, world_index_V, eye_V5, np.full(num_views, fov, np.float32),
        np.full(num_views, brightness, np.float32), np.full(num_views, target, np.int32), atlas, range_blocks,
        picture.image, picture.instance, picture.depth, picture.target,
    )  # fmt: skip
    return picture


def empty_world():
    return np.zeros((SIZE, SIZE, 64), np.uint16)


def put(block_XZY, x, y, z, block=STONE, slot=None):
    block_XZY[x % block_XZY.shape[0], z % block_XZY.shape[1], y] = block | (
        0 if slot is None else (slot + 1) << BLOCK_BITS
    )


@pytest.fixture(scope="module")
def generated():
    """Return generated worlds with objects on the ground, and eyes that stand between them."""
    rng = np.random.default_rng(0)
    worlds, eyes = [], []
    for seed, biome in enumerate(("plains", "forest", "desert", "snowy_hills")):
        world = generate(WorldSpec(seed=seed, biome=biome, size_blocks=(64, 64, 64)))
        block_XZY = world.block_XZY.copy()
        x, z = rng.integers(0, 64, 2)
        for slot in range(6):
            object_x, object_z = (x + rng.integers(-6, 7)) % 64, (z + rng.integers(-6, 7)) % 64
            put(block_XZY, object_x, int(world.ground_XZ[object_x, object_z]) + 1, object_z, GOLD, slot)
        block_XZY[x, z, world.ground_XZ[x, z] + 1 :] = 0
        worlds.append(block_XZY)
        eyes.append((x + 0.3, world.ground_XZ[x, z] + 2.62, z + 0.7, rng.uniform(-180, 180), rng.uniform(-20, 40)))
    turned = [(x, y, z, yaw + 120, pitch) for x, y, z, yaw, pitch in eyes]
    high = [(x, y + 12, z, yaw - 120, 50) for x, y, z, yaw, _ in eyes]
    above = [(x - 64, 90.0, z + 64, yaw, 60) for x, y, z, yaw, _ in eyes]
    return worlds, eyes + turned + high + above


def assert_twins_agree(worlds, eyes, **options):
    slow, fast = draw(render_scalar, worlds, eyes, **options), draw(render_lanes, worlds, eyes, **options)
    assert np.mean(slow.instance != fast.instance) < 0.0005
    assert np.abs(slow.image.astype(int) - fast.image).mean() < 0.05
    same = slow.instance == fast.instance
    assert np.mean(np.abs(slow.depth - fast.depth)[same] > 1e-3) < 0.0005
    np.testing.assert_allclose(slow.target, fast.target, atol=0.02)
    return slow


def test_lanes_equal_scalar_on_generated_worlds(generated):
    picture = assert_twins_agree(*generated, px=(96, 96), range_blocks=32.0, target=INSTANCE_FIRST_OBJECT)
    assert (picture.instance >= INSTANCE_FIRST_OBJECT).any()
    assert (picture.instance == INSTANCE_SKY).any()


def test_lanes_equal_scalar_in_a_cloud_of_blocks():
    rng = np.random.default_rng(1)
    worlds = [((rng.random((SIZE, SIZE, 64)) < share) * GOLD).astype(np.uint16) for share in (0.003, 0.03, 0.3)]
    eyes = np.column_stack([rng.uniform(-40, 40, 24), rng.uniform(0, 70, 24), rng.uniform(-40, 40, 24)])
    eyes = np.column_stack([eyes, rng.uniform(-180, 180, 24), rng.uniform(-90, 90, 24)])
    assert_twins_agree(worlds, eyes, px=(64, 64))


def test_lanes_equal_scalar_when_sides_are_no_multiples_of_the_tile(generated):
    assert_twins_agree(*generated, px=(37, 50), range_blocks=32.0)


def test_lanes_equal_scalar_along_the_axes():
    world = empty_world()
    world[:, :, :20] = STONE
    put(world, 16, 30, 22)
    eyes = [(16.0, 30.0, 16.0, yaw, pitch) for yaw in (0, 90, 180, 270) for pitch in (-90, 0, 90)]
    assert_twins_agree([world], eyes, px=(33, 33))


@RENDERERS
def test_thread_count_does_not_change_a_byte(render, generated):
    if numba.config.NUMBA_NUM_THREADS < 2:
        pytest.skip("numba was started with one thread")
    before, pictures = numba.get_num_threads(), []
    try:
        for num_threads in (1, 2):
            numba.set_num_threads(num_threads)
            pictures.append(draw(render, *generated, range_blocks=32.0, target=INSTANCE_FIRST_OBJECT))
    finally:
        numba.set_num_threads(before)
    for name in ("image", "instance", "depth", "target"):
        np.testing.assert_array_equal(getattr(pictures[0], name), getattr(pictures[1], name))


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
    put(world, *(16 + 5 * offset[0], 30 + 5 * offset[1], 16 + 5 * offset[2]), GOLD, slot=3)
    picture = draw(render, [world], [(*EYE, yaw, pitch)])
    assert (picture.instance[0, 15:17, 15:17] == INSTANCE_FIRST_OBJECT + 3).all()
    assert picture.depth[0, 16, 16] == pytest.approx(4.5, abs=0.02)


@RENDERERS
def test_picture_is_not_mirrored(render):
    world = empty_world()
    put(world, 14, 30, 22, GOLD, slot=0)  # facing south (+z), west (-x) is on the right
    put(world, 16, 33, 22, GOLD, slot=1)
    instance = draw(render, [world], [(*EYE, 0, 0)]).instance[0]
    assert np.argwhere(instance == INSTANCE_FIRST_OBJECT)[:, 1].min() > 16
    assert np.argwhere(instance == INSTANCE_FIRST_OBJECT + 1)[:, 0].max() < 16


@RENDERERS
@pytest.mark.parametrize("yaw", [0, 90, 180, 270])
def test_side_textures_stand_upright_and_read_from_left_to_right(render, yaw):
    textures = plain_textures()
    textures["tnt"] = np.zeros((16, 16, 3), np.uint8)
    textures["tnt"][:8, :8] = (255, 0, 0)  # upper left corner
    textures["tnt"][:8, 8:] = (0, 255, 0)  # upper right
    textures["tnt"][8:, :8] = (0, 0, 255)  # lower left
    world = empty_world()
    facing = {0: (0, 2), 90: (-2, 0), 180: (0, -2), 270: (2, 0)}[yaw]
    put(world, 16 + facing[0], 30, 16 + facing[1], BLOCK_ID["tnt"])
    image = draw(render, [world], [(*EYE, yaw, 0)], px=(64, 64), fov=40, atlas=build_atlas(textures)).image[0]
    quarters = [image[24, 24], image[24, 40], image[40, 24]]
    assert [int(np.argmax(color)) for color in quarters] == [0, 1, 2]
    assert image[40, 40].max() == 0


@RENDERERS
def test_faces_are_lit_by_where_they_look(render):
    world = empty_world()
    for offset in ((0, -3, 0), (0, 3, 0), (0, 0, 3), (3, 0, 0)):
        put(world, 16 + offset[0], 30 + offset[1], 16 + offset[2])
    eyes = [(*EYE, 0, 90), (*EYE, 0, -90), (*EYE, 0, 0), (*EYE, -90, 0)]
    centre = draw(render, [world], eyes).image[:, 16, 16, 0]
    np.testing.assert_allclose(centre, 128 * np.array([1.0, 0.5, 0.8, 0.6]), atol=1)


@RENDERERS
def test_brightness_scales_the_picture(render):
    world = empty_world()
    world[:, :, :28] = STONE
    noon, dusk = (draw(render, [world], [(*EYE, 0, 80)], brightness=value).image.astype(int) for value in (1.0, 0.5))
    assert np.abs(noon - 2 * dusk).max() <= 2


@RENDERERS
def test_rays_end_at_the_view_range(render):
    world = empty_world()
    put(world, 16, 30, 27, GOLD, slot=0)
    seen, unseen = (draw(render, [world], [(*EYE, 0, 0)], range_blocks=value) for value in (11.0, 10.0))
    assert seen.instance[0, 16, 16] == INSTANCE_FIRST_OBJECT
    assert (unseen.instance == INSTANCE_SKY).all()
    assert (unseen.depth == 10.0).all()


@RENDERERS
def test_fog_hides_the_step_at_the_view_range(render):
    """A wall just inside the range looks like the sky that replaces it just outside."""
    world = empty_world()
    world[:, 31, :] = STONE
    wall, sky = (draw(render, [world], [(*EYE, 0, 0)], range_blocks=value, fov=20).image for value in (14.8, 14.4))
    assert np.abs(wall.astype(int) - sky).max() < 12


@RENDERERS
def test_world_looks_the_same_across_its_seam(render, generated):
    worlds, eyes = generated
    shifted = [np.roll(block_XZY, (37, 11), axis=(0, 1)) for block_XZY in worlds]
    moved = [((x + 37) % 64, y, (z + 11) % 64, yaw, pitch) for x, y, z, yaw, pitch in eyes]
    one, other = draw(render, worlds, eyes, range_blocks=32.0), draw(render, shifted, moved, range_blocks=32.0)
    assert np.mean(one.instance != other.instance) < 0.0005


@RENDERERS
def test_an_eye_in_water_sees_through_water_in_blue(render):
    world = empty_world()
    world[:, :, :35] = WATER
    put(world, 16, 30, 20, GOLD, slot=0)
    dry = empty_world()
    put(dry, 16, 30, 20, GOLD, slot=0)
    picture = draw(render, [world, dry], [(*EYE, 0, 0)] * 2)
    np.testing.assert_array_equal(picture.instance[0], picture.instance[1])
    assert picture.image[0, 16, 16, 2] > picture.image[0, 16, 16, 0] + 10
    from_above = draw(render, [world], [(16.5, 40.5, 16.5, 0, 90)])
    assert (from_above.instance == INSTANCE_TERRAIN).all()


@RENDERERS
def test_target_labels_describe_the_mask(render, generated):
    picture = draw(render, *generated, px=(48, 64), range_blocks=32.0, target=INSTANCE_FIRST_OBJECT + 2)
    num_seen = 0
    for instance, label in zip(picture.instance, picture.target, strict=True):
        rows, columns = np.nonzero(instance == INSTANCE_FIRST_OBJECT + 2)
        if len(rows) == 0:
            assert (label == 0).all()
            continue
        num_seen += 1
        center_x, center_y = (columns.mean() + 0.5) / 64, (rows.mean() + 0.5) / 48
        box = [columns.min() / 64, rows.min() / 48, (columns.max() + 1) / 64, (rows.max() + 1) / 48]
        np.testing.assert_allclose(label, [len(rows) / (48 * 64), center_x, center_y, *box], rtol=1e-5)
    assert num_seen > 0


@RENDERERS
def test_depth_may_be_left_out(render):
    world = empty_world()
    world[:, :, :28] = STONE
    with_depth = draw(render, [world], [(*EYE, 0, 30)])
    image_VHWC, instance_VHW = np.empty((1, 32, 32, 3), np.uint8), np.empty((1, 32, 32), np.int32)
    distance_XZY = np.empty(world.shape, np.uint8)
    build_distance(world, distance_XZY)
    one = np.ones(1, np.float32)
    render(
        world[None], distance_XZY[None], np.zeros(1, np.int64), np.array([(*EYE, 0.0, 30.0)]), 70 * one, one,
        np.zeros(1, np.int32), PLAIN_ATLAS, 16.0, image_VHWC, instance_VHW, np.empty((0, 0, 0), np.float32),
        np.empty((1, 7), np.float32),
    )  # fmt: skip
    np.testing.assert_array_equal(image_VHWC, with_depth.image)
    np.testing.assert_array_equal(instance_VHW, with_depth.instance)


@RENDERERS
def test_far_textures_are_averaged_instead_of_sampled(render):
    textures = plain_textures()
    checkers = (np.indices((16, 16)).sum(axis=0) % 2 * 255).astype(np.uint8)
    textures["stone"] = np.repeat(checkers[..., None], 3, axis=2)
    world = empty_world()
    world[:, 28, :] = STONE  # 11.5 blocks away: a pixel covers about 4 texels
    image = draw(render, [world], [(*EYE, 0, 0)], px=(64, 64), range_blocks=64.0, atlas=build_atlas(textures)).image
    assert np.ptp(image[0, 16:48, 16:48].astype(int)) < 8


def test_mip_levels_are_means_of_the_level_above():
    textures = plain_textures()
    textures["stone"] = np.random.default_rng(0).integers(0, 256, (16, 16, 3)).astype(np.uint8)
    texels_N = build_atlas(textures)[STONE, 0]
    rgb_NC = np.stack([texels_N >> shift & 255 for shift in (0, 8, 16)], axis=-1)
    np.testing.assert_array_equal(rgb_NC[:256].reshape(16, 16, 3), textures["stone"])
    np.testing.assert_allclose(rgb_NC[MIP_OFFSETS[1]], textures["stone"][:2, :2].mean(axis=(0, 1)), atol=0.5)
    np.testing.assert_allclose(rgb_NC[MIP_OFFSETS[4]], textures["stone"].mean(axis=(0, 1)), atol=0.5)


def test_atlas_names_the_texture_that_is_missing():
    textures = plain_textures()
    del textures["cactus"]
    with pytest.raises(ValueError, match="'cactus' of block 'cactus' is missing"):
        build_atlas(textures)
