"""The GPU's rays, compiled for the CPU, meet what the plain source meets."""

import numba
import numpy as np
import pytest

from tests.worlds.voxel.scenes import EYE, STATE, draw_scene, empty_world, make_scene, put
from tests.worlds.voxel.test_render_twins import face_scene, random_scene, with_flat_boxes
from worlds.voxel.cuda import leap, pixel, views
from worlds.voxel.link import link
from worlds.voxel.render import CPU_KERNELS, CPU_OPTIONS, render_scalar
from worlds.voxel.scene import MAX_ENTITIES, NUM_ENTITY_COLUMNS, Scene

# Compiled for nothing but these claims, half a minute of a core.
pytestmark = pytest.mark.slow

_SOURCES = (*leap.SOURCES, *views.SOURCES, *pixel.SOURCES)
_CPU = link(_SOURCES, numba.njit(**CPU_OPTIONS), CPU_KERNELS)
_make_view, _store_view, _list_seen, _draw_ray, _label_target = (
    _CPU[name] for name in ("make_view", "store_view", "list_seen", "draw_ray", "label_target")
)


@numba.njit(cache=True, **CPU_OPTIONS)
def render_leaping(scene, block_looks, model_looks, world_index_V, eye_V5, target_V, view_range_blocks, picture):
    """Draw as the kernels of worlds.voxel.cuda.kernels do, one pixel after the other."""
    _, height_px, width_px = picture.instance_VHW.shape
    real_R, whole_I = np.empty(views.NUM_REALS, np.float32), np.empty(views.NUM_WHOLES, np.int32)
    seen_WMF, num_seen_W = np.empty((1, MAX_ENTITIES, NUM_ENTITY_COLUMNS), np.float32), np.zeros(1, np.int32)
    for v in range(len(world_index_V)):
        w = world_index_V[v]
        view = _make_view(scene, block_looks, w, eye_V5[v], view_range_blocks, height_px, width_px)
        _store_view(view, real_R, whole_I)
        num_seen_W[0] = _list_seen(scene, model_looks, view, w, seen_WMF[0])
        block_WXZY, field_WXZY = scene.block_WXZY[w : w + 1], scene.field_WXZY[w : w + 1]
        own = Scene(block_WXZY, field_WXZY, scene.look_WL[w : w + 1], seen_WMF, num_seen_W, scene.atlas_AN)
        block_N, field_N = block_WXZY.reshape(-1), field_WXZY.reshape(-1)
        for row in range(height_px):
            for column in range(width_px):
                _draw_ray(own, block_N, field_N, block_looks, model_looks, real_R, whole_I, v, row, column, picture)
        _label_target(picture.instance_VHW[v], target_V[v], picture.target_V7[v])


def assert_rays_agree(scene, eyes, **options):
    plain = draw_scene(render_scalar, scene, eyes, **options)
    leaping = draw_scene(render_leaping, scene, eyes, **options)
    is_same = plain.instance == leaping.instance
    assert np.mean(~is_same) < 0.0005
    assert np.mean(np.abs(plain.image.astype(int) - leaping.image).max(axis=-1) > 2) < 0.001
    assert np.mean(np.abs(plain.depth - leaping.depth)[is_same] > 1e-3) < 0.0005
    return plain


@pytest.mark.parametrize("seed", [1, 2])
def test_leaping_rays_meet_what_plain_rays_meet(seed):
    rng = np.random.default_rng(seed)
    scene = with_flat_boxes(random_scene(rng))
    # From inside blocks and water, from the ground, from above the world, and from below it.
    eyes = np.column_stack(
        [
            rng.uniform(-40, 40, 24), np.concatenate([rng.uniform(18, 34, 16), rng.uniform(50, 75, 6), [-0.5, -3.0]]),
            rng.uniform(-40, 40, 24), rng.uniform(-180, 180, 24), rng.uniform(-90, 90, 24),
        ]
    )  # fmt: skip
    drawn = assert_rays_agree(scene, eyes, px=(48, 48))
    assert (drawn.instance > 1).any()
    assert (drawn.instance == 0).any()


def test_leaping_rays_agree_along_the_axes():
    world = empty_world()
    world[:, :, :20] = STATE["stone"]
    put(world, 16, 30, 22, "dice")
    eyes = [(16.0, 30.0, 16.0, yaw, pitch) for yaw in (0, 90, 180, 270) for pitch in (-90, 0, 90)]
    assert_rays_agree(with_flat_boxes(make_scene([world])), eyes, px=(33, 33))


def test_leaping_rays_agree_where_the_eye_is_on_a_face():
    assert_rays_agree(*face_scene(), px=(33, 33))


def test_leaping_rays_agree_where_the_field_promises_too_little():
    rng = np.random.default_rng(4)
    scene = random_scene(rng)
    scene.field_WXZY[:] = np.where(rng.random(scene.field_WXZY.shape) < 0.5, scene.field_WXZY & 0xF0, scene.field_WXZY)
    assert_rays_agree(scene, [(*EYE, yaw, 20.0) for yaw in range(0, 360, 60)])
