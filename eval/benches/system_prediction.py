"""How fast a run that only waits should be: an event simulation that shares nothing with the system but the latencies.

E environments make fragments of T steps, an update takes E of them and a fixed time. Three ways to organise it:

step barrier       all environments step together, at the pace of the slowest in each step; then the learner learns
fragment barrier   each steps by itself, and an update waits for a fragment of every one; then the learner learns
async              nobody waits: an update takes whatever E fragments came first, while the next are made
"""

from typing import Literal

import numpy as np

from mcrl.dataflow.rings.latency import LatencyModel, LatencyStream

Mode = Literal["step barrier", "fragment barrier", "async"]
MODES: tuple[Mode, ...] = ("step barrier", "fragment barrier", "async")


def predicted_take_s(
    mode: Mode,
    model: LatencyModel,
    *,
    num_envs: int,
    fragment_steps: int,
    learner_s: float,
    num_updates: int,
    seed: int,
) -> np.ndarray:
    """Return float64 [num_updates], when each update begins, in seconds since the environments began."""
    # One fragment more for async, whose fast environments make more of them than the slow ones.
    num_fragments = num_updates if mode != "async" else _most_fragments(model, num_updates)
    step_s_EFT = np.array(
        [_env_steps(model, seed, env, num_fragments * fragment_steps) for env in range(num_envs)]
    ).reshape(num_envs, num_fragments, fragment_steps)
    if mode == "async":
        end_s_N = np.sort(step_s_EFT.sum(-1).cumsum(1).ravel())
        batch_s_U = end_s_N[num_envs - 1 :: num_envs][:num_updates]
    elif mode == "step barrier":
        return _in_turns(step_s_EFT.max(0).sum(-1), learner_s)
    else:
        return _in_turns(step_s_EFT.sum(-1).max(0), learner_s)
    take_s_U = np.empty(num_updates)
    free_s = 0.0
    for update, batch_s in enumerate(batch_s_U):
        take_s_U[update] = max(batch_s, free_s)
        free_s = take_s_U[update] + learner_s
    return take_s_U


def frames_per_s(take_s_U: np.ndarray, *, num_envs: int, fragment_steps: int, num_skipped: int) -> float:
    """Return the frames that reach the learner per second between the first counted update and the last."""
    counted_s_U = take_s_U[num_skipped:]
    return (len(counted_s_U) - 1) * num_envs * fragment_steps / float(counted_s_U[-1] - counted_s_U[0])


def _in_turns(rollout_s_U: np.ndarray, learner_s: float) -> np.ndarray:
    return np.cumsum(rollout_s_U) + learner_s * np.arange(len(rollout_s_U))


def _most_fragments(model: LatencyModel, num_updates: int) -> int:
    """Return how many fragments the fastest environment can make meanwhile, with room to spare."""
    per_env = 1.0 / (1 - model.slow_share * (1 - 1 / model.slow_factor))
    return int(num_updates * per_env * 1.5) + 4


def _env_steps(model: LatencyModel, seed: int, env: int, num_steps: int) -> list[float]:
    stream = LatencyStream(model, seed=seed, instance=env)
    latencies = (stream.draw() for _ in range(num_steps))
    return [latency.step_s + latency.reset_s for latency in latencies]
