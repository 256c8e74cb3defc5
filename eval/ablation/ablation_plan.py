"""The runs of an ablation: which there are, in which folders, and which start from one and the same policy."""

import dataclasses
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from eval.ablation.ablations import Ablation, changed
from mcrl.config import CurriculumConfig, PPOConfig, RewardConfig, RolloutConfig, TrainConfig, to_json
from mcrl.stages.dagger_rounds import DAGGER
from mcrl.stages.dagger_stage import steps_per_round
from mcrl.stages.imitation_stage import IMITATION


@dataclass(frozen=True, kw_only=True, slots=True)
class PlannedRun:
    """One variant trained from one seed."""

    variant: str
    seed: int
    config: TrainConfig
    """Complete; `run_dir` is named after the content, so that equal runs of two ablations are one."""
    start: TrainConfig | None
    """The run that has to be finished before, since PPO goes on from its policy; None when this one stands alone."""

    @property
    def run_dir(self) -> Path:
        """Return the folder of the run."""
        return Path(self.config.run_dir)


def plan(ablation: Ablation, base: TrainConfig, seeds: Sequence[int], out_dir: Path) -> list[PlannedRun]:
    """Return the runs, seed by seed, so that a table of the first seeds is complete long before the last one is.

    `base` is the recipe with the ablation's common settings and the user's. What comes before PPO, the clone and the
    DAgger that it goes on from, is trained once a seed for all variants that share it.
    """
    return [
        _planned(variant.name, changed(base, {**variant.settings, "seed": seed}), out_dir)
        for seed in seeds
        for variant in ablation.variants
    ]


def _planned(variant: str, config: TrainConfig, out_dir: Path) -> PlannedRun:
    if config.ppo.num_iterations == 0:
        return PlannedRun(variant=variant, seed=config.seed, config=_placed(start_of(config), out_dir), start=None)
    placed, start = _placed(config, out_dir), None
    if config.imitation.num_updates:
        start = _placed(start_of(config), out_dir)
        stage = DAGGER if config.imitation.does_ppo_follow_dagger else IMITATION
        placed = dataclasses.replace(
            placed,
            initial_policy=str(Path(start.run_dir) / "checkpoints" / stage),
            imitation=dataclasses.replace(config.imitation, dagger_rounds=0, ppo_from_dagger=False),
        )
    return PlannedRun(variant=variant, seed=config.seed, config=placed, start=start)


def start_of(config: TrainConfig) -> TrainConfig:
    """Return the run of what comes before PPO in `config`, equal for all runs in which that is.

    DAgger is a part of it where PPO goes on from there, or where there is no PPO; else it is a row beside the result,
    which an ablation does not ask for.
    """
    imitation = dataclasses.replace(config.imitation, control_updates=0)
    if imitation.does_ppo_follow_dagger or (imitation.dagger_rounds and config.ppo.num_iterations == 0):
        imitation = dataclasses.replace(imitation, dagger_steps=steps_per_round(config))
    else:
        imitation = dataclasses.replace(imitation, dagger_rounds=0, ppo_from_dagger=False)
    return dataclasses.replace(
        config,
        ppo=PPOConfig(num_iterations=0),
        rollout=RolloutConfig(),
        tasks=dataclasses.replace(config.tasks, curriculum=CurriculumConfig()),
        env=dataclasses.replace(config.env, rewards=RewardConfig()),
        imitation=imitation,
        checkpoint_every=1,
        val_every=0,
    )


def _placed(config: TrainConfig, out_dir: Path) -> TrainConfig:
    return dataclasses.replace(config, run_dir=str(out_dir / "runs" / f"seed{config.seed}-{_digest(config)}"))


def _digest(config: TrainConfig) -> str:
    """Return the hash of all that decides how a run goes; where its folder lies does not."""
    return hashlib.sha256(to_json(dataclasses.replace(config, run_dir="")).encode()).hexdigest()[:10]
