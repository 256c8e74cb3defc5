"""Tasks in engines that have things instead of blocks: "reach the marked object", drawn like those in our own worlds.

Things are placed on the floor of a scanned box, the target among others of its kind and of other kinds; the goal camera
and the first view are looked at in the engine itself. V views.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from task_synthesis.prerequisites import max_ticks
from task_synthesis.skills import SKILLS
from task_synthesis.starts import draw_start_view, most_path_blocks
from task_synthesis.synthesis_config import SynthesisConfig
from task_synthesis.task import BANDS, Difficulty, TaskSpec
from task_synthesis.walkable_floor import WalkableFloor
from worlds.adapters.engine import Scan
from worlds.adapters.thing_worlds import ThingWorlds
from worlds.backend import EnvBackend
from worlds.spec import Episode, Placement, Split, WorldSpec, split_of
from worlds.types import EYE_HEIGHT_BLOCKS, Pose

_SKILL = "approach"
_TASKS_PER_WORLD = 4
_ATTEMPTS_PER_WORLD = 24
_LAYOUT_DRAWS, _START_DRAWS, _CAMERA_DRAWS = 20, 40, 8
_OTHERS_WITHIN_BLOCKS = (2.0, 9.0)  # of the target, so that both are in question; no two nearer than the first
_MIN_START_TO_OBJECT_BLOCKS = 4.0  # as in our own worlds
_CAMERA_BLOCKS = (2.5, 6.0)  # from the target, along the floor
_CAMERA_HEIGHT_BLOCKS = (1.2, 2.6)  # above the floor
_CAMERA_OFF_DEG = 9.0  # how far the target may be from the middle of the goal view
# A multiple of this is exact in every engine's angles; Doom has 65536 to the circle.
_ANGLE_STEP_DEG = 360.0 / 256.0

OnProgress = Callable[[int], None]
Scanner = Callable[[WorldSpec], Scan]


class _Draft(NamedTuple):
    """A task but for its goal view."""

    world: WorldSpec
    placements: tuple[Placement, ...]
    start: Pose
    band: str
    path_blocks: float


class ThingTaskMaker:
    """Makes tasks in the worlds of one engine, of one split."""

    def __init__(
        self,
        backend: EnvBackend,
        scanner: Scanner,
        worlds: Sequence[ThingWorlds],
        *,
        split: Split,
        seed: int,
        bands: Mapping[str, float],
        config: SynthesisConfig | None = None,
    ) -> None:
        """Look at tasks in env 0 of `backend`.

        `config` bounds the numbers of things and the target's share of the goal view. ValueError: these worlds have no
        seed in the split, or a band is unknown.
        """
        for band in bands:
            if band not in BANDS:
                raise ValueError(f"thing tasks: there is no band {band!r}; choose one of {sorted(BANDS)}")
        self._backend, self._scanner = backend, scanner
        self._worlds = [each for each in worlds if _has_seed(each, split)]
        if not self._worlds:
            raise ValueError(f"thing tasks: no world of {worlds[0].source} is in split {split!r}; choose another split")
        self._split = split
        self._bands = dict(bands)
        self._config = config or SynthesisConfig()
        self._rng = np.random.default_rng([seed, 0x7416])
        self.rejections: Counter[str] = Counter()

    def run(self, num_tasks: int, *, on_progress: OnProgress = lambda num_done: None) -> list[TaskSpec]:
        """Return so many tasks, a few to a world. ValueError: these worlds have no room for such tasks."""
        tasks: list[TaskSpec] = []
        num_fruitless = 0
        while len(tasks) < num_tasks:
            num_before = len(tasks)
            world = self._draw_world()
            floor = WalkableFloor(self._scanner(world[1]))
            for _ in range(_ATTEMPTS_PER_WORLD):
                task = self._attempt(*world, floor)
                if task is not None:
                    tasks.append(task)
                    on_progress(len(tasks))
                if len(tasks) - num_before >= _TASKS_PER_WORLD or len(tasks) >= num_tasks:
                    break
            num_fruitless = 0 if len(tasks) > num_before else num_fruitless + 1
            if num_fruitless >= 20:
                raise ValueError(
                    f"thing tasks: 20 worlds in a row gave none; rejected were {dict(self.rejections.most_common(4))}; "
                    "choose nearer bands"
                )
        return tasks

    def _draw_world(self) -> tuple[ThingWorlds, WorldSpec]:
        weight_N = np.array([each.weight for each in self._worlds])
        chosen = self._worlds[int(self._rng.choice(len(weight_N), p=weight_N / weight_N.sum()))]
        while True:
            seed = int(self._rng.integers(chosen.num_seeds))
            if split_of(chosen.source, seed) == self._split:
                return chosen, chosen.spec(seed)

    def _attempt(self, worlds: ThingWorlds, world: WorldSpec, floor: WalkableFloor) -> TaskSpec | None:
        draft = self._draft(worlds, world, floor)
        if isinstance(draft, str):
            self.rejections[draft] += 1
            return None
        episode_seed = int(self._rng.integers(2**31))
        self._backend.reset(
            [0],
            [Episode(world=world, placements=draft.placements, start=draft.start, target_index=0, seed=episode_seed)],
        )
        tick = self._backend.observe_only([0])
        if tick.is_fault_E[0]:
            self.rejections["engine_fault"] += 1
            return None
        if np.abs(tick.pose_E5[0, :3] - draft.start[:3]).max() > 0.5:
            self.rejections["start_not_taken"] += 1
            return None
        is_visible = bool(tick.target_E7[0, 0] > 0)
        start = draft.start._replace(y=float(tick.pose_E5[0, 1]))  # floors need not be at whole blocks
        found = self._goal_view(floor, draft.placements[0].position)
        if isinstance(found, str):
            self.rejections[found] += 1
            return None
        goal_view, goal_area = found
        return self._task(draft._replace(start=start), goal_view, goal_area, episode_seed, is_visible=is_visible)

    def _draft(self, worlds: ThingWorlds, world: WorldSpec, floor: WalkableFloor) -> _Draft | str:
        """Draw things and a start; return why there is none."""
        rng = self._rng
        open_N2 = floor.open_cells()
        if not len(open_N2):
            return "no_open_floor"
        cells = self._draw_cells(floor, open_N2)
        if cells is None:
            return "no_room_for_others"
        band = str(rng.choice(list(self._bands), p=np.array(list(self._bands.values())) / sum(self._bands.values())))
        kinds = rng.permutation(list(worlds.kinds)).tolist()
        num_same = int(rng.integers(self._config.num_same_kind[0], self._config.num_same_kind[1] + 1))
        names = [kinds[0]] * (1 + num_same) + kinds[1:]
        placements = tuple(
            Placement(kind=name, position=(int(x), int(floor.floor_XZ[x, z]), int(z)))
            for name, (x, z) in zip(names, cells, strict=False)
        )
        start = self._draw_start(floor, placements, band)
        if isinstance(start, str):
            return start
        pose, path_blocks = start
        return _Draft(world, placements, pose, band, path_blocks)

    def _draw_cells(self, floor: WalkableFloor, open_N2: np.ndarray) -> list[tuple[int, int]] | None:
        """Return columns for the target, first, and the others on its floor and in walking distance; None: no room."""
        rng, low, high = self._rng, *_OTHERS_WITHIN_BLOCKS
        config = self._config
        num_others = int(rng.integers(config.num_other_kind[0], config.num_other_kind[1] + 1)) + config.num_same_kind[1]
        target = tuple(int(part) for part in open_N2[rng.integers(len(open_N2))])
        walk_XZ = floor.walks(*target, most_blocks=2 * high, blocked=set())
        off_N = np.hypot(*(open_N2 - target).T)
        is_near_N = (off_N >= low) & (off_N <= high) & np.isfinite(walk_XZ[open_N2[:, 0], open_N2[:, 1]])
        near_N2 = open_N2[is_near_N]
        cells = [target]
        for _ in range(_LAYOUT_DRAWS):
            if len(cells) > num_others or not len(near_N2):
                break
            cell = near_N2[rng.integers(len(near_N2))]
            if np.hypot(*(np.array(cells) - cell).T).min() >= low:
                cells.append((int(cell[0]), int(cell[1])))
        return cells if len(cells) > max(num_others - 1, 1) else None

    def _draw_start(self, floor: WalkableFloor, placements: Sequence[Placement], band: str) -> tuple[Pose, float] | str:
        """Return a start from which turning round shows the target, and its walk; or why there is none."""
        low, high = BANDS[band]
        x, y, z = placements[0].position
        blocked = {(placement.position[0], placement.position[2]) for placement in placements[1:]}
        walk_XZ = floor.walks(x, z, most_blocks=most_path_blocks(high), blocked=blocked)
        reached_N2 = np.argwhere(np.isfinite(walk_XZ))
        off_N = np.hypot(*(reached_N2 - (x, z)).T)
        reached_N2 = reached_N2[(off_N >= low) & (off_N <= high)]
        if not len(reached_N2):
            return "no_start_in_band"
        place_N3 = np.array([placement.position for placement in placements])
        reason = "start_hidden"
        for _ in range(_START_DRAWS):
            at_x, at_z = (int(part) for part in reached_N2[self._rng.integers(len(reached_N2))])
            at_y = int(floor.floor_XZ[at_x, at_z])
            if np.linalg.norm(place_N3 - (at_x, at_y, at_z), axis=1).min() < _MIN_START_TO_OBJECT_BLOCKS:
                reason = "start_at_object"
                continue
            eye_3 = np.array([at_x + 0.5, at_y + EYE_HEIGHT_BLOCKS, at_z + 0.5])
            path_blocks = float(walk_XZ[at_x, at_z])
            if path_blocks > most_path_blocks(float(np.hypot(at_x - x, at_z - z))):
                reason = "detour"
            elif floor.is_seen(eye_3, np.array([x + 0.5, y + 0.5, z + 0.5])):
                yaw_deg, pitch_deg = (round(a / _ANGLE_STEP_DEG) * _ANGLE_STEP_DEG for a in draw_start_view(self._rng))
                return Pose(at_x + 0.5, float(at_y), at_z + 0.5, yaw_deg, pitch_deg), path_blocks
        return reason

    def _goal_view(self, floor: WalkableFloor, target: tuple[int, int, int]) -> tuple[Pose, float] | str:
        """Return an eye that shows enough of the target, whole, and its share of the view; or why there is none."""
        rng, reason = self._rng, "camera_in_block"
        center_3 = np.add(target, 0.5)
        for _ in range(_CAMERA_DRAWS):
            away, turn = rng.uniform(*_CAMERA_BLOCKS), rng.uniform(0.0, 2 * np.pi)
            eye_3 = np.array([center_3[0] + away * np.cos(turn), 0.0, center_3[2] + away * np.sin(turn)])
            eye_3[1] = target[1] + rng.uniform(*_CAMERA_HEIGHT_BLOCKS)
            if not floor.is_air(*eye_3) or not floor.is_seen(eye_3, center_3):
                continue
            to_3 = center_3 - eye_3
            yaw_deg = float(np.degrees(np.arctan2(-to_3[0], to_3[2]))) + rng.uniform(-1, 1) * _CAMERA_OFF_DEG
            pitch_deg = float(np.degrees(np.arctan2(-to_3[1], np.hypot(to_3[0], to_3[2]))))
            pitch_deg += rng.uniform(-1, 1) * _CAMERA_OFF_DEG
            eye = Pose(*(round(float(part), 3) for part in (*eye_3, yaw_deg, pitch_deg)))
            area, _, _, left, top, right, bottom = (
                self._backend.render_views([0], np.array([eye])).target_V7[0].tolist()
            )
            if area < self._config.goal_area[0]:
                reason = "mask_too_small"
            elif area > self._config.goal_area[1]:
                reason = "mask_too_large"
            elif min(left, top) <= 0 or max(right, bottom) >= 1:
                reason = "mask_cut"
            else:
                return eye, round(area, 5)
        return reason

    def _task(
        self, draft: _Draft, goal_view: Pose, goal_area: float, episode_seed: int, *, is_visible: bool
    ) -> TaskSpec:
        target, start = draft.placements[0], draft.start
        to_x, to_z = target.position[0] + 0.5 - start.x, target.position[2] + 0.5 - start.z
        turn_deg = np.degrees(np.arctan2(-to_x, to_z)) - start.yaw_deg
        num_same = sum(placement.kind == target.kind for placement in draft.placements) - 1
        return TaskSpec(
            family=f"{_SKILL}/{target.kind}",
            band=draft.band,
            world=draft.world,
            placements=draft.placements,
            target_index=0,
            start=start,
            goal_view=goal_view,
            inventory=(),
            max_ticks=max_ticks(SKILLS[_SKILL], target.kind, draft.band),
            episode_seed=episode_seed,
            difficulty=Difficulty(
                distance_blocks=round(float(np.hypot(to_x, to_z)), 3),
                path_blocks=round(draft.path_blocks, 3),
                target_yaw_deg=round(float((turn_deg + 180.0) % 360.0 - 180.0), 3),
                height_blocks=round(target.position[1] - start.y, 3),
                in_sight=True,
                visible_at_start=is_visible,
                goal_area=goal_area,
                view_overlap=0.0,  # not measured: these engines give no depth
                num_same_kind=num_same,
                num_other_kind=len(draft.placements) - 1 - num_same,
            ),
        )


def _has_seed(worlds: ThingWorlds, split: Split) -> bool:
    return worlds.num_seeds > 1000 or any(split_of(worlds.source, seed) == split for seed in range(worlds.num_seeds))
