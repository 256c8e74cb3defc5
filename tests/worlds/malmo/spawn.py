"""Where an agent comes into a world that says nothing else."""

import math

import numpy as np

from worlds.blocks import AIR, solid_table
from worlds.spec import World
from worlds.types import Pose


def spawn_pose(world: World) -> Pose:
    """Return a dry place to stand near the middle of the world.

    Raises:
        ValueError: there is none.
    """
    size_x, size_y, size_z = world.spec.size_blocks
    is_solid_S = solid_table()
    columns = sorted(np.ndindex(size_x, size_z), key=lambda xz: math.hypot(xz[0] - size_x / 2, xz[1] - size_z / 2))
    for x, z in columns:
        y = int(world.ground_XZ[x, z])
        floor, feet, head = world.block_XZY[x, z, y : y + 3]
        if y + 3 < size_y and is_solid_S[floor] and feet == AIR and head == AIR:
            return Pose(x + 0.5, y + 1.0, z + 0.5, 0.0, 0.0)
    raise ValueError(f"wire server: world {world.spec.seed} has no dry column to spawn on; choose another seed")
