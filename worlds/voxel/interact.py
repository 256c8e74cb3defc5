"""What an agent does to the block it looks at: mining with Minecraft's break times."""

import math

from numba import njit

from worlds.spec import BLOCK_BITS, BLOCK_MASK
from worlds.types import EVENT_BLOCK_BROKEN, EYE_HEIGHT_BLOCKS, MAX_EVENTS, SNEAK_EYE_HEIGHT_BLOCKS
from worlds.voxel.motion import block_at
from worlds.voxel.raycast import first_hit

REACH_BLOCKS = 4.5
BREAK_DELAY_TICKS = 5
WATER_SLOWDOWN = 0.2
AIR_SLOWDOWN = 0.2


@njit(cache=True, nogil=True)
def push_event(event_N4, num_events, kind, subject, amount, cell):
    """Write one event row and return the new count; a full table drops the row (8 a step are never reached here)."""
    if num_events < MAX_EVENTS:
        event_N4[num_events, 0] = kind
        event_N4[num_events, 1] = subject
        event_N4[num_events, 2] = amount
        event_N4[num_events, 3] = cell
        num_events += 1
    return num_events


@njit(cache=True, nogil=True)
def mine(
    block_XZY, is_fluid_K, break_damage_K, position_3, yaw_deg, pitch_deg, is_sneaking, is_on_ground, is_attacking,
    mine_cell, mine_progress, mine_delay_ticks, event_N4, num_events,
):  # fmt: skip
    """Mine for one tick; a broken block becomes air and an event (kind, block id, object slot + 1, flat cell).

    Damage a tick is a fifth in the air and a fifth with the eyes under water; a block breaks when the sum reaches 1,
    and the next one starts 5 ticks later unless the block broke at once. Returns (mine_cell, mine_progress,
    mine_delay_ticks, num_events).
    """
    if mine_delay_ticks > 0:
        mine_delay_ticks -= 1
        return mine_cell, mine_progress, mine_delay_ticks, num_events
    if not is_attacking:
        return -1, 0.0, 0, num_events
    yaw, pitch = math.radians(yaw_deg), math.radians(pitch_deg)
    dx, dy, dz = -math.sin(yaw) * math.cos(pitch), -math.sin(pitch), math.cos(yaw) * math.cos(pitch)
    eye_y = position_3[1] + (SNEAK_EYE_HEIGHT_BLOCKS if is_sneaking else EYE_HEIGHT_BLOCKS)
    x, y, z, _, _ = first_hit(block_XZY, position_3[0], eye_y, position_3[2], dx, dy, dz, REACH_BLOCKS)
    if y < 0:
        return -1, 0.0, 0, num_events
    cell = (x * block_XZY.shape[1] + z) * block_XZY.shape[2] + y
    packed = int(block_XZY[x, z, y])
    block_id = packed & BLOCK_MASK
    if cell != mine_cell:
        mine_cell, mine_progress = cell, 0.0
    damage = break_damage_K[block_id]
    if not is_on_ground:
        damage *= AIR_SLOWDOWN
    if is_fluid_K[block_at(block_XZY, math.floor(position_3[0]), math.floor(eye_y), math.floor(position_3[2]))]:
        damage *= WATER_SLOWDOWN
    mine_progress += damage
    if mine_progress >= 1.0:
        block_XZY[x, z, y] = 0
        num_events = push_event(event_N4, num_events, EVENT_BLOCK_BROKEN, block_id, packed >> BLOCK_BITS, cell)
        mine_delay_ticks = 0 if damage >= 1.0 else BREAK_DELAY_TICKS
        mine_cell, mine_progress = -1, 0.0
    return mine_cell, mine_progress, mine_delay_ticks, num_events
