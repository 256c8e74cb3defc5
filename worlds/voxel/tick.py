"""The tick of the built-in engine, over all envs in parallel.

Order within a tick, fixed: camera, motion, mining, damage and death. Rendering follows the last tick of a step.
"""

import numpy as np
from numba import njit, prange

from worlds.blocks import BLOCK_ID
from worlds.types import BUTTON_INDEX, EVENT_DAMAGE, EVENT_DEATH
from worlds.voxel.interact import mine, push_event
from worlds.voxel.motion import move_agent

_ATTACK, _JUMP, _SNEAK, _SPRINT = (BUTTON_INDEX[name] for name in ("attack", "jump", "sneak", "sprint"))
_FORWARD, _BACK, _LEFT, _RIGHT = (BUTTON_INDEX[name] for name in ("forward", "back", "left", "right"))
_ICE = BLOCK_ID["ice"]


@njit(parallel=True, cache=True, nogil=True)
def run_ticks(
    num_ticks, is_solid_K, is_fluid_K, buttons_EB, camera_deg_E2, block_EXZY, position_E3, velocity_E3,
    yaw_deg_E, pitch_deg_E, is_on_ground_E, is_sprinting_E, is_sneaking_E, has_bumped_E, jump_delay_ticks_E,
    fall_blocks_E, health_E,
    mine_cell_E, mine_progress_E, mine_delay_ticks_E, break_damage_EK, event_EN4, num_events_E,
):  # fmt: skip
    """Play the same actions for `num_ticks` ticks in every env. All state arrays change in place."""
    for e in prange(block_EXZY.shape[0]):
        event_EN4[e] = 0
        num_events = 0
        buttons_B = buttons_EB[e]
        forward = int(buttons_B[_FORWARD]) - int(buttons_B[_BACK])
        strafe = int(buttons_B[_LEFT]) - int(buttons_B[_RIGHT])
        for _ in range(num_ticks):
            if health_E[e] <= 0.0:
                break
            pitch_deg_E[e] = min(90.0, max(-90.0, pitch_deg_E[e] + camera_deg_E2[e, 0]))
            yaw_deg_E[e] = (yaw_deg_E[e] + camera_deg_E2[e, 1] + 180.0) % 360.0 - 180.0
            is_sneaking_E[e] = buttons_B[_SNEAK]
            on_ground, sprinting, bumped, jump_delay, fall, damage = move_agent(
                block_EXZY[e], is_solid_K, is_fluid_K, _ICE, position_E3[e], velocity_E3[e], yaw_deg_E[e], forward,
                strafe, buttons_B[_JUMP], buttons_B[_SNEAK], buttons_B[_SPRINT], is_on_ground_E[e], is_sprinting_E[e],
                has_bumped_E[e], jump_delay_ticks_E[e], fall_blocks_E[e],
            )  # fmt: skip
            is_on_ground_E[e], is_sprinting_E[e], has_bumped_E[e] = on_ground, sprinting, bumped
            jump_delay_ticks_E[e], fall_blocks_E[e] = jump_delay, fall
            cell, progress, delay, num_events = mine(
                block_EXZY[e], is_fluid_K, break_damage_EK[e], position_E3[e], yaw_deg_E[e], pitch_deg_E[e],
                is_sneaking_E[e], on_ground, buttons_B[_ATTACK], mine_cell_E[e], mine_progress_E[e],
                mine_delay_ticks_E[e], event_EN4[e], num_events,
            )  # fmt: skip
            mine_cell_E[e], mine_progress_E[e], mine_delay_ticks_E[e] = cell, progress, delay
            if damage > 0.0:
                health_E[e] = max(np.float32(0.0), health_E[e] - np.float32(damage))
                num_events = push_event(event_EN4[e], num_events, EVENT_DAMAGE, 0, int(damage), 0)
                if health_E[e] <= 0.0:
                    num_events = push_event(event_EN4[e], num_events, EVENT_DEATH, 0, 0, 0)
        num_events_E[e] = num_events
