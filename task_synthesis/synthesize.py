"""Tasks from world seeds: draw a scene, a goal camera and a start, keep what can be seen and reached.

E candidate scenes are worked on together, so that worlds, paths and pictures are made on all cores. Every draw comes
from (seed, world seed, attempt), so a task does not depend on which others were made beside it.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from task_synthesis.candidate import Candidate, facing, start_eye, task_of
from task_synthesis.goal_check import GoalCheck
from task_synthesis.held_out import kinds_allowed
from task_synthesis.hidden_walk import remembering_start
from task_synthesis.layout import Layout, draw_layout
from task_synthesis.look_mix import LookMix
from task_synthesis.prerequisites import draw_inventory
from task_synthesis.sites import Sites
from task_synthesis.skills import SKILLS
from task_synthesis.starts import draw_start
from task_synthesis.synthesis_config import SynthesisConfig
from task_synthesis.task import BANDS, TaskSpec
from task_synthesis.view_overlap import share_seen, surface_points
from task_synthesis.viewpoints import draw_goal_view
from task_synthesis.walk_search import WalkSearch
from task_synthesis.world_stream import generated_worlds
from worlds.anvil import Save
from worlds.spec import Episode, Look, Split, WorldSpec
from worlds.types import Pose
from worlds.voxel.backend import VoxelBackend
from worlds.voxel.engine_tables import engine_tables
from worlds.voxel.world_cache import WorldCache

_CAMERA_DRAWS = 6
_ATTEMPTS_PER_TASK = 6


@dataclass(slots=True)
class _Scene:
    """One world being turned into tasks, in one slot of the batch."""

    world: WorldSpec
    attempt: int = 0
    num_accepted: int = 0


class Synthesizer:
    """Makes tasks of one split; `rejections` counts why attempts failed."""

    def __init__(
        self,
        config: SynthesisConfig,
        *,
        split: Split,
        seed: int,
        num_parallel: int = 64,
        num_threads: int = 2,
        worlds: Iterator[WorldSpec] | None = None,
        saves: Sequence[Save] = (),
        accept: Callable[[TaskSpec], bool] | None = None,
    ) -> None:
        """Draw from worlds of `split`.

        Args:
            config: what tasks to make.
            split: of the worlds; tasks of train and val hold nothing that is held out of training.
            seed: of every draw.
            num_parallel: worlds worked on at a time; it is part of what decides the order of the tasks.
            num_threads: that make worlds; it changes nothing but the speed.
            worlds: the worlds to use, endless, of the config's size; None generates them.
            saves: real saves that `worlds` may name.
            accept: a last wish about finished tasks; what it refuses is counted as "unwanted".
        """
        config.check_split(split)
        self.config = config
        self._accept = accept
        self.rejections: Counter[str] = Counter()
        self._seed = seed
        self._specs = generated_worlds(config, split=split, seed=seed) if worlds is None else worlds
        side = config.side_blocks
        self._worlds = WorldCache(num_threads=num_threads, saves=saves)
        self._backend = VoxelBackend(
            num_parallel,
            size_blocks=(side, 64, side),
            image_px=(config.image_px, config.image_px),
            with_depth=True,
            world_cache=self._worlds,
        )
        self._check = GoalCheck(self._backend, config)
        self._sites = Sites()
        # An eye sees through grass and flowers, which full worlds are full of; in plain ones a vine counts as a wall.
        blocks = engine_tables().blocks
        self._sight = blocks.outline if config.detail == "plain" else blocks.collision
        self._search = WalkSearch(
            self._backend.state.terrain.block_EXZY.shape[1:],
            outline=blocks.outline,
            footing_S=self._sites.footing_S,
            is_fluid_S=self._sites.is_fluid_S,
        )

    def run(self, num_tasks: int, *, on_progress: Callable[[int], None] | None = None) -> list[TaskSpec]:
        """Return `num_tasks` tasks; `on_progress` hears how many there are so far."""
        if num_tasks < 1:
            raise ValueError(f"the number of tasks must be at least 1, got {num_tasks}")
        scenes = [_Scene(next(self._specs)) for _ in range(self._backend.num_envs)]
        tasks: list[TaskSpec] = []
        while len(tasks) < num_tasks:
            for slot, task in self._round(scenes):
                tasks.append(task)
                scenes[slot].num_accepted += 1
            for slot, scene in enumerate(scenes):
                is_used_up = scene.attempt >= _ATTEMPTS_PER_TASK * self.config.tasks_per_world
                if scene.num_accepted >= self.config.tasks_per_world or is_used_up:
                    scenes[slot] = _Scene(next(self._specs))
            if on_progress:
                on_progress(min(len(tasks), num_tasks))
        return tasks[:num_tasks]

    def _round(self, scenes: list[_Scene]) -> list[tuple[int, TaskSpec]]:
        """Try one candidate in every scene; return the accepted ones with their slots."""
        candidates = self._draw_layouts(scenes)
        if not candidates:
            return []
        slots = sorted(candidates)
        self._backend.reset(slots, [_episode(scenes[slot].world, candidates[slot].layout) for slot in slots])
        block_EXZY = self._backend.state.terrain.block_EXZY
        for slot in slots:
            candidate = candidates[slot]
            start = draw_start(
                candidate.rng,
                candidate.layout,
                block_EXZY[slot],
                self._backend.ground_EXZ[slot],
                self._search,
                self._sites,
                band_blocks=BANDS[candidate.band],
                hidden_share=self.config.hidden_share,
                sight=self._sight,
            )
            if not isinstance(start, str) and self.config.min_hidden_walk > 0:
                start = remembering_start(
                    candidate.rng,
                    start,
                    candidate.layout,
                    block_EXZY[slot],
                    self._sites,
                    min_hidden_walk=self.config.min_hidden_walk,
                    sight=self._sight,
                )
            if isinstance(start, str):
                self.rejections[start] += 1
                del candidates[slot]
            else:
                candidate.start = start
        self._draw_goal_views(scenes, candidates)
        return self._finish(scenes, candidates)

    def _draw_layouts(self, scenes: list[_Scene]) -> dict[int, Candidate]:
        config = self.config
        prepared = self._worlds.get([scene.world for scene in scenes])
        candidates = {}
        for slot, (scene, world) in enumerate(zip(scenes, prepared, strict=True)):
            rng = np.random.default_rng([self._seed, scene.world.seed, scene.attempt])
            scene.attempt += 1
            skill = SKILLS[_draw_weighted(rng, config.skills)]
            band = _draw_weighted(rng, config.bands)
            # One style needs no draw: the draws of a config without styles stay what they were.
            style = (
                _draw_weighted(rng, config.goal_views) if len(config.goal_views) > 1 else next(iter(config.goal_views))
            )
            layout = draw_layout(
                rng,
                world.world,
                self._sites,
                kinds=kinds_allowed(skill.kinds, config.kinds),
                num_same=config.num_same_kind,
                num_other=config.num_other_kind,
            )
            if isinstance(layout, str):
                self.rejections[layout] += 1
                continue
            inventory = draw_inventory(rng, skill, layout.kind)
            look = Look()
            if config.looks != LookMix():
                # A stream of its own: another look is another picture of the same task.
                look = config.looks.draw(np.random.default_rng([self._seed, scene.world.seed, scene.attempt, 1]))
            candidates[slot] = Candidate(
                rng=rng, skill=skill, band=band, layout=layout, inventory=inventory, style=style, look=look
            )
        return candidates

    def _draw_goal_views(self, scenes: list[_Scene], candidates: dict[int, Candidate]) -> None:
        """Draw goal cameras until the target's mask is right; candidates that never get one are removed."""
        prepared = self._worlds.get([scene.world for scene in scenes])
        reasons: dict[int, str] = {}
        pending = sorted(candidates)
        for _ in range(_CAMERA_DRAWS):
            eyes: dict[int, Pose] = {}
            for slot in pending:
                candidate, world = candidates[slot], prepared[slot].world
                eye = draw_goal_view(
                    candidate.rng,
                    candidate.style,
                    candidate.layout.kind,
                    candidate.layout.target_position,
                    lambda x, z, world=world: self._sites.ground(world, x, z),  # type: ignore[misc]
                )
                if eye is None:
                    reasons.setdefault(slot, "camera_no_ground")
                elif not self._check.is_in_air(slot, eye):
                    reasons.setdefault(slot, "camera_in_block")
                else:
                    eyes[slot] = eye
            if not eyes:
                continue
            shown, poses = list(eyes), list(eyes.values())
            views = self._backend.render_views(shown, np.array(poses))
            faults = self._check.faults(shown, poses, [candidates[slot].layout for slot in shown], views)
            for row, (slot, fault) in enumerate(zip(shown, faults, strict=True)):
                if fault:
                    reasons[slot] = fault
                    continue
                assert views.depth_VHW is not None
                candidate = candidates[slot]
                candidate.goal_view = eyes[slot]
                candidate.goal_area = round(float(views.target_V7[row, 0]), 5)
                candidate.surface_P3 = surface_points(
                    views.depth_VHW[row],
                    eyes[slot],
                    fov_deg=Look().fov_deg,
                    range_blocks=self._backend.view_range_blocks,
                )
                pending.remove(slot)
        for slot in pending:
            self.rejections[reasons[slot]] += 1
            del candidates[slot]

    def _finish(self, scenes: list[_Scene], candidates: dict[int, Candidate]) -> list[tuple[int, TaskSpec]]:
        """Measure what is left to measure and write the specs."""
        slots = sorted(candidates)
        if not slots:
            return []
        eyes = [start_eye(candidates[slot]) for slot in slots]
        turned = [
            facing(eye, candidates[slot].layout, self.config.side_blocks) for eye, slot in zip(eyes, slots, strict=True)
        ]
        area_V = self._backend.render_views(slots, np.array(eyes)).target_V7[:, 0]
        depth_VHW = self._backend.render_views(slots, np.array(turned)).depth_VHW
        assert depth_VHW is not None
        side = self.config.side_blocks
        tasks = []
        for row, slot in enumerate(slots):
            surface_P3 = candidates[slot].surface_P3
            assert surface_P3 is not None
            overlap = share_seen(
                surface_P3, depth_VHW[row], turned[row], fov_deg=Look().fov_deg, sides_blocks=(side, side)
            )
            task = task_of(
                scenes[slot].world, candidates[slot], visible_at_start=bool(area_V[row] > 0), view_overlap=overlap
            )
            if self.config.min_hidden_walk > 0 and not task.difficulty.visible_at_start:
                self.rejections["start_not_shown"] += 1
            elif self._accept is not None and not self._accept(task):
                self.rejections["unwanted"] += 1
            else:
                tasks.append((slot, task))
        return tasks


def _episode(world: WorldSpec, layout: Layout) -> Episode:
    x, y, z = layout.target_position
    return Episode(
        world=world,
        placements=layout.placements,
        start=Pose(x + 0.5, y + 1.0, z + 0.5, 0.0, 0.0),
        target_index=layout.target_index,
    )


def _draw_weighted(rng: np.random.Generator, weights: dict[str, float]) -> str:
    names = sorted(weights)
    weight_N = np.array([weights[name] for name in names])
    return names[rng.choice(len(names), p=weight_N / weight_N.sum())]
