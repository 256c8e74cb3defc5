"""Breaking blocks: Minecraft's break times, and what goes with a block. Constants of Java Edition 1.16.5.

Simplified: a broken block leaves air, also beside and under water; what hangs on its side (torches, ladders) stays,
and sand does not fall.
"""

import math

import numpy as np

from worlds.blocks.tools import BROKEN_SHARE, break_damage, can_harvest
from worlds.spec import BLOCK_MASK
from worlds.types import EVENT_BLOCK_BROKEN
from worlds.voxel.body import block_at
from worlds.voxel.cells import clear_cell, flat_cell
from worlds.voxel.drops import spawn_drop_in_cell
from worlds.voxel.link import Kernel
from worlds.voxel.log import push_event
from worlds.voxel.state import NO_ITEM
from worlds.voxel.tables import FLUID_WATER

REACH_BLOCKS = 4.5
BREAK_DELAY_TICKS = 5
WATER_SLOWDOWN = 0.2
AIR_SLOWDOWN = 0.2


def remove_block(e, terrain, drops, clock, blocks, x, y, z, leaves_drop):
    """Turn a block and its other half into air and drop its item; return the object slot + 1 of either half, 0 none."""
    state = np.int64(terrain.block_EXZY[e, x, z, y]) & BLOCK_MASK
    slot = clear_cell(e, terrain, blocks, x, y, z)
    if leaves_drop and blocks.drop_item_S[state] != NO_ITEM and blocks.drop_count_S[state] > 0:
        spawn_drop_in_cell(e, drops, clock, blocks.drop_item_S[state], blocks.drop_count_S[state], x, y, z)
    return slot


def break_block(e, terrain, drops, log, clock, blocks, x, y, z, leaves_drop):
    """Break a block for the agent: its other half and whatever needs it as a floor go too.

    What goes along drops as if broken by hand, and has an event only if it is a placed object.
    """
    block_XZY = terrain.block_EXZY[e]
    top_y = y  # of what has been removed, the upper halves included
    for at_y in range(y, block_XZY.shape[2]):
        is_first = at_y == y
        state = np.int64(block_XZY[x, z, at_y]) & BLOCK_MASK
        if not is_first and at_y <= top_y and state == 0:
            continue
        if not is_first and not blocks.needs_floor_S[state]:
            break
        top_y = at_y + max(0, int(blocks.pair_S3[state, 1]))
        drops_item = leaves_drop if is_first else blocks.needs_tier_S[state] < 0
        slot = remove_block(e, terrain, drops, clock, blocks, x, at_y, z, drops_item)
        if is_first or slot > 0:
            push_event(e, log, EVENT_BLOCK_BROKEN, state, slot, flat_cell(block_XZY, x, at_y, z))


def stop_mining(e, hands):
    """Forget what has been mined so far."""
    hands.mine_cell_E[e] = -1
    hands.mine_progress_E[e] = 0.0


def mining_damage(e, block_XZY, bodies, tables, state, item, eye_y):
    """Return the share of a block that `item` mines in a tick: a fifth in the air, a fifth with the eyes in water."""
    damage = break_damage(state, item, tables.blocks, tables.items)
    if not bodies.is_on_ground_E[e]:
        damage *= AIR_SLOWDOWN
    eye_state = block_at(
        block_XZY, math.floor(bodies.position_E3[e, 0]), math.floor(eye_y), math.floor(bodies.position_E3[e, 2])
    )
    if tables.blocks.fluid_S[eye_state] == FLUID_WATER:
        damage *= WATER_SLOWDOWN
    return damage


def mine(e, terrain, bodies, hands, drops, log, clock, tables, item, eye_y, x, y, z):
    """Mine the block at a cell for one tick with `item`, eyes at height `eye_y`; it breaks when all shares add up to 1.

    The next block can be mined 5 ticks after one that took time; looking at another one starts from nothing.
    """
    block_XZY = terrain.block_EXZY[e]
    state = np.int64(block_XZY[x, z, y]) & BLOCK_MASK
    cell = flat_cell(block_XZY, x, y, z)
    if cell != hands.mine_cell_E[e]:
        hands.mine_cell_E[e] = cell
        hands.mine_progress_E[e] = 0.0
    damage = mining_damage(e, block_XZY, bodies, tables, state, item, eye_y)
    hands.mine_progress_E[e] += damage
    if hands.mine_progress_E[e] >= BROKEN_SHARE:
        leaves_drop = can_harvest(state, item, tables.blocks, tables.items)
        break_block(e, terrain, drops, log, clock, tables.blocks, x, y, z, leaves_drop)
        hands.mine_delay_ticks_E[e] = 0 if damage >= 1.0 else BREAK_DELAY_TICKS
        stop_mining(e, hands)


SOURCES: tuple[Kernel, ...] = (remove_block, break_block, stop_mining, mining_damage, mine)
