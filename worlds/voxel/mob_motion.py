"""One tick of a mob's body: walking, falling, swimming, jumping. Java Edition 1.16.5. S block states.

The recurrences are those of worlds.voxel.motion for other sizes and speeds. A mob accelerates by 0.98 * speed**2 a
tick on ground of slipperiness 0.6, which makes 43 * speed**2 blocks a second. What it stands in is asked of the middle
of its feet alone, not of its whole box: two cells instead of up to eighteen for a golem.
"""

import math

from worlds.mobs.kinds import TRAIT_CLIMBS, TRAIT_FLUTTERS, TRAIT_SURE_FOOTED
from worlds.voxel.body import block_at, is_box_free, move_box, surface_in_cell
from worlds.voxel.link import Kernel
from worlds.voxel.raycast import nearest_image
from worlds.voxel.tables import FLUID_LAVA, FLUID_NONE

_GRAVITY = 0.08
_VERTICAL_DRAG = 0.98
_AIR_FRICTION = 0.91
_INPUT_SCALE = 0.98
_SLIPPERINESS_CUBED = 0.216  # of plain ground, 0.6
_AIR_ACCELERATION = 0.02
_WATER_DRAG, _LAVA_DRAG = 0.8, 0.5
_WATER_SINK, _LAVA_SINK = 0.005, 0.02
_SWIM_UP = 0.04
_SWIM_DEPTH_BLOCKS = 0.4  # a mob swims up while its feet are deeper than this
_WATER_EXIT_VELOCITY = 0.3
_CLIMB_VELOCITY = 0.2
_FLUTTER = 0.6
_SMALLEST_VELOCITY = 0.003
_SAFE_FALL_BLOCKS = 3.0
_STEP_BLOCKS = 0.6


def fluid_over_feet(block_XZY, fluid_S, x, y, z):
    """Return (FLUID_*, depth in blocks) of what stands over a point."""
    cell_x, cell_y, cell_z = math.floor(x), math.floor(y + 0.001), math.floor(z)
    fluid = fluid_S[block_at(block_XZY, cell_x, cell_y, cell_z)]
    if fluid == FLUID_NONE:
        return FLUID_NONE, 0.0
    depth = cell_y + surface_in_cell(block_XZY, fluid_S, fluid, cell_x, cell_y, cell_z) - y
    if fluid_S[block_at(block_XZY, cell_x, cell_y + 1, cell_z)] == fluid:
        depth = cell_y + 1 + surface_in_cell(block_XZY, fluid_S, fluid, cell_x, cell_y + 1, cell_z) - y
    if depth <= 0.0:
        return FLUID_NONE, 0.0
    return fluid, depth


def move_mob(
    e, m, block_XZY, blocks, mobs, half_width, height, traits, speed, ahead_x, ahead_z, jump_velocity
):  # fmt: skip
    """Advance a mob by one tick and return (half hearts that it loses by a fall, FLUID_* that it stands in).

    (ahead_x, ahead_z) is where it wants to go, of length 0 .. 1; it leaves the ground with `jump_velocity`, 0 to stay.
    """
    x, y, z = mobs.position_EM3[e, m, 0], mobs.position_EM3[e, m, 1], mobs.position_EM3[e, m, 2]
    vx, vy, vz = mobs.velocity_EM3[e, m, 0], mobs.velocity_EM3[e, m, 1], mobs.velocity_EM3[e, m, 2]
    was_on_ground = mobs.is_on_ground_EM[e, m]
    fluid, depth = fluid_over_feet(block_XZY, blocks.fluid_S, x, y, z)
    if abs(vx) < _SMALLEST_VELOCITY:
        vx = 0.0
    if abs(vy) < _SMALLEST_VELOCITY:
        vy = 0.0
    if abs(vz) < _SMALLEST_VELOCITY:
        vz = 0.0

    under = block_at(block_XZY, math.floor(x), math.floor(y - 0.5), math.floor(z))
    friction, acceleration = _AIR_FRICTION, _AIR_ACCELERATION * speed
    if fluid != FLUID_NONE:
        if depth > _SWIM_DEPTH_BLOCKS:
            vy += _SWIM_UP
    elif was_on_ground:
        slipperiness = blocks.slipperiness_S[under]
        friction = slipperiness * _AIR_FRICTION
        acceleration = speed * speed * _SLIPPERINESS_CUBED / (slipperiness * slipperiness * slipperiness)
        if jump_velocity > 0.0:
            vy = jump_velocity * blocks.jump_factor_S[under]
    vx += ahead_x * acceleration * _INPUT_SCALE
    vz += ahead_z * acceleration * _INPUT_SCALE

    wanted_x, wanted_y, wanted_z = vx, vy, vz
    is_stuck = blocks.is_web_S[block_at(block_XZY, math.floor(x), math.floor(y + 0.1), math.floor(z))]
    if is_stuck and not traits & TRAIT_CLIMBS:
        wanted_x, wanted_y, wanted_z = 0.25 * vx, 0.05 * vy, 0.25 * vz
        vx, vy, vz = 0.0, 0.0, 0.0
    move_x, move_y, move_z = move_box(
        block_XZY, blocks.collision, x, y, z, half_width, height, wanted_x, wanted_y, wanted_z, _STEP_BLOCKS,
        was_on_ground,
    )  # fmt: skip
    has_bumped = abs(move_x - wanted_x) > 1e-9 or abs(move_z - wanted_z) > 1e-9
    is_on_ground = wanted_y < 0.0 and move_y > wanted_y
    if abs(move_x - wanted_x) > 1e-9:
        vx = 0.0
    if abs(move_z - wanted_z) > 1e-9:
        vz = 0.0
    if move_y != wanted_y:
        vy = 0.0
    x, y, z = x + move_x, y + move_y, z + move_z
    if is_on_ground:
        factor = blocks.speed_factor_S[block_at(block_XZY, math.floor(x), math.floor(y - 0.1), math.floor(z))]
        vx, vz = vx * factor, vz * factor

    damage = 0.0
    fall_blocks = mobs.fall_blocks_EM[e, m]
    is_climbing = has_bumped and traits & TRAIT_CLIMBS and (ahead_x != 0.0 or ahead_z != 0.0)
    if fluid != FLUID_NONE or is_climbing or is_stuck or traits & (TRAIT_FLUTTERS | TRAIT_SURE_FOOTED):
        fall_blocks = 0.0
    elif is_on_ground:
        # As in Minecraft, the tick of the landing adds nothing to the height that counts.
        damage = float(max(0, math.ceil(fall_blocks - _SAFE_FALL_BLOCKS)))
        fall_blocks = 0.0
    elif move_y < 0.0:
        fall_blocks -= move_y

    if fluid == FLUID_NONE:
        vx, vz = vx * friction, vz * friction
        if is_climbing:
            vy = _CLIMB_VELOCITY
        vy = (vy - _GRAVITY) * _VERTICAL_DRAG
        if traits & TRAIT_FLUTTERS and vy < 0.0 and not is_on_ground:
            vy *= _FLUTTER
    else:
        drag = _LAVA_DRAG if fluid == FLUID_LAVA else _WATER_DRAG
        vx, vy, vz = vx * drag, vy * drag, vz * drag
        vy -= _LAVA_SINK if fluid == FLUID_LAVA else _WATER_SINK
        if has_bumped and is_box_free(
            block_XZY, blocks.collision, x + vx - half_width, y + vy + _STEP_BLOCKS, z + vz - half_width,
            x + vx + half_width, y + vy + _STEP_BLOCKS + height, z + vz + half_width,
        ):  # fmt: skip
            vy = _WATER_EXIT_VELOCITY

    size_x, size_z = block_XZY.shape[0], block_XZY.shape[1]
    mobs.position_EM3[e, m, 0] = x - math.floor(x / size_x) * size_x
    mobs.position_EM3[e, m, 1] = y
    mobs.position_EM3[e, m, 2] = z - math.floor(z / size_z) * size_z
    mobs.velocity_EM3[e, m, 0], mobs.velocity_EM3[e, m, 1], mobs.velocity_EM3[e, m, 2] = vx, vy, vz
    mobs.is_on_ground_EM[e, m], mobs.has_bumped_EM[e, m] = is_on_ground, has_bumped
    mobs.fall_blocks_EM[e, m] = fall_blocks
    mobs.limb_EM[e, m] += math.sqrt(move_x * move_x + move_z * move_z)
    return damage, fluid


def push_apart(e, m, mobs, bodies, mob_tables, agent_half_width, agent_height, size_x, size_z):
    """Give mob m, the agent and the mobs after m that overlap it a soft push away from one another.

    Minecraft's Entity.push; each pair meets once here and twice there, so its 0.05 is 0.1.
    """
    kind = mobs.kind_EM[e, m]
    x, y, z = mobs.position_EM3[e, m, 0], mobs.position_EM3[e, m, 1], mobs.position_EM3[e, m, 2]
    half_width, height = mob_tables.half_width_K[kind], mob_tables.height_K[kind]
    for n in range(m + 1, mobs.kind_EM.shape[1] + 1):
        is_agent = n == mobs.kind_EM.shape[1]
        if is_agent:
            other_half_width, other_height = agent_half_width, agent_height
            dx, dz = bodies.position_E3[e, 0] - x, bodies.position_E3[e, 2] - z
            dy = bodies.position_E3[e, 1] - y
        else:
            other = mobs.kind_EM[e, n]
            if other < 0:
                continue
            other_half_width, other_height = mob_tables.half_width_K[other], mob_tables.height_K[other]
            dx, dz = mobs.position_EM3[e, n, 0] - x, mobs.position_EM3[e, n, 2] - z
            dy = mobs.position_EM3[e, n, 1] - y
        reach = half_width + other_half_width
        if dy >= height or -dy >= other_height:
            continue
        dx, dz = nearest_image(dx, size_x), nearest_image(dz, size_z)
        if abs(dx) >= reach or abs(dz) >= reach:
            continue
        largest = max(abs(dx), abs(dz))
        if largest < 0.01:
            continue
        root = math.sqrt(largest)
        force = 0.1 * min(1.0, 1.0 / root) / root
        mobs.velocity_EM3[e, m, 0] -= dx * force
        mobs.velocity_EM3[e, m, 2] -= dz * force
        if is_agent:
            bodies.velocity_E3[e, 0] += dx * force
            bodies.velocity_E3[e, 2] += dz * force
        else:
            mobs.velocity_EM3[e, n, 0] += dx * force
            mobs.velocity_EM3[e, n, 2] += dz * force


SOURCES: tuple[Kernel, ...] = (fluid_over_feet, move_mob, push_apart)
