"""Putting blocks into the world out of the hand, by the rules of Java Edition 1.16.5.

Simplified: slabs and snow layers do not merge with one that is there already; plants grow on any solid floor; door
hinges are on the left; what replaces water does not hold it; a block put into grass is turned as if put on a floor.
"""

import math

import numpy as np

from worlds.spec import BLOCK_MASK
from worlds.types import EVENT_BLOCK_PLACED, FACE_DOWN, FACE_EAST, FACE_NORTH, FACE_SOUTH, FACE_UP, FACE_WEST
from worlds.voxel.body import block_at, is_cell_free
from worlds.voxel.cells import clear_cell, flat_cell, set_cell
from worlds.voxel.combat import agent_height
from worlds.voxel.inventory import held_item, take_one
from worlds.voxel.link import Kernel
from worlds.voxel.log import push_event
from worlds.voxel.motion import HALF_WIDTH
from worlds.voxel.raycast import nearest_image
from worlds.voxel.state import NO_ITEM, NO_MOB


def is_body_outside(block_XZY, collision, state, x, y, z, body_x, body_y, body_z, half_width, height):
    """Tell whether a body stays clear of the collision boxes that `state` would have at a cell."""
    at_x = x + nearest_image(body_x - x, block_XZY.shape[0])
    at_z = z + nearest_image(body_z - z, block_XZY.shape[1])
    return is_cell_free(
        collision, state, x, y, z, at_x - half_width, body_y, at_z - half_width,
        at_x + half_width, body_y + height, at_z + half_width,
    )  # fmt: skip


def is_unoccupied(e, block_XZY, bodies, mobs, tables, state, x, y, z):
    """Tell whether neither the agent nor a mob stands where `state` would be."""
    collision = tables.blocks.collision
    if collision.count_S[state] == 0:
        return True
    if not is_body_outside(
        block_XZY, collision, state, x, y, z, bodies.position_E3[e, 0], bodies.position_E3[e, 1],
        bodies.position_E3[e, 2], HALF_WIDTH, agent_height(e, bodies),
    ):  # fmt: skip
        return False
    for m in range(mobs.kind_EM.shape[1]):
        kind = mobs.kind_EM[e, m]
        if kind != NO_MOB and not is_body_outside(
            block_XZY, collision, state, x, y, z, mobs.position_EM3[e, m, 0], mobs.position_EM3[e, m, 1],
            mobs.position_EM3[e, m, 2], tables.mobs.half_width_K[kind], tables.mobs.height_K[kind],
        ):  # fmt: skip
            return False
    return True


def is_cell_open(block_XZY, blocks, x, y, z):
    """Tell whether a block can be put into this cell of the world: air, water, grass."""
    return 0 <= y < block_XZY.shape[2] and blocks.is_replaceable_S[block_at(block_XZY, x, y, z)]


def has_floor(block_XZY, blocks, state, x, y, z):
    """Tell whether `state` could stand here: it needs no floor, or has a solid one or more of its own kind below."""
    if not blocks.needs_floor_S[state]:
        return True
    below = block_at(block_XZY, x, y - 1, z)
    return blocks.is_solid_S[below] or blocks.kind_S[below] == blocks.kind_S[state]


def place_block(e, terrain, bodies, hands, mobs, log, tables, x, y, z, face, hit_y):
    """Put the block in hand against a face of the cell looked at, or into the cell if it is replaceable; tell if done.

    `hit_y` is the height at which the ray met the face, in blocks. Nothing is put into bodies; doors, beds and tall
    plants need room for both halves; what needs a floor needs a solid one.
    """
    item = held_item(e, hands)
    if item == NO_ITEM:
        return False
    block_XZY, blocks = terrain.block_EXZY[e], tables.blocks
    mask_x, mask_z = block_XZY.shape[0] - 1, block_XZY.shape[1] - 1
    quarter = math.floor(bodies.yaw_deg_E[e] / 90.0 + 0.5) & 3
    half = 1 if hit_y - y > 0.5 else 0
    clicked = np.int64(block_XZY[x, z, y]) & BLOCK_MASK
    if blocks.is_replaceable_S[clicked]:
        face, half = FACE_UP, 0
    elif face == FACE_WEST:
        x = (x - 1) & mask_x
    elif face == FACE_EAST:
        x = (x + 1) & mask_x
    elif face == FACE_DOWN:
        y -= 1
    elif face == FACE_UP:
        y += 1
    elif face == FACE_NORTH:
        z = (z - 1) & mask_z
    elif face == FACE_SOUTH:
        z = (z + 1) & mask_z
    else:
        return False
    state = np.int64(tables.items.place_I462[item, quarter, face, half])
    if state < 0 or blocks.kind_S[state] == blocks.kind_S[block_at(block_XZY, x, y, z)]:
        return False
    if not has_floor(block_XZY, blocks, state, x, y, z):
        return False
    num_cells = 2 if tables.items.pair_place_I[item] else 1
    other = np.int64(blocks.pair_state_S[state])
    other_x = (x + blocks.pair_S3[state, 0]) & mask_x
    other_y = y + blocks.pair_S3[state, 1]
    other_z = (z + blocks.pair_S3[state, 2]) & mask_z
    for i in range(num_cells):
        at_x, at_y, at_z, at_state = (x, y, z, state) if i == 0 else (other_x, other_y, other_z, other)
        if not is_cell_open(block_XZY, blocks, at_x, at_y, at_z) or not is_unoccupied(
            e, block_XZY, bodies, mobs, tables, at_state, at_x, at_y, at_z
        ):
            return False
    for i in range(num_cells):
        at_x, at_y, at_z, at_state = (x, y, z, state) if i == 0 else (other_x, other_y, other_z, other)
        clear_cell(e, terrain, blocks, at_x, at_y, at_z)  # tall grass that is replaced goes with its other half
        set_cell(e, terrain, blocks, at_x, at_y, at_z, at_state)
    state = np.int64(block_XZY[x, z, y]) & BLOCK_MASK
    take_one(e, hands, hands.selected_E[e])
    push_event(e, log, EVENT_BLOCK_PLACED, state, 0, flat_cell(block_XZY, x, y, z))
    return True


SOURCES: tuple[Kernel, ...] = (is_body_outside, is_unoccupied, is_cell_open, has_floor, place_block)
