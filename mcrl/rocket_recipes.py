"""Recipes after ROCKET-3, and the mix of its skills that other recipes train on, too."""

from dataclasses import replace

from mcrl.config import (
    CurriculumConfig,
    EnvConfig,
    ImitationConfig,
    PPOConfig,
    RolloutConfig,
    TaskConfig,
    TrainConfig,
)
from task_synthesis.held_out import TRAIN_BIOMES

# Those of ROCKET-3, in its order.
_PAPER_SKILLS = ("approach", "break", "interact", "hunt", "archery")


def wide_tasks(bands: dict[str, float], *, num_train_tasks: int) -> TaskConfig:
    """Return the paper's skills in worlds of 128 blocks and every trainable biome, others of the target's kind near."""
    return TaskConfig(
        skills=dict.fromkeys(_PAPER_SKILLS, 1.0),
        bands=bands,
        biomes=TRAIN_BIOMES,
        side_blocks=128,
        full_share=0.5,
        num_same_kind=(0, 3),
        num_train_tasks=num_train_tasks,
        num_val_tasks=512,
        num_eval_tasks=1_008,
    )


def paper() -> TrainConfig:
    """ROCKET-3's post-training as its table 3 has it; what the table leaves open is said here.

    Six workers of twelve environments, 20 decisions a second. Weight decay (.04) is left out, the log-ratio is not
    bounded beyond the clip, and an iteration is 12 batches of 10 fragments. With public ROCKET-2 weights as
    start and reference, as in the paper: `--pretrained-weights FILE --imitation.num-updates 0`; without them the expert
    is cloned first.
    """
    return TrainConfig(
        recipe="paper",
        run_dir="runs/paper",
        preset="rocket_xl",
        # 20, 40 and 60 blocks in equal shares; here bands end there.
        tasks=replace(
            wide_tasks({"easy": 1.0, "medium": 1.0, "hard": 1.0}, num_train_tasks=100_000),
            full_share=1.0,
            curriculum=CurriculumConfig(order="mixed"),
        ),
        env=EnvConfig(image_px=224, action_repeat_ticks=1),
        imitation=_rocket_imitation(),
        ppo=PPOConfig(
            num_iterations=4_000,
            fragment_steps=256,
            fragments_per_batch=120,
            minibatch_sequences=10,
            num_epochs=1,
            learning_rate=2e-5,
            final_learning_rate_share=1.0,
            clip_eps=0.2,
            discount=0.999,
            gae_lambda=0.95,
            value_coef=0.5,
            entropy_coef=0.0,
            kl_to_reference=0.2,
            kl_decay=0.9995,
            auxiliary_coef=0.0,
            max_grad_norm=0.5,
            value_warmup_iterations=0,
        ),
        rollout=RolloutConfig(
            placement="ray", num_workers=6, envs_per_worker=12, max_staleness=1, worker_threads=2, learner_threads=16
        ),
        report_suite="unseen_seeds",
        num_threads=16,
    )


def minecraft_finetune() -> TrainConfig:
    """A policy with public ROCKET-2 weights, fine-tuned at Minecraft's own 20 decisions a second."""
    base = paper()
    return replace(
        base,
        recipe="minecraft_finetune",
        run_dir="runs/minecraft_finetune",
        preset="rocket",
        pretrained_weights="rocket2.safetensors",
        imitation=replace(base.imitation, num_updates=0),
        ppo=replace(base.ppo, num_iterations=400, fragments_per_batch=16, minibatch_sequences=8, fragment_steps=128),
        rollout=RolloutConfig(
            placement="ray", num_workers=2, envs_per_worker=8, max_staleness=1, worker_threads=2, learner_threads=8
        ),
        num_threads=8,
    )


def _rocket_imitation() -> ImitationConfig:
    """Return the cloning of a rocket preset: ROCKET-2's window of 128, batch of 32, rate 4e-5 and gradient norm 1."""
    return ImitationConfig(
        num_demo_steps=600_000,
        num_val_demo_steps=8_192,
        num_envs=64,
        fragment_steps=128,
        sequences_per_batch=32,
        num_updates=10_000,
        learning_rate=4e-5,
        val_every_updates=1_000,
        max_grad_norm=1.0,
    )
