"""One tick of a walking, jumping, sprinting, sneaking, swimming body. Constants of Java Edition 1.16.5.

Kernels are scalar functions of scalars and arrays, one env each;
Velocities are in blocks a tick, x and z wrap around the world, y does not.
"""

import math

from numba import njit

from worlds.spec import BLOCK_MASK

GRAVITY = 0.08
VERTICAL_DRAG = 0.98
AIR_FRICTION = 0.91
GROUND_SLIPPERINESS = 0.6
ICE_SLIPPERINESS = 0.98
WALK_SPEED = 0.1
SPRINT_FACTOR = 1.3
AIR_ACCELERATION = 0.02
AIR_SPRINT_ACCELERATION = 0.026
INPUT_SCALE = 0.98
SNEAK_FACTOR = 0.3
JUMP_VELOCITY = 0.42
SPRINT_JUMP_BOOST = 0.2
JUMP_DELAY_TICKS = 10
SMALLEST_VELOCITY = 0.003
HALF_WIDTH = 0.3
STANDING_HEIGHT = 1.8
SNEAKING_HEIGHT = 1.5
SAFE_FALL_BLOCKS = 3.0
WATER_DRAG = 0.8
WATER_SPRINT_DRAG = 0.9
WATER_ACCELERATION = 0.02
WATER_SINK = 0.005
WATER_EXIT_VELOCITY = 0.3
SWIM_UP = 0.04
# Faces that touch do not collide.
SKIN = 1e-7


@njit(cache=True, nogil=True)
def block_at(block_XZY, x, y, z):
    """Return the block id at integer cell (x, y, z); bedrock-like solid (1) below the world, air above it."""
    if y < 0:
        return 1
    if y >= block_XZY.shape[2]:
        return 0
    return block_XZY[x & (block_XZY.shape[0] - 1), z & (block_XZY.shape[1] - 1), y] & BLOCK_MASK


@njit(cache=True, nogil=True)
def is_box_free(block_XZY, is_solid_K, x0, y0, z0, x1, y1, z1):
    """Tell whether no solid block reaches into the open box [x0, x1] x [y0, y1] x [z0, z1]."""
    for x in range(math.floor(x0 + SKIN), math.floor(x1 - SKIN) + 1):
        for z in range(math.floor(z0 + SKIN), math.floor(z1 - SKIN) + 1):
            for y in range(math.floor(y0 + SKIN), math.floor(y1 - SKIN) + 1):
                if is_solid_K[block_at(block_XZY, x, y, z)]:
                    return False
    return True


@njit(cache=True, nogil=True)
def clip_y(block_XZY, is_solid_K, x0, x1, y0, y1, z0, z1, move):
    """Return how far of `move` the box can go along y before a solid block stops it."""
    step = 1 if move > 0 else -1
    first = math.floor(y1 - SKIN) + 1 if move > 0 else math.floor(y0 + SKIN) - 1
    last = math.floor(y1 + move - SKIN) if move > 0 else math.floor(y0 + move + SKIN)
    for y in range(first, last + step, step):
        for x in range(math.floor(x0 + SKIN), math.floor(x1 - SKIN) + 1):
            for z in range(math.floor(z0 + SKIN), math.floor(z1 - SKIN) + 1):
                if is_solid_K[block_at(block_XZY, x, y, z)]:
                    return max(0.0, y - y1) if move > 0 else min(0.0, y + 1.0 - y0)
    return move


@njit(cache=True, nogil=True)
def clip_x(block_XZY, is_solid_K, x0, x1, y0, y1, z0, z1, move):
    """Return how far of `move` the box can go along x before a solid block stops it."""
    step = 1 if move > 0 else -1
    first = math.floor(x1 - SKIN) + 1 if move > 0 else math.floor(x0 + SKIN) - 1
    last = math.floor(x1 + move - SKIN) if move > 0 else math.floor(x0 + move + SKIN)
    for x in range(first, last + step, step):
        for y in range(math.floor(y0 + SKIN), math.floor(y1 - SKIN) + 1):
            for z in range(math.floor(z0 + SKIN), math.floor(z1 - SKIN) + 1):
                if is_solid_K[block_at(block_XZY, x, y, z)]:
                    return max(0.0, x - x1) if move > 0 else min(0.0, x + 1.0 - x0)
    return move


@njit(cache=True, nogil=True)
def clip_z(block_XZY, is_solid_K, x0, x1, y0, y1, z0, z1, move):
    """Return how far of `move` the box can go along z before a solid block stops it."""
    step = 1 if move > 0 else -1
    first = math.floor(z1 - SKIN) + 1 if move > 0 else math.floor(z0 + SKIN) - 1
    last = math.floor(z1 + move - SKIN) if move > 0 else math.floor(z0 + move + SKIN)
    for z in range(first, last + step, step):
        for y in range(math.floor(y0 + SKIN), math.floor(y1 - SKIN) + 1):
            for x in range(math.floor(x0 + SKIN), math.floor(x1 - SKIN) + 1):
                if is_solid_K[block_at(block_XZY, x, y, z)]:
                    return max(0.0, z - z1) if move > 0 else min(0.0, z + 1.0 - z0)
    return move


@njit(cache=True, nogil=True)
def back_off_from_edge(block_XZY, is_solid_K, x, y, z, move_x, move_z):
    """Return the move a sneaking body makes: shortened in steps of 0.05 until there is ground within a step below."""
    drop = 0.6
    while move_x != 0.0 and is_box_free(
        block_XZY,
        is_solid_K,
        x - HALF_WIDTH + move_x,
        y - drop,
        z - HALF_WIDTH,
        x + HALF_WIDTH + move_x,
        y,
        z + HALF_WIDTH,
    ):
        move_x = 0.0 if abs(move_x) < 0.05 else move_x - math.copysign(0.05, move_x)
    while move_z != 0.0 and is_box_free(
        block_XZY,
        is_solid_K,
        x - HALF_WIDTH,
        y - drop,
        z - HALF_WIDTH + move_z,
        x + HALF_WIDTH,
        y,
        z + HALF_WIDTH + move_z,
    ):
        move_z = 0.0 if abs(move_z) < 0.05 else move_z - math.copysign(0.05, move_z)
    while (
        move_x != 0.0
        and move_z != 0.0
        and is_box_free(
            block_XZY,
            is_solid_K,
            x - HALF_WIDTH + move_x,
            y - drop,
            z - HALF_WIDTH + move_z,
            x + HALF_WIDTH + move_x,
            y,
            z + HALF_WIDTH + move_z,
        )
    ):
        move_x = 0.0 if abs(move_x) < 0.05 else move_x - math.copysign(0.05, move_x)
        move_z = 0.0 if abs(move_z) < 0.05 else move_z - math.copysign(0.05, move_z)
    return move_x, move_z


@njit(cache=True, nogil=True)
def is_in_water(block_XZY, is_fluid_K, x, y, z):
    """Tell whether the water's surface (8/9 of a block) reaches the body's feet box, shrunk as Minecraft does."""
    for cell_x in range(math.floor(x - HALF_WIDTH + 0.001), math.floor(x + HALF_WIDTH - 0.001) + 1):
        for cell_z in range(math.floor(z - HALF_WIDTH + 0.001), math.floor(z + HALF_WIDTH - 0.001) + 1):
            for cell_y in range(math.floor(y + 0.001), math.floor(y + 1.399) + 1):
                if is_fluid_K[block_at(block_XZY, cell_x, cell_y, cell_z)]:
                    is_covered = is_fluid_K[block_at(block_XZY, cell_x, cell_y + 1, cell_z)]
                    if is_covered or cell_y + 8.0 / 9.0 >= y + 0.001:
                        return True
    return False


@njit(cache=True, nogil=True)
def move_agent(
    block_XZY, is_solid_K, is_fluid_K, ice_id, position_3, velocity_3, yaw_deg, forward, strafe, is_jumping,
    is_sneaking, wants_sprint, was_on_ground, was_sprinting, had_bumped, jump_delay_ticks, fall_blocks,
):  # fmt: skip
    """Advance one body by one tick; position_3 and velocity_3 change in place.

    `forward` and `strafe` (+ is left) are -1, 0 or 1. Returns (is_on_ground, is_sprinting, has_bumped,
    jump_delay_ticks, fall_blocks, damage in half hearts).
    """
    x, y, z = position_3[0], position_3[1], position_3[2]
    vx, vy, vz = velocity_3[0], velocity_3[1], velocity_3[2]
    in_water = is_in_water(block_XZY, is_fluid_K, x, y, z)
    can_sprint = forward > 0 and not is_sneaking and not in_water
    is_sprinting = can_sprint and not had_bumped and (was_sprinting or wants_sprint)
    if jump_delay_ticks > 0:
        jump_delay_ticks -= 1
    if abs(vx) < SMALLEST_VELOCITY:
        vx = 0.0
    if abs(vy) < SMALLEST_VELOCITY:
        vy = 0.0
    if abs(vz) < SMALLEST_VELOCITY:
        vz = 0.0
    yaw = math.radians(yaw_deg)
    sin_yaw, cos_yaw = math.sin(yaw), math.cos(yaw)
    if is_jumping:
        if in_water:
            vy += SWIM_UP
        elif was_on_ground and jump_delay_ticks == 0:
            vy = JUMP_VELOCITY
            if is_sprinting:
                vx -= sin_yaw * SPRINT_JUMP_BOOST
                vz += cos_yaw * SPRINT_JUMP_BOOST
            jump_delay_ticks = JUMP_DELAY_TICKS
    else:
        jump_delay_ticks = 0

    slipperiness = GROUND_SLIPPERINESS
    if block_at(block_XZY, math.floor(x), math.floor(y - 0.5), math.floor(z)) == ice_id:
        slipperiness = ICE_SLIPPERINESS
    friction = slipperiness * AIR_FRICTION if was_on_ground else AIR_FRICTION
    if in_water:
        acceleration = WATER_ACCELERATION
    elif was_on_ground:
        acceleration = WALK_SPEED * 0.16277136 / (friction * friction * friction)
        if is_sprinting:
            acceleration *= SPRINT_FACTOR
    else:
        acceleration = AIR_SPRINT_ACCELERATION if is_sprinting else AIR_ACCELERATION
    scale = INPUT_SCALE * (SNEAK_FACTOR if is_sneaking else 1.0)
    ahead, left = forward * scale, strafe * scale
    length = math.sqrt(ahead * ahead + left * left)
    if length > 1e-4:
        if length > 1.0:
            ahead, left = ahead / length, left / length
        vx += (left * cos_yaw - ahead * sin_yaw) * acceleration
        vz += (ahead * cos_yaw + left * sin_yaw) * acceleration

    height = SNEAKING_HEIGHT if is_sneaking else STANDING_HEIGHT
    move_x, move_y, move_z = vx, vy, vz
    if is_sneaking and was_on_ground and vy <= 0.0:
        move_x, move_z = back_off_from_edge(block_XZY, is_solid_K, x, y, z, move_x, move_z)
    wanted_x, wanted_y, wanted_z = move_x, move_y, move_z
    x0, x1, z0, z1 = x - HALF_WIDTH, x + HALF_WIDTH, z - HALF_WIDTH, z + HALF_WIDTH
    start_y = y
    if move_y != 0.0:
        move_y = clip_y(block_XZY, is_solid_K, x0, x1, y, y + height, z0, z1, move_y)
    y += move_y
    z_first = abs(move_x) < abs(move_z)
    if z_first:
        move_z = clip_z(block_XZY, is_solid_K, x0, x1, y, y + height, z0, z1, move_z)
        z0, z1 = z0 + move_z, z1 + move_z
    if move_x != 0.0:
        move_x = clip_x(block_XZY, is_solid_K, x0, x1, y, y + height, z0, z1, move_x)
        x0, x1 = x0 + move_x, x1 + move_x
    if not z_first and move_z != 0.0:
        move_z = clip_z(block_XZY, is_solid_K, x0, x1, y, y + height, z0, z1, move_z)
    x, z = x + move_x, z + move_z
    bumped_x, bumped_z = move_x != wanted_x, move_z != wanted_z
    has_bumped = bumped_x or bumped_z
    is_on_ground = wanted_y < 0.0 and move_y != wanted_y
    if bumped_x:
        vx = 0.0
    if bumped_z:
        vz = 0.0
    if move_y != wanted_y:
        vy = 0.0

    damage = 0.0
    if in_water:
        fall_blocks = 0.0
    elif is_on_ground:
        # As in Minecraft, the tick of the landing adds nothing to the height that counts.
        damage = float(max(0, math.ceil(fall_blocks - SAFE_FALL_BLOCKS)))
        fall_blocks = 0.0
    elif move_y < 0.0:
        fall_blocks -= move_y

    if in_water:
        drag = WATER_SPRINT_DRAG if is_sprinting else WATER_DRAG
        vx, vy, vz = vx * drag, vy * WATER_DRAG, vz * drag
        if vy <= 0.0 and abs(vy - WATER_SINK) >= SMALLEST_VELOCITY and abs(vy - GRAVITY / 16.0) < SMALLEST_VELOCITY:
            vy = -SMALLEST_VELOCITY
        else:
            vy -= WATER_SINK
        lift = 0.6 - y + start_y + vy
        if has_bumped and is_box_free(
            block_XZY,
            is_solid_K,
            x + vx - HALF_WIDTH,
            y + lift,
            z + vz - HALF_WIDTH,
            x + vx + HALF_WIDTH,
            y + lift + height,
            z + vz + HALF_WIDTH,
        ):
            vy = WATER_EXIT_VELOCITY
    else:
        vx, vz = vx * friction, vz * friction
        vy = (vy - GRAVITY) * VERTICAL_DRAG

    size_x, size_z = block_XZY.shape[0], block_XZY.shape[1]
    position_3[0], position_3[1], position_3[2] = (
        x - math.floor(x / size_x) * size_x,
        y,
        z - math.floor(z / size_z) * size_z,
    )
    velocity_3[0], velocity_3[1], velocity_3[2] = vx, vy, vz
    return is_on_ground, is_sprinting, has_bumped, jump_delay_ticks, fall_blocks, damage
