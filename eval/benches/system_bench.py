"""What asynchrony buys where engines make one wait: the system's own gate, queue and rings, with SIMULATED latency.

Environments do nothing but sleep as their latency model says, the policy rests, and the learner sleeps: no number here
is a speed of the platform. What is real is everything between them: mcrl.dataflow's EnvRing with a thread an engine,
Flow, FragmentQueue and StalenessGate. Each model runs in three ways, side by side, on the same draws:

step barrier       one group of all environments, max_staleness 0
fragment barrier   a group for each environment, max_staleness 0
async              a group for each environment, max_staleness ETA

Beside each stands what eval.benches.system_prediction makes of the same draws. Where some instances are slow,
asynchrony takes more fragments from the fast ones: faster is then also a different mix of tasks, see
mcrl.learning.duration.

A step costs the system some 50 us of one core. Where the machine has no core to spare the sleeps take longer than asked
for (oversleep_ms says by how much), and what is measured is the machine.
"""

import math
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from eval.benches.sleepers import RestingEnv, RestingInference
from eval.benches.system_prediction import MODES, Mode, frames_per_s, predicted_take_s
from eval.benches.throughput import Measurement, measured
from mcrl.dataflow.flow import FlowLimits
from mcrl.dataflow.rings.group import Backend
from mcrl.dataflow.rings.latency import LatencyEnv, LatencyModel
from mcrl.dataflow.rings.ring import EnvRing
from mcrl.dataflow.rings.source import RingSource
from mcrl.dataflow.weights.snapshot import ParamSnapshot

LATENCY_MODELS: dict[str, LatencyModel] = {
    "constant": LatencyModel(),
    "lognormal-0.5": LatencyModel(sigma=0.5),
    "lognormal-1": LatencyModel(sigma=1.0),
    "resets": LatencyModel(reset_probability=1 / 600, reset_s=5.0),
    "slow-instances": LatencyModel(slow_share=0.1, slow_factor=4.0),
}

NUM_ENVS = 64
FRAGMENT_STEPS = 64
LEARNER_S = 0.6
# Updates by which an async run may lag. A fragment with a 5 s reset, or of a slow instance, is 4 updates old.
ETA = 8
# The first batches of an async run find the learner idle and the environments in step.
_NUM_SKIPPED: dict[Mode, int] = {"step barrier": 0, "fragment barrier": 0, "async": 1}
# Simulated time that a repeat takes, about. With resets a barrier takes 9 s an update, and what asynchrony gains comes
# to its level of the long run only when every environment has been through some of them.
_BUDGET_S = 9.0
_LONG_BUDGET_S = 90.0
# A step barrier waits 35 s for a fragment of 64 steps where engines reset: a quarter of the steps and of the learning
# is the same speed.
_STEP_BARRIER_STEPS = 16
_STEP_LIMIT_S = 600.0
_LONG_RUN_UPDATES = 40
_NUM_SLEEPS = 20


@dataclass(frozen=True, kw_only=True, slots=True)
class Setting:
    """One run that only waits."""

    mode: Mode
    model: LatencyModel
    num_envs: int = NUM_ENVS
    fragment_steps: int = FRAGMENT_STEPS
    learner_s: float = LEARNER_S
    num_updates: int
    seed: int

    def predict(self) -> float:
        """Return the frames per second that the prediction gives for the same draws."""
        return self._frames_per_s(
            predicted_take_s(
                self.mode,
                self.model,
                num_envs=self.num_envs,
                fragment_steps=self.fragment_steps,
                learner_s=self.learner_s,
                num_updates=self.num_updates,
                seed=self.seed,
            )
        )

    def measure(self) -> tuple[float, float]:
        """Return the frames per second that reached the learner, and the share of fragments dropped as too old."""
        source = self._source()
        take_s = []
        try:
            for version in range(self.num_updates):
                source.publish(_snapshot(version))
                source.take(self.num_envs)
                take_s.append(time.perf_counter())
                time.sleep(self.learner_s)
            counts = source.counts()
        finally:
            source.close()
        return self._frames_per_s(np.array(take_s)), sum(counts.dropped.values()) / counts.produced

    def _frames_per_s(self, take_s_U: np.ndarray) -> float:
        return frames_per_s(
            take_s_U, num_envs=self.num_envs, fragment_steps=self.fragment_steps, num_skipped=_NUM_SKIPPED[self.mode]
        )

    def _source(self) -> RingSource:
        num_groups = 1 if self.mode == "step barrier" else self.num_envs
        limits = FlowLimits(
            num_workers=num_groups,
            envs_per_worker=self.num_envs // num_groups,
            fragments_per_batch=self.num_envs,
            max_staleness=ETA if self.mode == "async" else 0,
        )

        def make_backend(group: int, life: int) -> Backend:
            envs = limits.envs_per_worker
            env = LatencyEnv(RestingEnv(envs), self.model, seed=self.seed, first_instance=group * envs, life=life)
            return Backend(env=env)

        def make_ring(first_sequence: Sequence[int]) -> EnvRing:
            return EnvRing(
                make_backend,
                RestingInference(limits.envs_per_worker),
                num_groups=num_groups,
                envs_per_group=limits.envs_per_worker,
                fragment_steps=self.fragment_steps,
                worker_id=0,
                step_limit_s=_STEP_LIMIT_S,
                first_sequence=first_sequence,
            )

        return RingSource(make_ring, limits)


def bench_system(*, model: str | None, repeats: int, time_scale: float, seed: int) -> list[Measurement]:
    """Measure one latency model in the three modes, or all of them.

    Every simulated time is multiplied by `time_scale`: below 1 the bench is sooner done, and overhead weighs more.
    """
    if not 0 < time_scale < math.inf:
        raise ValueError(f"--time-scale must be above 0, got {time_scale}")
    if model is not None and model not in LATENCY_MODELS:
        raise ValueError(f"--model {model}: no such latency model; there are {', '.join(LATENCY_MODELS)}")
    names = list(LATENCY_MODELS) if model is None else [model]
    return [_bench_model(name, repeats=repeats, time_scale=time_scale, seed=seed) for name in names]


def _bench_model(name: str, *, repeats: int, time_scale: float, seed: int) -> Measurement:
    measured_M: dict[Mode, list[float]] = {mode: [] for mode in MODES}
    predicted_M: dict[Mode, list[float]] = {mode: [] for mode in MODES}
    dropped, oversleep_ms = [], []
    for repeat in range(repeats):
        oversleep_ms.append(_oversleep_ms(LATENCY_MODELS[name].step_s * time_scale))
        settings = {mode: _setting(mode, name, time_scale, seed + repeat) for mode in MODES}
        results = _side_by_side(settings)
        dropped.append(results["async"][1])
        for mode in MODES:
            measured_M[mode].append(results[mode][0])
            predicted_M[mode].append(settings[mode].predict())
    long_run = {mode: _setting(mode, name, time_scale, seed, num_updates=_LONG_RUN_UPDATES).predict() for mode in MODES}
    speedup = _ratios(measured_M["async"], measured_M["fragment barrier"])
    predicted = _ratios(predicted_M["async"], predicted_M["fragment barrier"])
    over_step = _ratios(measured_M["async"], measured_M["step barrier"])
    over_step_predicted = _ratios(predicted_M["async"], predicted_M["step barrier"])
    fields: dict[str, str | int | float] = {
        "latency": name,
        "predicted": round(float(np.median(predicted)), 2),
        "predicted_long_run": round(long_run["async"] / long_run["fragment barrier"], 2),
        "share_of_predicted": round(float(np.median(_ratios(speedup, predicted))), 3),
        "over_step_barrier": round(float(np.median(over_step)), 2),
        "over_step_barrier_predicted": round(float(np.median(over_step_predicted)), 2),
    }
    for mode in MODES:
        # In simulated seconds, whatever the time scale.
        fields[f"{mode.replace(' ', '_')}_per_s"] = round(float(np.median(measured_M[mode])) * time_scale)
    fields["dropped_share"] = round(float(np.median(dropped)), 4)
    fields["oversleep_ms"] = round(float(np.median(oversleep_ms)), 1)
    fields |= {"num_envs": NUM_ENVS} | simulated(time_scale)
    return measured("speedup_over_fragment_barrier", "ratio", speedup, fields)


def _setting(mode: Mode, name: str, time_scale: float, seed: int, *, num_updates: int | None = None) -> Setting:
    """Return a run of `num_updates`, or of as many as fit into the budget."""
    share = _STEP_BARRIER_STEPS / FRAGMENT_STEPS if mode == "step barrier" else 1.0
    model = LATENCY_MODELS[name]

    def setting(updates: int) -> Setting:
        return Setting(
            mode=mode,
            model=model.scaled(time_scale),
            fragment_steps=round(FRAGMENT_STEPS * share),
            learner_s=LEARNER_S * share * time_scale,
            num_updates=updates,
            seed=seed,
        )

    if num_updates is not None:
        return setting(num_updates)
    trial = setting(_NUM_SKIPPED[mode] + 4)
    update_s = trial.num_envs * trial.fragment_steps / trial.predict()
    budget_s = (_LONG_BUDGET_S if model.reset_probability or model.slow_share else _BUDGET_S) * time_scale
    return setting(max(_NUM_SKIPPED[mode] + 2, round(budget_s / update_s)))


def _side_by_side(settings: dict[Mode, Setting]) -> dict[Mode, tuple[float, float]]:
    """Measure all settings at the same time: they only sleep, and what the machine does meanwhile befalls all alike."""
    results: dict[Mode, tuple[float, float]] = {}
    errors: list[BaseException] = []

    def run(mode: Mode, setting: Setting) -> None:
        try:
            results[mode] = setting.measure()
        except BaseException as error:  # noqa: BLE001 - raised again below
            errors.append(error)

    threads = [threading.Thread(target=run, args=item, daemon=True) for item in settings.items()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return results


def _oversleep_ms(duration_s: float) -> float:
    """Return by how much a sleep outlasts its time: beyond a few ms the machine is too busy for this bench."""
    begin_s = time.perf_counter()
    for _ in range(_NUM_SLEEPS):
        time.sleep(duration_s)
    return ((time.perf_counter() - begin_s) / _NUM_SLEEPS - duration_s) * 1e3


def _ratios(above: Sequence[float], below: Sequence[float]) -> list[float]:
    return [a / b for a, b in zip(above, below, strict=True)]


def _snapshot(version: int) -> ParamSnapshot:
    return ParamSnapshot(version=version, flat_P=np.zeros(0, np.float32), checksum=0)


def simulated(time_scale: float) -> dict[str, str | int | float]:
    """Return what every row says: that it slept, and how."""
    return {"latency_is": "simulated by sleeping", "time_scale": time_scale, "max_staleness": ETA}
