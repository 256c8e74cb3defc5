"""Stable-Baselines3's PPO with its CnnPolicy, envs in its process (DummyVecEnv): faster here than one process each."""

import stable_baselines3
import torch
from frame_pool_gym import FramePoolGym
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import DummyVecEnv
from turns import (
    CLIP_EPS,
    DISCOUNT,
    ENTROPY_COEF,
    FRAMES_PER_ITERATION,
    GAE_LAMBDA,
    LEARNING_RATE,
    MAX_GRAD_NORM,
    MINIBATCH_FRAMES,
    NUM_ENVS,
    ROLLOUT_STEPS,
    VALUE_COEF,
    seed,
    take_turns,
)


def main() -> None:
    """Drive it."""
    torch.set_num_threads(1)
    model = PPO(
        "CnnPolicy",
        DummyVecEnv([lambda index=index: FramePoolGym(seed() + index) for index in range(NUM_ENVS)]),
        n_steps=ROLLOUT_STEPS,
        batch_size=MINIBATCH_FRAMES,
        n_epochs=1,
        learning_rate=LEARNING_RATE,
        gamma=DISCOUNT,
        gae_lambda=GAE_LAMBDA,
        clip_range=CLIP_EPS,
        vf_coef=VALUE_COEF,
        ent_coef=ENTROPY_COEF,
        max_grad_norm=MAX_GRAD_NORM,
        seed=seed(),
        device="cpu",
    )

    def iterate(num_iterations: int) -> int:
        before = model.num_timesteps
        model.learn(num_iterations * FRAMES_PER_ITERATION, reset_num_timesteps=False)
        return model.num_timesteps - before

    take_turns(iterate, {"stable_baselines3": stable_baselines3.__version__, "torch": torch.__version__})


if __name__ == "__main__":
    main()
