"""Tasks in engines that have things instead of blocks: "reach the marked object", drawn like those in our own worlds.

Things are placed on the floor of a scanned box, the target among others of its kind and of other kinds; the goal camera
and the first view are looked at in the engine itself. V views.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from task_synthesis.foreign.thing_layout import draw_thing_start, draw_things
from task_synthesis.foreign.walkable_floor import WalkableFloor
from task_synthesis.prerequisites import max_ticks
from task_synthesis.skills import SKILLS
from task_synthesis.synthesis_config import SynthesisConfig
from task_synthesis.task import BANDS, Difficulty, TaskSpec
from worlds.adapters.backend import ProcessBackend
from worlds.adapters.engine import Scan
from worlds.adapters.engine_choice import EngineChoice, Limits
from worlds.adapters.process import EngineProcess
from worlds.adapters.scanned_worlds import scan_world
from worlds.adapters.thing_worlds import SIZE_BLOCKS, THING_WORLDS, ThingWorlds
from worlds.backend import EnvBackend
from worlds.spec import Episode, Placement, Split, WorldSpec, split_of
from worlds.types import Pose

IMAGE_PX = 64  # in which goal views are measured
_SKILL = "approach"
_TASKS_PER_WORLD = 4
_ATTEMPTS_PER_WORLD = 24
_CAMERA_DRAWS = 8
_CAMERA_BLOCKS = (2.5, 6.0)  # from the target, along the floor
_CAMERA_HEIGHT_BLOCKS = (1.2, 2.6)  # above the floor
_CAMERA_OFF_DEG = 9.0  # how far the target may be from the middle of the goal view

OnProgress = Callable[[int], None]
Scanner = Callable[[WorldSpec], Scan]


def make_tasks(
    choice: EngineChoice,
    source: str,
    num_tasks: int,
    *,
    split: Split,
    seed: int = 0,
    lowest_y: int = 0,
    limits: Limits | None = None,
    on_progress: OnProgress | None = None,
    **changes: Any,
) -> list[TaskSpec]:
    """Return tasks in all worlds of one split that an engine with things has; the twin of foreign_tasks.make_tasks.

    Args:
        choice: the engine; it is started twice, to be scanned and to be looked at, and ended afterwards.
        source: of any of its worlds; what is before the colon names the engine in THING_WORLDS.
        num_tasks: how many.
        split: of the worlds' seeds.
        seed: of every draw.
        lowest_y: must be 0: each source has its own box.
        limits: of the engine's answers.
        on_progress: hears how many tasks there are so far.
        **changes: to the synthesis config, of which bands, goal_area, image_px and the numbers of things count.

    Raises:
        ValueError: another skill than approach, or no task can be found.
        EngineFaultError: the engine fails.
    """
    assert lowest_y == 0
    config = replace(SynthesisConfig(skills={_SKILL: 1.0}, side_blocks=SIZE_BLOCKS[0], image_px=IMAGE_PX), **changes)
    if set(config.skills) != {_SKILL}:
        raise ValueError(f"{choice.name}: its tasks are of skill {_SKILL} alone, got {sorted(config.skills)}")
    image_px = (config.image_px, config.image_px)
    scanned = EngineProcess(choice, image_px, limits)
    try:
        scanned.hello()
        backend = ProcessBackend(1, choice, size_blocks=SIZE_BLOCKS, image_px=image_px, limits=limits)
        try:
            maker = ThingTaskMaker(
                backend,
                lambda spec: scan_world(scanned, spec),
                THING_WORLDS[source.partition(":")[0]],
                split=split,
                seed=seed,
                config=config,
            )
            return maker.run(num_tasks, on_progress=on_progress or (lambda num_done: None))
        finally:
            backend.close()
    finally:
        scanned.close()


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
        config: SynthesisConfig,
    ) -> None:
        """Look at tasks in env 0 of `backend`.

        `config` has the bands, and bounds the numbers of things and the target's share of the goal view. ValueError:
        these worlds have no seed in the split.
        """
        self._backend, self._scanner = backend, scanner
        self._worlds = [each for each in worlds if _has_seed(each, split)]
        if not self._worlds:
            raise ValueError(f"thing tasks: no world of {worlds[0].source} is in split {split!r}; choose another split")
        self._split = split
        self._config = config
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
        bands, weights = list(self._config.bands), np.array(list(self._config.bands.values()))
        band = str(self._rng.choice(bands, p=weights / weights.sum()))
        placements = draw_things(self._rng, floor, worlds.kinds, self._config)
        if isinstance(placements, str):
            return placements
        start = draw_thing_start(self._rng, floor, placements, BANDS[band])
        return start if isinstance(start, str) else _Draft(world, placements, start.pose, band, start.path_blocks)

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
