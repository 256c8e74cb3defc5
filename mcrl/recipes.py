"""Recipes: functions that return a full config of a run."""

from collections.abc import Callable

from mcrl.config import EnvConfig, ImitationConfig, PPOConfig, RolloutConfig, TaskConfig, TrainConfig


def laptop() -> TrainConfig:
    """From nothing to a trained agent in about 15 minutes on 2 cores."""
    return TrainConfig(
        recipe="laptop",
        run_dir="runs/laptop",
        preset="small",
        tasks=TaskConfig(
            skills={"approach": 2.0, "break": 1.0},
            bands={"near": 1.0},
            biomes=("plains", "forest", "desert", "snowy_hills"),
            num_train_tasks=6144,
            num_val_tasks=256,
            num_eval_tasks=512,
        ),
        imitation=ImitationConfig(num_demo_steps=120_000, num_updates=2400, val_every_updates=200),
        ppo=PPOConfig(num_iterations=160, minibatch_sequences=8, learning_rate=2e-4, entropy_coef=0.0005),
        rollout=RolloutConfig(
            placement="ray", num_workers=2, envs_per_worker=32, max_staleness=1, worker_threads=1, learner_threads=1
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


RECIPES: dict[str, Callable[[], TrainConfig]] = {"laptop": laptop, "smoke": smoke}
