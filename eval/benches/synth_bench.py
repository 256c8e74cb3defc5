"""Speed of making tasks, and what share of training goes into resets."""

import dataclasses
import gzip
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from eval.benches.throughput import Measurement, measured, seconds_of
from mcrl.assembly import PRODUCT, build_worker, task_env
from mcrl.config import TrainConfig
from mcrl.dataflow.contracts import LockstepEnv
from mcrl.dataflow.weights.params import ParamLayout
from mcrl.learning.learner import Learner
from mcrl.rollout.episodes import TaskListSource, run_episodes
from mcrl.rollout.fragment import Fragment
from policies.expert import ExpertAgent
from task_synthesis.libraries.library_plan import LibraryPlan
from task_synthesis.libraries.library_shard import make_shard
from task_synthesis.playing.task_env import TaskSource
from task_synthesis.synthesis_config import SynthesisConfig, at_scale
from task_synthesis.synthesize import Synthesizer
from task_synthesis.task import TaskSpec, from_json_line
from worlds.spec import Episode, WorldSpec
from worlds.types import TickBatch, ViewBatch
from worlds.voxel.backend import VoxelBackend
from worlds.voxel.world_cache import PreparedWorld, WorldCache

_CASES = {"approach and break, near and easy": SynthesisConfig(), "all skills and bands": at_scale()}
# A few worlds that are used up, each made once: what a long run pays a task, as samplers deal window by window.
_NUM_RESET_TASKS = 256
_WARM_UP_TASKS = 32


def bench_synth(*, num_tasks: int, repeats: int, seed: int, num_threads: int) -> list[Measurement]:
    """Measure tasks per CPU-second of one process, shards of `num_tasks` as in a library; compiling is not counted.

    And how long it takes to read them back, which every command that takes a library waits for.
    """
    measurements = []
    for name, config in _CASES.items():
        plan = LibraryPlan(
            num_tasks=(repeats + 1) * num_tasks, split="train", seed=seed, config=config, tasks_per_shard=num_tasks
        )
        make_shard(dataclasses.replace(plan, num_tasks=_WARM_UP_TASKS), 0)
        samples = [seconds_of(lambda plan=plan, index=index: make_shard(plan, index)) for index in range(repeats)]  # type: ignore[misc]
        fields: dict[str, str | int | float] = {
            "tasks": name,
            "num_tasks": num_tasks,
            "side_blocks": config.side_blocks,
            "detail": config.detail,
            "image_px": config.image_px,
            "num_threads": num_threads,
        }
        per_cpu_s, per_1000_s = [num_tasks / cpu_s for cpu_s, _ in samples], [1000 * s / num_tasks for _, s in samples]
        measurements.append(measured("tasks_per_cpu_s", "tasks/CPU-s", per_cpu_s, fields))
        measurements.append(measured("wall_s_per_1000_tasks", "s", per_1000_s, fields))
        lines = gzip.decompress(make_shard(plan, 0).packed).decode().splitlines()
        read_s = [seconds_of(lambda lines=lines: [from_json_line(line) for line in lines])[0] for _ in range(repeats)]  # type: ignore[misc]
        per_100k_s = [100_000 * cpu_s / num_tasks for cpu_s in read_s]
        measurements.append(measured("read_cpu_s_per_100000_tasks", "CPU-s", per_100k_s, fields))
    return measurements


def bench_resets(config: TrainConfig, *, repeats: int, num_threads: int) -> list[Measurement]:
    """Measure what share of training its resets take, near and easy tasks, plain and full worlds, in CPU time.

    The making of worlds counts though it happens beside the rest. Episodes are as long as the expert's, the shortest
    there are: an agent that learns resets less often. The rest is one decision in a rollout worker and in the learner.
    """
    measurements = []
    for base in (SynthesisConfig(side_blocks=config.tasks.side_blocks), at_scale()):  # a recipe's worlds, a library's
        config = dataclasses.replace(config, tasks=dataclasses.replace(config.tasks, side_blocks=base.side_blocks))
        tasks = _reset_tasks(config, base)
        reset_s, world_s, decisions = _expert_resets(config, tasks, repeats)
        acting_s, learning_s = _seconds_per_decision(config, tasks, repeats)
        share = [
            100 * (reset + world) / (reset + world + length * (acting + learning))
            for reset, world, length, acting, learning in zip(
                reset_s, world_s, decisions, acting_s, learning_s, strict=True
            )
        ]
        fields: dict[str, str | int | float] = {
            "recipe": config.recipe,
            "side_blocks": base.side_blocks,
            "detail": base.detail,
            "num_envs": config.rollout.envs_per_worker,
            "image_px": config.env.image_px,
            "num_threads": num_threads,
        }
        measurements += [
            measured("reset_ms_per_episode", "CPU-ms", [1000 * value for value in reset_s], fields),
            measured("world_ms_per_episode", "CPU-ms", [1000 * value for value in world_s], fields),
            measured("decisions_per_expert_episode", "decisions", decisions, fields),
            measured("acting_ms_per_decision", "CPU-ms", [1000 * value for value in acting_s], fields),
            measured("learning_ms_per_decision", "CPU-ms", [1000 * value for value in learning_s], fields),
            measured("reset_share_of_training", "%", share, fields),
        ]
    return measurements


def _reset_tasks(config: TrainConfig, base: SynthesisConfig) -> list[TaskSpec]:
    synthesis = dataclasses.replace(
        base,
        skills={"approach": 1.0, "break": 1.0},
        bands={"near": 1.0, "easy": 1.0},
        biomes=config.tasks.biomes,
        image_px=config.env.image_px,
    )
    num_worlds = max(1, _NUM_RESET_TASKS // synthesis.tasks_per_world)
    synthesizer = Synthesizer(synthesis, split="train", seed=config.seed, num_parallel=num_worlds)
    return synthesizer.run(_NUM_RESET_TASKS)


class _TimedWorlds(WorldCache):
    """A cache that keeps the CPU time of the worlds it makes."""

    world_s = 0.0

    def _make(self, spec: WorldSpec) -> PreparedWorld:
        begun_s = time.thread_time()
        made = super()._make(spec)
        self.world_s += time.thread_time() - begun_s
        return made


class _TimedBackend(VoxelBackend):
    """A backend that keeps the CPU time of what a TaskEnv only calls when episodes begin, worlds apart."""

    reset_s = 0.0

    def announce(self, worlds: Sequence[WorldSpec]) -> None:
        """Make no world beside the rest, where its time would count as that of whatever runs meanwhile."""

    def reset(self, env_index_N: Sequence[int], episodes: Sequence[Episode]) -> None:
        self.worlds.get([episode.world for episode in episodes])  # here, so that they are not counted twice
        with self._timed():
            super().reset(env_index_N, episodes)

    def render_views(self, env_index_V: Sequence[int], eye_V5: np.ndarray) -> ViewBatch:
        with self._timed():
            return super().render_views(env_index_V, eye_V5)

    def observe_only(self, env_index_N: Sequence[int]) -> TickBatch:
        with self._timed():
            return super().observe_only(env_index_N)

    @property
    def worlds(self) -> _TimedWorlds:
        """Return the cache this backend was made with."""
        assert isinstance(self._worlds, _TimedWorlds)
        return self._worlds

    @contextmanager
    def _timed(self) -> Iterator[None]:
        begun_s = time.process_time()
        yield
        self.reset_s += time.process_time() - begun_s


def _timed_env(config: TrainConfig, source: TaskSource, num_envs: int) -> LockstepEnv:
    side, image_px = config.tasks.side_blocks, config.env.image_px
    backend = _TimedBackend(
        num_envs, size_blocks=(side, 64, side), image_px=(image_px, image_px), world_cache=_TimedWorlds()
    )
    return task_env(config, backend, source)


def _expert_resets(
    config: TrainConfig, tasks: Sequence[TaskSpec], repeats: int
) -> tuple[list[float], list[float], list[float]]:
    """Return CPU seconds an episode for its reset and for its world, and its decisions, one each a repeat."""
    reset_s, world_s, decisions = [], [], []
    for repeat in range(repeats + 1):
        source = _CountedTasks(tasks)
        env: Any = _timed_env(config, source, config.rollout.envs_per_worker)
        records = run_episodes(ExpertAgent(env), env, tasks)
        if repeat:  # the first one compiles; not counted
            reset_s.append(env.backend.reset_s / source.num_handed_out)
            world_s.append(env.backend.worlds.world_s / len(tasks))
            decisions.append(float(np.mean([record.num_decisions for record in records])))
        env.backend.close()
    return reset_s, world_s, decisions


class _CountedTasks(TaskListSource):
    """The list of tasks, which counts the episodes that began: envs without a task left play on."""

    def __init__(self, tasks: Sequence[TaskSpec]) -> None:
        super().__init__(tasks)
        self.num_handed_out = 0

    def __call__(self, env_index: int) -> TaskSpec:
        self.num_handed_out += 1
        return super().__call__(env_index)


def _seconds_per_decision(
    config: TrainConfig, tasks: Sequence[TaskSpec], repeats: int
) -> tuple[list[float], list[float]]:
    """Return CPU seconds a decision of acting without resets, and of learning from it, one each a repeat."""
    # The iterations that train the value head alone skip most of the work: measure the others.
    ppo = dataclasses.replace(config.ppo, value_warmup_iterations=0, target_kl=None)
    policy = PRODUCT.make_policy(config)
    layout = ParamLayout(policy)
    reference = None if ppo.kl_to_reference is None else layout.snapshot(policy, version=0)
    made: list[_TimedBackend] = []

    def make_env(config: TrainConfig, source: TaskSource, num_envs: int) -> LockstepEnv:
        env: Any = _timed_env(config, source, num_envs)
        made.append(env.backend)
        return env  # type: ignore[no-any-return]

    worker = build_worker(config, dataclasses.replace(PRODUCT, make_env=make_env), tasks, reference, 0, 0)
    worker.load(layout.snapshot(policy, version=0))
    learner = Learner(policy, ppo, precision=config.precision, seed=config.seed)
    acting, learning = [], []
    for repeat in range(repeats + 1):
        fragments: list[Fragment] = []
        begun_s, reset_s = time.process_time(), made[0].reset_s + made[0].worlds.world_s
        while len(fragments) < ppo.fragments_per_batch:
            fragments += worker.collect()
        reset_s = made[0].reset_s + made[0].worlds.world_s - reset_s
        acting_s = time.process_time() - begun_s - reset_s
        num_acted = sum(fragment.num_steps for fragment in fragments)
        fragments = fragments[: ppo.fragments_per_batch]
        learning_s, _ = seconds_of(lambda fragments=fragments: learner.update(fragments))  # type: ignore[misc]
        if repeat:
            acting.append(acting_s / num_acted)
            learning.append(learning_s / sum(fragment.num_steps for fragment in fragments))
    return acting, learning
