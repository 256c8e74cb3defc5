"""Changing one cell of a world, with what hangs on it: the field, and the links of fences and panes.

Simplified: a lamp that is placed lights its own cell only, and a freed cell gets the light that its neighbours have;
the light of all other cells stays. Fences also reach out to pumpkins and to gates from any side.
"""

import numpy as np

from worlds.spec import BLOCK_BITS, BLOCK_MASK
from worlds.voxel.body import block_at
from worlds.voxel.field import FULL_LIGHT, LIGHT_SHIFT
from worlds.voxel.free_boxes import BOX_BITS, narrow_boxes
from worlds.voxel.link import Kernel

LEAVES_OPACITY = 1


def flat_cell(block_XZY, x, y, z):
    """Return the number of a cell: (x * Z + z) * Y + y."""
    return (x * block_XZY.shape[1] + z) * block_XZY.shape[2] + y


def light_at(field_XZY, x, y, z):
    """Return the light level of a cell; none above and below the world."""
    if y < 0 or y >= field_XZY.shape[2]:
        return 0
    return np.int64(field_XZY[x & (field_XZY.shape[0] - 1), z & (field_XZY.shape[1] - 1), y]) >> LIGHT_SHIFT


def sky_light(block_XZY, field_XZY, blocks, x, z):
    """Return the light of the open sky, but for column (x, z): the least of the open cells on top, full where none is.

    Lamps light some of them more.
    """
    light, top_y = np.int64(FULL_LIGHT), block_XZY.shape[2] - 1
    for at_x in range(block_XZY.shape[0]):
        for at_z in range(block_XZY.shape[1]):
            is_open = blocks.opacity_S[block_XZY[at_x, at_z, top_y] & BLOCK_MASK] == 0
            if is_open and (at_x != x or at_z != z):
                light = min(light, light_at(field_XZY, at_x, top_y, at_z))
    return light


def freed_light(block_XZY, field_XZY, blocks, x, y, z):
    """Return the light of a cell that became air: the sky's where it stands open, else one less than beside it."""
    if y + 1 == block_XZY.shape[2]:
        return sky_light(block_XZY, field_XZY, blocks, x, z)
    is_open = True
    for above in range(y + 1, block_XZY.shape[2]):
        if blocks.opacity_S[block_XZY[x, z, above] & BLOCK_MASK] > 0:
            is_open = False
            break
    up = light_at(field_XZY, x, y + 1, z)
    if is_open:
        return up
    light = max(up, light_at(field_XZY, x, y - 1, z))
    for side in range(4):
        light = max(
            light, light_at(field_XZY, x + (side == 1) - (side == 3), y, z + (side == 2) - (side == 0))
        )  # fmt: skip
    return max(light - 1, 0)


def is_linked(block_XZY, blocks, link_class, x, y, z):
    """Tell whether a fence or pane of `link_class` reaches out to this cell: its own class, full cubes but leaves."""
    state = block_at(block_XZY, x, y, z)
    return blocks.link_class_S[state] == link_class or (
        blocks.collision.is_cube_S[state] and blocks.opacity_S[state] != LEAVES_OPACITY
    )


def linked_state(block_XZY, blocks, state, x, y, z):
    """Return `state` with the links that the neighbours of cell (x, y, z) give it; the same for what has no links."""
    if blocks.connect_S16[state, 0] < 0:
        return state
    link_class = blocks.link_class_S[state]
    links = 0
    for side in range(4):  # north, east, south, west
        if is_linked(block_XZY, blocks, link_class, x + (side == 1) - (side == 3), y, z + (side == 2) - (side == 0)):
            links |= 1 << side
    return blocks.connect_S16[state, links]


def relink(block_XZY, blocks, x, y, z):
    """Bring the links of the block at cell (x, y, z), which may need wrapping, up to date; its object slot stays."""
    x &= block_XZY.shape[0] - 1
    z &= block_XZY.shape[1] - 1
    packed = np.int64(block_XZY[x, z, y])
    state = packed & BLOCK_MASK
    if blocks.connect_S16[state, 0] >= 0:
        linked = linked_state(block_XZY, blocks, state, x, y, z)
        block_XZY[x, z, y] = linked | (packed >> BLOCK_BITS << BLOCK_BITS)


def set_cell(e, terrain, blocks, x, y, z, packed):
    """Put a state and object slot into a cell of env e and bring everything that depends on the cell up to date."""
    block_XZY, field_XZY = terrain.block_EXZY[e], terrain.field_EXZY[e]
    state = packed & BLOCK_MASK
    block_XZY[x, z, y] = packed
    # One call in a loop, here and in the callers: compiled code copies every call, and compile time counts.
    for i in range(5):
        relink(block_XZY, blocks, x + (i == 1) - (i == 2), y, z + (i == 3) - (i == 4))
    box = np.int64(field_XZY[x, z, y]) & BOX_BITS
    if state == 0:
        light = freed_light(block_XZY, field_XZY, blocks, x, y, z)
    else:
        light = max((np.int64(field_XZY[x, z, y]) >> LIGHT_SHIFT) - np.int64(blocks.opacity_S[state]), 0)
        light = max(light, np.int64(blocks.emission_S[state]))
    field_XZY[x, z, y] = box | (light << LIGHT_SHIFT)
    if state != 0:
        narrow_boxes(field_XZY, x, y, z)


def clear_cell(e, terrain, blocks, x, y, z):
    """Turn a cell and the other half of what it holds into air; return the object slot + 1 of either half, 0 none."""
    block_XZY = terrain.block_EXZY[e]
    state = np.int64(block_XZY[x, z, y]) & BLOCK_MASK
    slot = np.int64(0)
    at_x, at_y, at_z = x, y, z
    for _ in range(2):
        packed = np.int64(block_XZY[at_x, at_z, at_y])
        if blocks.kind_S[packed & BLOCK_MASK] != blocks.kind_S[state]:
            break
        slot = max(slot, packed >> BLOCK_BITS)
        set_cell(e, terrain, blocks, at_x, at_y, at_z, 0)
        at_x = (x + blocks.pair_S3[state, 0]) & (block_XZY.shape[0] - 1)
        at_y = y + blocks.pair_S3[state, 1]
        at_z = (z + blocks.pair_S3[state, 2]) & (block_XZY.shape[1] - 1)
        if at_y < 0 or at_y >= block_XZY.shape[2]:
            break
    return slot


SOURCES: tuple[Kernel, ...] = (
    flat_cell, light_at, sky_light, freed_light, is_linked, linked_state, relink, set_cell, clear_cell,
)  # fmt: skip
