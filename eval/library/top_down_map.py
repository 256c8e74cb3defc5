"""A map of a task from above: the land a pixel a block, and on it start, walk, target and goal camera as SVG.

X Z columns, H W C image; north (-z) is up. Where the world is a torus, the map shows the copy nearest to the start.
"""

import functools
import math
from dataclasses import dataclass

import numpy as np

from eval.library.task_path import path_of
from task_synthesis.placement.targets import circle_of, torus_delta
from task_synthesis.task import TaskSpec
from worlds.blocks import BLOCK_ID, BLOCKS, build_block_tables
from worlds.spec import BLOCK_MASK
from worlds.textures.procedural import build_textures
from worlds.types import Pose

_MARGIN_BLOCKS = 5
_MIN_SIDE_BLOCKS = 28
_UNKNOWN_RGB = (255, 0, 255)
_RELIEF_PER_BLOCK = 0.07  # how much brighter a column is than the one west and north of it, a block lower


@dataclass(frozen=True, slots=True, eq=False)
class TaskMap:
    """A map: the land, and what is drawn over it."""

    land_HWC: np.ndarray  # uint8 [H, W, 3] RGB, a pixel a block
    svg: str
    """Elements in units of blocks, (0, 0) the map's upper left corner."""
    side_blocks: int


def task_map(task: TaskSpec, block_XZY: np.ndarray, *, walked_T2: np.ndarray | None = None) -> TaskMap:
    """Draw the map of a task; `block_XZY` is its world with its objects in it, uint16 [X, Z, Y].

    `walked_T2` are the x and z that an agent went through, as the engine gives them; None draws no such way.
    """
    circle = np.array(circle_of(task.world))
    start_2 = np.array([task.start.x, task.start.z])

    def near(x: float, z: float) -> np.ndarray:
        return start_2 + torus_delta(np.array([x, z]) - start_2, circle)

    objects_N2 = np.array([near(p.position[0] + 0.5, p.position[2] + 0.5) for p in task.placements])
    target_2 = objects_N2[task.target_index]
    # The camera stands near the target, which may be the far side of the torus from the start's nearest copy of it.
    eye_2 = target_2 + torus_delta(np.array([task.goal_view.x, task.goal_view.z]) - target_2, circle)
    path_T2 = np.array(path_of(task, block_XZY)) + 0.5
    shown_N2 = np.vstack([start_2, target_2, eye_2, path_T2])
    if walked_T2 is not None:
        # Step by step, because the engine wraps places at the border of the torus and the drawing must not.
        steps_T2 = torus_delta(np.diff(walked_T2, axis=0, prepend=walked_T2[:1]), circle)
        walked_T2 = near(*walked_T2[0]) + np.cumsum(steps_T2, axis=0)
        shown_N2 = np.vstack([shown_N2, walked_T2])
    low_2, high_2 = shown_N2.min(0), shown_N2.max(0)
    side = max(_MIN_SIDE_BLOCKS, math.ceil((high_2 - low_2).max()) + 2 * _MARGIN_BLOCKS)
    corner_2 = np.floor((low_2 + high_2) / 2 - side / 2).astype(int)

    columns_x, columns_z = ((low + np.arange(side)) % around for low, around in zip(corner_2, circle, strict=True))
    size_x, size_z = block_XZY.shape[:2]
    land_XZC = _land(block_XZY[np.ix_(columns_x % size_x, columns_z % size_z)])
    # Beyond the edge of what was cut out of a save there is nothing.
    land_XZC *= ((columns_x < size_x)[:, None] & (columns_z < size_z))[..., None]

    elements = [_line("walk", path_T2 - corner_2)]
    if walked_T2 is not None:
        elements.append(_line("walked", walked_T2 - corner_2))
    for index, (placement, place_2) in enumerate(zip(task.placements, objects_N2 - corner_2, strict=True)):
        if index != task.target_index and (place_2 >= 0).all() and (place_2 < side).all():
            is_same = placement.kind.partition("[")[0] == task.family.partition("/")[2]
            kind = "same" if is_same else "other"
            elements.append(f'<circle class="{kind}" cx="{place_2[0]:.1f}" cy="{place_2[1]:.1f}" r="0.75"/>')
    elements.append(_wedge("camera", task.goal_view, eye_2 - corner_2, length=4.0))
    elements.append(_wedge("start", task.start, start_2 - corner_2, length=3.0))
    x, z = target_2 - corner_2
    elements.append(f'<path class="target" d="M{x - 1.2:.1f} {z - 1.2:.1f}h2.4v2.4h-2.4z"/>')
    return TaskMap(np.ascontiguousarray(land_XZC.transpose(1, 0, 2)), "".join(elements), side)


def _line(name: str, place_T2: np.ndarray) -> str:
    """Return a way as SVG, points closer than half a block to the last one left out."""
    kept = [place_T2[0]]
    for place in place_T2[1:]:
        if np.hypot(*(place - kept[-1])) >= 0.5:
            kept.append(place)
    kept.append(place_T2[-1])
    points = " ".join(f"{x:.1f},{z:.1f}" for x, z in kept)
    return f'<polyline class="{name}" points="{points}"/>'


def _wedge(name: str, pose: Pose, place_2: np.ndarray, *, length: float) -> str:
    """Return a place and the 70 degrees that are seen from it."""
    x, z = place_2
    left, right = (math.radians(pose.yaw_deg + turn) for turn in (-35.0, 35.0))
    return (
        f'<path class="{name}" d="M{x:.1f} {z:.1f}l{-math.sin(left) * length:.1f} {math.cos(left) * length:.1f}'
        f'L{x - math.sin(right) * length:.1f} {z + math.cos(right) * length:.1f}z"/>'
        f'<circle class="{name}" cx="{x:.1f}" cy="{z:.1f}" r="0.8"/>'
    )


def _land(block_XZY: np.ndarray) -> np.ndarray:
    """Return uint8 [X, Z, 3]: the colour of the highest block of each column, lit from the north-west."""
    state_XZY = block_XZY & BLOCK_MASK
    top_XZ = state_XZY.shape[2] - 1 - (state_XZY[:, :, ::-1] != 0).argmax(axis=2)
    state_XZ = np.take_along_axis(state_XZY, top_XZ[..., None], axis=2)[..., 0]
    color_XZC = _colors()[build_block_tables().kind_S[state_XZ]]
    rise_XZ = top_XZ.astype(np.float64)
    slope_XZ = np.zeros_like(rise_XZ)
    slope_XZ[1:, 1:] = rise_XZ[1:, 1:] - (rise_XZ[:-1, 1:] + rise_XZ[1:, :-1]) / 2
    light_XZ1 = np.clip(1.0 + _RELIEF_PER_BLOCK * slope_XZ, 0.6, 1.4)[..., None]
    return np.clip(color_XZC * light_XZ1, 0, 255).astype(np.uint8)


@functools.cache
def _colors() -> np.ndarray:
    """Return float64 [K, 3]: the mean colour of each kind of block from above. Read-only."""
    textures = build_textures()
    color_KC = np.full((len(BLOCKS), 3), _UNKNOWN_RGB, np.float64)
    for index, kind in enumerate(BLOCKS):
        name = next((name for name in (kind.textures[1], kind.textures[0], kind.second) if name in textures), None)
        if name is not None:
            image_NC = textures[name].reshape(-1, 4).astype(np.float64)
            seen_N = image_NC[:, 3] > 0
            color_KC[index] = image_NC[seen_N, :3].mean(0) if seen_N.any() else 0.0
    color_KC[BLOCK_ID["air"]] = 0.0
    return color_KC
