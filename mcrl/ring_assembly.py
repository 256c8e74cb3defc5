"""A run's ring of engines: a rollout worker whose groups of environments need not keep step."""

import threading
from collections.abc import Sequence
from contextlib import nullcontext
from functools import partial

import torch

from mcrl.assembly import Parts
from mcrl.config import TrainConfig
from mcrl.dataflow.contracts import LockstepEnv
from mcrl.dataflow.inference.policy_host import PolicyHost
from mcrl.dataflow.inference.remote import RemoteInference
from mcrl.dataflow.inference.stream import InferenceStream
from mcrl.dataflow.rings.group import Backend
from mcrl.dataflow.rings.ring import EnvRing
from mcrl.dataflow.weights.params import ParamLayout
from mcrl.dataflow.weights.snapshot import ParamSnapshot
from mcrl.seeding import derive_seed
from policies.device import CPU
from policies.interface import Policy
from task_synthesis.playing.task_env import Observation, TaskEnv, Transition
from task_synthesis.task import TaskSpec
from worlds.adapters.catalogue import BUILT_IN
from worlds.types import ActionBatch
from worlds.voxel.backend import VoxelBackend


def build_ring(
    config: TrainConfig,
    parts: Parts,
    tasks: Sequence[TaskSpec],
    reference: ParamSnapshot | None,
    worker_id: int,
    first_sequence: int | Sequence[int],
    *,
    inference_name: str = "",
    device: torch.device = CPU,
) -> EnvRing:
    """Build one ring where this is called. With the first four arguments bound it is a WorkerFactory.

    `first_sequence` is of the groups' first fragments, one number or one a group. `inference_name` is the name under
    which the workers of a run find its replicas of the policy, where inference is remote; else the ring acts on
    `device`.
    """
    rollout = config.rollout
    start = first_sequence if isinstance(first_sequence, int) else max(first_sequence)
    engine_turn = threading.Lock()

    def make_backend(group: int, life: int) -> Backend:
        # An engine that starts again must not play the same tasks in the same order again. The first group's seed is
        # that of a worker with one engine.
        names = (group, life) if group or life else ()
        seed = derive_seed(config.seed, "curriculum", worker_id, start, *names)
        sampler = parts.make_sampler(config, tasks, seed)
        # Others start as they step, in processes of their own: a minute or two each, which nobody else should wait for.
        with engine_turn if config.env.backend == BUILT_IN else nullcontext():
            env = parts.make_env(config, sampler, rollout.envs_per_worker // rollout.ring_groups)
        return Backend(env=_in_turns(env, engine_turn), sampler=sampler)

    return EnvRing(
        make_backend,
        _inference(config, parts, reference, worker_id, start, inference_name, device),
        num_groups=rollout.ring_groups,
        envs_per_group=rollout.envs_per_worker // rollout.ring_groups,
        fragment_steps=config.ppo.fragment_steps,
        worker_id=worker_id,
        step_limit_s=rollout.step_limit_s,
        first_sequence=first_sequence,
        # Where acting and learning take turns nobody can be faster, and noise is all a clock would add.
        is_timed=config.ppo.duration_weighting != "none"
        and (rollout.placement != "inline" or rollout.max_staleness > 0),
    )


def _inference(
    config: TrainConfig,
    parts: Parts,
    reference: ParamSnapshot | None,
    worker_id: int,
    start: int,
    name: str,
    device: torch.device,
) -> InferenceStream:
    rollout = config.rollout
    if rollout.inference == "inline":
        return make_host(config, parts, reference, derive_seed(config.seed, "rollout", worker_id, start), device)
    from mcrl.dataflow.ray.inference import RayTransport  # heavy, and only this placement needs it

    return RemoteInference(
        [
            RayTransport(
                f"{name}-{replica}",
                partial(_make_replica, config, parts, reference, worker_id, start, replica),
                num_threads=rollout.worker_threads,
                time_limit_s=rollout.step_limit_s,
            )
            for replica in range(rollout.inference_replicas)
        ],
        time_limit_s=rollout.step_limit_s,
    )


def _make_replica(
    config: TrainConfig,
    parts: Parts,
    reference: ParamSnapshot | None,
    worker_id: int,
    start: int,
    replica: int,
    num_missed: int,
) -> PolicyHost:
    """Build the policy of a replica that this worker starts; one that is started again must not draw the same again."""
    names = (worker_id, start, num_missed) if start or num_missed else ()
    return make_host(config, parts, reference, derive_seed(config.seed, "inference", replica, *names))


def make_host(
    config: TrainConfig,
    parts: Parts,
    reference: ParamSnapshot | None,
    seed: int,
    device: torch.device = CPU,
) -> PolicyHost:
    """Build the run's policy, and its frozen reference, on `device` of this process; actions are drawn with `seed`."""
    reference_policy: Policy | None = None
    if reference is not None:
        reference_policy = parts.make_policy(config).to(device)
        ParamLayout(reference_policy).load(reference_policy, reference)
        reference_policy.requires_grad_(False)
    return PolicyHost(parts.make_policy(config).to(device), reference_policy, seed=seed, precision=config.precision)


class _InTurns:
    """A LockstepEnv on the built-in engine, whose kernels must not run in two threads at once on every machine.

    numba's own thread pool (where neither OpenMP nor TBB is installed) ends the process then. A run whose policy would
    act beside its engines is refused there (policies.threads). By turns nothing is lost: the engine computes and never
    waits, with all the threads that the worker has.
    """

    def __init__(self, env: LockstepEnv, turn: threading.Lock) -> None:
        self.num_envs = env.num_envs
        self._env, self._turn = env, turn

    def reset(self) -> Observation:
        """Begin an episode in every env."""
        with self._turn:
            return self._env.reset()

    def step(self, actions: ActionBatch) -> Transition:
        """Let every env take one decision."""
        with self._turn:
            return self._env.step(actions)

    def close(self) -> None:
        """End the engine; without its turn, which one that hangs would keep."""
        self._env.close()


def _in_turns(env: LockstepEnv, turn: threading.Lock) -> LockstepEnv:
    is_built_in = isinstance(env, TaskEnv) and isinstance(env.backend, VoxelBackend)
    return _InTurns(env, turn) if is_built_in else env
