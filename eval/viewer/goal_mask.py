"""Masks that a person corrects: a brush, everything of one kind, other sizes. H W image."""

import cv2
import numpy as np

from eval.viewer.pointer import pixel_directions
from worlds.blocks import BLOCK_ID
from worlds.spec import BLOCK_MASK
from worlds.types import INSTANCE_SKY, Pose
from worlds.voxel.backend import VoxelBackend
from worlds.voxel.engine_tables import engine_tables

_INTO_SURFACE_BLOCKS = 1e-3  # so far behind what a ray meets lies the block itself
# Of a click into somebody's own picture.
_GRAIN_PX, _GRAIN_LEVELS = 6, 30  # how far textures are smoothed, and over which steps of a channel
_SAME_LAB = np.array([45.0, 14.0, 14.0])  # steps of OpenCV's 8-bit L, a, b within which a colour is the same one
_HOLE_SHARE = 0.006  # of the picture


def painted(mask_HW: np.ndarray, row: int, column: int, *, radius_px: float, is_eraser: bool) -> np.ndarray:
    """Return a mask with a disc set or cleared, bool [H, W]. ValueError: the disc is no part of the picture."""
    height, width = mask_HW.shape
    if not (0 <= row < height and 0 <= column < width):
        raise ValueError(f"brush: pixel ({row}, {column}) is outside the picture of {height} x {width}")
    if not 0 < radius_px <= max(height, width):
        raise ValueError(f"brush: radius must be above 0 and at most {max(height, width)} px, got {radius_px}")
    rows_H1, columns_W = np.ogrid[0:height, 0:width]
    is_disc_HW = (rows_H1 - row) ** 2 + (columns_W - column) ** 2 <= radius_px**2
    return mask_HW & ~is_disc_HW if is_eraser else mask_HW | is_disc_HW


def grown(mask_HW: np.ndarray, is_kind_HW: np.ndarray) -> np.ndarray:
    """Return the mask with all pixels of the kind that hang together with it in the picture, bool [H, W]."""
    whole_HW = mask_HW | is_kind_HW
    _, part_HW = cv2.connectedComponents(whole_HW.astype(np.uint8), connectivity=4)
    return np.asarray(np.isin(part_HW, np.unique(part_HW[mask_HW])) & whole_HW)


def pixels_of_kind(engine: VoxelBackend, eye: Pose, kind: str, *, side_px: int, fov_deg: float) -> np.ndarray:
    """Return which pixels of a square view show blocks of a kind, whatever their properties, bool [H, W].

    Args:
        engine: draws depth; env 0 is looked at.
        eye: of the camera.
        kind: a name in worlds.blocks.BLOCK_ID.
        side_px: of the picture.
        fov_deg: vertical field of view.
    """
    views = engine.render_lens(
        [0], np.array([eye], np.float64), image_px=(side_px, side_px), fov_deg_V=np.array([fov_deg])
    )
    assert views.depth_VHW is not None
    row_HW, column_HW = np.mgrid[0:side_px, 0:side_px]
    ray_HW3 = pixel_directions(eye, row_HW, column_HW, size_px=(side_px, side_px), fov_deg=fov_deg)
    cell_HW3 = np.floor(np.array(eye[:3]) + ray_HW3 * (views.depth_VHW[0][..., None] + _INTO_SURFACE_BLOCKS)).astype(
        int
    )
    size_x, size_y, size_z = engine.size_blocks
    is_inside_HW = (cell_HW3[..., 1] >= 0) & (cell_HW3[..., 1] < size_y) & (views.instance_VHW[0] != INSTANCE_SKY)
    state_HW = engine.state.terrain.block_EXZY[
        0, cell_HW3[..., 0] % size_x, cell_HW3[..., 2] % size_z, np.clip(cell_HW3[..., 1], 0, size_y - 1)
    ]
    return np.asarray(is_inside_HW & (engine_tables().blocks.kind_S[state_HW & BLOCK_MASK] == BLOCK_ID[kind]))


def resized_image(image_HWC: np.ndarray, side_px: int) -> np.ndarray:
    """Return a picture, uint8 [side, side, 3], each pixel the mean of those it covers."""
    if image_HWC.shape[:2] == (side_px, side_px):
        return image_HWC
    is_smaller = side_px < min(image_HWC.shape[:2])
    interpolation = cv2.INTER_AREA if is_smaller else cv2.INTER_LINEAR
    return np.asarray(cv2.resize(image_HWC, (side_px, side_px), interpolation=interpolation), np.uint8)


def resized_mask(mask_HW: np.ndarray, side_px: int) -> np.ndarray:
    """Return a mask, bool [side, side]; a pixel is in it when half of what it covers is, or it would be empty."""
    if mask_HW.shape == (side_px, side_px):
        return mask_HW
    share_HW = cv2.resize(mask_HW.astype(np.float32), (side_px, side_px), interpolation=cv2.INTER_AREA)
    # A target smaller than a pixel is still a target.
    least = 0.5 if (share_HW >= 0.5).any() else share_HW.max()
    return np.asarray((share_HW >= least) & (share_HW > 0))


def flooded(image_HWC: np.ndarray, row: int, column: int) -> np.ndarray:
    """Return what hangs together with a pixel and has its colour, bool [H, W]; grain counts little, light half.

    ValueError: it is no pixel of the picture.

    Args:
        image_HWC: uint8 RGB.
        row: of the pixel.
        column: likewise.
    """
    height, width = image_HWC.shape[:2]
    if not (0 <= row < height and 0 <= column < width):
        raise ValueError(f"click: pixel ({row}, {column}) is outside the picture of {height} x {width}")
    # Mean shift takes the grain out of textures and leaves their borders.
    smooth_HWC = cv2.pyrMeanShiftFiltering(np.ascontiguousarray(image_HWC), _GRAIN_PX, _GRAIN_LEVELS, maxLevel=0)
    lab_HWC = cv2.cvtColor(smooth_HWC, cv2.COLOR_RGB2LAB).astype(np.float64)
    is_alike_HW = np.linalg.norm((lab_HWC - lab_HWC[row, column]) / _SAME_LAB, axis=2) < 1.0
    closed_HW = cv2.morphologyEx(is_alike_HW.astype(np.uint8), cv2.MORPH_CLOSE, np.ones((3, 3)))
    _, part_HW = cv2.connectedComponents(closed_HW, connectivity=4)
    mask_HW = part_HW == part_HW[row, column]
    return _without_holes(mask_HW)


def _without_holes(mask_HW: np.ndarray) -> np.ndarray:
    """Return the mask with its small holes closed: eyes of an animal, a flower before it."""
    height, width = mask_HW.shape
    _, part_HW, stats_P5, _ = cv2.connectedComponentsWithStats((~mask_HW).astype(np.uint8), connectivity=4)
    left, top, wide, tall, area = stats_P5.T
    is_inside_P = (left > 0) & (top > 0) & (left + wide < width) & (top + tall < height)
    is_hole_P = is_inside_P & (area <= _HOLE_SHARE * height * width)
    is_hole_P[0] = False  # the mask itself
    return np.asarray(mask_HW | is_hole_P[part_HW])
