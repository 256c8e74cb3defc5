"""The runs of an ablation: which there are, in which folders, and which of them start from one and the same clone."""

import dataclasses
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from eval.ablation.ablations import Ablation, changed
from mcrl.config import CurriculumConfig, PPOConfig, RewardConfig, RolloutConfig, TrainConfig, to_json


@dataclass(frozen=True, kw_only=True, slots=True)
class PlannedRun:
    """One variant trained from one seed."""

    variant: str
    seed: int
    config: TrainConfig
    """Complete; `run_dir` is named after the content, so that equal runs of two ablations are one."""
    clone: TrainConfig | None
    """The run that has to be finished before, since this one starts from its policy; None when it stands alone."""

    @property
    def run_dir(self) -> Path:
        """Return the folder of the run."""
        return Path(self.config.run_dir)


def plan(ablation: Ablation, base: TrainConfig, seeds: Sequence[int], out_dir: Path) -> list[PlannedRun]:
    """Return the runs, seed by seed, so that a table of the first seeds is complete long before the last one is.

    `base` is the recipe with the ablation's common settings and the user's. A first stage that variants share is
    trained once a seed.
    """
    return [
        _planned(variant.name, changed(base, {**variant.settings, "seed": seed}), out_dir)
        for seed in seeds
        for variant in ablation.variants
    ]


def _planned(variant: str, config: TrainConfig, out_dir: Path) -> PlannedRun:
    if config.ppo.num_iterations == 0:
        # A variant without PPO ends with DAgger where it has rounds of it.
        whole = dataclasses.replace(
            clone_config(config), imitation=dataclasses.replace(config.imitation, control_updates=0)
        )
        return PlannedRun(variant=variant, seed=config.seed, config=_placed(whole, out_dir), clone=None)
    placed, clone = _placed(config, out_dir), None
    if config.imitation.num_updates:
        clone = _placed(clone_config(config), out_dir)
        placed = dataclasses.replace(placed, initial_policy=str(Path(clone.run_dir) / "checkpoints" / "imitation"))
    return PlannedRun(variant=variant, seed=config.seed, config=placed, clone=clone)


def clone_config(config: TrainConfig) -> TrainConfig:
    """Return the run of nothing but the first stage of `config`: equal for all runs whose first stages are."""
    return dataclasses.replace(
        config,
        ppo=PPOConfig(num_iterations=0),
        rollout=RolloutConfig(),
        tasks=dataclasses.replace(config.tasks, curriculum=CurriculumConfig()),
        env=dataclasses.replace(config.env, rewards=RewardConfig()),
        imitation=dataclasses.replace(config.imitation, control_updates=0, dagger_rounds=0, ppo_from_dagger=False),
        checkpoint_every=1,
        val_every=0,
    )


def _placed(config: TrainConfig, out_dir: Path) -> TrainConfig:
    return dataclasses.replace(config, run_dir=str(out_dir / "runs" / f"seed{config.seed}-{_digest(config)}"))


def _digest(config: TrainConfig) -> str:
    """Return the hash of all that decides how a run goes; where its folder lies does not."""
    return hashlib.sha256(to_json(dataclasses.replace(config, run_dir="")).encode()).hexdigest()[:10]
