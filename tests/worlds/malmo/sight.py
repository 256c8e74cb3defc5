"""What the agent looks at: the game's line of sight."""

import math
from dataclasses import dataclass

import numpy as np

from tests.worlds.malmo.game import Game
from worlds.spec import BLOCK_MASK
from worlds.types import EYE_HEIGHT_BLOCKS, SNEAK_EYE_HEIGHT_BLOCKS
from worlds.voxel.combat import first_mob_hit
from worlds.voxel.engine_tables import engine_tables
from worlds.voxel.raycast import first_hit

SIGHT_BLOCKS = 50.0
BLOCK_REACH_BLOCKS, MOB_REACH_BLOCKS = 4.5, 3.0


@dataclass(frozen=True)
class Glance:
    """What lies under the crosshair."""

    mob: int  # row, -1: it is a block
    state: int  # of the block
    hit: tuple[float, float, float]  # where the line meets it, as the client sees it
    distance_blocks: float
    is_in_reach: bool


def glance(game: Game) -> Glance | None:
    """Return what the agent looks at, None for the sky."""
    state, bodies = game.state, game.state.bodies
    block_XZY = state.terrain.block_EXZY[0]
    yaw, pitch = math.radians(float(bodies.yaw_deg_E[0])), math.radians(float(bodies.pitch_deg_E[0]))
    way = (-math.sin(yaw) * math.cos(pitch), -math.sin(pitch), math.cos(yaw) * math.cos(pitch))
    eye = bodies.position_E3[0] + (0, SNEAK_EYE_HEIGHT_BLOCKS if bodies.is_sneaking_E[0] else EYE_HEIGHT_BLOCKS, 0)
    x, y, z, _, block_blocks = first_hit(block_XZY, engine_tables().blocks.outline, *eye, *way, SIGHT_BLOCKS)
    mob, mob_blocks = first_mob_hit(
        0, state.mobs, engine_tables().mobs, *block_XZY.shape[:2], *eye, *way, block_blocks, 0.0, -1
    )
    if mob < 0 and y < 0:
        return None
    distance = mob_blocks if mob >= 0 else block_blocks
    feet = np.array(game.feet()[:3])
    hit = feet + (eye - bodies.position_E3[0]) + np.array(way) * distance
    return Glance(
        mob=int(mob),
        state=0 if mob >= 0 else int(block_XZY[x, z, y]) & BLOCK_MASK,
        hit=(float(hit[0]), float(hit[1]), float(hit[2])),
        distance_blocks=float(distance),
        is_in_reach=bool(distance <= (MOB_REACH_BLOCKS if mob >= 0 else BLOCK_REACH_BLOCKS)),
    )
