"""Settings that were given and that nothing in a run would read: whoever gave them believes that they do something."""

from collections.abc import Iterator
from dataclasses import fields
from operator import attrgetter

from mcrl.config import CurriculumConfig, ImitationConfig, LearnerConfig, PPOConfig, RolloutConfig, TrainConfig
from mcrl.settings.ppo_config import LOSS_SETTINGS
from worlds.adapters.catalogue import BUILT_IN

_OF_DAGGER = ("dagger_steps", "dagger_keep_steps", "dagger_updates", "dagger_beta")
# What says whether there is a stage at all.
_NUMBERS_OF_STAGES = ("num_updates", "control_updates", "dagger_rounds", "ppo_from_dagger")
# What success checks read, which every run has.
_OF_CHECKS = ("num_envs",)
# What the second stage alone reads.
OF_PPO = (
    "checkpoint_every",
    "val_every",
    *(f"ppo.{field.name}" for field in fields(PPOConfig) if field.name != "num_iterations"),
    *(f"rollout.{field.name}" for field in fields(RolloutConfig)),
    *(f"learner.{field.name}" for field in fields(LearnerConfig)),
    *(f"tasks.curriculum.{field.name}" for field in fields(CurriculumConfig)),
)


def check_read(config: TrainConfig, default: TrainConfig, *, with_ppo: str = "--ppo.num-iterations above 0") -> None:
    """Raise ValueError for a setting that is not as in `default` and that no part of the run reads.

    `with_ppo` is what gives a run PPO where this one has none.
    """
    for sentence in unread(config, default, with_ppo=with_ppo).values():
        raise ValueError(sentence)


def unread(
    config: TrainConfig, default: TrainConfig, *, with_ppo: str = "--ppo.num-iterations above 0"
) -> dict[str, str]:
    """Return the settings that are not as in `default` and that no part of the run reads, each with its sentence."""
    sentences: dict[str, str] = {}
    for name, why in _idle(config, with_ppo):
        if attrgetter(name)(config) != attrgetter(name)(default):
            # The first of several reasons: without PPO at all nothing else matters.
            sentences.setdefault(name, f"--{name.replace('_', '-')} does nothing {why}, or leave the option out")
    return sentences


def _idle(config: TrainConfig, with_ppo: str) -> Iterator[tuple[str, str]]:
    """Yield the settings that are not read, each with why that is and what would have it read."""
    imitation, ppo, rollout = config.imitation, config.ppo, config.rollout
    if not imitation.dagger_rounds:
        without_rounds = "without rounds of DAgger; set --imitation.dagger-rounds above 0"
        for name in _OF_DAGGER:
            yield f"imitation.{name}", without_rounds
        if imitation.ppo_from_dagger:  # whoever says that PPO is not to go on from there gets what he wants
            yield "imitation.ppo_from_dagger", without_rounds
    if not imitation.pair_goals:
        yield "imitation.pair_coef", "without pairs of pictures; set --imitation.pair-goals above 0"
    is_cloning = config.initial_policy is None and imitation.num_updates > 0
    if not is_cloning and not imitation.dagger_rounds and not imitation.control_updates:
        start = "--imitation.num-updates 0" if config.initial_policy is None else "--initial-policy"
        for field in fields(ImitationConfig):
            if field.name not in (*_OF_DAGGER, *_NUMBERS_OF_STAGES, *_OF_CHECKS):
                yield f"imitation.{field.name}", f"where {start} leaves imitation out; drop that one"
    elif imitation.demos is not None:
        yield "imitation.num_demo_steps", "where --imitation.demos gives the demonstrations, all of them; drop that one"
    if config.initial_policy is not None and imitation.num_updates:
        yield "imitation.num_updates", "where --initial-policy stands for the clone; drop that one"
    if config.env.backend != BUILT_IN and config.tasks.library is None:
        for name in ("biomes", "full_share", "companion_share"):
            yield f"tasks.{name}", f"where tasks are made in the worlds of {config.env.backend}; drop --env.backend"
    if not ppo.num_iterations:
        for name in OF_PPO:
            yield name, f"without PPO; train with {with_ppo}"
    if config.tasks.curriculum.order != "adaptive":
        for name in ("key", "exploration", "memory_episodes"):
            yield f"tasks.curriculum.{name}", "unless tasks are drawn by success; set --tasks.curriculum.order adaptive"
    for name, losses in LOSS_SETTINGS.items():
        if ppo.loss not in losses:
            yield f"ppo.{name}", f"with --ppo.loss {ppo.loss}; set that to {' or '.join(losses)}"
    if config.learner.num_processes == 1:
        yield "learner.timeout_s", "where one process learns; set --learner.num-processes above 1"
    if rollout.placement == "inline":
        yield "rollout.worker_threads", "inline, where --num-threads counts; set --rollout.placement ray"
    if rollout.ring_groups == 1 and rollout.inference == "inline":
        yield "rollout.step_limit_s", "where nothing waits by it; set --rollout.ring-groups above 1"
    if ppo.kl_to_reference is None:
        yield "ppo.kl_decay", "without a reference; set --ppo.kl-to-reference to a weight"
    elif ppo.kl_target is not None:
        yield "ppo.kl_decay", "where --ppo.kl-target steers the weight; drop that one"
