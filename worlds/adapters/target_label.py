"""Where the target is in a picture that somebody else drew. H W image."""

import numpy as np

from worlds.types import INSTANCE_SKY


def target_label(instance_HW: np.ndarray, target_instance: int) -> np.ndarray:
    """Return a row of worlds.types.TARGET_LABELS, float32 [7]; zeros where the target is not seen.

    The same numbers as the built-in renderer's `worlds.voxel.render_labels`.
    """
    label_7 = np.zeros(7, np.float32)
    if target_instance == INSTANCE_SKY:
        return label_7
    row_K, column_K = np.nonzero(instance_HW == target_instance)
    if len(row_K):
        height_px, width_px = instance_HW.shape
        label_7[:] = (
            len(row_K) / (height_px * width_px),
            (int(column_K.sum()) / len(row_K) + 0.5) / width_px,
            (int(row_K.sum()) / len(row_K) + 0.5) / height_px,
            column_K.min() / width_px,
            row_K.min() / height_px,
            (column_K.max() + 1) / width_px,
            (row_K.max() + 1) / height_px,
        )
    return label_7
