"""Stable-Baselines3's evaluate_policy with its CnnPolicy, actions drawn, 64 episodes by 16 envs in its process."""

import stable_baselines3
import torch
from frame_pool_gym import FramePoolGym
from stable_baselines3 import PPO
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.vec_env import DummyVecEnv, VecMonitor
from turns import EPISODES_PER_EVALUATION, NUM_ENVS, seed, take_turns


def main() -> None:
    """Drive it."""
    torch.set_num_threads(1)
    envs = VecMonitor(DummyVecEnv([lambda index=index: FramePoolGym(seed() + index) for index in range(NUM_ENVS)]))
    model = PPO("CnnPolicy", envs, seed=seed(), device="cpu")

    def iterate(num_iterations: int) -> int:
        num_frames = 0
        for _ in range(num_iterations):
            _, lengths = evaluate_policy(
                model, envs, EPISODES_PER_EVALUATION, deterministic=False, return_episode_rewards=True
            )
            assert isinstance(lengths, list)
            num_frames += int(sum(lengths))
        return num_frames

    take_turns(iterate, {"stable_baselines3": stable_baselines3.__version__, "torch": torch.__version__})


if __name__ == "__main__":
    main()
