"""Using blocks with a click, and eating. Java Edition 1.16.5.

Doors, trapdoors, gates and levers change their position, chests and barrels open and close, buttons go in and come
out again by themselves; furnaces, crafting tables and the like only report the click. Simplified: there is no
redstone, no screen opens, and an env remembers one button: pressing another one releases the first at once. Hunger is
off, so that food heals: it is eaten when health is missing, and gives as many half hearts as it would give hunger.
"""

import numpy as np

from worlds.spec import BLOCK_BITS, BLOCK_MASK
from worlds.types import EVENT_BLOCK_USED
from worlds.voxel.body import block_at
from worlds.voxel.cells import flat_cell
from worlds.voxel.inventory import take_one
from worlds.voxel.link import Kernel
from worlds.voxel.log import push_event
from worlds.voxel.state import FULL_HEALTH
from worlds.voxel.tables import USE_NOTHING, USE_PRESS

EAT_TICKS = 32


def swap_state(block_XZY, x, y, z, state):
    """Put another state into a cell and keep its object slot; shapes change, field and links do not."""
    block_XZY[x, z, y] = state | (np.int64(block_XZY[x, z, y]) >> BLOCK_BITS << BLOCK_BITS)


def release_button(e, terrain, blocks, hands):
    """Let the button pressed last come out, if it is still there."""
    block_XZY = terrain.block_EXZY[e]
    cell, state = int(hands.button_cell_E[e]), int(hands.button_state_E[e])
    if 0 <= cell < block_XZY.size:
        y = cell % block_XZY.shape[2]
        column = cell // block_XZY.shape[2]
        x, z = column // block_XZY.shape[1], column % block_XZY.shape[1]
        if block_at(block_XZY, x, y, z) == blocks.used_state_S[state]:
            swap_state(block_XZY, x, y, z, state)
    hands.button_cell_E[e] = -1
    hands.button_ticks_E[e] = 0


def wait_for_button(e, terrain, blocks, hands):
    """Count a tick of the pressed button, and release it after the last one."""
    if hands.button_ticks_E[e] > 0:
        hands.button_ticks_E[e] -= 1
        if hands.button_ticks_E[e] == 0:
            release_button(e, terrain, blocks, hands)


def use_block(e, terrain, hands, log, blocks, x, y, z):
    """Use the block at a cell; tell whether it is one that can be used."""
    block_XZY = terrain.block_EXZY[e]
    packed = np.int64(block_XZY[x, z, y])
    state, slot = packed & BLOCK_MASK, packed >> BLOCK_BITS
    use = blocks.use_S[state]
    if use == USE_NOTHING:
        return False
    cell = flat_cell(block_XZY, x, y, z)
    used_state = np.int64(blocks.used_state_S[state])
    if use == USE_PRESS:
        if used_state == state:
            return True  # pressed already
        if hands.button_ticks_E[e] > 0:
            release_button(e, terrain, blocks, hands)
        hands.button_cell_E[e] = cell
        hands.button_state_E[e] = state
        hands.button_ticks_E[e] = blocks.pressed_ticks_S[used_state]
    swap_state(block_XZY, x, y, z, used_state)
    pair_x, pair_y, pair_z = blocks.pair_S3[state, 0], blocks.pair_S3[state, 1], blocks.pair_S3[state, 2]
    if pair_x != 0 or pair_y != 0 or pair_z != 0:
        other_x = (x + pair_x) & (block_XZY.shape[0] - 1)
        other_z = (z + pair_z) & (block_XZY.shape[1] - 1)
        other_y = y + pair_y
        other = block_at(block_XZY, other_x, other_y, other_z)
        if 0 <= other_y < block_XZY.shape[2] and blocks.kind_S[other] == blocks.kind_S[state]:
            if slot == 0:
                slot = np.int64(block_XZY[other_x, other_z, other_y]) >> BLOCK_BITS
            swap_state(block_XZY, other_x, other_y, other_z, np.int64(blocks.pair_state_S[used_state]))
    push_event(e, log, EVENT_BLOCK_USED, state, slot, cell)
    return True


def can_eat(e, bodies, items, item):
    """Tell whether the item is food that would do some good."""
    return items.food_I[item] > 0 and bodies.health_E[e] < FULL_HEALTH


def eat(e, bodies, hands, items, item):
    """Eat one of the food in hand."""
    bodies.health_E[e] = min(float(FULL_HEALTH), float(bodies.health_E[e]) + float(items.food_I[item]))
    take_one(e, hands, hands.selected_E[e])


SOURCES: tuple[Kernel, ...] = (swap_state, release_button, wait_for_button, use_block, can_eat, eat)
