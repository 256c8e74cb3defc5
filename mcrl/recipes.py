"""Recipes: functions that return a full config of a run. What each needs and gives is told in mcrl.recipe_notes."""

from collections.abc import Callable
from dataclasses import replace

from mcrl.config import (
    EnvConfig,
    ImitationConfig,
    PPOConfig,
    RolloutConfig,
    TaskConfig,
    TrainConfig,
)
from mcrl.rocket_recipes import minecraft_finetune, paper, wide_tasks


def laptop() -> TrainConfig:
    """From nothing to a trained agent in ten to twenty minutes on 2 cores.

    As in `workstation`, DAgger corrects a short clone, and PPO goes on from there without a reference, judged by a
    critic that knows where the target is.
    """
    return TrainConfig(
        recipe="laptop",
        run_dir="runs/laptop",
        preset="keen_small",
        tasks=TaskConfig(
            skills={"approach": 2.0, "break": 1.0},
            bands={"near": 1.0},
            biomes=("plains", "forest", "desert", "snowy_hills"),
            num_train_tasks=6144,
            num_val_tasks=256,
            num_eval_tasks=512,
        ),
        imitation=ImitationConfig(
            num_demo_steps=120_000,
            num_updates=1600,
            val_every_updates=200,
            dagger_rounds=2,
            dagger_steps=60_000,
            ppo_from_dagger=True,
        ),
        ppo=PPOConfig(
            num_iterations=180,
            minibatch_sequences=8,
            learning_rate=2e-4,
            entropy_coef=0.0005,
            kl_to_reference=None,
            privileged_critic=True,
        ),
        rollout=RolloutConfig(
            placement="ray", num_workers=1, envs_per_worker=64, max_staleness=1, worker_threads=1, learner_threads=1
        ),
    )


def smoke() -> TrainConfig:
    """Every stage once, small enough for a test: under a minute, and too short to learn much."""
    return TrainConfig(
        recipe="smoke",
        run_dir="runs/smoke",
        preset="tiny",
        tasks=TaskConfig(side_blocks=32, num_train_tasks=64, num_val_tasks=16, num_eval_tasks=16),
        env=EnvConfig(image_px=32),
        imitation=ImitationConfig(
            num_demo_steps=4096,
            num_val_demo_steps=512,
            num_envs=16,
            fragment_steps=16,
            num_updates=100,
            val_every_updates=25,
            pair_goals=4,
        ),
        ppo=PPOConfig(
            num_iterations=4,
            fragment_steps=16,
            fragments_per_batch=16,
            minibatch_sequences=8,
            value_warmup_iterations=1,
        ),
        rollout=RolloutConfig(num_workers=1, envs_per_worker=16),
        num_threads=1,
        checkpoint_every=2,
        wandb="disabled",
    )


def workstation() -> TrainConfig:
    """The paper's five skills, half of the tasks in full worlds as the suites have them: two hours on 2 cores.

    DAgger corrects the clone before PPO, which so begins with fewer lost targets. PPO has no reference: watching takes
    a quarter of all its time, and a run of 60 iterations learned as much without (eval/LOG.md, 2026-11-22). Its critic
    knows where the target is, and explains four fifths of what comes instead of a half. What is 9 blocks away or more
    has few pixels: views have 96 a side, and the policy is told of each part of one how well its best pixel answers to
    the goal. Demonstrations fill 9 GB, with what DAgger keeps 13.
    """
    return TrainConfig(
        recipe="workstation",
        run_dir="runs/workstation",
        preset="keen",
        tasks=replace(wide_tasks({"near": 1.0, "easy": 1.0}, num_train_tasks=16_384), companion_share=0.5),
        env=EnvConfig(image_px=96),
        imitation=ImitationConfig(
            num_demo_steps=320_000,
            num_val_demo_steps=8_192,
            sequences_per_batch=8,
            num_updates=7_000,
            val_every_updates=500,
            dagger_rounds=2,
            dagger_steps=150_000,
            dagger_updates=2_500,
            dagger_keep_steps=480_000,
            ppo_from_dagger=True,
        ),
        ppo=PPOConfig(
            num_iterations=1_200,
            minibatch_sequences=8,
            learning_rate=2e-4,
            entropy_coef=0.0005,
            kl_to_reference=None,
            privileged_critic=True,
        ),
        # One worker of 64 environments and not two of 32: a fifth less of a CPU's time a decision.
        rollout=RolloutConfig(
            placement="ray", num_workers=1, envs_per_worker=64, max_staleness=1, worker_threads=1, learner_threads=1
        ),
        report_suite="unseen_seeds",
        val_every=200,
    )


def gpu() -> TrainConfig:
    """The tasks of `workstation` at 64 px, in batches that keep a GPU busy: 1,024 environments step side by side.

    One process and all on the GPU: the engine plays and draws there, the policy acts on what was drawn where it lies,
    and PPO learns from it. The processor begins episodes and judges them.
    """
    base = workstation()
    return replace(
        base,
        recipe="gpu",
        run_dir="runs/gpu",
        preset="small",
        tasks=replace(base.tasks, num_train_tasks=65_536),
        env=EnvConfig(),
        imitation=replace(
            base.imitation,
            num_demo_steps=600_000,
            num_envs=256,
            sequences_per_batch=64,
            num_updates=10_000,
            val_every_updates=1_000,
            dagger_rounds=4,
            dagger_steps=307_200,
            dagger_keep_steps=1_000_000,
        ),
        # An optimizer step sees 8 times what one of `workstation` does, for which its rate is 2.5 times as high.
        ppo=replace(
            base.ppo, num_iterations=1_000, fragments_per_batch=1_024, minibatch_sequences=64, learning_rate=5e-4
        ),
        rollout=RolloutConfig(num_workers=1, envs_per_worker=1_024, engine_device="auto"),
        num_threads=16,
    )


def cluster() -> TrainConfig:
    """The base policy on all seven skills and bands, acted by 32 Ray workers and learned from two updates behind."""
    tasks = wide_tasks({"near": 1.0, "easy": 1.0, "medium": 1.0, "hard": 1.0}, num_train_tasks=100_000)
    return TrainConfig(
        recipe="cluster",
        run_dir="runs/cluster",
        preset="base",
        tasks=replace(tasks, skills=tasks.skills | {"pick_up": 1.0, "place": 1.0}, full_share=1.0, companion_share=0.5),
        env=EnvConfig(image_px=128),
        imitation=ImitationConfig(
            num_demo_steps=600_000,
            num_val_demo_steps=8_192,
            num_envs=256,
            sequences_per_batch=64,
            num_updates=10_000,
            val_every_updates=1_000,
            learning_rate=3e-4,
        ),
        # Acted with weights up to two updates old: a cut ratio without clipping keeps their gradient (LlamaRL).
        ppo=PPOConfig(
            num_iterations=2_000,
            fragments_per_batch=1_024,
            minibatch_sequences=64,
            learning_rate=1e-4,
            entropy_coef=0.0005,
            loss="aipo",
        ),
        rollout=RolloutConfig(
            placement="ray", num_workers=32, envs_per_worker=32, max_staleness=2, worker_threads=2, learner_threads=16
        ),
        report_suite="unseen_seeds",
        num_threads=16,
        val_every=100,
    )


RECIPES: dict[str, Callable[[], TrainConfig]] = {
    "laptop": laptop,
    "smoke": smoke,
    "workstation": workstation,
    "gpu": gpu,
    "cluster": cluster,
    "paper": paper,
    "minecraft_finetune": minecraft_finetune,
}
