"""How hard a task is that somebody else laid out, and whether it can be done at all: measured in its world."""

import math
from collections.abc import Callable

import numpy as np

from task_synthesis.placement.aim import aimed_at, wrapped_deg
from task_synthesis.placement.reachability import UNREACHED, sees_cell, walk_costs_of_envs
from task_synthesis.placement.targets import FULL, OPEN, circle_of, footing_table, is_standable, surface_y, torus_delta
from task_synthesis.skills import base_kind, type_of
from task_synthesis.task import BANDS, Difficulty
from task_synthesis.views.view_overlap import share_seen, surface_points
from worlds.blocks import AIR, fluid_table
from worlds.spec import BLOCK_MASK, Episode, Placement, WorldSpec
from worlds.types import EYE_HEIGHT_BLOCKS, Pose
from worlds.voxel.backend import VoxelBackend
from worlds.voxel.engine_tables import engine_tables

_MAX_PATH_COST = 6000  # tenths of a block; no time limit allows a longer walk


class Survey:
    """Looks at one world after the other in env 0 of a backend that draws depth."""

    def __init__(self, backend: VoxelBackend) -> None:
        """Measure on `backend`; whatever env 0 plays is replaced."""
        self._backend = backend
        self._blocks = engine_tables().blocks
        self._footing_S, self._is_fluid_S = footing_table(), fluid_table()
        self._cost_EXZY = np.empty(backend.state.terrain.block_EXZY.shape, np.uint16)

    def enter(self, world: WorldSpec) -> None:
        """Make the bare world."""
        self._backend.reset([0], [Episode(world=world, start=Pose(0.5, world.size_blocks[1] - 3.0, 0.5, 0.0, 0.0))])

    def ground_y(self, x: float, z: float) -> float | None:
        """Return the height of the feet of a body that stands on the terrain of a column, None where none can."""
        size_x, _, size_z = self._backend.size_blocks
        column = math.floor(x) % size_x, math.floor(z) % size_z
        ground_y = int(self._backend.ground_EXZ[0][column])
        y = surface_y(self._block_XZY, self._footing_S, self._is_fluid_S, ground_y, *column)
        return self._feet_y(column[0], y, column[1]) if y >= 0 else None

    def cell_of(self, place: Pose) -> tuple[int, int, int]:
        """Return the cell x, y, z, on the torus; feet on a slab belong to the cell above it."""
        size_x, _, size_z = self._backend.size_blocks
        x, z = math.floor(place.x) % size_x, math.floor(place.z) % size_z
        y = math.floor(place.y)
        if place.y != y and 0 <= y < self._backend.size_blocks[1]:
            floor = int(self._footing_S[int(self._block_XZY[x, z, y]) & BLOCK_MASK])
            y += math.isclose(place.y - y, floor / FULL)
        return x, y, z

    def start_fault(self, start: Pose) -> str:
        """Return why a body cannot stand at `start` among the objects, "" where it can."""
        x, y, z = self.cell_of(start)
        if is_standable(self._block_XZY, self._footing_S, self._is_fluid_S, x, y, z):
            return ""
        ground_y = self.ground_y(start.x, start.z)
        where = f"there the ground is at {ground_y:g}" if ground_y is not None else "nobody can stand in that column"
        return f"a body cannot stand at {start.x:g}, {start.y:g}, {start.z:g}: {where}; choose another place"

    def object_fault(self, placement: Placement) -> str:
        """Return why an object cannot stay where it is put into the bare world, "" where it can.

        Blocks replace what is there and stay. Mobs and items would fall, or be squeezed out of a block.
        """
        what = type_of(placement.kind)
        if what == "block":
            return ""
        x, y, z = placement.position
        cell, below = (int(self._block_XZY[x, z, at]) & BLOCK_MASK for at in (y, y - 1))
        if self._footing_S[cell] != OPEN:
            return f'y {y} is inside a block, no place for the {what}; write "ground" for y'
        if self._footing_S[below] == OPEN and not self._is_fluid_S[cell]:
            return f'y {y} is in the air and the {what} would fall; write "ground" for y'
        return ""

    def measure(
        self, episode: Episode, goal_view: Pose, *, on_unreachable: Callable[[str], None] | None = None
    ) -> Difficulty:
        """Put the objects into the world and return how hard the task is.

        A target that no walk leads to is refused, or told to `on_unreachable`: somebody may want the way to be dug or
        built. Then `path_blocks` is the straight line.

        Raises:
            ValueError: a body cannot stand at the start, the goal camera does not see the target, or no walk leads from
                the start to where the target is in reach. The message begins with the name of the field to mend.
        """
        assert episode.target_index >= 0
        self._backend.reset([0], [episode])
        start, target = episode.start, episode.placements[episode.target_index]
        self._check_poses(start, goal_view)
        delta_3 = self._delta(episode.world, start, target.position)
        distance = math.hypot(delta_3[0], delta_3[2])
        eye = start._replace(y=start.y + EYE_HEIGHT_BLOCKS)
        circle_blocks = circle_of(episode.world)
        turned = aimed_at(eye, target.position, circle_blocks)
        views = self._backend.render_views([0, 0, 0], np.array([goal_view, eye, turned]))
        if views.depth_VHW is None:
            raise ValueError("survey: the backend draws no depth; make it with_depth=True")
        goal_area = float(views.target_V7[0, 0])
        if goal_area == 0:
            raise ValueError("goal_view: the target is not in the picture; move the camera or turn it")
        fov_deg = episode.look.fov_deg
        surface_P3 = surface_points(
            views.depth_VHW[0], goal_view, fov_deg=fov_deg, range_blocks=self._backend.view_range_blocks
        )
        overlap = share_seen(surface_P3, views.depth_VHW[2], turned, fov_deg=fov_deg, sides_blocks=circle_blocks)
        path_blocks = self._path_blocks(start, target.position)
        if path_blocks is None:
            what = "start: no walk leads from there to where the target is in reach"
            if on_unreachable is None:
                raise ValueError(f"{what}; choose another place")
            on_unreachable(what)
            path_blocks = round(math.hypot(*delta_3), 1)
        kinds = [base_kind(placement.kind) for placement in episode.placements]
        num_same = kinds.count(base_kind(target.kind)) - 1
        return Difficulty(
            distance_blocks=round(distance, 3),
            path_blocks=path_blocks,
            target_yaw_deg=round(wrapped_deg(turned.yaw_deg - start.yaw_deg), 2),
            height_blocks=round(delta_3[1], 4),
            in_sight=self._is_in_sight(start, target.position, delta_3),
            visible_at_start=bool(views.target_V7[1, 0] > 0),
            goal_area=round(goal_area, 5),
            view_overlap=round(overlap, 4),
            num_same_kind=num_same,
            num_other_kind=len(kinds) - 1 - num_same,
        )

    def _check_poses(self, start: Pose, goal_view: Pose) -> None:
        """Raise ValueError where a body cannot stand at the start, or the goal camera is inside a block."""
        fault = self.start_fault(start)
        if fault:
            raise ValueError(f"start: {fault}")
        camera_x, camera_y, camera_z = self.cell_of(goal_view)
        is_inside = 0 <= camera_y < self._backend.size_blocks[1]
        if is_inside and int(self._block_XZY[camera_x, camera_z, camera_y]) & BLOCK_MASK != AIR:
            raise ValueError("goal_view: the camera is inside a block; move it into the open")

    @property
    def _block_XZY(self) -> np.ndarray:
        block_XZY: np.ndarray = self._backend.state.terrain.block_EXZY[0]
        return block_XZY

    def _feet_y(self, x: int, y: int, z: int) -> float:
        floor = int(self._footing_S[int(self._block_XZY[x, z, y - 1]) & BLOCK_MASK])
        return y - 1 + floor / FULL

    def _delta(self, world: WorldSpec, start: Pose, target: tuple[int, int, int]) -> tuple[float, float, float]:
        """Return x, y, z from the feet to the middle of the target's floor, the short way round where there is one."""
        circle_x, circle_z = circle_of(world)
        dx, dz = torus_delta(target[0] + 0.5 - start.x, circle_x), torus_delta(target[2] + 0.5 - start.z, circle_z)
        return float(dx), target[1] - start.y, float(dz)

    def _is_in_sight(self, start: Pose, target: tuple[int, int, int], delta_3: tuple[float, float, float]) -> bool:
        near_x = round(start.x + delta_3[0] - 0.5)
        near_z = round(start.z + delta_3[2] - 0.5)
        collision = self._blocks.collision
        return bool(sees_cell(self._block_XZY, collision, start.x, start.y, start.z, near_x, target[1], near_z))

    def _path_blocks(self, start: Pose, target: tuple[int, int, int]) -> float | None:
        walk_costs_of_envs(
            self._backend.state.terrain.block_EXZY,
            self._blocks.outline,
            self._footing_S,
            self._is_fluid_S,
            np.array([0]),
            np.array([target], np.int64),
            _MAX_PATH_COST,
            self._cost_EXZY,
        )
        x, y, z = self.cell_of(start)
        cost = int(self._cost_EXZY[0, x, z, y])
        return None if cost == int(UNREACHED) else cost / 10


def band_of(distance_blocks: float) -> str:
    """Return the band a distance belongs to; what is nearer or farther than all bands goes to the first or last."""
    for name, (_, most) in BANDS.items():
        if distance_blocks <= most:
            return name
    return list(BANDS)[-1]
