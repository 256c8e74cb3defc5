"""Tasks from world seeds: draw a scene, a goal camera and a start, keep what can be seen and reached.

E candidate scenes are worked on together, so that worlds and pictures are made on all cores. Every draw comes from
(seed, world seed, attempt); which skill and band it is for depends on what is still wanted, where shares are exact.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from task_synthesis.candidate import Candidate, task_of
from task_synthesis.held_out import kinds_allowed
from task_synthesis.look_mix import LookMix
from task_synthesis.placement.hidden_walk import remembering_start
from task_synthesis.placement.layout import Layout, draw_layout
from task_synthesis.placement.sites import Sites
from task_synthesis.placement.starts import Start, draw_start
from task_synthesis.placement.targets import circle_of
from task_synthesis.placement.walk_search import WalkSearch
from task_synthesis.prerequisites import draw_inventory
from task_synthesis.quota import Quota
from task_synthesis.skills import SKILLS
from task_synthesis.synthesis_config import SynthesisConfig
from task_synthesis.task import BANDS, TaskSpec
from task_synthesis.views.goal_camera import GoalCamera
from task_synthesis.views.start_views import StartViews
from task_synthesis.world_stream import generated_worlds
from worlds.anvil import Save
from worlds.spec import Episode, Look, Split, WorldSpec
from worlds.types import Pose
from worlds.voxel.backend import VoxelBackend
from worlds.voxel.engine_tables import engine_tables
from worlds.voxel.world_cache import WorldCache

_ATTEMPTS_PER_TASK = 6
_COMPANION_KINDS = SKILLS["approach"].kinds  # whole blocks, each of another colour
_MEMORY_DRAWS = 12  # of starts: one in thirty loses sight of a near target on the way


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
        world_cache: WorldCache | None = None,
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
            world_cache: where worlds come from that neither are generated nor in a save; None knows those alone.
        """
        config.check_split(split)
        self.config = config
        self.rejections: Counter[str] = Counter()
        self._seed = seed
        self._specs = generated_worlds(config, split=split, seed=seed) if worlds is None else worlds
        side = config.side_blocks
        self._worlds = world_cache or WorldCache(num_threads=num_threads, saves=saves)
        self._backend = VoxelBackend(
            num_parallel,
            size_blocks=(side, 64, side),
            image_px=(config.image_px, config.image_px),
            with_depth=True,
            world_cache=self._worlds,
        )
        self._sites = Sites()
        self._camera = GoalCamera(self._backend, config, self._sites)
        self._start_views = StartViews(self._backend)
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
        config = self.config
        quota = None
        if config.exact_shares:
            quota = Quota(
                config.skills, config.bands, num_tasks=num_tasks, rng=np.random.default_rng([self._seed, num_tasks])
            )
        tasks: list[TaskSpec] = []
        for accepted in self._rounds(quota):
            tasks += accepted
            if on_progress:
                on_progress(min(len(tasks), num_tasks))
            if len(tasks) >= num_tasks:
                break
        return tasks[:num_tasks]

    def stream(self) -> Iterator[TaskSpec]:
        """Yield tasks without end, for those who choose among them; the shares are not exact."""
        for accepted in self._rounds(None):
            yield from accepted

    def _rounds(self, quota: Quota | None) -> Iterator[list[TaskSpec]]:
        """Yield what each round brings, if only an empty list."""
        config = self.config
        scenes = [_Scene(next(self._specs)) for _ in range(self._backend.num_envs)]
        while True:
            accepted = self._round(scenes, quota)
            for slot, _ in accepted:
                scenes[slot].num_accepted += 1
            if quota:
                quota.settle([(task.skill, task.band) for _, task in accepted])
            yield [task for _, task in accepted]
            for slot, scene in enumerate(scenes):
                is_used_up = scene.attempt >= _ATTEMPTS_PER_TASK * config.tasks_per_world
                if scene.num_accepted >= config.tasks_per_world or is_used_up:
                    scenes[slot] = _Scene(next(self._specs))

    def _round(self, scenes: list[_Scene], quota: Quota | None) -> list[tuple[int, TaskSpec]]:
        """Try one candidate in every scene; return the accepted ones with their slots."""
        candidates = self._draw_layouts(scenes, quota)
        if not candidates:
            return []
        slots = sorted(candidates)
        self._backend.reset(slots, [_episode(scenes[slot].world, candidates[slot].layout) for slot in slots])
        for slot in slots:
            start = self._start(slot, candidates[slot])
            if isinstance(start, str):
                self.rejections[start] += 1
                del candidates[slot]
            else:
                candidates[slot].start = start
        prepared = self._worlds.get([scene.world for scene in scenes])
        for slot, reason in self._camera.settle(candidates, [world.world for world in prepared]).items():
            self.rejections[reason] += 1
            del candidates[slot]
        tasks = []
        for slot, (visible, overlap) in self._start_views.measure(candidates).items():
            task = task_of(scenes[slot].world, candidates[slot], visible_at_start=visible, view_overlap=overlap)
            if self.config.min_hidden_walk > 0 and not visible:
                self.rejections["start_not_shown"] += 1
            else:
                tasks.append((slot, task))
        return tasks

    def _start(self, slot: int, candidate: Candidate) -> Start | str:
        """Draw a start, again and again where it must ask something of the memory; return why there is none."""
        config, block_XZY = self.config, self._backend.state.terrain.block_EXZY[slot]
        start: Start | str = ""
        for _ in range(_MEMORY_DRAWS if config.min_hidden_walk > 0 else 1):
            start = draw_start(
                candidate.rng,
                candidate.layout,
                block_XZY,
                self._backend.ground_EXZ[slot],
                self._search,
                self._sites,
                circle_blocks=candidate.circle_blocks,
                band_blocks=BANDS[candidate.band],
                hidden_share=config.hidden_share,
                sight=self._sight,
            )
            if not isinstance(start, str) and config.min_hidden_walk > 0:
                start = remembering_start(
                    candidate.rng,
                    start,
                    candidate.layout,
                    block_XZY,
                    self._sites,
                    circle_blocks=candidate.circle_blocks,
                    min_hidden_walk=config.min_hidden_walk,
                    sight=self._sight,
                )
            if not isinstance(start, str):
                break
        return start

    def _draw_layouts(self, scenes: list[_Scene], quota: Quota | None) -> dict[int, Candidate]:
        config = self.config
        prepared = self._worlds.get([scene.world for scene in scenes])
        candidates = {}
        for slot, (scene, world) in enumerate(zip(scenes, prepared, strict=True)):
            if quota and quota.num_open == 0:
                break  # what is being tried may be all that is wanted
            rng = np.random.default_rng([self._seed, scene.world.seed, scene.attempt])
            scene.attempt += 1
            if quota:
                name, band = quota.take(rng, self.rejections)
            else:
                name, band = _draw_weighted(rng, config.skills), _draw_weighted(rng, config.bands)
            skill = SKILLS[name]
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
                companions=kinds_allowed(_COMPANION_KINDS, config.kinds) if config.companions else (),
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
                rng=rng,
                skill=skill,
                band=band,
                layout=layout,
                circle_blocks=circle_of(scene.world),
                inventory=inventory,
                style=style,
                look=look,
            )
        return candidates


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
