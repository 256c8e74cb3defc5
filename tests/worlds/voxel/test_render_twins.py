"""The lanes draw what the plain source draws, whatever the scene."""

import numpy as np
import pytest

from tests.worlds.voxel.scenes import (
    ANIMAL,
    ARROW,
    DICE_MODEL,
    EYE,
    SIZE,
    STATE,
    draw_scene,
    empty_world,
    entity,
    look_row,
    make_scene,
    put,
)
from worlds.types import INSTANCE_FIRST_OBJECT
from worlds.voxel.free_boxes import add_flat_boxes
from worlds.voxel.render import render_scalar
from worlds.voxel.render_lanes import render_lanes

SHAPES = [
    STATE[name] for name in ("slab", "stairs", "fence", "glass", "pane", "carpet", "sprout", "diagonal", "nothing")
]


def assert_twins_agree(scene, eyes, **options):
    slow, fast = draw_scene(render_scalar, scene, eyes, **options), draw_scene(render_lanes, scene, eyes, **options)
    is_same = slow.instance == fast.instance
    assert np.mean(~is_same) < 0.0005
    assert np.mean(np.abs(slow.image.astype(int) - fast.image).max(axis=-1) > 2) < 0.001
    assert np.mean(np.abs(slow.depth - fast.depth)[is_same] > 1e-3) < 0.0005
    np.testing.assert_allclose(slow.target, fast.target, atol=0.02)
    return slow


def with_flat_boxes(scene):
    for field_XZY in scene.field_WXZY:
        code_XZY = field_XZY & 15
        add_flat_boxes(code_XZY)
        field_XZY[:] = field_XZY & 0xF0 | code_XZY
    return scene


def random_entity(rng):
    model = int(rng.choice([ANIMAL, ARROW, DICE_MODEL]))
    x, y, z = rng.uniform((0, 23, 0), (SIZE, 28, SIZE))
    pitch = rng.uniform(-90, 90) if model == ARROW else 0.0  # only arrows tilt
    swing, hurt, scale = rng.uniform(-1, 1), float(rng.integers(0, 2)), rng.uniform(0.3, 1.5)
    return entity(model, x, y, z, rng.uniform(-180, 180), pitch, swing, hurt, int(rng.integers(1, 12)), scale)


def random_scene(rng, num_worlds=6):
    """Return ground with hollows, lakes, plants, shapes and lamps on it, and entities around the middle."""
    worlds, entities, looks = [], [], []
    for _ in range(num_worlds):
        world = empty_world()
        height_XZ = 24 + np.rint(2.5 * np.sin(np.arange(SIZE) / 5)[:, None] + rng.normal(0, 0.6, (SIZE, SIZE)))
        y = np.arange(64)
        world[y < height_XZ[..., None]] = STATE["gold"]
        world[(y < 24) & (world == 0)] = STATE["water"]
        top_XZ = np.maximum(height_XZ, 24).astype(int)
        for x, z in np.argwhere(rng.random((SIZE, SIZE)) < 0.3):
            state = STATE["plant"] if rng.random() < 0.6 else rng.choice([*SHAPES, STATE["lamp"], STATE["dice"]])
            slot_bits = int(rng.integers(1, 9)) << 12 if rng.random() < 0.3 else 0
            world[x, z, top_XZ[x, z]] = state | slot_bits
        worlds.append(world)
        entities.append([random_entity(rng) for _ in range(12)])
        looks.append(
            look_row(
                fov=rng.uniform(40, 100), daylight=rng.uniform(0, 1), sun_angle=rng.uniform(0, 360),
                rain=rng.uniform(0, 1), fog=rng.uniform(0.5, 2), tint=rng.uniform(0.7, 1.3, 3),
            )
        )  # fmt: skip
    level = rng.integers(0, 16, (num_worlds, SIZE, SIZE, 64))
    return make_scene(worlds, entities=entities, looks=looks, level=level)


def random_eyes(rng, num_eyes):
    at = np.column_stack(
        [rng.uniform(-40, 40, num_eyes), rng.uniform(18, 34, num_eyes), rng.uniform(-40, 40, num_eyes)]
    )
    return np.column_stack([at, rng.uniform(-180, 180, num_eyes), rng.uniform(-60, 60, num_eyes)])


@pytest.mark.parametrize("seed", range(3))
def test_lanes_equal_scalar_in_random_scenes_from_eyes_anywhere(seed):
    rng = np.random.default_rng(seed)
    scene = random_scene(rng)
    drawn = assert_twins_agree(scene, random_eyes(rng, 24), px=(64, 64), target=INSTANCE_FIRST_OBJECT)
    assert (drawn.instance >= INSTANCE_FIRST_OBJECT).any()


@pytest.mark.parametrize("seed", range(2))
def test_lanes_equal_scalar_where_the_field_has_flat_boxes(seed):
    rng = np.random.default_rng(10 + seed)
    scene = with_flat_boxes(random_scene(rng))
    assert (scene.field_WXZY & 15 > 8).any()
    assert_twins_agree(scene, random_eyes(rng, 24), px=(64, 64))


def test_lanes_equal_scalar_in_a_cloud_of_every_state():
    rng = np.random.default_rng(1)
    shape = (SIZE, SIZE, 64)
    worlds = [((rng.random(shape) < share) * rng.integers(0, len(STATE), shape)) for share in (0.003, 0.03, 0.3)]
    scene = make_scene([world.astype(np.uint16) for world in worlds])
    eyes = random_eyes(rng, 24)
    eyes[:, 1] = rng.uniform(0, 70, 24)  # in the sky above the world too
    assert_twins_agree(scene, eyes, px=(64, 64))


def test_lanes_equal_scalar_when_sides_are_no_multiples_of_the_tile():
    rng = np.random.default_rng(2)
    assert_twins_agree(random_scene(rng), random_eyes(rng, 6), px=(37, 50))


def test_lanes_equal_scalar_from_within_cells_that_are_no_cubes():
    rng = np.random.default_rng(3)
    worlds = []
    for state in (*SHAPES, STATE["plant"], STATE["water"], STATE["gold"], STATE["void"]):
        world = empty_world()
        world[:, :, :20] = STATE["gold"]
        world[16, 16, 30] = state
        world[14, 16, 30] = world[16, 18, 29] = STATE["slab"]
        worlds.append(world)
    at = 16 + rng.uniform(0.05, 0.95, (len(worlds), 3)) + (0, 14, 0)
    eyes = np.column_stack([at, rng.uniform(-180, 180, len(worlds)), rng.uniform(-80, 80, len(worlds))])
    assert_twins_agree(make_scene(worlds), eyes, px=(64, 64))


def face_scene():
    """Return a scene, and eyes that lie exactly on the wall of an object and exactly on the floor."""
    world = empty_world()
    world[:, :, 29:31] = STATE["stone"], STATE["gold"]
    for y in range(31, 34):
        for z in range(12, 22):
            put(world, 15, y, z, "gold", slot=0)
            put(world, 14, y, z, "stone")
    return make_scene([world]), [(16.0, 32.53, 16.47, 90, 0), (20.53, 31.0, 16.47, 0, 60)]


def test_an_eye_on_a_face_sees_that_face():
    drawn = assert_twins_agree(*face_scene(), px=(32, 32))
    assert np.all(drawn.instance[0] == INSTANCE_FIRST_OBJECT)
    assert drawn.depth[1].max() == 0.0


def test_lanes_equal_scalar_along_the_axes():
    world = empty_world()
    world[:, :, :20] = STATE["gold"]
    put(world, 16, 30, 22)
    eyes = [(16.0, 30.0, 16.0, yaw, pitch) for yaw in (0, 90, 180, 270) for pitch in (-90, 0, 90)]
    assert_twins_agree(make_scene([world]), eyes, px=(33, 33))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20, 60))
def test_lanes_equal_scalar_in_many_random_scenes(seed):
    rng = np.random.default_rng(seed)
    scene = random_scene(rng)
    if seed % 2:
        scene = with_flat_boxes(scene)
    assert_twins_agree(scene, random_eyes(rng, 30), px=(96, 96))


def test_an_eye_on_the_torus_seam_sees_entities_across_it():
    world = empty_world()
    scene = make_scene([world], entities=[[entity(DICE_MODEL, 1.0, 30.0, 16.5, instance=7)]])
    eyes = [(SIZE - 2.0, EYE[1], EYE[2], -90, 0), (-2.0, EYE[1], EYE[2], -90, 0)]
    drawn = assert_twins_agree(scene, eyes)
    assert (drawn.instance[:, 16, 16] == 7).all()
