"""How much of a picture another camera sees as well: re-projection of depth. H W image, P points."""

import functools
import math

import numpy as np

from task_synthesis.placement.targets import torus_delta
from worlds.types import Pose

_EVERY_PX = 4  # of the goal view's rows and columns: 1,024 points of a picture of 128 x 128
# A point counts as seen when what stands in its pixel is not nearer by more than this: pixels are as large as that.
_SLACK_BLOCKS, _SLACK_SHARE = 0.3, 0.04


def _axes(eye: Pose) -> np.ndarray:
    """Return float64 [3, 3]: ahead, right and up of a camera in x, y, z."""
    yaw, pitch = math.radians(eye.yaw_deg), math.radians(eye.pitch_deg)
    sin_yaw, cos_yaw, sin_pitch, cos_pitch = math.sin(yaw), math.cos(yaw), math.sin(pitch), math.cos(pitch)
    return np.array(
        [
            (-sin_yaw * cos_pitch, -sin_pitch, cos_yaw * cos_pitch),
            (-cos_yaw, 0.0, -sin_yaw),
            (-sin_yaw * sin_pitch, cos_pitch, cos_yaw * sin_pitch),
        ]
    )


@functools.cache
def _pixel_rays(height_px: int, width_px: int, fov_deg: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return int64 [P] rows, [P] columns and float64 [P, 3] rays (ahead, right, up) of every fourth pixel."""
    half_height = math.tan(math.radians(fov_deg) / 2)
    half_width = half_height * width_px / height_px
    row_P, column_P = (
        index.ravel()
        for index in np.meshgrid(
            np.arange(_EVERY_PX // 2, height_px, _EVERY_PX),
            np.arange(_EVERY_PX // 2, width_px, _EVERY_PX),
            indexing="ij",
        )
    )
    aside_P = ((column_P + 0.5) * 2.0 / width_px - 1.0) * half_width
    rise_P = (1.0 - (row_P + 0.5) * 2.0 / height_px) * half_height
    ray_P3 = np.stack([np.ones_like(aside_P), aside_P, rise_P], 1)
    for array in (row_P, column_P, ray_P3):
        array.flags.writeable = False
    return row_P, column_P, ray_P3


def surface_points(depth_HW: np.ndarray, eye: Pose, *, fov_deg: float, range_blocks: float) -> np.ndarray:
    """Return float64 [P, 3]: where the rays of every fourth pixel of a view end; rays that meet nothing are left out.

    Args:
        depth_HW: float32 [H, W], blocks along the ray.
        eye: of the camera.
        fov_deg: vertical field of view.
        range_blocks: depth of rays that meet nothing.
    """
    row_P, column_P, ray_P3 = _pixel_rays(*depth_HW.shape, fov_deg)
    depth_P = depth_HW[row_P, column_P].astype(np.float64)
    ray_P3 = ray_P3 @ _axes(eye)
    ray_P3 /= np.linalg.norm(ray_P3, axis=1, keepdims=True)
    is_surface_P = depth_P < range_blocks - 1e-3
    return np.array(eye[:3]) + ray_P3[is_surface_P] * depth_P[is_surface_P, None]


def share_seen(
    point_P3: np.ndarray, depth_HW: np.ndarray, eye: Pose, *, fov_deg: float, sides_blocks: tuple[int, int]
) -> float:
    """Return the share of points that a camera sees, 0 for no points.

    Args:
        point_P3: float64 [P, 3] x, y, z; the nearest image of each on the torus is meant.
        depth_HW: float32 [H, W], what the camera sees.
        eye: of the camera.
        fov_deg: its vertical field of view.
        sides_blocks: of the torus along x and z.
    """
    if not len(point_P3):
        return 0.0
    height_px, width_px = depth_HW.shape
    half_height = math.tan(math.radians(fov_deg) / 2)
    half_width = half_height * width_px / height_px
    offset_P3 = point_P3 - np.array(eye[:3])
    offset_P3[:, 0] = torus_delta(offset_P3[:, 0], sides_blocks[0])
    offset_P3[:, 2] = torus_delta(offset_P3[:, 2], sides_blocks[1])
    distance_P = np.linalg.norm(offset_P3, axis=1)
    ahead_P, right_P, up_P = _axes(eye) @ offset_P3.T
    is_ahead_P = ahead_P > 1e-6
    ahead_P = np.where(is_ahead_P, ahead_P, 1.0)
    column_P = np.floor((right_P / ahead_P / half_width + 1.0) / 2.0 * width_px)
    row_P = np.floor((1.0 - up_P / ahead_P / half_height) / 2.0 * height_px)
    is_inside_P = is_ahead_P & (column_P >= 0) & (column_P < width_px) & (row_P >= 0) & (row_P < height_px)
    depth_P = depth_HW[
        np.clip(row_P, 0, height_px - 1).astype(np.int64), np.clip(column_P, 0, width_px - 1).astype(np.int64)
    ]
    is_free_P = distance_P <= depth_P * (1.0 + _SLACK_SHARE) + _SLACK_BLOCKS
    return float((is_inside_P & is_free_P).mean())
