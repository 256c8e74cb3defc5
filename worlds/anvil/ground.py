"""What counts as ground, and how high it lies. X Z Y blocks, S block states."""

import functools

import numpy as np

from worlds.blocks import STATES

_GROUND_SHAPES = ("cube", "column", "front", "furnace", "barrel", "glass", "low", "soul_sand", "honey")
# Full blocks that stand on the ground rather than being it.
_NOT_GROUND = ("_log", "_leaves", "_mushroom_block", "mushroom_stem", "pumpkin", "melon")


@functools.cache
def is_ground_table() -> np.ndarray:
    """Return bool [S]: whether a state is terrain that carries things, neither tree nor plant nor water."""
    kinds = [state.kind for state in STATES]
    return np.array([kind.shape in _GROUND_SHAPES and not kind.name.endswith(_NOT_GROUND) for kind in kinds])


def highest_ground(is_ground_XZY: np.ndarray) -> np.ndarray:
    """Return the level of the highest ground cell of every column, int16 [X, Z], -1 where there is none."""
    from_top_XZ = is_ground_XZY[:, :, ::-1].argmax(axis=2)
    level_XZ = is_ground_XZY.shape[2] - 1 - from_top_XZ
    return np.where(is_ground_XZY.any(axis=2), level_XZ, -1).astype(np.int16)
