"""Sample Factory's asynchronous PPO, with worker processes or serial.

"async" has two rollout workers of eight envs, as it is meant to be used; "serial" has everything in one process, which
spends no CPU between processes but is meant for debugging. The turn is taken inside its observer, after a training
step, so that start-up is not counted.
"""

import multiprocessing
import os
import signal
import sys
import tempfile
from importlib.metadata import version
from typing import Any

import torch
from frame_pool_gym import FramePoolGym
from sample_factory.algo.runners.runner import AlgoObserver, Runner
from sample_factory.cfg.arguments import parse_full_cfg, parse_sf_args
from sample_factory.envs.env_utils import register_env
from sample_factory.train import make_runner
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
    next_turn,
    say_done,
    say_ready,
    seed,
)

_WARM_UP_STEPS = 2


class TurnTaker(AlgoObserver):
    """Lets Sample Factory go on for as many training steps as a turn has, each of 1,024 frames."""

    def __init__(self) -> None:
        self._num_left = _WARM_UP_STEPS
        self._num_steps = 0
        self._is_warm = False

    def on_training_step(self, runner: Runner, training_iteration_since_resume: int) -> None:
        """Count the step; at the end of a turn wait for the next one."""
        self._num_left -= 1
        self._num_steps += 1
        if self._num_left > 0:
            return
        if self._is_warm:
            say_done(self._num_steps * FRAMES_PER_ITERATION)
        else:
            say_ready({"sample_factory": version("sample-factory"), "torch": torch.__version__})
            self._is_warm = True
        # Its workers would go on while others have their turns.
        _signal_workers(signal.SIGSTOP)
        turn = next_turn()
        if turn is None:
            # Its own way to end is to save a checkpoint and a summary: nobody needs them.
            _signal_workers(signal.SIGKILL)
            sys.exit(0)
        _signal_workers(signal.SIGCONT)
        self._num_left, self._num_steps = turn, 0


def _signal_workers(number: signal.Signals) -> None:
    for worker in multiprocessing.active_children():
        assert worker.pid is not None
        os.kill(worker.pid, number)


def make_env(name: str, config: Any, env_config: Any, render_mode: str | None = None) -> FramePoolGym:
    """Return an env. Sample Factory looks at one in a process of its own, so this is no lambda."""
    first_seed = 0 if env_config is None else env_config.env_id
    return FramePoolGym(first_seed, is_channels_first=True)


def main() -> None:
    """Drive it."""
    is_serial = sys.argv[2] == "serial"
    num_workers = 1 if is_serial else 2
    register_env("frame_pool", make_env)
    with tempfile.TemporaryDirectory() as folder:
        settings = {
            "env": "frame_pool",
            "experiment": "bench",
            "train_dir": folder,
            "device": "cpu",
            "seed": seed(),
            "serial_mode": is_serial,
            "async_rl": True,
            "num_workers": num_workers,
            "num_envs_per_worker": NUM_ENVS // num_workers,
            "worker_num_splits": 2,
            "rollout": ROLLOUT_STEPS,
            "batch_size": MINIBATCH_FRAMES,
            "num_batches_per_epoch": FRAMES_PER_ITERATION // MINIBATCH_FRAMES,
            "num_epochs": 1,
            "use_rnn": False,
            "encoder_conv_architecture": "convnet_atari",
            "normalize_input": False,
            "obs_scale": 255,
            "learning_rate": LEARNING_RATE,
            "gamma": DISCOUNT,
            "gae_lambda": GAE_LAMBDA,
            "ppo_clip_ratio": CLIP_EPS,
            "value_loss_coeff": VALUE_COEF,
            "exploration_loss_coeff": ENTROPY_COEF,
            "max_grad_norm": MAX_GRAD_NORM,
            "max_policy_lag": 1000,
            "train_for_env_steps": 10**12,
            "env_frameskip": 1,
            "save_every_sec": 10**6,
            "save_best_every_sec": 10**6,
            "experiment_summaries_interval": 10**6,
            "decorrelate_envs_on_one_worker": False,
            "with_wandb": False,
        }
        arguments = [f"--{name}={value}" for name, value in settings.items()]
        parser, _ = parse_sf_args(arguments)
        _, runner = make_runner(parse_full_cfg(parser, arguments))
        runner.register_observer(TurnTaker())
        runner.init()
        torch.set_num_threads(1)
        runner.run()


if __name__ == "__main__":
    main()
