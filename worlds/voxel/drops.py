"""Items on the ground: they fall, drift and are picked up. Constants of Java Edition 1.16.5's ItemEntity.

Simplified: there are MAX_DROPS rows an env, the oldest item gives way to a new one; items do not merge on the ground,
are not pushed out of blocks, and cactus does not destroy them.
"""

import math

from worlds.types import EVENT_ITEM_PICKED
from worlds.voxel.body import block_at, is_box_free, move_box
from worlds.voxel.chance import chance
from worlds.voxel.inventory import add_items, change_hand, held_item
from worlds.voxel.link import Kernel
from worlds.voxel.log import push_event
from worlds.voxel.motion import HALF_WIDTH, SNEAKING_HEIGHT, STANDING_HEIGHT
from worlds.voxel.raycast import nearest_image
from worlds.voxel.state import NO_ITEM
from worlds.voxel.tables import FLUID_LAVA, FLUID_WATER

DROP_HALF_WIDTH, DROP_HEIGHT = 0.125, 0.25
DROP_GRAVITY, DROP_DRAG = 0.04, 0.98
DROP_WATER_DRAG, DROP_BUOYANCY, DROP_RISE = 0.99, 0.0005, 0.06
DROP_POP_VELOCITY, DROP_SCATTER = 0.2, 0.1
DROP_REST_VELOCITY = 0.003  # slower than this along the ground it lies still
DROP_LIFE_TICKS = 6000
PICK_UP_AGE_TICKS, THROWN_AGE_TICKS = 10, -30  # a thrown item waits 40 ticks
PICK_UP_ASIDE_BLOCKS, PICK_UP_ABOVE_BLOCKS = 1.0, 0.5
_WHO_DROP, _WHO_CELL = 1000, 4096  # row 0 and cell 0 in the draws of chance


def spawn_drop(e, drops, clock, item, count, x, y, z):
    """Put items at a place (bottom centre) with a small hop in a random direction; return their row."""
    row = 0
    for d in range(drops.item_ED.shape[1]):
        if drops.item_ED[e, d] == NO_ITEM:
            row = d
            break
        # What an episode has placed stays as long as anything else can go.
        is_older = drops.age_ticks_ED[e, d] > drops.age_ticks_ED[e, row]
        if (is_older and drops.object_ED[e, d] == 0) or (drops.object_ED[e, row] > 0 and drops.object_ED[e, d] == 0):
            row = d
    key, tick = int(clock.key_E[e]), int(clock.tick_E[e])
    drops.item_ED[e, row] = item
    drops.object_ED[e, row] = 0
    drops.count_ED[e, row] = count
    drops.position_ED3[e, row, 0] = x
    drops.position_ED3[e, row, 1] = y
    drops.position_ED3[e, row, 2] = z
    drops.velocity_ED3[e, row, 0] = (2.0 * chance(key, tick, _WHO_DROP + row, 0) - 1.0) * DROP_SCATTER
    drops.velocity_ED3[e, row, 1] = DROP_POP_VELOCITY
    drops.velocity_ED3[e, row, 2] = (2.0 * chance(key, tick, _WHO_DROP + row, 1) - 1.0) * DROP_SCATTER
    drops.age_ticks_ED[e, row] = 0
    return row


def spawn_drop_in_cell(e, drops, clock, item, count, x, y, z):
    """Put the items of a broken block somewhere into the middle of its cell, as Minecraft's Block.popResource."""
    key, tick, who = int(clock.key_E[e]), int(clock.tick_E[e]), _WHO_CELL + (x * 256 + z) * 64 + y
    spawn_drop(
        e, drops, clock, item, count,
        x + 0.25 + 0.5 * chance(key, tick, who, 2),
        y + 0.25 + 0.5 * chance(key, tick, who, 3),
        z + 0.25 + 0.5 * chance(key, tick, who, 4),
    )  # fmt: skip


def move_drop(e, d, block_XZY, drops, blocks):
    """Advance one item by one tick; lava takes it."""
    x, y, z = drops.position_ED3[e, d, 0], drops.position_ED3[e, d, 1], drops.position_ED3[e, d, 2]
    vx, vy, vz = drops.velocity_ED3[e, d, 0], drops.velocity_ED3[e, d, 1], drops.velocity_ED3[e, d, 2]
    if vx == 0.0 and vy == 0.0 and vz == 0.0:
        # At rest: look every fourth tick whether the ground is still there.
        if (drops.age_ticks_ED[e, d] + d) % 4 != 0 or not is_box_free(
            block_XZY, blocks.collision, x - DROP_HALF_WIDTH, y - 0.01, z - DROP_HALF_WIDTH,
            x + DROP_HALF_WIDTH, y, z + DROP_HALF_WIDTH,
        ):  # fmt: skip
            return
    cell_x, cell_z = math.floor(x), math.floor(z)
    fluid = blocks.fluid_S[block_at(block_XZY, cell_x, math.floor(y + DROP_HEIGHT / 2.0), cell_z)]
    if fluid == FLUID_LAVA:
        drops.item_ED[e, d] = NO_ITEM
        return
    if fluid == FLUID_WATER:
        vx *= DROP_WATER_DRAG
        vz *= DROP_WATER_DRAG
        if vy < DROP_RISE:
            vy += DROP_BUOYANCY
    else:
        vy -= DROP_GRAVITY
    move_x, move_y, move_z = move_box(
        block_XZY, blocks.collision, x, y, z, DROP_HALF_WIDTH, DROP_HEIGHT, vx, vy, vz, 0.0, False
    )
    is_on_ground = vy < 0.0 and move_y != vy
    if move_x != vx:
        vx = 0.0
    if move_y != vy:
        vy = 0.0
    if move_z != vz:
        vz = 0.0
    drag = DROP_DRAG
    if is_on_ground:
        drag *= blocks.slipperiness_S[block_at(block_XZY, cell_x, math.floor(y + move_y - 0.5), cell_z)]
    vx *= drag
    vz *= drag
    vy *= DROP_DRAG
    if is_on_ground and abs(vx) < DROP_REST_VELOCITY and abs(vz) < DROP_REST_VELOCITY:
        vx = vy = vz = 0.0
    x, z = x + move_x, z + move_z
    size_x, size_z = block_XZY.shape[0], block_XZY.shape[1]
    drops.position_ED3[e, d, 0] = x - math.floor(x / size_x) * size_x
    drops.position_ED3[e, d, 1] = y + move_y
    drops.position_ED3[e, d, 2] = z - math.floor(z / size_z) * size_z
    drops.velocity_ED3[e, d, 0] = vx
    drops.velocity_ED3[e, d, 1] = vy
    drops.velocity_ED3[e, d, 2] = vz


def is_within_grasp(e, bodies, size_x, size_z, x, y, z, half_width, height):
    """Tell whether a thing on the ground touches the agent's box grown by 1 sideways and 0.5 up and down."""
    reach = HALF_WIDTH + PICK_UP_ASIDE_BLOCKS + half_width
    body_height = SNEAKING_HEIGHT if bodies.is_sneaking_E[e] else STANDING_HEIGHT
    return (
        abs(nearest_image(x - bodies.position_E3[e, 0], size_x)) < reach
        and abs(nearest_image(z - bodies.position_E3[e, 2], size_z)) < reach
        and y + height > bodies.position_E3[e, 1] - PICK_UP_ABOVE_BLOCKS
        and y < bodies.position_E3[e, 1] + body_height + PICK_UP_ABOVE_BLOCKS
    )


def move_drops(e, terrain, bodies, hands, drops, log, clock, tables):
    """Advance the items of env e by one tick: they fall, age, and the agent takes what it has room for."""
    block_XZY = terrain.block_EXZY[e]
    for d in range(drops.item_ED.shape[1]):
        if drops.item_ED[e, d] == NO_ITEM:
            continue
        move_drop(e, d, block_XZY, drops, tables.blocks)
        drops.age_ticks_ED[e, d] += 1
        age = drops.age_ticks_ED[e, d]
        if age >= DROP_LIFE_TICKS and drops.object_ED[e, d] == 0:
            drops.item_ED[e, d] = NO_ITEM
        item = drops.item_ED[e, d]
        if (
            item != NO_ITEM
            and age >= PICK_UP_AGE_TICKS
            and bodies.health_E[e] > 0.0
            and is_within_grasp(
                e, bodies, block_XZY.shape[0], block_XZY.shape[1], drops.position_ED3[e, d, 0],
                drops.position_ED3[e, d, 1], drops.position_ED3[e, d, 2], DROP_HALF_WIDTH, DROP_HEIGHT,
            )
        ):  # fmt: skip
            count, in_hand = drops.count_ED[e, d], held_item(e, hands)
            left = add_items(e, hands, tables.items, item, count)
            if held_item(e, hands) != in_hand:
                change_hand(e, hands)
            if left < count:
                push_event(e, log, EVENT_ITEM_PICKED, item, count - left, drops.object_ED[e, d])
            drops.count_ED[e, d] = left
            if left == 0:
                drops.item_ED[e, d] = NO_ITEM


SOURCES: tuple[Kernel, ...] = (spawn_drop, spawn_drop_in_cell, move_drop, is_within_grasp, move_drops)
