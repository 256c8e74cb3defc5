"""Speed measurements: what a bench reports, and the engine's bench. E envs."""

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from mcrl.provenance import commit, hardware
from task_synthesis.synthesis_config import SynthesisConfig
from task_synthesis.synthesize import Synthesizer
from task_synthesis.task import TaskSpec
from worlds.types import BUTTON_INDEX, BUTTONS, ActionBatch
from worlds.voxel.backend import Renderer, VoxelBackend

_SIM_SIDE_BLOCKS, _SIM_IMAGE_PX = 128, 128
_RENDERERS: tuple[Renderer, ...] = ("lanes", "scalar")
# Keys that move the agent or change the world, each held with this chance; the rest changes nothing yet.
_KEY_CHANCE = {"forward": 0.6, "jump": 0.15, "sprint": 0.3, "left": 0.1, "right": 0.1, "attack": 0.3, "sneak": 0.05}
_CAMERA_STD_DEG = (1.5, 5.0)  # pitch, yaw


@dataclass(frozen=True, kw_only=True, slots=True)
class Measurement:
    """One number with how it was measured."""

    metric: str
    value: float
    """Median of the repeats."""
    unit: str
    repeats: int
    low: float
    """Smallest of the repeats."""
    high: float
    fields: dict[str, str | int | float] = field(default_factory=dict)
    """What else the number depends on, for instance the renderer."""


def measured(
    metric: str, unit: str, samples: Sequence[float], fields: dict[str, str | int | float] | None = None
) -> Measurement:
    """Sum samples up: median, smallest, largest."""
    return Measurement(
        metric=metric,
        value=statistics.median(samples),
        unit=unit,
        repeats=len(samples),
        low=min(samples),
        high=max(samples),
        fields=fields or {},
    )


def bench_object(bench: str, measurements: Sequence[Measurement]) -> dict[str, object]:
    """Return what `mcrl bench --json` prints: the numbers, and the code and machine that they belong to."""
    rows = [
        {
            "metric": m.metric,
            "value": round(m.value, 2),
            "unit": m.unit,
            "repeats": m.repeats,
            "min": round(m.low, 2),
            "max": round(m.high, 2),
            **m.fields,
        }
        for m in measurements
    ]
    return {"bench": bench, "commit": commit(), "hardware": hardware(), "rows": rows}


def seconds_of(work: Callable[[], object]) -> tuple[float, float]:
    """Run `work` and return (CPU seconds of this process, wall seconds)."""
    cpu_s, wall_s = time.process_time(), time.perf_counter()
    work()
    return time.process_time() - cpu_s, time.perf_counter() - wall_s


def bench_sim(*, num_envs: int, num_frames: int, repeats: int, num_threads: int, seed: int) -> list[Measurement]:
    """Measure frames per CPU-second of the engine, physics included, with the fast renderer and its scalar twin.

    Every frame is one tick with random keys and camera in a world of its own, then RGB and instance mask. Each repeat
    starts from the same episodes with the same actions; the two renderers take turns.
    """
    tasks = _sim_tasks(num_envs, seed=seed, num_threads=num_threads)
    backends = {
        renderer: VoxelBackend(
            num_envs,
            size_blocks=(_SIM_SIDE_BLOCKS, 64, _SIM_SIDE_BLOCKS),
            image_px=(_SIM_IMAGE_PX, _SIM_IMAGE_PX),
            with_depth=False,
            renderer=renderer,
            num_threads=num_threads,
        )
        for renderer in _RENDERERS
    }
    num_steps = max(1, num_frames // num_envs)
    actions = [_random_actions(num_envs, np.random.default_rng([seed, step])) for step in range(num_steps)]
    per_cpu_s: dict[Renderer, list[float]] = {renderer: [] for renderer in _RENDERERS}
    per_s: dict[Renderer, list[float]] = {renderer: [] for renderer in _RENDERERS}
    for repeat in range(repeats + 1):
        for renderer, backend in backends.items():
            backend.reset(range(num_envs), [task.episode() for task in tasks])
            if repeat == 0:
                # Compiles, and brings worlds and textures into memory; not counted.
                _play(backend, actions[:4])
                continue
            cpu_s, wall_s = seconds_of(lambda backend=backend: _play(backend, actions))  # type: ignore[misc]
            per_cpu_s[renderer].append(num_steps * num_envs / cpu_s)
            per_s[renderer].append(num_steps * num_envs / wall_s)
    measurements = []
    for renderer in _RENDERERS:
        fields: dict[str, str | int | float] = {
            "renderer": renderer,
            "image_px": _SIM_IMAGE_PX,
            "side_blocks": _SIM_SIDE_BLOCKS,
            "num_envs": num_envs,
            "num_threads": num_threads,
            "frames_per_repeat": num_steps * num_envs,
        }
        measurements.append(measured("frames_per_cpu_s", "frames/CPU-s", per_cpu_s[renderer], fields))
        measurements.append(measured("frames_per_s", "frames/s", per_s[renderer], fields))
    return measurements


def _sim_tasks(num_tasks: int, *, seed: int, num_threads: int) -> list[TaskSpec]:
    """Return tasks, one a world, as scenes to render: all biomes, objects in view of walkable ground."""
    config = SynthesisConfig(side_blocks=_SIM_SIDE_BLOCKS, tasks_per_world=1)
    return Synthesizer(config, split="train", seed=seed, num_parallel=num_tasks, num_threads=num_threads).run(num_tasks)


def _random_actions(num_envs: int, rng: np.random.Generator) -> ActionBatch:
    buttons_EB = np.zeros((num_envs, len(BUTTONS)), bool)
    for name, chance in _KEY_CHANCE.items():
        buttons_EB[:, BUTTON_INDEX[name]] = rng.random(num_envs) < chance
    camera_deg_E2 = rng.normal(0.0, _CAMERA_STD_DEG, (num_envs, 2)).astype(np.float32)
    return ActionBatch(buttons_EB=buttons_EB, camera_deg_E2=camera_deg_E2)


def _play(backend: VoxelBackend, actions: Sequence[ActionBatch]) -> None:
    for action in actions:
        backend.step(action)
