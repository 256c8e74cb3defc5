"""Putting mobs into an env: the placed ones where a task wants them, the ambient ones where they can stand. E envs."""

import math

import numpy as np

from worlds.mobs.kinds import MOB_ID, MOBS
from worlds.spec import BLOCK_MASK
from worlds.voxel.body import is_box_free
from worlds.voxel.state import NO_MOB, EnvState
from worlds.voxel.tables import FLUID_NONE, BlockTables

NEAREST_BLOCKS, FARTHEST_BLOCKS = 6.0, 40.0
_TRIES_PER_MOB = 12
_HIGHEST_OVER_GROUND = 2  # blocks: a mob may stand on a slab or a snow layer, not on a roof or a tree
_FALLING = -0.08 * 0.98  # a body at rest is always falling a little: so the first tick finds the ground under it
_LONGEST_REST_TICKS = 100


def place_mob(
    state: EnvState, e: int, row: int, kind: int, object_slot: int, x: float, y: float, z: float, yaw: float
) -> None:
    """Put a mob of full health into a row of env e, standing still.

    Args:
        state: of all envs; changes in place.
        e: the env.
        row: of the mob, 0 .. MAX_MOBS - 1.
        kind: index into MOBS.
        object_slot: object slot + 1 of a placed mob, 0 of an ambient one.
        x: feet, in blocks; wrapped into the world.
        y: feet.
        z: feet.
        yaw: degrees, of the body.
    """
    mobs = state.mobs
    size_x, size_z = state.terrain.block_EXZY.shape[1:3]
    mobs.kind_EM[e, row], mobs.object_EM[e, row] = kind, object_slot
    mobs.position_EM3[e, row] = (x % size_x, y, z % size_z)
    mobs.velocity_EM3[e, row] = (0.0, _FALLING, 0.0)
    mobs.yaw_deg_EM[e, row] = yaw
    mobs.is_on_ground_EM[e, row], mobs.has_bumped_EM[e, row] = True, False
    mobs.fall_blocks_EM[e, row] = mobs.limb_EM[e, row] = 0.0
    mobs.health_EM[e, row] = MOBS[kind].health
    mobs.hurt_ticks_EM[e, row] = mobs.attack_ticks_EM[e, row] = 0
    mobs.is_alarmed_EM[e, row] = False
    # The mood is idle (0); rows stop resting at different times, so that a herd does not start to walk as one.
    mobs.mood_EM[e, row], mobs.mood_ticks_EM[e, row] = 0, 20 + row * 13 % _LONGEST_REST_TICKS
    mobs.goal_EM2[e, row] = (x % size_x, z % size_z)


def spawn_ambient(
    state: EnvState,
    e: int,
    biome_mix: tuple[tuple[str, float], ...],
    number: int,
    seed: int,
    blocks: BlockTables,
    ground_XZ: np.ndarray,
) -> int:
    """Put up to `number` mobs around the agent of env e, 6 to 40 blocks away; return how many found a place.

    Kinds are drawn by weight from `biome_mix`. A mob stands on dry, harmless ground with room for its whole body. All
    is decided by the seed, the blocks and the agent's place.

    Args:
        state: of all envs; changes in place. Rows in use stay as they are.
        e: the env.
        biome_mix: names of MOBS and their weights.
        number: of mobs wanted.
        seed: of the draws.
        blocks: the engine's block tables.
        ground_XZ: int16 [X, Z], y of the highest terrain block.

    Raises:
        ValueError: the mix names what is no mob.
    """
    if not biome_mix:
        return 0
    unknown = [name for name, _ in biome_mix if name not in MOB_ID]
    if unknown:
        raise ValueError(f"episode.mob_mix: {unknown[0]!r} is no mob; take one of {', '.join(MOB_ID)}")
    rng = np.random.default_rng((seed, 0x6D6F62))  # "mob": apart from other draws from the episode's seed
    weight_N = np.array([weight for _, weight in biome_mix], float)
    kind_N = np.array([MOB_ID[name] for name, _ in biome_mix])
    free_rows = [row for row, kind in enumerate(state.mobs.kind_EM[e]) if kind == NO_MOB][:number]
    agent_x, _, agent_z = state.bodies.position_E3[e]
    size_x, size_z = ground_XZ.shape
    num_placed = 0
    for row in free_rows:
        kind = int(rng.choice(kind_N, p=weight_N / weight_N.sum()))
        angle_T = rng.uniform(0.0, 2.0 * math.pi, _TRIES_PER_MOB)
        # The farthest place is bounded by half the world: beyond, the torus brings it nearer again.
        farthest = min(FARTHEST_BLOCKS, min(size_x, size_z) / 2 - 1)
        distance_T = rng.uniform(NEAREST_BLOCKS, farthest, _TRIES_PER_MOB)
        yaw_deg = float(rng.uniform(-180.0, 180.0))
        for angle, distance in zip(angle_T, distance_T, strict=True):
            x = math.floor(agent_x + math.cos(angle) * distance) % size_x + 0.5
            z = math.floor(agent_z + math.sin(angle) * distance) % size_z + 0.5
            y = _standing_height(state.terrain.block_EXZY[e], blocks, kind, x, z, int(ground_XZ[int(x), int(z)]))
            if y is not None and not _is_taken(state, e, kind, x, y, z):
                place_mob(state, e, row, kind, 0, x, y, z, yaw_deg)
                num_placed += 1
                break
    return num_placed


def _standing_height(
    block_XZY: np.ndarray, blocks: BlockTables, kind: int, x: float, z: float, ground_y: int
) -> float | None:
    """Return the height of feet that can stand over the column's ground, None where this kind cannot."""
    column_Y = block_XZY[int(x), int(z)] & BLOCK_MASK
    half_width, height = MOBS[kind].width / 2.0, MOBS[kind].height
    for floor_y in range(ground_y, min(ground_y + _HIGHEST_OVER_GROUND + 1, len(column_Y) - 4)):
        floor, feet = int(column_Y[floor_y]), int(column_Y[floor_y + 1])
        if not blocks.is_solid_S[floor] or blocks.hurt_S[floor] or blocks.hurt_S[feet]:
            continue
        if blocks.fluid_S[feet] != FLUID_NONE or blocks.fluid_S[int(column_Y[floor_y + 2])] != FLUID_NONE:
            continue
        y = floor_y + _top_of(blocks, floor)
        if is_box_free(
            block_XZY, blocks.collision, x - half_width, y, z - half_width, x + half_width, y + height, z + half_width
        ):
            return y
    return None


def _top_of(blocks: BlockTables, state_id: int) -> float:
    """Return the height of a state's collision boxes over the floor of its cell."""
    first = int(blocks.collision.start_S[state_id])
    return float(blocks.collision.box_B6[first : first + int(blocks.collision.count_S[state_id]), 4].max())


def _is_taken(state: EnvState, e: int, kind: int, x: float, y: float, z: float) -> bool:
    """Tell whether another mob stands there already."""
    size_x, size_z = state.terrain.block_EXZY.shape[1:3]
    for row, other in enumerate(state.mobs.kind_EM[e]):
        if other == NO_MOB:
            continue
        other_x, other_y, other_z = state.mobs.position_EM3[e, row]
        reach = (MOBS[kind].width + MOBS[int(other)].width) / 2.0
        dx, dz = abs(x - other_x), abs(z - other_z)
        is_near = min(dx, size_x - dx) < reach and min(dz, size_z - dz) < reach
        if is_near and y < other_y + MOBS[int(other)].height and other_y < y + MOBS[kind].height:
            return True
    return False
