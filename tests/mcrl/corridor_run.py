"""A whole run in the corridor: its config, parts that stop it in the middle, and what it has learned."""

import dataclasses
import os
import signal

import torch

from mcrl import checkpoint
from mcrl.config import EnvConfig, ImitationConfig, PPOConfig, RolloutConfig, TrainConfig
from tests.mcrl.corridor_policy import CORRIDOR


def make_config(tmp_path, **changes):
    config = TrainConfig(
        recipe="corridor",
        run_dir=str(tmp_path / "run"),
        env=EnvConfig(image_px=16),
        imitation=ImitationConfig(
            num_demo_steps=256,
            num_val_demo_steps=64,
            num_envs=8,
            fragment_steps=8,
            num_updates=20,
            val_every_updates=10,
        ),
        ppo=PPOConfig(
            num_iterations=6,
            fragment_steps=8,
            fragments_per_batch=8,
            minibatch_sequences=4,
            value_warmup_iterations=1,
        ),
        rollout=RolloutConfig(envs_per_worker=8),
        tasks=dataclasses.replace(TrainConfig(recipe="x").tasks, num_train_tasks=8, num_val_tasks=4),
        num_threads=1,
        precision="fp32",
        checkpoint_every=2,
        wandb="disabled",
    )
    return dataclasses.replace(config, **changes)


def with_rounds(config, **changes):
    """Return the config with a short DAgger."""
    sizes = {"dagger_rounds": 2, "dagger_steps": 64, "dagger_updates": 10} | changes
    return dataclasses.replace(config, imitation=dataclasses.replace(config.imitation, **sizes))


class StopIn:
    """Parts whose n-th env asks the run to stop, as Ctrl-C would, when it has handed out `num_tasks` tasks."""

    def __init__(self, which_env: int, num_tasks: int, number: signal.Signals = signal.SIGINT) -> None:
        self.which_env, self.num_tasks, self.number = which_env, num_tasks, number

    def make_env(self, config, source, num_envs):
        self.which_env -= 1
        if self.which_env >= 0:
            return CORRIDOR.make_env(config, source, num_envs)

        def counting(env_index):
            self.num_tasks -= 1
            if self.num_tasks == 0:
                os.kill(os.getpid(), self.number)
            return source(env_index)

        return CORRIDOR.make_env(config, counting, num_envs)


class Engines:
    """Counts the engines that were begun and are not ended; `make_env` makes the envs."""

    def __init__(self, make_env=CORRIDOR.make_env):
        self.alive = []
        self.num_begun = 0
        self._make_env = make_env

    def parts(self):
        return dataclasses.replace(CORRIDOR, make_env=self.make_env)

    def make_env(self, config, source, num_envs):
        env = self._make_env(config, source, num_envs)
        self.num_begun += 1
        self.alive.append(env)
        env.close = lambda: self.alive.remove(env) if env in self.alive else None
        return env


# A run makes its envs in this order.
TRAIN_DEMOS, VAL_DEMOS, VALIDATION, ROLLOUT = range(4)


def weights(folder):
    return checkpoint.load(folder).model


def are_same(one, two):
    """Whether two dicts of weights agree to the bit."""
    return one.keys() == two.keys() and all(torch.equal(tensor, two[name]) for name, tensor in one.items())
