"""Where the target is in a finished picture. H W image."""

import numpy as np

from worlds.types import INSTANCE_SKY
from worlds.voxel.link import Kernel
from worlds.voxel.shading import ZERO, Whole


def label_target(instance_HW: np.ndarray, target_instance: Whole, label_7: np.ndarray) -> None:
    """Write the share of pixels of the target, its centroid and its box, all in [0, 1]; zeros where it is unseen."""
    height_px, width_px = instance_HW.shape
    num_pixels, sum_row, sum_column = 0, 0, 0
    top, bottom, left, right = height_px, 0, width_px, 0
    label_7[:] = ZERO
    if target_instance == INSTANCE_SKY:
        return
    for row in range(height_px):
        num_in_row = 0
        for column in range(width_px):
            num_in_row += instance_HW[row, column] == target_instance
        if num_in_row == 0:
            continue
        num_pixels += num_in_row
        sum_row += num_in_row * row
        top, bottom = min(top, row), row + 1
        for column in range(width_px):
            if instance_HW[row, column] == target_instance:
                sum_column += column
                left, right = min(left, column), max(right, column + 1)
    if num_pixels > 0:
        label_7[0] = num_pixels / (height_px * width_px)
        label_7[1] = (sum_column / num_pixels + 0.5) / width_px
        label_7[2] = (sum_row / num_pixels + 0.5) / height_px
        label_7[3], label_7[4] = left / width_px, top / height_px
        label_7[5], label_7[6] = right / width_px, bottom / height_px


SOURCES: tuple[Kernel, ...] = (label_target,)
