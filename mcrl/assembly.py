"""Which tasks, environments, expert and policy a run is put together from, and a rollout worker made of them."""

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from mcrl.config import EnvConfig, TrainConfig
from mcrl.dataflow.contracts import LockstepEnv
from mcrl.dataflow.weights.params import ParamLayout
from mcrl.dataflow.weights.snapshot import ParamSnapshot
from mcrl.engine_device import is_engine_on_gpu
from mcrl.learning.demonstrations import Teacher
from mcrl.provenance import memory_bytes
from mcrl.rollout.rollout_worker import RolloutWorker
from mcrl.seeding import derive_seed
from mcrl.tasks.drawn_tasks import OnProgress, synthesise_tasks
from mcrl.tasks.engine_tasks import engine_tasks
from mcrl.tasks.library_tasks import library_of, library_tasks
from policies.device import CPU
from policies.expert import ExpertAgent
from policies.interface import Policy
from policies.presets import PRESETS, PolicyConfig, build_policy
from policies.pretrained import load_rocket
from policies.rocket_config import RocketConfig
from task_synthesis.playing.curriculum import AdaptiveTasks, MixedTasks, ShuffledTasks, TaskSampler
from task_synthesis.playing.engine_state import EngineKeeper
from task_synthesis.playing.milestones import PartialCredit
from task_synthesis.playing.task_env import TaskEnv, TaskSource
from task_synthesis.task import TaskSpec
from worlds.adapters.backend import ProcessBackend
from worlds.adapters.catalogue import BUILT_IN, choice_of
from worlds.adapters.engine_choice import EngineChoice
from worlds.anvil import Save
from worlds.backend import EnvBackend
from worlds.spec import Split
from worlds.voxel.backend import VoxelBackend
from worlds.voxel.world_cache import WorldCache

# Of worlds kept on the host for the resets of a GPU's envs: 6,000 of 128 x 64 x 128, as 70,000 train tasks have; and
# the part of what is free that they may take.
_GPU_WORLDS_BYTES, _GPU_WORLDS_SHARE = 24 * 2**30, 1 / 3


def make_sampler(config: TrainConfig, tasks: Sequence[TaskSpec], seed: int) -> TaskSampler:
    """Return the order in which PPO plays the train tasks, as the config asks."""
    curriculum = config.tasks.curriculum
    if curriculum.order == "adaptive":
        return AdaptiveTasks(
            tasks,
            split="train",
            seed=seed,
            key=curriculum.key,
            exploration=curriculum.exploration,
            memory_episodes=curriculum.memory_episodes,
        )
    if curriculum.order == "mixed":
        skills, bands = config.tasks.skills, config.tasks.bands
        shares = {f"{skill}/{band}": skills[skill] * bands[band] for skill in skills for band in bands}
        return MixedTasks(tasks, split="train", seed=seed, shares=shares, key="skill/band")
    return ShuffledTasks(tasks, split="train", seed=seed)


def make_tasks(config: TrainConfig, split: Split, num_tasks: int, on_progress: OnProgress) -> list[TaskSpec]:
    """Synthesise the run's tasks of one split, or read them where the config names a library."""
    if library_of(config.tasks, split) is not None:
        return library_tasks(config, split, num_tasks)
    if config.env.backend != BUILT_IN:
        return engine_tasks(
            config.env.backend,
            engine_choice(config.env),
            num_tasks,
            split=split,
            seed=derive_seed(config.seed, "tasks", split),
            skills=config.tasks.skills,
            bands=config.tasks.bands,
            num_same_kind=config.tasks.num_same_kind,
            on_progress=on_progress,
        )
    return synthesise_tasks(
        config,
        split,
        num_tasks,
        seed=derive_seed(config.seed, "tasks", split),
        num_threads=config.num_threads,
        on_progress=on_progress,
    )


def make_env(config: TrainConfig, source: TaskSource, num_envs: int, saves: Sequence[Save] = ()) -> TaskEnv:
    """Return environments on the config's engine; on the built-in one tasks may be in the given real saves."""
    side, image_px = config.tasks.side_blocks, config.env.image_px
    size_blocks = (side, 64, side)
    backend: EnvBackend
    keeper = None
    if config.env.backend == BUILT_IN:
        worlds = WorldCache(saves=saves)
        backend = VoxelBackend(num_envs, size_blocks=size_blocks, image_px=(image_px, image_px), world_cache=worlds)
        keeper = EngineKeeper(backend, worlds)
    else:
        backend = ProcessBackend(
            num_envs, engine_choice(config.env), size_blocks=size_blocks, image_px=(image_px, image_px)
        )
    return task_env(config, backend, source, keeper)


def make_gpu_env(config: TrainConfig, source: TaskSource, num_envs: int) -> TaskEnv:
    """Return environments on the built-in engine, which plays and draws on the current CUDA device."""
    from worlds.voxel.cuda.hosted import HostedCudaBackend  # needs numba-cuda, an extra

    side, image_px = config.tasks.side_blocks, config.env.image_px
    _, free_bytes = memory_bytes()
    max_bytes = min(_GPU_WORLDS_BYTES, int(_GPU_WORLDS_SHARE * free_bytes))
    backend = HostedCudaBackend(
        num_envs,
        size_blocks=(side, 64, side),
        image_px=(image_px, image_px),
        world_cache=WorldCache(max_bytes=max_bytes, num_threads=config.num_threads),
    )
    return task_env(config, backend, source)


def task_env(
    config: TrainConfig, backend: EnvBackend, source: TaskSource, keeper: EngineKeeper | None = None
) -> TaskEnv:
    """Return an engine whose agents are given tasks, watched and rewarded as the config says."""
    rewards = config.env.rewards
    partial_credit = PartialCredit(rewards, backend.num_envs, discount=config.ppo.discount) if rewards.is_on else None
    return TaskEnv(
        backend,
        source,
        action_repeat=config.env.action_repeat_ticks,
        partial_credit=partial_credit,
        goal_form=config.env.goal_form,
        keeper=keeper,
        tells_situations=config.ppo.privileged_critic,
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Parts:
    """The functions that make a run's pieces. Module-level functions, so that they can be sent to Ray workers."""

    make_tasks: Callable[[TrainConfig, Split, int, OnProgress], list[TaskSpec]]
    """(config, split, how many, who hears how many there are): tasks in worlds of that split."""
    make_env: Callable[[TrainConfig, TaskSource, int], LockstepEnv]
    """(config, task source, number of envs)."""
    make_gpu_env: Callable[[TrainConfig, TaskSource, int], LockstepEnv] = make_gpu_env
    """As make_env, for a worker whose engine is on its policy's GPU, see RolloutConfig.engine_device."""
    make_expert: Callable[[LockstepEnv], Teacher]
    """The teacher for an env of `make_env`."""
    make_policy: Callable[[TrainConfig], Policy]
    """Always the same weights for the same config."""
    make_sampler: Callable[[TrainConfig, Sequence[TaskSpec], int], TaskSampler] = make_sampler
    """(config, train tasks, seed): in which order PPO plays them. One for each worker, and one that hears of every
    episode the learner gets; what that one knows goes to the workers with the weights, and into checkpoints."""


def engine_choice(env: EnvConfig) -> EngineChoice:
    """Return which engine of somebody else a config means, and how it starts."""
    return choice_of(env.backend, env.engine_python, env.engine_options)


def make_expert(env: LockstepEnv) -> Teacher:
    """Return the camera-honest expert."""
    assert isinstance(env, TaskEnv)
    return ExpertAgent(env, is_teaching=True)


def make_policy(config: TrainConfig) -> Policy:
    """Return the policy of the run's preset with its first weights: drawn, or those of the config's public file."""
    if config.preset not in PRESETS:
        raise ValueError(f"preset {config.preset!r} is unknown; choose one of {', '.join(PRESETS)}")
    own = PRESETS[config.preset]()
    try:
        sizes = dataclasses.replace(own, image_px=config.env.image_px)
    except ValueError:
        raise ValueError(
            f"env.image_px {config.env.image_px} does not fit preset {config.preset}, set it to {own.image_px} "
            f"(--env.image-px {own.image_px})"
        ) from None
    if config.pretrained_weights is not None:
        return _pretrained_policy(config, sizes)
    return build_policy(sizes, derive_seed(config.seed, "policy"))


def _pretrained_policy(config: TrainConfig, sizes: PolicyConfig) -> Policy:
    """Return the policy of public weights, for which the run's preset must stand.

    The file decides what the presets leave open: how many view tokens, how long a memory, previous action or not.
    """
    assert config.pretrained_weights is not None
    path = Path(config.pretrained_weights)
    if not isinstance(sizes, RocketConfig):
        raise ValueError(f"pretrained_weights {path}: of a ROCKET network, preset is {config.preset!r}; give rocket")
    policy = load_rocket(path)
    got = (policy.config.width, policy.image_px)
    if got != (sizes.width, sizes.image_px):
        raise ValueError(
            f"pretrained_weights {path}: width {got[0]} at {got[1]} px, this run's preset {config.preset!r} is "
            f"{sizes.width} at {sizes.image_px} px; choose rocket (1024) or rocket_xl (1536), and env.image_px {got[1]}"
        )
    return policy


PRODUCT = Parts(make_tasks=make_tasks, make_env=make_env, make_expert=make_expert, make_policy=make_policy)


def build_worker(
    config: TrainConfig,
    parts: Parts,
    tasks: Sequence[TaskSpec],
    reference: ParamSnapshot | None,
    worker_id: int,
    first_sequence: int,
    *,
    device: torch.device = CPU,
) -> RolloutWorker:
    """Build one rollout worker where this is called; it acts on `device`.

    With the first four arguments bound it is a WorkerFactory.
    """
    reference_policy: Policy | None = None
    if reference is not None:
        reference_policy = parts.make_policy(config).to(device)
        ParamLayout(reference_policy).load(reference_policy, reference)
    # A worker that starts again must not play the same tasks in the same order again.
    curriculum_seed = derive_seed(config.seed, "curriculum", worker_id, first_sequence)
    sampler = parts.make_sampler(config, tasks, curriculum_seed)
    is_on_gpu = is_engine_on_gpu(config, device)
    make_env = parts.make_gpu_env if is_on_gpu else parts.make_env
    return RolloutWorker(
        make_env(config, sampler, config.rollout.envs_per_worker),
        parts.make_policy(config).to(device),
        reference_policy,
        fragment_steps=config.ppo.fragment_steps,
        worker_id=worker_id,
        seed=config.seed,
        precision=config.precision,
        first_sequence=first_sequence,
        sampler=sampler,
        # Where acting and learning take turns nobody can be faster, and noise is all a clock would add.
        is_timed=config.ppo.duration_weighting != "none" and config.rollout.placement != "inline",
        draws_on_device=is_on_gpu,
    )
