"""Good places to look from, chosen by rule: open views over a world. X Z columns, D directions, N candidates.

Everything is worked out on the height map of the highest cells, so that a world takes milliseconds.
"""

import math
from dataclasses import dataclass

import numpy as np

from worlds.blocks import BLOCK_ID, build_block_tables
from worlds.spec import BLOCK_MASK, World
from worlds.types import EYE_HEIGHT_BLOCKS, Pose

NUM_DIRECTIONS = 16
_FAR_BLOCKS = 44
_NEAR_BLOCKS = 9  # what is nearer fills the picture and counts against a view
_NUM_STARTS = 64  # places near the middle that are weighed against each other
_WEDGE_DEG = (-30.0, -15.0, 0.0, 15.0, 30.0)


@dataclass(frozen=True, slots=True)
class Surface:
    """What of a world can be seen from above."""

    top_XZ: np.ndarray  # int64 [X, Z], level of the highest cell that is not air
    kind_XZ: np.ndarray  # int32 [X, Z], kind of block there
    floor_XZ: np.ndarray  # int64 [X, Z], level of feet of who stands on the ground, -1 where nobody can
    is_open_XZ: np.ndarray  # bool [X, Z], somebody can stand there under the open sky


def surface_of(world: World) -> Surface:
    """Return the surface of a world."""
    tables = build_block_tables()
    state_XZY = world.block_XZY & BLOCK_MASK
    is_seen_XZY = (state_XZY != 0) & (tables.kind_S[state_XZY] != BLOCK_ID["barrier"])
    top_XZ = state_XZY.shape[2] - 1 - is_seen_XZY[:, :, ::-1].argmax(axis=2)
    kind_XZ = tables.kind_S[np.take_along_axis(state_XZY, top_XZ[..., None], axis=2)[..., 0]]
    floor_XZ = world.ground_XZ.astype(np.int64) + 1
    is_free_XZ = floor_XZ + 2 < state_XZY.shape[2]
    for above in (0, 1):
        level_XZ1 = np.minimum(floor_XZ + above, state_XZY.shape[2] - 1)[..., None]
        state_XZ = np.take_along_axis(state_XZY, level_XZ1, axis=2)[..., 0]
        is_free_XZ &= ~tables.is_solid_S[state_XZ] & (tables.fluid_S[state_XZ] == 0) & (tables.hurt_S[state_XZ] == 0)
    is_free_XZ &= floor_XZ > 1
    return Surface(top_XZ, kind_XZ, np.where(is_free_XZ, floor_XZ, -1), is_free_XZ & (top_XZ <= floor_XZ + 1))


def start_pose(world: World) -> Pose:
    """Return feet on open ground near the middle of a world, looking where the view is longest.

    Raises:
        ValueError: nobody can stand anywhere in the world.
    """
    surface = surface_of(world)
    can_stand_XZ = surface.is_open_XZ if surface.is_open_XZ.any() else surface.floor_XZ > 0
    if not can_stand_XZ.any():
        raise ValueError("this world has no place to stand on; choose another seed, biome or origin")
    size_x, size_z = can_stand_XZ.shape
    place_N2 = np.argwhere(can_stand_XZ)
    distance_N = np.abs(place_N2 - (size_x / 2, size_z / 2)).sum(axis=1)
    near_N2 = place_N2[np.argsort(distance_N, kind="stable")[:_NUM_STARTS]]
    y_N = surface.floor_XZ[near_N2[:, 0], near_N2[:, 1]]
    length_ND = _view_lengths(surface, near_N2[:, 0] + 0.5, near_N2[:, 1] + 0.5, y_N + EYE_HEIGHT_BLOCKS)
    length_ND = length_ND + 0.5 * (np.roll(length_ND, 1, axis=1) + np.roll(length_ND, -1, axis=1))
    best, direction = divmod(int(length_ND.argmax()), NUM_DIRECTIONS)
    x, z = near_N2[best].tolist()
    return Pose(x + 0.5, float(y_N[best]), z + 0.5, 360.0 / NUM_DIRECTIONS * direction, 5.0)


def landscape_view(world: World, *, wanted_kinds: tuple[int, ...] = (), height_blocks: float = 4.0) -> Pose:
    """Return an eye over open ground that sees far and much of it; of `wanted_kinds` as much as can be.

    Args:
        world: to look at.
        wanted_kinds: indices into worlds.blocks.BLOCKS that the view should be full of.
        height_blocks: of the eye above the ground.
    """
    surface = surface_of(world)
    step = 4
    place_N2 = np.argwhere(surface.floor_XZ[::step, ::step] > 0) * step
    if not len(place_N2):
        place_N2 = np.array([[s // 2 for s in surface.top_XZ.shape]])
    x_N, z_N = place_N2[:, 0] + 0.5, place_N2[:, 1] + 0.5
    ground_N = surface.floor_XZ[place_N2[:, 0], place_N2[:, 1]]
    eye_N = np.minimum(np.maximum(ground_N, 2) + height_blocks, world.block_XZY.shape[2] - 1.5)
    is_hidden_N = surface.top_XZ[place_N2[:, 0], place_N2[:, 1]] >= eye_N - 1.0
    score_ND = _scores(surface, x_N, z_N, eye_N, wanted_kinds)
    score_ND[is_hidden_N] -= 100.0
    best, direction = divmod(int(score_ND.argmax()), NUM_DIRECTIONS)
    return Pose(float(x_N[best]), float(eye_N[best]), float(z_N[best]), 360.0 / NUM_DIRECTIONS * direction, 10.0)


def _steps(surface: Surface, x_N: np.ndarray, z_N: np.ndarray, yaw_deg: float) -> tuple[np.ndarray, np.ndarray]:
    """Return level and kind of the highest cells along a direction, [N, L] for distances 1 .. _FAR_BLOCKS."""
    distance_L = np.arange(1, _FAR_BLOCKS + 1)
    yaw = math.radians(yaw_deg)
    size_x, size_z = surface.top_XZ.shape
    cell_x_NL = np.floor(x_N[:, None] - math.sin(yaw) * distance_L).astype(np.int64) % size_x
    cell_z_NL = np.floor(z_N[:, None] + math.cos(yaw) * distance_L).astype(np.int64) % size_z
    return surface.top_XZ[cell_x_NL, cell_z_NL], surface.kind_XZ[cell_x_NL, cell_z_NL]


def _view_lengths(surface: Surface, x_N: np.ndarray, z_N: np.ndarray, eye_N: np.ndarray) -> np.ndarray:
    """Return how many blocks one sees level with the eye in each direction, int64 [N, D]."""
    length_ND = np.zeros((len(x_N), NUM_DIRECTIONS), np.int64)
    for direction in range(NUM_DIRECTIONS):
        top_NL, _ = _steps(surface, x_N, z_N, 360.0 / NUM_DIRECTIONS * direction)
        is_free_NL = top_NL + 1 <= eye_N[:, None]
        length_ND[:, direction] = is_free_NL.cumprod(axis=1).sum(axis=1)
    return length_ND


def _scores(
    surface: Surface, x_N: np.ndarray, z_N: np.ndarray, eye_N: np.ndarray, wanted_kinds: tuple[int, ...]
) -> np.ndarray:
    """Return how good a view is, float64 [N, D]: free in front, much relief and many kinds of block behind."""
    score_ND = np.zeros((len(x_N), NUM_DIRECTIONS))
    for direction in range(NUM_DIRECTIONS):
        kinds, wanted_N = [], np.zeros(len(x_N))
        for offset_deg in _WEDGE_DEG:
            top_NL, kind_NL = _steps(surface, x_N, z_N, 360.0 / NUM_DIRECTIONS * direction + offset_deg)
            # A column is seen when its slope from the eye is above that of all before it.
            slope_NL = (top_NL + 1 - eye_N[:, None]) / np.arange(1, _FAR_BLOCKS + 1)
            before_NL = np.maximum.accumulate(np.pad(slope_NL, ((0, 0), (1, 0)), constant_values=-9.0), axis=1)[:, :-1]
            is_seen_NL = slope_NL > before_NL - 0.02
            score_ND[:, direction] -= (slope_NL[:, :_NEAR_BLOCKS] > 0.0).sum(axis=1)
            score_ND[:, direction] += 0.15 * is_seen_NL.sum(axis=1) + 3.0 * np.clip(
                slope_NL[:, -30:].max(axis=1), 0, 0.4
            )
            kinds.append(np.where(is_seen_NL, kind_NL, 0))
            wanted_N += (np.isin(kind_NL, wanted_kinds) & is_seen_NL).sum(axis=1)
            # A sheet of water is soon seen: a view is of the land unless water is wanted.
            score_ND[:, direction] -= 0.3 * ((kind_NL == BLOCK_ID["water"]) & is_seen_NL).sum(axis=1)
        kind_NK = np.sort(np.concatenate(kinds, axis=1), axis=1)
        score_ND[:, direction] += 1.2 * (np.diff(kind_NK, axis=1) > 0).sum(axis=1) + 0.6 * wanted_N
    return score_ND
