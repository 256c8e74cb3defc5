"""What a ray into the running world meets first: a block, a mob or an item; and pixels' rays."""

import math
from dataclasses import dataclass

import numpy as np

from eval.viewer.scenery import Body, bodies_of
from worlds.blocks import STATES
from worlds.spec import BLOCK_BITS, BLOCK_MASK
from worlds.types import Pose
from worlds.voxel.backend import VoxelBackend
from worlds.voxel.engine_tables import engine_tables
from worlds.voxel.raycast import NEVER, first_hit_cpu, nearest_image, ray_box
from worlds.voxel.tables import FLUID_NONE

_INSIDE_BLOCKS = 1e-6  # the far border belongs to the next copy
_FLUID_STEP_BLOCKS = 0.05  # between places of a ray that are looked at for water
_LEAST_SIDE_BLOCKS = 0.5  # of what is aimed at: an item is a quarter of a block, which nobody should have to hit


@dataclass(frozen=True, slots=True)
class Hit:
    """What a ray met."""

    kind: str
    """As in Placement.kind: a block's full state, a mob, or "item:apple"."""
    cell: tuple[int, int, int]
    """x, y, z of a block, or of the feet of what stands there; within the world."""
    object_index: int | None
    """Index into the episode's placements; None for terrain and for what came later."""
    is_block: bool
    face: int
    """Of a block that was met, index into worlds.types.FACES; -1 from inside and for mobs and items."""
    distance_blocks: float
    point: tuple[float, float, float]
    """Where the ray met it, not wrapped."""
    is_under_water: bool
    """Whether the ray came through the surface of water or lava on its way: pictures from there show that."""


def hit_of_ray(
    engine: VoxelBackend,
    origin: tuple[float, float, float],
    direction: tuple[float, float, float],
    *,
    max_blocks: float | None = None,
    corner: tuple[float, float] = (0.0, 0.0),
) -> Hit:
    """Return what a ray through env 0 of `engine` meets first.

    Args:
        engine: the world as it is now.
        origin: x, y, z in blocks; may lie beyond the borders.
        direction: of any length above 0.
        max_blocks: how far is looked, in a world that repeats itself beyond its borders, as an agent sees it. None:
            until the ray leaves the one copy that a scene shows, however far from it the ray begins.
        corner: lowest x and z of that copy; means nothing beside `max_blocks`.

    Raises:
        ValueError: it meets nothing, or the numbers make no ray.
    """
    numbers = np.array([*origin, *direction], np.float64)
    length = float(np.linalg.norm(numbers[3:]))
    if numbers.shape != (6,) or not np.isfinite(numbers).all() or not 0 < length < math.inf:
        raise ValueError(f"click: a ray from {origin} along {direction} is none; give finite numbers and a direction")
    ox, oy, oz = (float(value) for value in numbers[:3])
    dx, dy, dz = (float(value) / length for value in numbers[3:])
    block_XZY = engine.state.terrain.block_EXZY[0]
    begun = 0.0
    copy = corner if max_blocks is None else None
    if max_blocks is None:
        stretch = _stretch_within((ox - corner[0], oy, oz - corner[1]), (dx, dy, dz), engine.size_blocks)
        if stretch is None:
            raise ValueError("click: nothing is there, only sky; click on a block or an animal")
        begun, max_blocks = stretch
        ox, oy, oz = ox + dx * begun, oy + dy * begun, oz + dz * begun
    outline = engine_tables().blocks.outline
    x, y, z, face, nearest = first_hit_cpu(block_XZY, outline, ox, oy, oz, dx, dy, dz, float(max_blocks))
    found: tuple[str, int, tuple[int, int, int], bool] | None = None
    if y >= 0:
        cell = int(block_XZY[x, z, y])
        found = STATES[cell & BLOCK_MASK].name, (cell >> BLOCK_BITS) - 1, (int(x), int(y), int(z)), True
    body, distance = _nearest_body(engine, (ox, oy, oz), (dx, dy, dz), copy)
    if body is not None and distance < nearest:
        nearest, face = distance, -1
        slot = -1 if body.object_index is None else body.object_index
        found = body.kind, slot, _cell_of_feet(body, engine.size_blocks), False
    if found is None:
        num_blocks = max(2, round(begun + max_blocks))
        raise ValueError(f"click: nothing is there within {num_blocks} blocks, only sky; click on a block or an animal")
    kind, slot, place, is_block = found
    distance = float(nearest)
    return Hit(
        kind=kind,
        cell=place,
        object_index=slot if slot >= 0 else None,
        is_block=is_block,
        face=int(face),
        distance_blocks=begun + distance,
        point=(ox + dx * distance, oy + dy * distance, oz + dz * distance),
        is_under_water=_enters_fluid(block_XZY, np.array((ox, oy, oz)), np.array((dx, dy, dz)) * distance),
    )


def _nearest_body(
    engine: VoxelBackend,
    origin: tuple[float, float, float],
    direction: tuple[float, float, float],
    copy: tuple[float, float] | None,
) -> tuple[Body | None, float]:
    """Return the first mob or item of env 0 on a ray, and how far it is; None and NEVER where there is none.

    They stand in the copy of the world whose lowest x and z are given, or else where they are nearest to `origin`.
    """
    size_x, _, size_z = engine.size_blocks
    first, nearest = None, NEVER
    for body in bodies_of(engine):
        feet_x, bottom, feet_z = body.feet
        if copy is not None:
            middle_x = copy[0] + (feet_x - copy[0]) % size_x
            middle_z = copy[1] + (feet_z - copy[1]) % size_z
        else:
            middle_x = origin[0] + nearest_image(feet_x - origin[0], size_x)
            middle_z = origin[2] + nearest_image(feet_z - origin[2], size_z)
        half, height = max(body.width_blocks, _LEAST_SIDE_BLOCKS) / 2, max(body.height_blocks, _LEAST_SIDE_BLOCKS)
        distance, _ = ray_box(
            *origin, *direction,
            middle_x - half, bottom, middle_z - half, middle_x + half, bottom + height, middle_z + half,
        )  # fmt: skip
        if distance < nearest:
            first, nearest = body, distance
    return first, nearest


def _cell_of_feet(body: Body, size_blocks: tuple[int, int, int]) -> tuple[int, int, int]:
    feet_x, bottom, feet_z = body.feet
    # Bodies rest a hair above or below a whole number.
    return math.floor(feet_x) % size_blocks[0], math.floor(bottom + 1e-3), math.floor(feet_z) % size_blocks[2]


def _enters_fluid(block_XZY: np.ndarray, origin_3: np.ndarray, way_3: np.ndarray) -> bool:
    """Tell whether a way that begins outside of fluids comes into one."""
    num_places = math.ceil(float(np.linalg.norm(way_3)) / _FLUID_STEP_BLOCKS) + 1
    cell_P3 = np.floor(origin_3 + np.linspace(0.0, 1.0, num_places)[:, None] * way_3).astype(np.int64)
    size_x, size_z, size_y = block_XZY.shape
    x_P, y_P, z_P = cell_P3[:, 0] % size_x, cell_P3[:, 1], cell_P3[:, 2] % size_z
    state_P = block_XZY[x_P, z_P, np.clip(y_P, 0, size_y - 1)] & BLOCK_MASK
    is_fluid_P = (engine_tables().blocks.fluid_S[state_P] != FLUID_NONE) & (y_P >= 0) & (y_P < size_y)
    return bool(is_fluid_P.any() and not is_fluid_P[0])


def _stretch_within(
    origin: tuple[float, float, float], direction: tuple[float, float, float], size: tuple[int, int, int]
) -> tuple[float, float] | None:
    """Return where a ray enters the box of one world and how long it is in there; None where it misses it."""
    enter, leave = 0.0, NEVER
    for place, step, side in zip(origin, direction, size, strict=True):
        if step == 0.0:
            leave = leave if 0 <= place <= side else -1.0
            continue
        near, far = sorted((-place / step, (side - place) / step))
        enter, leave = max(enter, near), min(leave, far)
    return (enter, leave - enter - _INSIDE_BLOCKS) if leave > enter else None


def pixel_directions(
    eye: Pose, row_X: np.ndarray, column_X: np.ndarray, *, size_px: tuple[int, int], fov_deg: float
) -> np.ndarray:
    """Return the directions of pixels' rays as the renderer has them, float64 [..., 3] of length 1.

    Args:
        eye: of the camera.
        row_X: of the pixels, 0 is the top; their middles are meant. Any shape.
        column_X: of the pixels, of the same shape.
        size_px: (height, width) of the picture.
        fov_deg: vertical field of view.
    """
    yaw, pitch = math.radians(eye.yaw_deg), math.radians(eye.pitch_deg)
    half_height = math.tan(math.radians(fov_deg) / 2)
    rise_X1 = (1.0 - (np.asarray(row_X)[..., None] + 0.5) * 2.0 / size_px[0]) * half_height
    aside_X1 = (
        ((np.asarray(column_X)[..., None] + 0.5) * 2.0 / size_px[1] - 1.0) * half_height * size_px[1] / size_px[0]
    )
    ahead_3 = np.array([-math.sin(yaw) * math.cos(pitch), -math.sin(pitch), math.cos(yaw) * math.cos(pitch)])
    right_3 = np.array([-math.cos(yaw), 0.0, -math.sin(yaw)])
    up_3 = np.array([-math.sin(yaw) * math.sin(pitch), math.cos(pitch), math.cos(yaw) * math.sin(pitch)])
    direction_X3 = ahead_3 + right_3 * aside_X1 + up_3 * rise_X1
    return np.asarray(direction_X3 / np.linalg.norm(direction_X3, axis=-1, keepdims=True))
