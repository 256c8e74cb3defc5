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
        if code == 0 or not (code_XZY == code).any():
            continue
        # The same as all offsets at once: somewhere in a box is somewhere along each of its axes, one after another.
        near_XZY = is_solid_XZY
        for axis, offsets in enumerate((range(1 - aside, aside), range(1 - aside, aside), range(1 - down, up))):
            near_XZY = np.logical_or.reduce([np.roll(near_XZY, -offset, axis) for offset in offsets])
        is_broken_XZY |= (code_XZY == code) & near_XZY[:, :, 8:72]
    return np.argwhere(is_broken_XZY)
