"""What there is to draw besides blocks: one row of ENTITY_COLUMNS for every mob, arrow and item on the ground."""

import math

from worlds.mobs.kinds import BEHAVIOUR_CREEPER, BEHAVIOUR_MASK
from worlds.mobs.models import ARROW_MODEL, ITEM_MODEL_START
from worlds.types import INSTANCE_TERRAIN
from worlds.voxel.link import Kernel
from worlds.voxel.mob_attacks import FUSE_TICKS
from worlds.voxel.scene import ENTITY_COLUMNS
from worlds.voxel.state import NO_ITEM, NO_MOB

(
    _MODEL, _X, _Y, _Z, _YAW, _PITCH, _SWING, _HURT, _INSTANCE, _SCALE,
) = range(len(ENTITY_COLUMNS))  # fmt: skip

SWING_PER_BLOCK_RAD = 2.66  # phase of the walk cycle a block: Minecraft's 0.6662 for each quarter of a block
WIDEST_SWING_RAD = 1.4
_FULL_SWING_BLOCKS = 0.25  # a tick: legs swing widest from this speed on
_GROUND_FRICTION = 0.546  # a mob on the ground has moved by its velocity over this
DROP_SCALE = 0.25
_SPIN_DEG = 180.0 / math.pi / 20.0  # a tick: an item turns once in 126 ticks
_BOB_RAD, _BOB_BLOCKS, _BOB_LIFT_BLOCKS = 0.1, 0.1, 0.1
_SWELLING = 0.25  # share by which a creeper has grown when it explodes


def write_entity(entity_MF, row, model, x, y, z, yaw_deg, pitch_deg, swing_rad, hurt, instance, scale):
    """Write one row, see ENTITY_COLUMNS."""
    entity_MF[row, _MODEL] = model
    entity_MF[row, _X] = x
    entity_MF[row, _Y] = y
    entity_MF[row, _Z] = z
    entity_MF[row, _YAW] = yaw_deg
    entity_MF[row, _PITCH] = pitch_deg
    entity_MF[row, _SWING] = swing_rad
    entity_MF[row, _HURT] = hurt
    entity_MF[row, _INSTANCE] = instance
    entity_MF[row, _SCALE] = scale


def leg_swing(limb_blocks, vx, vz):
    """Return the angle of the legs after `limb_blocks` walked, at a velocity in blocks a tick; 0 at rest."""
    speed = math.sqrt(vx * vx + vz * vz) / _GROUND_FRICTION
    return math.sin(limb_blocks * SWING_PER_BLOCK_RAD) * WIDEST_SWING_RAD * min(1.0, speed / _FULL_SWING_BLOCKS)


def list_entities(e, mobs, arrows, drops, clock, tables, entity_MF):
    """Write the rows of env e into float32 [M, F] and return their number; instance ids are of worlds.types."""
    row = 0
    for m in range(mobs.kind_EM.shape[1]):
        kind = mobs.kind_EM[e, m]
        if kind == NO_MOB or row == entity_MF.shape[0]:
            continue
        scale = 1.0
        if tables.mobs.behaviour_K[kind] & BEHAVIOUR_MASK == BEHAVIOUR_CREEPER:
            scale += _SWELLING * mobs.attack_ticks_EM[e, m] / FUSE_TICKS
        write_entity(
            entity_MF, row, float(kind), mobs.position_EM3[e, m, 0], mobs.position_EM3[e, m, 1],
            mobs.position_EM3[e, m, 2], mobs.yaw_deg_EM[e, m], 0.0,
            leg_swing(mobs.limb_EM[e, m], mobs.velocity_EM3[e, m, 0], mobs.velocity_EM3[e, m, 2]),
            1.0 if mobs.hurt_ticks_EM[e, m] > 0 else 0.0, float(INSTANCE_TERRAIN + mobs.object_EM[e, m]), scale,
        )  # fmt: skip
        row += 1
    for a in range(arrows.life_ticks_EA.shape[1]):
        if arrows.life_ticks_EA[e, a] <= 0 or row == entity_MF.shape[0]:
            continue
        vx, vy, vz = arrows.velocity_EA3[e, a, 0], arrows.velocity_EA3[e, a, 1], arrows.velocity_EA3[e, a, 2]
        write_entity(
            entity_MF, row, float(ARROW_MODEL), arrows.position_EA3[e, a, 0], arrows.position_EA3[e, a, 1],
            arrows.position_EA3[e, a, 2], math.degrees(math.atan2(-vx, vz)),
            math.degrees(math.atan2(-vy, math.sqrt(vx * vx + vz * vz))), 0.0, 0.0, float(INSTANCE_TERRAIN), 1.0,
        )  # fmt: skip
        row += 1
    for d in range(drops.item_ED.shape[1]):
        item = drops.item_ED[e, d]
        if item == NO_ITEM or row == entity_MF.shape[0]:
            continue
        # Two items on one spot must not move as one; a placed item moves alike whichever others are there.
        phase = d
        if drops.object_ED[e, d] > 0:
            phase = math.floor(drops.position_ED3[e, d, 0]) + 3 * math.floor(drops.position_ED3[e, d, 2])
        age = float(drops.age_ticks_ED[e, d] + 17 * phase)
        write_entity(
            entity_MF, row, float(ITEM_MODEL_START + item), drops.position_ED3[e, d, 0],
            drops.position_ED3[e, d, 1] + _BOB_LIFT_BLOCKS + _BOB_BLOCKS * math.sin(age * _BOB_RAD),
            drops.position_ED3[e, d, 2], age * _SPIN_DEG % 360.0, 0.0, 0.0, 0.0,
            float(INSTANCE_TERRAIN + drops.object_ED[e, d]), DROP_SCALE,
        )  # fmt: skip
        row += 1
    return row


SOURCES: tuple[Kernel, ...] = (write_entity, leg_swing, list_entities)
