"""Tasks from world seeds: draw a scene, a goal camera and a start, keep what can be seen and reached.

E candidate scenes are worked on together, so that worlds, paths and pictures are made on all cores. Every draw comes
from (seed, world seed, attempt), so a task does not depend on which others were made beside it.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from task_synthesis.layout import Layout, draw_layout
from task_synthesis.reachability import UNREACHED, sees_cell, walk_costs_of_envs
from task_synthesis.synthesis_config import SynthesisConfig
from task_synthesis.targets import surface_y, tool_for, torus_delta
from task_synthesis.task import BANDS, Difficulty, TaskSpec
from task_synthesis.viewpoints import draw_goal_view, draw_start_column, draw_start_view
from worlds.blocks import BLOCK_ID, break_damage_per_tick, fluid_table, solid_table
from worlds.spec import BLOCK_MASK, MAX_SEED, SPLITS, Episode, Split, WorldSpec, split_of
from worlds.types import EYE_HEIGHT_BLOCKS, Pose
from worlds.voxel.backend import VoxelBackend
from worlds.voxel.engine_tables import engine_tables
from worlds.voxel.world_cache import WorldCache

_CAMERA_DRAWS = 6
_START_DRAWS = 12
_ATTEMPTS_PER_TASK = 6
# A walk may be this much longer than the straight line before the task counts as a maze.
_MAX_DETOUR_FACTOR, _MAX_DETOUR_BLOCKS = 2.0, 6.0
_MIN_START_TO_OBJECT_BLOCKS = 3.5


def world_seeds(split: Split, seed: int) -> Iterator[int]:
    """Yield distinct world seeds of one split, in an order that depends on `seed` only."""
    if split not in SPLITS:
        raise ValueError(f"split {split!r} is unknown; choose one of {', '.join(SPLITS)}")
    rng = np.random.default_rng([seed, SPLITS.index(split)])
    seen = set()
    while True:
        candidate = int(rng.integers(0, MAX_SEED + 1))
        if candidate not in seen and split_of("generated", candidate) == split:
            seen.add(candidate)
            yield candidate


@dataclass(slots=True)
class _Scene:
    """One world being turned into tasks, in one slot of the batch."""

    world: WorldSpec
    attempt: int = 0
    num_accepted: int = 0


@dataclass(slots=True)
class _Candidate:
    """One attempt: what has been drawn so far."""

    rng: np.random.Generator
    skill: str
    band: str
    layout: Layout
    start: Pose | None = None
    path_blocks: float = 0.0
    in_sight: bool = False
    goal_view: Pose | None = None
    goal_area: float = 0.0


class Synthesizer:
    """Makes tasks of one split; `rejections` counts why attempts failed."""

    def __init__(
        self, config: SynthesisConfig, *, split: Split, seed: int, num_parallel: int = 64, num_threads: int = 2
    ) -> None:
        """Work on `num_parallel` worlds at a time; it is part of what decides the order of the tasks."""
        self.config = config
        self.rejections: Counter[str] = Counter()
        self._seed = seed
        self._seeds = world_seeds(split, seed)
        side = config.side_blocks
        self._worlds = WorldCache(num_threads=num_threads)
        self._backend = VoxelBackend(
            num_parallel,
            size_blocks=(side, 64, side),
            image_px=(config.image_px, config.image_px),
            world_cache=self._worlds,
        )
        self._cost_EXZY = np.empty(self._backend.state.terrain.block_EXZY.shape, np.uint16)
        self._is_solid_K, self._is_fluid_K = solid_table(), fluid_table()
        self._outline = engine_tables().blocks.outline

    def run(self, num_tasks: int, *, on_progress: Callable[[int], None] | None = None) -> list[TaskSpec]:
        """Return `num_tasks` tasks; `on_progress` hears how many there are so far."""
        if num_tasks < 1:
            raise ValueError(f"the number of tasks must be at least 1, got {num_tasks}")
        scenes = [_Scene(self._next_world()) for _ in range(self._backend.num_envs)]
        tasks: list[TaskSpec] = []
        while len(tasks) < num_tasks:
            for slot, task in self._round(scenes):
                tasks.append(task)
                scenes[slot].num_accepted += 1
            for slot, scene in enumerate(scenes):
                is_used_up = scene.attempt >= _ATTEMPTS_PER_TASK * self.config.tasks_per_world
                if scene.num_accepted >= self.config.tasks_per_world or is_used_up:
                    scenes[slot] = _Scene(self._next_world())
            if on_progress:
                on_progress(min(len(tasks), num_tasks))
        return tasks[:num_tasks]

    def _next_world(self) -> WorldSpec:
        seed = next(self._seeds)
        biome = self.config.biomes[np.random.default_rng([self._seed, seed]).integers(len(self.config.biomes))]
        side = self.config.side_blocks
        return WorldSpec(seed=seed, biome=biome, size_blocks=(side, 64, side), detail=self.config.detail)

    def _round(self, scenes: list[_Scene]) -> list[tuple[int, TaskSpec]]:
        """Try one candidate in every scene; return the accepted ones with their slots."""
        candidates = self._draw_layouts(scenes)
        if not candidates:
            return []
        slots = sorted(candidates)
        self._backend.reset(slots, [self._episode(scenes[slot].world, candidates[slot]) for slot in slots])
        targets_N3 = np.array([candidates[slot].layout.target_position for slot in slots], np.int64)
        walk_costs_of_envs(
            self._backend.state.terrain.block_EXZY,
            self._outline,
            self._is_solid_K,
            self._is_fluid_K,
            np.array(slots),
            targets_N3,
            600,
            self._cost_EXZY,
        )
        for slot in slots:
            if not self._draw_start(slot, candidates[slot]):
                del candidates[slot]
        self._draw_goal_views(candidates)
        return self._finish(scenes, candidates)

    def _draw_layouts(self, scenes: list[_Scene]) -> dict[int, _Candidate]:
        config = self.config
        prepared = self._worlds.get([scene.world for scene in scenes])
        candidates = {}
        for slot, (scene, world) in enumerate(zip(scenes, prepared, strict=True)):
            rng = np.random.default_rng([self._seed, scene.world.seed, scene.attempt])
            scene.attempt += 1
            skill = _draw_weighted(rng, config.skills)
            band = _draw_weighted(rng, config.bands)
            layout = draw_layout(
                rng,
                world.world,
                self._is_solid_K,
                self._is_fluid_K,
                num_same=config.num_same_kind,
                num_other=config.num_other_kind,
            )
            if isinstance(layout, str):
                self.rejections[layout] += 1
            else:
                candidates[slot] = _Candidate(rng=rng, skill=skill, band=band, layout=layout)
        return candidates

    def _episode(self, world: WorldSpec, candidate: _Candidate) -> Episode:
        x, y, z = candidate.layout.target_position
        start = candidate.start or Pose(x + 0.5, y + 1.0, z + 0.5, 0.0, 0.0)
        return Episode(
            world=world,
            placements=candidate.layout.placements,
            start=start,
            target_index=candidate.layout.target_index,
        )

    def _draw_start(self, slot: int, candidate: _Candidate) -> bool:
        """Draw a start whose walk to the target is short enough; tell whether there is one."""
        rng, layout = candidate.rng, candidate.layout
        block_XZY = self._backend.state.terrain.block_EXZY[slot]
        ground_XZ = self._backend.ground_EXZ[slot]
        side = self.config.side_blocks
        low, high = BANDS[candidate.band]
        may_hide = rng.random() < self.config.hidden_share
        reason = "start_no_ground"
        for _ in range(_START_DRAWS):
            column_x, column_z = draw_start_column(rng, layout.target_position, (low, high))
            yaw_deg, pitch_deg = draw_start_view(rng)
            x, z = column_x % side, column_z % side
            y = surface_y(block_XZY, self._is_solid_K, self._is_fluid_K, int(ground_XZ[x, z]), x, z)
            distance = float(np.hypot(column_x - layout.target_position[0], column_z - layout.target_position[2]))
            if y < 0 or not low <= distance <= high:
                continue
            delta_N3 = np.array([p.position for p in layout.placements]) - (x, y, z)
            delta_N3[:, [0, 2]] = torus_delta(delta_N3[:, [0, 2]], side)
            if np.sqrt((delta_N3**2).sum(1)).min() < _MIN_START_TO_OBJECT_BLOCKS:
                reason = "start_at_object"
                continue
            cost = int(self._cost_EXZY[slot, x, z, y])
            if cost == UNREACHED:
                reason = "unreachable"
                continue
            if cost / 10 > _MAX_DETOUR_FACTOR * distance + _MAX_DETOUR_BLOCKS:
                reason = "detour"
                continue
            # The torus image of the target that is nearest to the start.
            target_x, target_y, target_z = np.array(layout.target_position) + (x - column_x, 0, z - column_z)
            in_sight = bool(sees_cell(block_XZY, self._outline, x + 0.5, y, z + 0.5, target_x, target_y, target_z))
            if not in_sight and not may_hide:
                reason = "start_hidden"
                continue
            candidate.in_sight = in_sight
            candidate.start = Pose(x + 0.5, float(y), z + 0.5, yaw_deg, pitch_deg)
            candidate.path_blocks = cost / 10
            return True
        self.rejections[reason] += 1
        return False

    def _draw_goal_views(self, candidates: dict[int, _Candidate]) -> None:
        """Draw goal cameras until the target's mask is right; candidates that never get one are removed."""
        reasons = dict.fromkeys(candidates, "camera_in_block")
        pending = sorted(candidates)
        for _ in range(_CAMERA_DRAWS):
            drawn = {
                slot: draw_goal_view(candidates[slot].rng, candidates[slot].layout.target_position) for slot in pending
            }
            free = [slot for slot in pending if self._is_air(slot, drawn[slot])]
            if free:
                labels_V7 = self._backend.render_views(free, np.array([drawn[slot] for slot in free])).target_V7
                for slot, label_7 in zip(free, labels_V7, strict=True):
                    reason = self._mask_fault(label_7)
                    if reason:
                        reasons[slot] = reason
                    else:
                        candidates[slot].goal_view = drawn[slot]
                        candidates[slot].goal_area = round(float(label_7[0]), 5)
                        pending.remove(slot)
        for slot in pending:
            self.rejections[reasons[slot]] += 1
            del candidates[slot]

    def _is_air(self, slot: int, eye: Pose) -> bool:
        side = self.config.side_blocks
        x, y, z = int(np.floor(eye.x)) % side, int(np.floor(eye.y)), int(np.floor(eye.z)) % side
        return y < 63 and int(self._backend.state.terrain.block_EXZY[slot, x, z, y]) & BLOCK_MASK == 0

    def _mask_fault(self, label_7: np.ndarray) -> str:
        area, _, _, left, top, right, bottom = label_7
        if area == 0:
            return "target_hidden"
        if area < self.config.goal_area[0]:
            return "mask_too_small"
        if area > self.config.goal_area[1]:
            return "mask_too_large"
        return "mask_cut" if min(left, top) <= 0 or max(right, bottom) >= 1 else ""

    def _finish(self, scenes: list[_Scene], candidates: dict[int, _Candidate]) -> list[tuple[int, TaskSpec]]:
        """Measure what is left to measure and write the specs."""
        slots = sorted(candidates)
        if not slots:
            return []
        eye_V5 = np.array([candidates[slot].start for slot in slots], np.float64)
        eye_V5[:, 1] += EYE_HEIGHT_BLOCKS
        area_V = self._backend.render_views(slots, eye_V5).target_V7[:, 0]
        return [
            (slot, _task(scenes[slot].world, candidates[slot], visible_at_start=bool(area > 0)))
            for slot, area in zip(slots, area_V, strict=True)
        ]


def _draw_weighted(rng: np.random.Generator, weights: dict[str, float]) -> str:
    names = sorted(weights)
    weight_N = np.array([weights[name] for name in names])
    return names[rng.choice(len(names), p=weight_N / weight_N.sum())]


def _max_ticks(candidate: _Candidate, tool: str) -> int:
    """Return the time limit: looking around and walking there several times over, and twice the mining."""
    ticks = 200 if candidate.band == "near" else 320
    if candidate.skill == "break":
        damage = break_damage_per_tick(tool)[BLOCK_ID[candidate.layout.kind]]
        ticks += 30 + 2 * int(np.ceil(1.0 / damage))
    return ticks


def _task(world: WorldSpec, candidate: _Candidate, *, visible_at_start: bool) -> TaskSpec:
    layout, start, goal_view = candidate.layout, candidate.start, candidate.goal_view
    assert start is not None
    assert goal_view is not None
    side = world.size_blocks[0]
    target = layout.target_position
    dx = float(torus_delta(target[0] + 0.5 - start.x, side))
    dz = float(torus_delta(target[2] + 0.5 - start.z, side))
    yaw_deg = float(np.degrees(np.arctan2(-dx, dz))) - start.yaw_deg
    tool = tool_for(layout.kind) if candidate.skill == "break" else ""
    num_same = sum(placement.kind == layout.kind for placement in layout.placements) - 1
    return TaskSpec(
        family=f"{candidate.skill}/{layout.kind}",
        band=candidate.band,
        world=world,
        placements=layout.placements,
        target_index=layout.target_index,
        start=start,
        goal_view=goal_view,
        inventory=((tool, 1),) if tool else (),
        max_ticks=_max_ticks(candidate, tool),
        difficulty=Difficulty(
            distance_blocks=round(float(np.hypot(dx, dz)), 3),
            path_blocks=candidate.path_blocks,
            target_yaw_deg=round((yaw_deg + 180.0) % 360.0 - 180.0, 2),
            height_blocks=target[1] - start.y,
            in_sight=candidate.in_sight,
            visible_at_start=visible_at_start,
            goal_area=candidate.goal_area,
            num_same_kind=num_same,
            num_other_kind=len(layout.placements) - 1 - num_same,
        ),
    )
