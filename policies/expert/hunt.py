"""Melee: run after an animal and strike it with the cooldown full, never another one that stands in between."""

import math

import numpy as np
from numba import njit

from policies.expert.blocks import take_in_hand
from policies.expert.ground import Ground, state_at
from policies.expert.mind import Mind
from policies.expert.quarry import find_mob, first_mob_hit, herd_of, sizes_of, watch
from policies.expert.view import angles_to, direction_of, eye_height
from policies.expert.walker import go, look, look_level, near_image, point_to_go, refresh_plan
from worlds.types import BUTTON_INDEX
from worlds.voxel.combat import ENTITY_REACH_BLOCKS, FULL_STRENGTH, TICKS_PER_S
from worlds.voxel.mining import REACH_BLOCKS
from worlds.voxel.raycast import first_hit_cpu
from worlds.voxel.state import Bodies, Hands, Mobs
from worlds.voxel.tables import ItemTables, Tables

_REACH_EYE_BLOCKS = 2.7
_CLOSE_BLOCKS = 1.7  # from the eye's column to the middle of the body: near enough to stand still
_STRIKE_BLOCKS = ENTITY_REACH_BLOCKS - 0.05
_SLACK_DEG = 2.0
_PATIENCE_STEPS = 4
_ATTACK, _LEFT, _RIGHT = BUTTON_INDEX["attack"], BUTTON_INDEX["left"], BUTTON_INDEX["right"]
_BACK = BUTTON_INDEX["back"]
_BARE_HAND_BLOWS_PER_S = 4.0


def is_blow_ready(e: int, hands: Hands, items: ItemTables) -> bool:
    """Tell whether a fresh press in the next tick would be a full blow."""
    if hands.was_attacking_E[e] or hands.bow_ticks_E[e] > 0:
        return False
    item = hands.item_ES[e, hands.selected_E[e]]
    blows_per_s = items.attack_speed_I[item] if item >= 0 else _BARE_HAND_BLOWS_PER_S
    return bool((hands.swing_ticks_E[e] + 1.5) * blows_per_s / TICKS_PER_S > FULL_STRENGTH)


@njit(cache=True, nogil=True)
def meets(e, block_XZY, outline, herd, sizes, x, y, z, yaw_deg, pitch_deg):
    """Return (row of the mob or -1, distance, state of the block or 0) that a pointer from an eye meets first."""
    dx, dy, dz = direction_of(yaw_deg, pitch_deg)
    cell_x, cell_y, cell_z, _, clear = first_hit_cpu(block_XZY, outline, x, y, z, dx, dy, dz, REACH_BLOCKS)
    m, distance = first_mob_hit(
        e, herd, sizes, block_XZY.shape[0], block_XZY.shape[1], x, y, z, dx, dy, dz, clear, 0.0, -1
    )
    state = state_at(block_XZY, cell_x, cell_y, cell_z) if m < 0 and cell_y >= 0 else 0
    return m, distance, state


def act_on_quarry(
    e: int, block_XZY: np.ndarray, tables: Tables, ground: Ground, bodies: Bodies, hands: Hands, mobs: Mobs, mind: Mind,
    num_ticks: float, buttons_B: np.ndarray, camera_2: np.ndarray,
) -> None:  # fmt: skip
    """Choose the keys of env e for a hunt with the sword."""
    m = find_mob(e, mobs, int(mind.slot_E[e]))
    if m < 0:
        return
    take_in_hand(e, hands, mind, buttons_B)
    blocks, kind = tables.blocks, mobs.kind_EM[e, m]
    herd, sizes = herd_of(mobs), sizes_of(tables.mobs)
    vx, vz = watch(e, m, mind, mobs, block_XZY.shape[0], block_XZY.shape[1], num_ticks)
    x, y, z = bodies.position_E3[e].tolist()
    mob_x, mob_y, mob_z = mobs.position_EM3[e, m].tolist()
    yaw_deg, pitch_deg = float(bodies.yaw_deg_E[e]), float(bodies.pitch_deg_E[e])
    eye_y = y + eye_height(bool(bodies.is_sneaking_E[e]))
    at_x, at_z = near_image(block_XZY, x, z, mob_x, mob_z)
    height = float(tables.mobs.height_K[kind])
    at_y = mob_y + 0.6 * height
    refresh_plan(
        e, block_XZY, blocks.outline, ground, bodies, mind, (at_x, at_y, at_z),
        reach_blocks=_REACH_EYE_BLOCKS, from_eye=True,
    )  # fmt: skip
    level_blocks = math.hypot(at_x - x, at_z - z)
    # What a perfect aim would meet now: the animal, another one, a block or a plant.
    aim_yaw_deg, aim_pitch_deg = angles_to(at_x - x, at_y - eye_y, at_z - z)
    first_m, blocks_away, state = meets(
        e, block_XZY, blocks.outline, herd, sizes, x, eye_y, z, aim_yaw_deg, aim_pitch_deg
    )  # fmt: skip
    is_in_reach = first_m == m and blocks_away <= _STRIKE_BLOCKS
    if is_in_reach or level_blocks < REACH_BLOCKS:
        # Half a decision ahead: the turn ends where the animal will be.
        look(
            yaw_deg, pitch_deg, at_x + vx * num_ticks - x, at_y - eye_y, at_z + vz * num_ticks - z,
            _SLACK_DEG, 2.0 * _SLACK_DEG, num_ticks, camera_2,
        )  # fmt: skip
        if is_in_reach and level_blocks < _CLOSE_BLOCKS:
            mind.stuck_steps_E[e] = 0
            buttons_B[_BACK] = level_blocks < 0.5
        elif first_m == m or state == 0 and first_m < 0:
            go(e, block_XZY, ground, bodies, mind, at_x, at_z, True, num_ticks, buttons_B, camera_2)
        elif first_m < 0:
            to_x, to_z = point_to_go(e, block_XZY, ground, bodies, mind, at_x, at_z)
            if not (ground.is_plant_S[state] and level_blocks < ENTITY_REACH_BLOCKS):
                look_level(yaw_deg, pitch_deg, to_x - x, to_z - z, num_ticks, camera_2)
            go(e, block_XZY, ground, bodies, mind, to_x, to_z, False, num_ticks, buttons_B, camera_2)
    else:
        to_x, to_z = point_to_go(e, block_XZY, ground, bodies, mind, at_x, at_z)
        look_level(yaw_deg, pitch_deg, to_x - x, to_z - z, num_ticks, camera_2)
        go(e, block_XZY, ground, bodies, mind, to_x, to_z, True, num_ticks, buttons_B, camera_2)
    if first_m >= 0 and first_m != m:
        # Another animal is in between: step aside after a while, to one side and then to the other.
        mind.wait_steps_E[e] += 1
        if mind.wait_steps_E[e] > _PATIENCE_STEPS:
            buttons_B[_LEFT] = mind.wait_steps_E[e] % 24 < 12
            buttons_B[_RIGHT] = not buttons_B[_LEFT]
    else:
        mind.wait_steps_E[e] = 0
    hit_m, hit_blocks, hit_state = meets(
        e,
        block_XZY,
        blocks.outline,
        herd,
        sizes,
        x,
        eye_y,
        z,
        float(yaw_deg + camera_2[1]),
        float(pitch_deg + camera_2[0]),
    )
    if hit_m == m and hit_blocks <= _STRIKE_BLOCKS:
        buttons_B[_ATTACK] = is_blow_ready(e, hands, tables.items)
    elif hit_m < 0 and level_blocks < ENTITY_REACH_BLOCKS and ground.is_plant_S[hit_state]:
        buttons_B[_ATTACK] = True
