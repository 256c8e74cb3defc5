"""Places to look from near a thing: level ground, a cell seen from outside, the inside of caves and lakes.

X Z Y blocks, D directions, N cells.
"""

import math

import numpy as np

from eval.showcase.viewpoint import NUM_DIRECTIONS, landscape_view, surface_of
from task_synthesis.placement.aim import wrapped_deg
from worlds.blocks import build_block_tables
from worlds.spec import BLOCK_MASK, World
from worlds.types import Pose

_FAR_BELOW = -50  # stands for the level of a column that is not open


def level_ground(world: World, *, width: int, depth: int) -> tuple[int, int, int]:
    """Return x, feet, z of the middle of the most level open ground of that size, along x and along z."""
    surface = surface_of(world)
    level_XZ = np.where(surface.is_open_XZ, surface.floor_XZ, _FAR_BELOW)
    spread_XZ = np.where(surface.is_open_XZ, 0, -_FAR_BELOW * width * depth)
    for dx in range(-(width // 2), width - width // 2):
        for dz in range(-(depth // 2), depth - depth // 2):
            spread_XZ += np.abs(np.roll(level_XZ, (-dx, -dz), axis=(0, 1)) - surface.floor_XZ)
    x, z = np.unravel_index(int(spread_XZ.argmin()), spread_XZ.shape)
    return int(x), int(surface.floor_XZ[x, z]), int(z)


def look_at(
    world: World,
    middle: tuple[float, float, float],
    *,
    half_blocks: float,
    height_blocks: float,
    front_deg: float | None,
) -> Pose:
    """Return an eye that sees as much as can be of a thing from a little above, rather askew than square.

    Args:
        world: that the thing stands in.
        middle: of its bottom, x, y, z.
        half_blocks: from the middle to its sides.
        height_blocks: of it.
        front_deg: yaw of who looks at its front, None when all sides are alike.
    """
    is_clear_XZY = _is_clear(world)
    middle_3 = np.array(middle, np.float64)
    target_N3 = middle_3 + np.array(
        [
            (i * half_blocks, j * height_blocks, k * half_blocks)
            for i in (-1.0, 0.0, 1.0)
            for k in (-1.0, 0.0, 1.0)
            for j in (0.2, 0.7)
        ]
    )
    best, best_score = _eye(middle_3 + (0.0, height_blocks + 4.0, 0.0), 0.0, 60.0), -1.0
    for distance in (half_blocks + 5.5, half_blocks + 8.0, half_blocks + 4.0):
        for above in (0.4, 0.65, 0.2):
            for direction in range(NUM_DIRECTIONS):
                yaw_deg = 360.0 / NUM_DIRECTIONS * direction
                yaw = math.radians(yaw_deg)
                rise = 1.5 + 0.7 * above * distance
                eye_3 = middle_3 + (math.sin(yaw) * distance, rise, -math.cos(yaw) * distance)
                if eye_3[1] >= is_clear_XZY.shape[2] - 1 or not _is_roomy(world, eye_3):
                    continue
                score = sum(_free_share(is_clear_XZY, eye_3, target_3) for target_3 in target_N3)
                if front_deg is not None:
                    off_deg = abs(wrapped_deg(yaw_deg - front_deg))
                    score += 6.0 if 20.0 <= off_deg <= 50.0 else 4.0 if off_deg < 20.0 else 0.0
                if score > best_score + 0.5:
                    pitch_deg = math.degrees(math.atan2(rise - 0.4 * height_blocks, distance))
                    best, best_score = _eye(eye_3, yaw_deg, pitch_deg), score
    return best


def _is_roomy(world: World, eye_3: np.ndarray) -> bool:
    """Return whether there is air all around the eye: not even a blade of grass before it."""
    around_N3 = eye_3 + np.array([(i, j, k) for i in (-1, 0, 1) for j in (-1, 0, 1) for k in (-1, 0, 1)])
    x_N, y_N, z_N = np.floor(around_N3).astype(np.int64).T
    size_x, size_z, size_y = world.block_XZY.shape
    return not world.block_XZY[x_N % size_x, z_N % size_z, y_N.clip(0, size_y - 1)].any()


def inside_view(world: World, kind: int, *, covered: bool) -> tuple[Pose, float]:
    """Return an eye inside a body of one kind of block, air or water, and how many blocks it sees through it at most.

    Args:
        world: to look at.
        kind: index into worlds.blocks.BLOCKS of what surrounds the eye.
        covered: look below the ground only; otherwise anywhere.
    """
    kind_XZY = build_block_tables().kind_S[world.block_XZY & BLOCK_MASK]
    is_inside_XZY = kind_XZY == kind
    if covered:
        level_Y = np.arange(kind_XZY.shape[2])
        is_inside_XZY &= level_Y < world.ground_XZ[..., None] - 3
    else:
        is_inside_XZY[:, :, :-1] &= kind_XZY[:, :, 1:] == kind  # a level below the surface
    cell_N3 = np.argwhere(is_inside_XZY)[:, [0, 2, 1]]
    if not len(cell_N3):
        return landscape_view(world), 0.0
    # Cells with much room around them, a few hundred at most.
    some_N3 = cell_N3[:: max(1, len(cell_N3) // 300)]
    best, best_score = _eye(some_N3[0] + 0.5, 0.0, 0.0), -1.0
    for cell_3 in some_N3:
        eye_3 = cell_3 + 0.5
        length_D = np.zeros(NUM_DIRECTIONS)
        for direction in range(NUM_DIRECTIONS):
            yaw = math.radians(360.0 / NUM_DIRECTIONS * direction)
            end_3 = eye_3 + np.array((-math.sin(yaw), -0.1, math.cos(yaw))) * 24.0
            length_D[direction] = 24.0 * _free_share(is_inside_XZY, eye_3, end_3)
        around_D = length_D + 0.5 * (np.roll(length_D, 1) + np.roll(length_D, -1))
        if around_D.max() > best_score:
            best_score = float(around_D.max())
            yaw_deg = 360.0 / NUM_DIRECTIONS * int(around_D.argmax())
            best = _eye(eye_3, yaw_deg, 5.0)
    return best, best_score


def _is_clear(world: World) -> np.ndarray:
    """Return bool [X, Z, Y]: one can see through the cell."""
    tables = build_block_tables()
    return (tables.opacity_S < 15)[world.block_XZY & BLOCK_MASK] & ~tables.collision.is_cube_S[
        world.block_XZY & BLOCK_MASK
    ]


def _free_share(is_free_XZY: np.ndarray, from_3: np.ndarray, to_3: np.ndarray) -> float:
    """Return which share of the way from one point to another is free, from its beginning to the first obstacle."""
    size_x, size_z, size_y = is_free_XZY.shape
    num_steps = max(2, int(np.abs(to_3 - from_3).max() * 2))
    point_N3 = np.floor(from_3 + np.linspace(0.0, 1.0, num_steps)[:, None] * (to_3 - from_3)).astype(np.int64)
    level_N = point_N3[:, 1].clip(0, size_y - 1)
    is_free_N = is_free_XZY[point_N3[:, 0] % size_x, point_N3[:, 2] % size_z, level_N]
    return float(is_free_N.cumprod().mean())


def _eye(point_3: np.ndarray, yaw_deg: float, pitch_deg: float) -> Pose:
    x, y, z = point_3.tolist()
    return Pose(x, y, z, yaw_deg, pitch_deg)
