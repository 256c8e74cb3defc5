"""Speed of our policies beside what the machine could do: frames per CPU-second, and the floor set by arithmetic."""

import dataclasses
from collections.abc import Callable, Sequence
from functools import partial
from statistics import median
from typing import Any

import torch
from torch.utils.flop_counter import FlopCounterMode

from eval.benches.frame_pool_env import FramePoolEnv
from eval.benches.learning_stopwatch import PARTS, LearningStopwatch
from eval.benches.throughput import Measurement, measured, seconds_of
from mcrl.config import PPOConfig, Precision
from mcrl.learning.learner import Learner
from mcrl.rollout.fragment import Fragment
from mcrl.rollout.rollout_worker import RolloutWorker
from policies.agent import PolicyAgent
from policies.cross_view import CrossViewConfig, CrossViewPolicy
from policies.interface import Policy
from policies.precision import uses_bf16
from policies.presets import PRESETS, build_policy

NUM_ENVS = 32
FRAGMENT_STEPS = 32
EPISODE_STEPS = 32  # so that a batch holds about one goal for every 32 frames, as training does
# Alike for all that shall be compared; a larger network needs the memory, and fills the machine with fewer.
_MINIBATCH_SEQUENCES, _MINIBATCH_SEQUENCES_OF = 8, {"base": 2}
_GEMM_SIDE = 1024
_ACTED_STEPS = 8


def bench_policy(
    presets: Sequence[str], *, precision: Precision, repeats: int, seed: int, num_threads: int
) -> list[Measurement]:
    """Measure acting and one learning step of each preset, and this machine's matrix products in the same run.

    The floor of a frame is its multiply-adds (convolutions and matrix products, forwards and backwards) at the
    measured speed of a 1,024-wide matrix product in the same number format.
    """
    for preset in presets:
        if preset not in PRESETS or not isinstance(PRESETS[preset](), CrossViewConfig):
            known = [name for name in PRESETS if isinstance(PRESETS[name](), CrossViewConfig)]
            raise ValueError(f"--presets {preset}: no such preset to measure; there are {', '.join(known)}")
    fields: dict[str, str | int | float] = {"num_threads": num_threads, "seed": seed}
    gemm = {kind: gemm_samples(kind, repeats) for kind in (torch.bfloat16, torch.float32)}
    rows = [
        measured("gemm_gmadds_per_cpu_s", "Gmadd/CPU-s", samples, fields | {"format": _name(kind)})
        for kind, samples in gemm.items()
    ]
    kind = torch.bfloat16 if uses_bf16(precision, "cpu") else torch.float32
    for preset in presets:
        bench = PresetBench(preset, precision=precision, seed=seed)
        of_preset = fields | {"preset": preset, "format": _name(kind)}
        rows += bench.acting(repeats, median(gemm[kind]), of_preset)
        rows += bench.learning(repeats, median(gemm[kind]), of_preset)
    return rows


def gemm_samples(kind: torch.dtype, repeats: int) -> list[float]:
    """Return billions of multiply-adds per CPU-second of a square matrix product."""
    matrix = torch.randn(_GEMM_SIDE, _GEMM_SIDE, generator=torch.Generator().manual_seed(0)).to(kind)
    product = partial(torch.mm, matrix, matrix)
    product()
    return [8 * _GEMM_SIDE**3 / 1e9 / seconds_of(lambda: [product() for _ in range(8)])[0] for _ in range(repeats)]


def count_madds(work: Callable[[], object]) -> int:
    """Return the multiply-adds of convolutions and matrix products that `work` does, backwards included."""
    with FlopCounterMode(display=False) as counter:
        work()
    return counter.get_total_flops() // 2


class PresetBench:
    """One preset's policy, played and taught on random frames."""

    def __init__(self, preset: str, *, precision: Precision, seed: int) -> None:
        config = PRESETS[preset]()
        assert isinstance(config, CrossViewConfig)
        self._policy: CrossViewPolicy = build_policy(config, seed)
        self._precision, self._seed = precision, seed
        self._num_sequences = _MINIBATCH_SEQUENCES_OF.get(preset, _MINIBATCH_SEQUENCES)

    def acting(self, repeats: int, gmadds_per_s: float, fields: dict[str, Any]) -> list[Measurement]:
        """Return rows about acting in 32 envs, goals encoded already."""
        env = self._env(NUM_ENVS)
        agent = PolicyAgent(self._policy, NUM_ENVS, seed=self._seed, precision=self._precision)
        observation = env.reset()
        agent.step(observation)
        observation.first_E[:] = False
        madds = count_madds(lambda: agent.step(observation)) / NUM_ENVS

        def act() -> None:
            for _ in range(_ACTED_STEPS):
                agent.step(observation)

        num_frames = NUM_ENVS * _ACTED_STEPS
        speeds = [num_frames / seconds_of(act)[0] for _ in range(repeats + 1)][1:]
        return _against_floor(speeds, madds, gmadds_per_s, fields | {"work": "acting"})

    def learning(self, repeats: int, gmadds_per_s: float, fields: dict[str, Any]) -> list[Measurement]:
        """Return rows about one optimizer step on a minibatch, and how its time is spent."""
        fragments = self.fragments()
        ppo = dataclasses.replace(
            PPOConfig(),
            fragments_per_batch=self._num_sequences,
            minibatch_sequences=self._num_sequences,
            num_epochs=1,
            fragment_steps=FRAGMENT_STEPS,
            value_warmup_iterations=0,
            kl_to_reference=None,
            target_kl=None,
        )
        learner = Learner(self._policy, ppo, precision=self._precision, seed=self._seed)
        learner.update(fragments)
        num_frames = self._num_sequences * FRAGMENT_STEPS
        fields = fields | {"minibatch_frames": num_frames}
        madds = count_madds(lambda: learner.update(fragments)) / num_frames
        speeds = [num_frames / seconds_of(lambda: learner.update(fragments))[0] for _ in range(repeats)]
        rows = _against_floor(speeds, madds, gmadds_per_s, fields | {"work": "learning"})
        watches = []
        for _ in range(repeats):
            watch = LearningStopwatch()
            with watch.attached(self._policy):
                learner.update(fragments)
            watches.append(watch.cpu_s)
        for part in PARTS:
            shares = [100 * cpu_s[part] / sum(cpu_s.values()) for cpu_s in watches]
            rows.append(measured("share_of_learning", "%", shares, fields | {"work": f"learning: {part}"}))
        return rows

    def _env(self, num_envs: int) -> FramePoolEnv:
        image_px = self._policy.image_px
        return FramePoolEnv(num_envs, self._seed, image_px=image_px, episode_steps=EPISODE_STEPS)

    def fragments(self) -> list[Fragment]:
        """Return a minibatch of fragments that the policy acted in."""
        policy: Policy = self._policy
        return RolloutWorker(
            self._env(self._num_sequences),
            policy,
            None,
            fragment_steps=FRAGMENT_STEPS,
            worker_id=0,
            seed=self._seed,
            precision=self._precision,
        ).collect()


def _against_floor(speeds: list[float], madds: float, gmadds_per_s: float, fields: dict[str, Any]) -> list[Measurement]:
    """Return speed, and its share of what the multiply-adds alone would allow."""
    fields = fields | {"mmadds_per_frame": round(madds / 1e6, 2)}
    floor = 1e9 * gmadds_per_s / madds
    return [
        measured("frames_per_cpu_s", "frames/CPU-s", speeds, fields | {"floor": round(floor, 1)}),
        measured("share_of_attainable", "%", [100 * speed / floor for speed in speeds], fields),
    ]


def _name(kind: torch.dtype) -> str:
    return "bf16" if kind == torch.bfloat16 else "fp32"
