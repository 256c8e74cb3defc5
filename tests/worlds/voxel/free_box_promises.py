"""What the free boxes of worlds.voxel.free_boxes promise, checked the obvious way."""

import numpy as np

from worlds.voxel.free_boxes import BOXES


def broken_promises(code_XZY, block_XZY):
    """Return the cells whose box holds a block, found by moving the whole world under every offset of the box.

    A box that is too small breaks no promise, nor does the box of nothing (code 0) around a cell that is free.
    """
    is_solid_XZY = np.pad(block_XZY != 0, ((0, 0), (0, 0), (8, 8)))
    is_broken_XZY = np.zeros(block_XZY.shape, bool)
    for code, (aside, up, down) in enumerate(BOXES):
        if not (code_XZY == code).any():
            continue
        if code == 0:
            continue
        near_XZY = np.zeros(block_XZY.shape, bool)
        for dx in range(1 - aside, aside):
            for dz in range(1 - aside, aside):
                moved_XZY = np.roll(is_solid_XZY, (-dx, -dz), axis=(0, 1))
                for dy in range(1 - down, up):
                    near_XZY |= moved_XZY[:, :, 8 + dy : 72 + dy]
        is_broken_XZY |= (code_XZY == code) & near_XZY
    return np.argwhere(is_broken_XZY)
