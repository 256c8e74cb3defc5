"""Claims about re-projected depth, before a flat wall whose points are known. Cameras look south (+z) at yaw 0."""

import numpy as np
import pytest

from task_synthesis.views.view_overlap import share_seen, surface_points
from worlds.types import Pose

FOV_DEG, FAR_BLOCKS, SIDE = 90.0, 100.0, 64
AHEAD = Pose(0.5, 20.0, 0.5, 0.0, 0.0)


def rays(height_px: int, width_px: int) -> tuple[np.ndarray, np.ndarray]:
    """Return how far right and up each pixel's ray goes on its way of one block ahead, float64 [H, W] each."""
    right_W = ((np.arange(width_px) + 0.5) * 2 / width_px - 1) * width_px / height_px
    up_H = 1 - (np.arange(height_px) + 0.5) * 2 / height_px
    return np.meshgrid(right_W, up_H)


def wall_depth(height_px: int = 64, width_px: int = 64, *, ahead_blocks: float = 10.0) -> np.ndarray:
    """Return what a camera sees of a wall right across its way, float32 [H, W]."""
    right_HW, up_HW = rays(height_px, width_px)
    return (ahead_blocks * np.sqrt(1 + right_HW**2 + up_HW**2)).astype(np.float32)


def points(eye: Pose = AHEAD, height_px: int = 64, width_px: int = 64) -> np.ndarray:
    depth_HW = wall_depth(height_px, width_px)
    return surface_points(depth_HW, eye, fov_deg=FOV_DEG, range_blocks=FAR_BLOCKS)


def share(point_P3: np.ndarray, depth_HW: np.ndarray, eye: Pose) -> float:
    return share_seen(point_P3, depth_HW, eye, fov_deg=FOV_DEG, sides_blocks=(SIDE, SIDE))


def test_points_lie_where_the_rays_of_every_fourth_pixel_meet_the_wall():
    right_HW, up_HW = (ray_HW[2::4, 2::4] for ray_HW in rays(32, 64))
    point_P3 = points(height_px=32, width_px=64)
    # Who looks south has the west, -x, to the right.
    np.testing.assert_allclose(point_P3[:, 0], 0.5 - 10 * right_HW.ravel(), atol=1e-4)
    np.testing.assert_allclose(point_P3[:, 1], 20 + 10 * up_HW.ravel(), atol=1e-4)
    np.testing.assert_allclose(point_P3[:, 2], 10.5, atol=1e-4)


@pytest.mark.parametrize(
    ("yaw_deg", "pitch_deg", "axis", "at"), [(90, 0, 0, -9.5), (-90, 0, 0, 10.5), (180, 0, 2, -9.5), (0, 90, 1, 10)]
)
def test_cameras_look_west_at_90_degrees_and_down_at_a_pitch_of_90(yaw_deg, pitch_deg, axis, at):
    point_P3 = points(AHEAD._replace(yaw_deg=float(yaw_deg), pitch_deg=float(pitch_deg)))
    np.testing.assert_allclose(point_P3[:, axis], at, atol=1e-4)


def test_rays_that_meet_nothing_have_no_point():
    depth_HW = wall_depth()
    depth_HW[:32] = FAR_BLOCKS
    point_P3 = surface_points(depth_HW, AHEAD, fov_deg=FOV_DEG, range_blocks=FAR_BLOCKS)
    assert len(point_P3) == 16 * 8
    assert (point_P3[:, 1] < 20).all()
    assert share(point_P3[:0], depth_HW, AHEAD) == 0.0


@pytest.mark.parametrize(("height_px", "width_px"), [(64, 64), (32, 64)])
def test_a_camera_beside_the_other_sees_what_lies_within_its_picture(height_px, width_px):
    point_P3 = points()
    beside = AHEAD._replace(x=AHEAD.x + 5.2)
    half_blocks = 10 * width_px / height_px
    expected = (np.abs(point_P3[:, 0] - beside.x) < half_blocks).mean()
    assert 0 < share(point_P3, wall_depth(height_px, width_px), beside) == expected


def test_what_is_behind_a_camera_or_behind_something_near_is_not_seen():
    point_P3 = points()
    assert share(point_P3, wall_depth(), AHEAD) == 1.0
    assert share(point_P3, wall_depth(ahead_blocks=5.0), AHEAD) == 0.0
    assert share(point_P3, np.full((64, 64), FAR_BLOCKS, np.float32), AHEAD._replace(yaw_deg=180.0)) == 0.0


@pytest.mark.parametrize("border", [{"x": AHEAD.x + SIDE}, {"z": AHEAD.z - SIDE}])
def test_the_nearest_image_of_a_point_is_meant(border):
    assert share(points(), wall_depth(), AHEAD._replace(**border)) == 1.0
