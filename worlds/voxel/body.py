"""How a box meets the blocks: what stops it, how far it can go, what fluid it stands in. Java Edition 1.16.5.

Kernels (see worlds.voxel.link) of agents, mobs, drops and arrows alike. Boxes are x0, y0, z0, x1, y1, z1 in blocks and
need not be wrapped: cells are. S block states; B boxes of worlds.voxel.tables.Boxes.
"""

import math

from worlds.blocks import BLOCK_ID
from worlds.spec import BLOCK_MASK
from worlds.voxel.link import Kernel
from worlds.voxel.tables import FLUID_LAVA, FLUID_NONE, FLUID_WATER

AXIS_X, AXIS_Y, AXIS_Z = range(3)
STONE_BELOW, AIR = BLOCK_ID["stone"], BLOCK_ID["air"]
WATER = BLOCK_ID["water"]
# Faces that touch do not collide.
SKIN = 1e-7
# A box is this much smaller when it is asked what it stands in.
INSIDE_SKIN = 0.001
# Surface of a fluid with none of its kind above.
FLUID_SURFACE = 8.0 / 9.0
# How far below the feet lies the block whose ice, soul sand and honey they feel.
FEEL_DEPTH = 0.5000001
# A sneaking body shortens its move by this until it stays on the ground.
EDGE_STEP_BLOCKS = 0.05


def block_at(block_XZY, x, y, z):
    """Return the state id at integer cell (x, y, z); stone below the world, air above it."""
    if y < 0:
        return STONE_BELOW
    if y >= block_XZY.shape[2]:
        return AIR
    return block_XZY[x & (block_XZY.shape[0] - 1), z & (block_XZY.shape[1] - 1), y] & BLOCK_MASK


def is_cell_free(boxes, state, x, y, z, x0, y0, z0, x1, y1, z1):
    """Tell whether no box of `state` at cell (x, y, z) reaches into the open box x0 .. z1."""
    first = boxes.start_S[state]
    for row in range(first, first + boxes.count_S[state]):
        if (
            x + boxes.box_B6[row, 0] < x1 - SKIN
            and x + boxes.box_B6[row, 3] > x0 + SKIN
            and y + boxes.box_B6[row, 1] < y1 - SKIN
            and y + boxes.box_B6[row, 4] > y0 + SKIN
            and z + boxes.box_B6[row, 2] < z1 - SKIN
            and z + boxes.box_B6[row, 5] > z0 + SKIN
        ):
            return False
    return True


def is_box_free(block_XZY, collision, x0, y0, z0, x1, y1, z1):
    """Tell whether no block's collision box reaches into the open box x0 .. z1."""
    low_y, high_y = math.floor(y0 + SKIN), math.floor(y1 - SKIN)
    for x in range(math.floor(x0 + SKIN), math.floor(x1 - SKIN) + 1):
        for z in range(math.floor(z0 + SKIN), math.floor(z1 - SKIN) + 1):
            for y in range(low_y - 1, high_y + 1):  # a fence of the cell below reaches up
                state = block_at(block_XZY, x, y, z)
                if collision.is_cube_S[state]:
                    if y >= low_y:
                        return False
                elif collision.count_S[state] > 0 and not is_cell_free(
                    collision, state, x, y, z, x0, y0, z0, x1, y1, z1
                ):
                    return False
    return True


def clip_move(block_XZY, collision, axis, x0, y0, z0, x1, y1, z1, move):
    """Return how far of `move` along `axis` the box can go; a block it already stands in does not stop it."""
    if -SKIN < move < SKIN:
        return 0.0
    # Only what lies between the face in front and where it wants to be can be in the way.
    low_x, low_y, low_z = math.floor(x0 + SKIN), math.floor(y0 + SKIN), math.floor(z0 + SKIN)
    high_x, high_y, high_z = math.floor(x1 - SKIN), math.floor(y1 - SKIN), math.floor(z1 - SKIN)
    if axis == AXIS_X:
        low_x = math.floor(x1 - SKIN) if move > 0.0 else math.floor(x0 + move)
        high_x = math.floor(x1 + move) if move > 0.0 else math.floor(x0 + SKIN)
    elif axis == AXIS_Y:
        low_y = math.floor(y1 - SKIN) if move > 0.0 else math.floor(y0 + move)
        high_y = math.floor(y1 + move) if move > 0.0 else math.floor(y0 + SKIN)
    else:
        low_z = math.floor(z1 - SKIN) if move > 0.0 else math.floor(z0 + move)
        high_z = math.floor(z1 + move) if move > 0.0 else math.floor(z0 + SKIN)
    for x in range(low_x, high_x + 1):
        for z in range(low_z, high_z + 1):
            for y in range(low_y - 1, high_y + 1):  # a fence of the cell below reaches up
                state = block_at(block_XZY, x, y, z)
                first = collision.start_S[state]
                for row in range(first, first + collision.count_S[state]):
                    block_x0, block_x1 = x + collision.box_B6[row, 0], x + collision.box_B6[row, 3]
                    block_y0, block_y1 = y + collision.box_B6[row, 1], y + collision.box_B6[row, 4]
                    block_z0, block_z1 = z + collision.box_B6[row, 2], z + collision.box_B6[row, 5]
                    is_over_x = x0 + SKIN < block_x1 and x1 - SKIN > block_x0
                    is_over_y = y0 + SKIN < block_y1 and y1 - SKIN > block_y0
                    is_over_z = z0 + SKIN < block_z1 and z1 - SKIN > block_z0
                    if axis == AXIS_X and is_over_y and is_over_z:
                        gap = block_x0 - x1 if move > 0.0 else x0 - block_x1
                    elif axis == AXIS_Y and is_over_x and is_over_z:
                        gap = block_y0 - y1 if move > 0.0 else y0 - block_y1
                    elif axis == AXIS_Z and is_over_x and is_over_y:
                        gap = block_z0 - z1 if move > 0.0 else z0 - block_z1
                    else:
                        continue
                    if -SKIN <= gap < abs(move):
                        move = math.copysign(max(gap, 0.0), move)
    return move


def slide_box(block_XZY, collision, x0, y0, z0, x1, y1, z1, move_x, move_y, move_z):
    """Return the part of a move that the blocks allow: y first, then the longer of x and z, then the other."""
    move_y = clip_move(block_XZY, collision, AXIS_Y, x0, y0, z0, x1, y1, z1, move_y)
    y0, y1 = y0 + move_y, y1 + move_y
    if abs(move_x) < abs(move_z):
        move_z = clip_move(block_XZY, collision, AXIS_Z, x0, y0, z0, x1, y1, z1, move_z)
        z0, z1 = z0 + move_z, z1 + move_z
        move_x = clip_move(block_XZY, collision, AXIS_X, x0, y0, z0, x1, y1, z1, move_x)
    else:
        move_x = clip_move(block_XZY, collision, AXIS_X, x0, y0, z0, x1, y1, z1, move_x)
        x0, x1 = x0 + move_x, x1 + move_x
        move_z = clip_move(block_XZY, collision, AXIS_Z, x0, y0, z0, x1, y1, z1, move_z)
    return move_x, move_y, move_z


def move_box(
    block_XZY, collision, x, y, z, half_width, height, move_x, move_y, move_z, step_blocks, was_on_ground
):  # fmt: skip
    """Return the part (x, y, z) of a move that a body with its feet at (x, y, z) can make, steps included.

    A body on the ground, or landing in this move, that is stopped sideways climbs up to `step_blocks` (0 never) if that
    brings it farther: Minecraft's Entity.collide, both ways up tried.
    """
    x0, y0, z0 = x - half_width, y, z - half_width
    x1, y1, z1 = x + half_width, y + height, z + half_width
    free_x, free_y, free_z = slide_box(block_XZY, collision, x0, y0, z0, x1, y1, z1, move_x, move_y, move_z)
    is_stopped = abs(free_x - move_x) > SKIN or abs(free_z - move_z) > SKIN
    is_footed = was_on_ground or (move_y < 0.0 and free_y != move_y)
    if step_blocks > 0.0 and is_stopped and is_footed:
        up_x, up_y, up_z = slide_box(block_XZY, collision, x0, y0, z0, x1, y1, z1, move_x, step_blocks, move_z)
        # The other way: first up as far as the whole width of the move allows, then ahead.
        rise = clip_move(
            block_XZY, collision, AXIS_Y, x0 + min(move_x, 0.0), y0, z0 + min(move_z, 0.0),
            x1 + max(move_x, 0.0), y1, z1 + max(move_z, 0.0), step_blocks,
        )  # fmt: skip
        if rise < step_blocks:
            side_x, _, side_z = slide_box(
                block_XZY, collision, x0, y0 + rise, z0, x1, y1 + rise, z1, move_x, 0.0, move_z
            )
            if side_x * side_x + side_z * side_z > up_x * up_x + up_z * up_z:
                up_x, up_y, up_z = side_x, rise, side_z
        if up_x * up_x + up_z * up_z > free_x * free_x + free_z * free_z:
            down = clip_move(
                block_XZY, collision, AXIS_Y, x0 + up_x, y0 + up_y, z0 + up_z, x1 + up_x, y1 + up_y, z1 + up_z,
                move_y - up_y,
            )  # fmt: skip
            return up_x, up_y + down, up_z
    return free_x, free_y, free_z


def is_box_air(block_XZY, x0, y0, z0, x1, y1, z1):
    """Tell whether every cell that the box reaches into is air."""
    low_y, high_y = math.floor(y0), math.ceil(y1)
    for x in range(math.floor(x0), math.ceil(x1)):
        for z in range(math.floor(z0), math.ceil(z1)):
            for y in range(low_y, high_y):
                if block_at(block_XZY, x, y, z) != AIR:
                    return False
    return True


def surface_in_cell(block_XZY, fluid_S, fluid, x, y, z):
    """Return the height of the surface of `fluid` in a cell, from the cell's floor; 0 when the cell holds none."""
    if fluid_S[block_at(block_XZY, x, y, z)] != fluid:
        return 0.0
    return 1.0 if fluid_S[block_at(block_XZY, x, y + 1, z)] == fluid else FLUID_SURFACE


def fluid_height(block_XZY, fluid_S, fluid, x0, y0, z0, x1, y1, z1):
    """Return how high `fluid` stands above the floor of a box, as Minecraft measures it; 0 when it is not reached."""
    floor_y, height = y0 + INSIDE_SKIN, 0.0
    for x in range(math.floor(x0 + INSIDE_SKIN), math.ceil(x1 - INSIDE_SKIN)):
        for z in range(math.floor(z0 + INSIDE_SKIN), math.ceil(z1 - INSIDE_SKIN)):
            for y in range(math.floor(floor_y), math.ceil(y1 - INSIDE_SKIN)):
                surface = surface_in_cell(block_XZY, fluid_S, fluid, x, y, z)
                if surface > 0.0:
                    height = max(height, y + surface - floor_y)
    return height


def fluid_at_box(block_XZY, blocks, x0, y0, z0, x1, y1, z1):
    """Return FLUID_* of what reaches into the box, water before lava."""
    if fluid_height(block_XZY, blocks.fluid_S, FLUID_WATER, x0, y0, z0, x1, y1, z1) > 0.0:
        return FLUID_WATER
    if fluid_height(block_XZY, blocks.fluid_S, FLUID_LAVA, x0, y0, z0, x1, y1, z1) > 0.0:
        return FLUID_LAVA
    return FLUID_NONE


def is_box_dry(block_XZY, fluid_S, x0, y0, z0, x1, y1, z1):
    """Tell whether no cell that the box reaches into holds a fluid, however high its surface."""
    for x in range(math.floor(x0), math.ceil(x1)):
        for z in range(math.floor(z0), math.ceil(z1)):
            for y in range(math.floor(y0), math.ceil(y1)):
                if fluid_S[block_at(block_XZY, x, y, z)] != FLUID_NONE:
                    return False
    return True


def can_leave_fluid(block_XZY, collision, fluid_S, x, y, z, half_width, height):
    """Tell whether a body with its feet at (x, y, z) would be clear of blocks and of fluids."""
    x0, z0, x1, z1 = x - half_width, z - half_width, x + half_width, z + half_width
    return is_box_free(block_XZY, collision, x0, y, z0, x1, y + height, z1) and is_box_dry(
        block_XZY, fluid_S, x0, y, z0, x1, y + height, z1
    )


def is_climbing(block_XZY, is_climbable_S, x, y, z):
    """Tell whether the feet at (x, y, z) are in a ladder or a vine."""
    return is_climbable_S[block_at(block_XZY, math.floor(x), math.floor(y), math.floor(z))]


def factor_underfoot(block_XZY, factor_S, x, y, z):
    """Return a factor of the block that the feet are in or, if it is 1, of the block just below them."""
    state = block_at(block_XZY, math.floor(x), math.floor(y), math.floor(z))
    if factor_S[state] != 1.0 or state == WATER:
        return factor_S[state]
    return factor_S[block_at(block_XZY, math.floor(x), math.floor(y - FEEL_DEPTH), math.floor(z))]


def is_lowered_body_free(block_XZY, collision, x, y, z, half_width, height, drop):
    """Tell whether a body at (x, y, z), moved down by `drop`, would stand in no block."""
    return is_box_free(
        block_XZY, collision, x - half_width, y - drop, z - half_width, x + half_width, y - drop + height,
        z + half_width,
    )  # fmt: skip


def is_near_ground(block_XZY, collision, x, y, z, half_width, height, step_blocks, is_on_ground, fall_blocks):
    """Tell whether a body stands, or is less than a step above what it would stand on (Player.isAboveGround)."""
    if is_on_ground:
        return True
    return fall_blocks < step_blocks and not is_lowered_body_free(
        block_XZY, collision, x, y, z, half_width, height, step_blocks - fall_blocks
    )


def shorten_to_edge(move):
    """Return a move that is one step of the edge search shorter."""
    if -EDGE_STEP_BLOCKS <= move < EDGE_STEP_BLOCKS:
        return 0.0
    return move - math.copysign(EDGE_STEP_BLOCKS, move)


def back_off_from_edge(block_XZY, collision, x, y, z, half_width, height, step_blocks, move_x, move_z):
    """Return the x and z that a sneaking body moves: shortened until it stays above something a step down."""
    while move_x != 0.0 and is_lowered_body_free(
        block_XZY, collision, x + move_x, y, z, half_width, height, step_blocks
    ):
        move_x = shorten_to_edge(move_x)
    while move_z != 0.0 and is_lowered_body_free(
        block_XZY, collision, x, y, z + move_z, half_width, height, step_blocks
    ):
        move_z = shorten_to_edge(move_z)
    while (
        move_x != 0.0
        and move_z != 0.0
        and is_lowered_body_free(block_XZY, collision, x + move_x, y, z + move_z, half_width, height, step_blocks)
    ):
        move_x, move_z = shorten_to_edge(move_x), shorten_to_edge(move_z)
    return move_x, move_z


SOURCES: tuple[Kernel, ...] = (
    block_at, is_cell_free, is_box_free, clip_move, slide_box, move_box, is_box_air, surface_in_cell, fluid_height,
    fluid_at_box, is_box_dry, can_leave_fluid, is_climbing, factor_underfoot, is_lowered_body_free, is_near_ground,
    shorten_to_edge, back_off_from_edge,
)  # fmt: skip
