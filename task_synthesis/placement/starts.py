"""Where the agent of a task begins: at a distance of the band, on foot within reach of the target."""

from dataclasses import dataclass

import numpy as np

from task_synthesis.placement.layout import Layout
from task_synthesis.placement.reachability import sees_cell
from task_synthesis.placement.sites import Sites
from task_synthesis.placement.targets import FULL, surface_y, torus_delta
from task_synthesis.placement.walk_search import NO_WALK, WalkSearch
from task_synthesis.views.viewpoints import draw_start_column, draw_start_view
from worlds.spec import BLOCK_MASK
from worlds.types import Pose
from worlds.voxel.engine_tables import engine_tables
from worlds.voxel.tables import Boxes

_START_DRAWS = 12
# A walk may be this much longer than the straight line before the task counts as a maze.
_MAX_DETOUR_FACTOR, _MAX_DETOUR_BLOCKS = 2.0, 6.0
_MIN_START_TO_OBJECT_BLOCKS = 3.5


@dataclass(frozen=True, slots=True)
class Start:
    """Where an agent begins, and what is known about the way."""

    pose: Pose  # feet
    path_blocks: float
    in_sight: bool


def most_path_blocks(distance_blocks: float) -> float:
    """Return how long the walk from a start so far away may be."""
    return _MAX_DETOUR_FACTOR * distance_blocks + _MAX_DETOUR_BLOCKS


def draw_start(
    rng: np.random.Generator,
    layout: Layout,
    block_XZY: np.ndarray,
    ground_XZ: np.ndarray,
    search: WalkSearch,
    sites: Sites,
    *,
    circle_blocks: tuple[int, int],
    band_blocks: tuple[float, float],
    hidden_share: float,
    sight: Boxes,
) -> Start | str:
    """Draw a start whose walk to the target is short enough, or return why there is none.

    Args:
        rng: of the draws.
        layout: the objects.
        block_XZY: uint16 cells of the world, objects included.
        ground_XZ: y of the highest terrain block of each column.
        search: finds walks in worlds of this size.
        sites: tables of what a body can stand on.
        circle_blocks: after how many blocks along x and z one is back, see `circle_of`.
        band_blocks: least and most horizontal distance, the short way round where there is one.
        hidden_share: chance that a start without a clear line to the target is kept.
        sight: boxes that hide the target from an eye.
    """
    side = block_XZY.shape[0]
    is_circle = circle_blocks == block_XZY.shape[:2]
    blocks = engine_tables().blocks
    low, high = band_blocks
    may_hide = rng.random() < hidden_share
    reason = "start_no_ground"
    for _ in range(_START_DRAWS):
        column_x, column_z = draw_start_column(rng, layout.target_position, (low, high), side)
        yaw_deg, pitch_deg = draw_start_view(rng)
        x, z = column_x % side, column_z % side
        if (x, z) != (column_x, column_z) and not is_circle:
            continue  # beyond the edge of what was cut out
        y = surface_y(block_XZY, sites.footing_S, sites.is_fluid_S, int(ground_XZ[x, z]), x, z)
        distance = float(np.hypot(column_x - layout.target_position[0], column_z - layout.target_position[2]))
        if y < 0 or not low <= distance <= high or blocks.is_solid_S[block_XZY[x, z, y] & BLOCK_MASK]:
            continue
        delta_N3 = np.array([p.position for p in layout.placements]) - (x, y, z)
        delta_N3[:, [0, 2]] = torus_delta(delta_N3[:, [0, 2]], np.array(circle_blocks))
        if np.sqrt((delta_N3**2).sum(1)).min() < _MIN_START_TO_OBJECT_BLOCKS:
            reason = "start_at_object"
            continue
        # The torus image of the target that is nearest to the start.
        target_x, target_y, target_z = np.array(layout.target_position) + (x - column_x, 0, z - column_z)
        in_sight = bool(sees_cell(block_XZY, sight, x + 0.5, y, z + 0.5, target_x, target_y, target_z))
        if not in_sight and not may_hide:
            reason = "start_hidden"
            continue
        most_blocks = most_path_blocks(distance)
        cost = search.cost(block_XZY, layout.target_position, (x, y, z), max_cost=int(10 * most_blocks))
        if cost < 0:
            reason = "unreachable" if cost == NO_WALK else "detour"
            continue
        floor = sites.footing_S[block_XZY[x, z, y - 1] & BLOCK_MASK]
        feet_y = y - 1 + int(floor) / FULL
        return Start(Pose(x + 0.5, feet_y, z + 0.5, yaw_deg, pitch_deg), cost / 10, in_sight)
    return reason
