"""One tick of a walking, jumping, sprinting, sneaking, swimming, climbing, falling agent. Java Edition 1.16.5.

Kernels (see worlds.voxel.link). Velocities are in blocks a tick; x and z wrap around the world, y does not. Docstrings
name the methods of the game that a stage follows. Left out on purpose: currents (every fluid is a still source),
sprint-swimming and its low pose, open trapdoors as the top of a ladder, being pushed out of blocks, burning.
"""

import math

from worlds.blocks import BLOCK_ID
from worlds.voxel.body import (
    FEEL_DEPTH,
    INSIDE_SKIN,
    back_off_from_edge,
    block_at,
    can_leave_fluid,
    factor_underfoot,
    fluid_height,
    is_box_air,
    is_box_free,
    is_climbing,
    is_near_ground,
    move_box,
)
from worlds.voxel.landing import landing_damage, touch_floor
from worlds.voxel.link import Kernel
from worlds.voxel.tables import FLUID_LAVA, FLUID_WATER

GRAVITY = 0.08
VERTICAL_DRAG = 0.98
AIR_FRICTION = 0.91
WALK_SPEED, SPRINT_SPEED = 0.1, 0.13
# Ground acceleration is the speed times this over the cube of the slipperiness.
GROUND_GRIP = 0.216
AIR_ACCELERATION = 0.02
AIR_SPRINT_ACCELERATION = 0.026
INPUT_SCALE = 0.98
SNEAK_FACTOR = 0.3
# Sprinting starts only with more input than a sneaking player has.
SPRINT_INPUT = 0.8
JUMP_VELOCITY = 0.42
SPRINT_JUMP_BOOST = 0.2
JUMP_DELAY_TICKS = 10
SMALLEST_VELOCITY = 0.003
# Shorter moves are left out: the square of their length.
SMALLEST_MOVE_SQUARED = 1e-7
# A move shortened by less is no bump.
SMALLEST_BUMP = 1e-5

HALF_WIDTH = 0.3
STANDING_HEIGHT = 1.8
SNEAKING_HEIGHT = 1.5
STEP_BLOCKS = 0.6
# How far below the feet lies the block that a body stands on.
STAND_DEPTH = 0.2

FLUID_ACCELERATION = 0.02
WATER_DRAG = 0.8
LAVA_DRAG = 0.5
SWIM_UP = 0.04
SHALLOW_FLUID = 0.4
FLUID_EXIT_VELOCITY = 0.3

CLIMB_VELOCITY = 0.2
CLIMB_SPEED_LIMIT = 0.15
WEB_HOLD, WEB_HOLD_Y = 0.25, 0.05
BUSH_HOLD, BUSH_HOLD_Y = 0.8, 0.75

# What holds a body, beside webs.
NOTHING = -1
BUSH = BLOCK_ID["sweet_berry_bush"]


def what_holds(block_XZY, fluid_S, kind_S, is_web_S, x, y, z, height):
    """Return the heights of water and of lava above the feet, and the kind of the web or bush around, or NOTHING."""
    x0, z0, x1, z1 = x - HALF_WIDTH, z - HALF_WIDTH, x + HALF_WIDTH, z + HALF_WIDTH
    if is_box_air(block_XZY, x0, y, z0, x1, y + height, z1):
        return 0.0, 0.0, NOTHING
    water = fluid_height(block_XZY, fluid_S, FLUID_WATER, x0, y, z0, x1, y + height, z1)
    lava = fluid_height(block_XZY, fluid_S, FLUID_LAVA, x0, y, z0, x1, y + height, z1)
    holder = NOTHING
    for cell_x in range(math.floor(x0 + INSIDE_SKIN), math.floor(x1 - INSIDE_SKIN) + 1):
        for cell_z in range(math.floor(z0 + INSIDE_SKIN), math.floor(z1 - INSIDE_SKIN) + 1):
            for cell_y in range(math.floor(y + INSIDE_SKIN), math.floor(y + height - INSIDE_SKIN) + 1):
                state = block_at(block_XZY, cell_x, cell_y, cell_z)
                if is_web_S[state] or (kind_S[state] == BUSH and holder == NOTHING):
                    holder = kind_S[state]
    return water, lava, holder


def sprints_now(had_sprinted, wants_sprint, ahead, had_bumped, in_water):
    """Tell whether the agent sprints in this tick; `ahead` is its input, slowed down already when it sneaks."""
    if had_bumped or in_water or ahead <= 1e-5:
        return False
    return had_sprinted or (wants_sprint and ahead >= SPRINT_INPUT)


def jump_or_swim(is_jumping, was_on_ground, water, lava, delay_ticks):
    """Return (whether the body jumps off, what swimming adds to its vertical velocity, ticks until the next jump)."""
    delay_ticks = max(0, delay_ticks - 1)
    if not is_jumping:
        return False, 0.0, 0
    depth = lava if lava > 0.0 else water
    if depth > 0.0 and not (was_on_ground and depth <= SHALLOW_FLUID):
        return False, SWIM_UP, delay_ticks
    if was_on_ground and delay_ticks == 0:
        return True, 0.0, JUMP_DELAY_TICKS
    return False, 0.0, delay_ticks


def snap_velocity(velocity):
    """Return the velocity, or 0 if it is too small to count."""
    return 0.0 if abs(velocity) < SMALLEST_VELOCITY else velocity


def push_by_input(velocity_x, velocity_z, ahead, left, yaw, acceleration):
    """Return the horizontal velocity after the input (`left` is + to the left) accelerated the body."""
    squared = ahead * ahead + left * left
    if squared < 1e-7:
        return velocity_x, velocity_z
    if squared > 1.0:
        length = math.sqrt(squared)
        ahead, left = ahead / length, left / length
    sin_yaw, cos_yaw = math.sin(yaw), math.cos(yaw)
    return (
        velocity_x + (left * cos_yaw - ahead * sin_yaw) * acceleration,
        velocity_z + (ahead * cos_yaw + left * sin_yaw) * acceleration,
    )


def fall_after_move(block_XZY, fluid_S, x, y, z, height, in_water, fall_blocks, move_y, is_on_ground):
    """Return how far the body has fallen; as in the game, the move that lands adds nothing to it."""
    if not in_water:
        x0, z0, x1, z1 = x - HALF_WIDTH, z - HALF_WIDTH, x + HALF_WIDTH, z + HALF_WIDTH
        if (
            not is_box_air(block_XZY, x0, y, z0, x1, y + height, z1)
            and fluid_height(block_XZY, fluid_S, FLUID_WATER, x0, y, z0, x1, y + height, z1) > 0.0
        ):
            fall_blocks = 0.0
    return fall_blocks - move_y if move_y < 0.0 and not is_on_ground else fall_blocks


def steer_body(e, block_XZY, bodies, blocks, water, lava, forward, strafe, is_jumping, is_sneaking, wants_sprint):
    """Turn keys into velocity (LocalPlayer.aiStep, LivingEntity.aiStep); return the friction that follows."""
    x, y, z = bodies.position_E3[e, 0], bodies.position_E3[e, 1], bodies.position_E3[e, 2]
    vx, vy, vz = bodies.velocity_E3[e, 0], bodies.velocity_E3[e, 1], bodies.velocity_E3[e, 2]
    was_on_ground, had_sprinted = bodies.is_on_ground_E[e], bodies.is_sprinting_E[e]
    yaw = math.radians(bodies.yaw_deg_E[e])
    slowdown = SNEAK_FACTOR if bodies.is_sneaking_E[e] else 1.0
    is_sprinting = sprints_now(had_sprinted, wants_sprint, forward * slowdown, bodies.has_bumped_E[e], water > 0.0)
    if is_sneaking and water > 0.0:
        vy -= SWIM_UP
    vx, vy, vz = snap_velocity(vx), snap_velocity(vy), snap_velocity(vz)
    jumps, swim, bodies.jump_delay_ticks_E[e] = jump_or_swim(
        is_jumping, was_on_ground, water, lava, bodies.jump_delay_ticks_E[e]
    )
    vy += swim
    if jumps:
        vy = JUMP_VELOCITY * factor_underfoot(block_XZY, blocks.jump_factor_S, x, y, z)
        if is_sprinting:
            vx, vz = vx - math.sin(yaw) * SPRINT_JUMP_BOOST, vz + math.cos(yaw) * SPRINT_JUMP_BOOST

    # In the air the game still uses the sprint of the tick before.
    friction, acceleration = AIR_FRICTION, AIR_SPRINT_ACCELERATION if had_sprinted else AIR_ACCELERATION
    if water > 0.0 or lava > 0.0:
        acceleration = FLUID_ACCELERATION
    elif was_on_ground:
        state = block_at(block_XZY, math.floor(x), math.floor(y - FEEL_DEPTH), math.floor(z))
        slipperiness = blocks.slipperiness_S[state]
        friction = slipperiness * AIR_FRICTION
        acceleration = (
            (SPRINT_SPEED if is_sprinting else WALK_SPEED) * GROUND_GRIP / (slipperiness * slipperiness * slipperiness)
        )
    scale = INPUT_SCALE * slowdown
    vx, vz = push_by_input(vx, vz, forward * scale, strafe * scale, yaw, acceleration)
    if water == 0.0 and lava == 0.0 and is_climbing(block_XZY, blocks.is_climbable_S, x, y, z):
        bodies.fall_blocks_E[e] = 0.0
        vx = min(max(vx, -CLIMB_SPEED_LIMIT), CLIMB_SPEED_LIMIT)
        vz = min(max(vz, -CLIMB_SPEED_LIMIT), CLIMB_SPEED_LIMIT)
        vy = max(vy, 0.0 if is_sneaking and vy < 0.0 else -CLIMB_SPEED_LIMIT)
    bodies.velocity_E3[e, 0], bodies.velocity_E3[e, 1], bodies.velocity_E3[e, 2] = vx, vy, vz
    bodies.is_sprinting_E[e] = is_sprinting
    return friction


def carry_body(e, block_XZY, bodies, blocks, height, in_water, holder, is_sneaking):
    """Move the body as far as blocks, webs and edges let it (Entity.move); return the half hearts a landing costs."""
    collision = blocks.collision
    x, y, z = bodies.position_E3[e, 0], bodies.position_E3[e, 1], bodies.position_E3[e, 2]
    vx, vy, vz = bodies.velocity_E3[e, 0], bodies.velocity_E3[e, 1], bodies.velocity_E3[e, 2]
    was_on_ground, fall_blocks = bodies.is_on_ground_E[e], bodies.fall_blocks_E[e]
    want_x, want_y, want_z = vx, vy, vz
    if holder != NOTHING:
        want_x *= BUSH_HOLD if holder == BUSH else WEB_HOLD
        want_y *= BUSH_HOLD_Y if holder == BUSH else WEB_HOLD_Y
        want_z *= BUSH_HOLD if holder == BUSH else WEB_HOLD
        vx, vy, vz, fall_blocks = 0.0, 0.0, 0.0, 0.0
    if is_sneaking and is_near_ground(
        block_XZY, collision, x, y, z, HALF_WIDTH, height, STEP_BLOCKS, was_on_ground, fall_blocks
    ):
        want_x, want_z = back_off_from_edge(
            block_XZY, collision, x, y, z, HALF_WIDTH, height, STEP_BLOCKS, want_x, want_z
        )
    move_x, move_y, move_z = move_box(
        block_XZY, collision, x, y, z, HALF_WIDTH, height, want_x, want_y, want_z, STEP_BLOCKS, was_on_ground
    )
    if move_x * move_x + move_y * move_y + move_z * move_z > SMALLEST_MOVE_SQUARED:
        x, y, z = x + move_x, y + move_y, z + move_z
    has_hit_y = move_y != want_y
    is_on_ground = want_y < 0.0 and has_hit_y
    fall_blocks = fall_after_move(
        block_XZY, blocks.fluid_S, x, y, z, height, in_water, fall_blocks, move_y, is_on_ground
    )
    kind = blocks.kind_S[block_at(block_XZY, math.floor(x), math.floor(y - STAND_DEPTH), math.floor(z))]
    damage = landing_damage(kind, fall_blocks, is_sneaking) if is_on_ground else 0.0
    if move_z != want_z:
        vz = 0.0  # and x goes on in a corner: 1.16.5 puts it back
    elif move_x != want_x:
        vx = 0.0
    vx, vy, vz = touch_floor(kind, vx, vy, vz, is_on_ground, has_hit_y, is_sneaking)
    speed_factor = factor_underfoot(block_XZY, blocks.speed_factor_S, x, y, z)
    bodies.position_E3[e, 0], bodies.position_E3[e, 1], bodies.position_E3[e, 2] = x, y, z
    bodies.velocity_E3[e, 0], bodies.velocity_E3[e, 1], bodies.velocity_E3[e, 2] = (
        vx * speed_factor,
        vy,
        vz * speed_factor,
    )
    bodies.has_bumped_E[e] = abs(move_x - want_x) >= SMALLEST_BUMP or abs(move_z - want_z) >= SMALLEST_BUMP
    bodies.is_on_ground_E[e] = is_on_ground
    bodies.fall_blocks_E[e] = 0.0 if is_on_ground else fall_blocks
    return damage


def slow_body(e, block_XZY, bodies, blocks, height, start_y, water, lava, friction, is_jumping):
    """Apply drag, gravity, ladders and the hop out of a fluid to the velocity (end of LivingEntity.travel)."""
    x, y, z = bodies.position_E3[e, 0], bodies.position_E3[e, 1], bodies.position_E3[e, 2]
    vx, vy, vz = bodies.velocity_E3[e, 0], bodies.velocity_E3[e, 1], bodies.velocity_E3[e, 2]
    has_bumped = bodies.has_bumped_E[e]
    climbs = is_climbing(block_XZY, blocks.is_climbable_S, x, y, z)
    if water > 0.0:
        vy = CLIMB_VELOCITY if has_bumped and climbs else vy
        vx, vy, vz = vx * WATER_DRAG, vy * WATER_DRAG - GRAVITY / 16.0, vz * WATER_DRAG
    elif lava > 0.0:
        vy = vy * WATER_DRAG - GRAVITY / 16.0 if lava <= SHALLOW_FLUID else vy * LAVA_DRAG
        vx, vy, vz = vx * LAVA_DRAG, vy - GRAVITY / 4.0, vz * LAVA_DRAG
    else:
        vy = CLIMB_VELOCITY if (has_bumped or is_jumping) and climbs else vy
        vx, vy, vz = vx * friction, (vy - GRAVITY) * VERTICAL_DRAG, vz * friction
    if (
        has_bumped
        and (water > 0.0 or lava > 0.0)
        and can_leave_fluid(
            block_XZY, blocks.collision, blocks.fluid_S, x + vx, start_y + vy + STEP_BLOCKS, z + vz, HALF_WIDTH, height
        )
    ):
        vy = FLUID_EXIT_VELOCITY
    bodies.velocity_E3[e, 0], bodies.velocity_E3[e, 1], bodies.velocity_E3[e, 2] = vx, vy, vz


def move_agent(e, terrain, bodies, blocks, forward, strafe, is_jumping, is_sneaking, wants_sprint):
    """Advance the agent of env e by one tick and return the half hearts that its landing costs, 0.0 for none.

    `forward` and `strafe` (+ is left) are inputs in [-1, 1]. The pose that the sneak key leads to counts from the next
    tick on, as in the game.
    """
    block_XZY = terrain.block_EXZY[e]
    x, y, z = bodies.position_E3[e, 0], bodies.position_E3[e, 1], bodies.position_E3[e, 2]
    height = SNEAKING_HEIGHT if bodies.is_sneaking_E[e] else STANDING_HEIGHT
    water, lava, holder = what_holds(block_XZY, blocks.fluid_S, blocks.kind_S, blocks.is_web_S, x, y, z, height)
    if water > 0.0:
        bodies.fall_blocks_E[e] = 0.0
    elif lava > 0.0:
        bodies.fall_blocks_E[e] *= 0.5
    friction = steer_body(
        e, block_XZY, bodies, blocks, water, lava, forward, strafe, is_jumping, is_sneaking, wants_sprint
    )  # fmt: skip
    damage = carry_body(e, block_XZY, bodies, blocks, height, water > 0.0, holder, is_sneaking)
    slow_body(e, block_XZY, bodies, blocks, height, y, water, lava, friction, is_jumping)

    x, y, z = bodies.position_E3[e, 0], bodies.position_E3[e, 1], bodies.position_E3[e, 2]
    if bodies.is_sneaking_E[e] and not is_sneaking:  # a low ceiling keeps it down
        is_sneaking = not is_box_free(
            block_XZY, blocks.collision, x - HALF_WIDTH, y, z - HALF_WIDTH, x + HALF_WIDTH, y + STANDING_HEIGHT,
            z + HALF_WIDTH,
        )  # fmt: skip
    bodies.is_sneaking_E[e] = is_sneaking
    bodies.position_E3[e, 0] = x - math.floor(x / block_XZY.shape[0]) * block_XZY.shape[0]
    bodies.position_E3[e, 2] = z - math.floor(z / block_XZY.shape[1]) * block_XZY.shape[1]
    return damage


SOURCES: tuple[Kernel, ...] = (
    what_holds, sprints_now, jump_or_swim, snap_velocity, push_by_input, fall_after_move, steer_body, carry_body,
    slow_body, move_agent,
)  # fmt: skip
