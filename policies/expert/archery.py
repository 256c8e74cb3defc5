"""Archery: stand where an arrow gets to the animal, draw the bow fully, lead the aim, let go.

The flight is worlds.voxel.arrows: each tick position += v, then v *= 0.99 and v_y -= 0.05. After n ticks an arrow has
gone v (1 - 0.99^n) / 0.01 and has fallen 5 (n - (1 - 0.99^n) / 0.01) blocks.
"""

import math

import numpy as np
from numba import njit

from policies.expert.blocks import take_in_hand
from policies.expert.ground import Ground
from policies.expert.mind import Mind
from policies.expert.quarry import find_mob, first_mob_hit, herd_of, sizes_of, watch
from policies.expert.view import angle_between, angles_to, direction_of, eye_height, nearest_image, ray_box, turn
from policies.expert.walker import go, look_level, near_image, point_to_go, refresh_plan
from worlds.types import BUTTON_INDEX
from worlds.voxel.arrows import ARROW_DRAG, ARROW_GRAVITY, ARROW_GROW_BLOCKS
from worlds.voxel.bow import BOW_BELOW_EYE_BLOCKS, BOW_SPEED, FULL_DRAW_TICKS
from worlds.voxel.inventory import find_arrows
from worlds.voxel.raycast import NEVER, first_hit_cpu
from worlds.voxel.state import Bodies, Hands, Mobs
from worlds.voxel.tables import Tables

_SHOT_BLOCKS = 20.0  # farther away an animal that walks turns before the arrow is there
_REACH_EYE_BLOCKS = 6.0
_CLEARANCE_BLOCKS = 0.5  # how far an arrow keeps away from other animals
_FLIGHT_TICKS = 40
_SLACK_DEG = 0.5
_PATIENCE_STEPS = 8
_LOSS = 1.0 - ARROW_DRAG
_USE = BUTTON_INDEX["use"]


@njit(cache=True, nogil=True)
def _flight(blocks_away, speed):
    """Return (ticks, fall in blocks) of an arrow that starts level at a speed and goes so far."""
    left = max(0.05, 1.0 - _LOSS * blocks_away / max(0.1, speed))
    ticks = math.log(left) / math.log(ARROW_DRAG)
    return ticks, ARROW_GRAVITY / _LOSS * (ticks - (1.0 - left) / _LOSS)


@njit(cache=True, nogil=True)
def solve_shot(dx, dy, dz, vx, vz, ahead_ticks):
    """Return (yaw, pitch) in degrees that bring a full shot to a point (dx, dy, dz) away.

    The point moves by (vx, vz) a tick; the bow is let go `ahead_ticks` from now.
    """
    dx, dz = dx + vx * ahead_ticks, dz + vz * ahead_ticks
    yaw_deg, pitch_deg = angles_to(dx, dy, dz)
    for _ in range(4):
        level_speed = BOW_SPEED * math.cos(math.radians(pitch_deg))
        ticks, _ = _flight(math.hypot(dx, dz), level_speed)
        at_x, at_z = dx + vx * ticks, dz + vz * ticks
        ticks, fall = _flight(math.hypot(at_x, at_z), level_speed)
        yaw_deg, pitch_deg = angles_to(at_x, dy + fall, at_z)
    return yaw_deg, pitch_deg


@njit(cache=True, nogil=True)
def would_hit(e, m, block_XZY, collision, herd, sizes, x, y, z, yaw_deg, pitch_deg, vx, vz):
    """Tell whether a full shot from (x, y, z), let go now, meets mob m before any block or any other animal."""
    dx, dy, dz = direction_of(yaw_deg, pitch_deg)
    ax, ay, az = dx * BOW_SPEED, dy * BOW_SPEED, dz * BOW_SPEED
    size_x, size_z = block_XZY.shape[0], block_XZY.shape[1]
    half_width = sizes.half_width_K[herd.kind_EM[e, m]] + ARROW_GROW_BLOCKS
    height = sizes.height_K[herd.kind_EM[e, m]] + ARROW_GROW_BLOCKS
    for tick in range(_FLIGHT_TICKS):
        speed = math.sqrt(ax * ax + ay * ay + az * az)
        _, hit_y, _, _, clear = first_hit_cpu(block_XZY, collision, x, y, z, ax, ay, az, speed)
        mob_x = x + nearest_image(herd.position_EM3[e, m, 0] + vx * (tick + 1) - x, size_x)
        mob_z = z + nearest_image(herd.position_EM3[e, m, 2] + vz * (tick + 1) - z, size_z)
        mob_y = herd.position_EM3[e, m, 1]
        met, _ = ray_box(
            x, y, z, ax / speed, ay / speed, az / speed, mob_x - half_width, mob_y - ARROW_GROW_BLOCKS,
            mob_z - half_width, mob_x + half_width, mob_y + height, mob_z + half_width,
        )  # fmt: skip
        ends = min(clear, met)
        other, _ = first_mob_hit(
            e, herd, sizes, size_x, size_z, x, y, z, ax / speed, ay / speed, az / speed, ends,
            ARROW_GROW_BLOCKS + _CLEARANCE_BLOCKS, m,
        )  # fmt: skip
        if other >= 0:
            return False
        if met <= clear and met < NEVER:
            return True
        if hit_y >= 0:
            return False
        x, y, z = x + ax, y + ay, z + az
        ax, ay, az = ax * ARROW_DRAG, ay * ARROW_DRAG - ARROW_GRAVITY, az * ARROW_DRAG
    return False


def shoot_at_quarry(
    e: int, block_XZY: np.ndarray, tables: Tables, ground: Ground, bodies: Bodies, hands: Hands, mobs: Mobs, mind: Mind,
    num_ticks: float, buttons_B: np.ndarray, camera_2: np.ndarray,
) -> None:  # fmt: skip
    """Choose the keys of env e for a hunt with the bow."""
    m = find_mob(e, mobs, int(mind.slot_E[e]))
    if m < 0:
        return
    take_in_hand(e, hands, mind, buttons_B)
    blocks, collision = tables.blocks, tables.blocks.collision
    herd, sizes = herd_of(mobs), sizes_of(tables.mobs)
    vx, vz = watch(e, m, mind, mobs, block_XZY.shape[0], block_XZY.shape[1], num_ticks)
    x, y, z = bodies.position_E3[e].tolist()
    mob_x, mob_y, mob_z = mobs.position_EM3[e, m].tolist()
    yaw_deg, pitch_deg = float(bodies.yaw_deg_E[e]), float(bodies.pitch_deg_E[e])
    eye_y = y + eye_height(bool(bodies.is_sneaking_E[e]))
    bow_y = eye_y - BOW_BELOW_EYE_BLOCKS
    at_x, at_z = near_image(block_XZY, x, z, mob_x, mob_z)
    at_y = mob_y + 0.55 * float(tables.mobs.height_K[mobs.kind_EM[e, m]])
    level_blocks = math.hypot(at_x - x, at_z - z)
    shot_yaw_deg, shot_pitch_deg = solve_shot(at_x - x, at_y - bow_y, at_z - z, vx, vz, 1.0)
    # Without arrows it goes there, where those lie that it has shot.
    has_arrows = find_arrows(e, hands, tables.items) >= 0
    has_shot = (
        has_arrows
        and level_blocks <= _SHOT_BLOCKS
        and would_hit(e, m, block_XZY, collision, herd, sizes, x, bow_y, z, shot_yaw_deg, shot_pitch_deg, vx, vz)
    )
    drawn_ticks = hands.bow_ticks_E[e]
    # A shot that is lost while the bow is drawn may come back: the animal walks, or another one gets out of the way.
    mind.wait_steps_E[e] = 0 if has_shot else mind.wait_steps_E[e] + 1
    if not has_shot and (drawn_ticks == 0 or mind.wait_steps_E[e] > _PATIENCE_STEPS):
        refresh_plan(
            e, block_XZY, blocks.outline, ground, bodies, mind, (at_x, at_y, at_z),
        reach_blocks=_REACH_EYE_BLOCKS, from_eye=True,
        )  # fmt: skip
        to_x, to_z = point_to_go(e, block_XZY, ground, bodies, mind, at_x, at_z)
        look_level(yaw_deg, pitch_deg, to_x - x, to_z - z, num_ticks, camera_2)
        go(e, block_XZY, ground, bodies, mind, to_x, to_z, False, num_ticks, buttons_B, camera_2)
        buttons_B[_USE] = drawn_ticks > 0
        return
    mind.stuck_steps_E[e] = 0
    is_drawn = drawn_ticks >= FULL_DRAW_TICKS
    # The turn of this decision ends where the aim must be in the first tick of the next one, when the bow is let go.
    next_yaw_deg, next_pitch_deg = solve_shot(at_x - x, at_y - bow_y, at_z - z, vx, vz, 1.0 + num_ticks)
    camera_2[0] = turn(next_pitch_deg - pitch_deg, _SLACK_DEG, num_ticks)
    camera_2[1] = turn(angle_between(yaw_deg, next_yaw_deg), _SLACK_DEG, num_ticks)
    lets_go = is_drawn and would_hit(
        e, m, block_XZY, collision, herd, sizes, x, bow_y, z, float(yaw_deg + camera_2[1]),
        float(pitch_deg + camera_2[0]),
        vx, vz,
    )  # fmt: skip
    buttons_B[_USE] = not lets_go
