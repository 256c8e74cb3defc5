"""Runs that are interrupted on purpose, configs worth interrupting, and what it means that two runs are the same."""

import dataclasses
import os
import signal
from pathlib import Path

import torch

from mcrl import checkpoint
from mcrl.assembly import make_sampler
from mcrl.config import CurriculumConfig, RolloutConfig
from mcrl.rollout.episodes import TaskListSource
from mcrl.telemetry.metrics import MetricsLog, read_metrics
from mcrl.train import train
from tests.mcrl.corridor_policy import CORRIDOR
from tests.mcrl.corridor_run import make_config, weights
from tests.mcrl.training.clocks import CLOCKED

LAST = 6


class StopAt:
    """A run's wish to stop, uttered when its log has a line of `stage` and `step`."""

    def __init__(self, monkeypatch, stage, step):
        self.stage, self.step = stage, step
        write = MetricsLog.write

        def writing(log, stage, step, metrics):
            write(log, stage, step, metrics)
            if (stage, step) == (self.stage, self.step):
                self.stage = None  # once
                os.kill(os.getpid(), signal.SIGTERM)

        monkeypatch.setattr(MetricsLog, "write", writing)


class StopAfter:
    """Parts of a run whose fragments' env asks it to stop, as SIGTERM would, in the middle of an iteration."""

    def __init__(self, config, iteration, parts=CORRIDOR):
        self.num_steps = int((iteration - 0.5) * config.ppo.fragment_steps * self.collects_per_iteration(config))
        self.num_envs = config.rollout.envs_per_worker
        self.inner = parts

    @staticmethod
    def collects_per_iteration(config):
        return config.ppo.fragments_per_batch // config.rollout.envs_per_worker

    def parts(self):
        return dataclasses.replace(self.inner, make_env=self.make_env)

    def make_env(self, config, source, num_envs):
        env = self.inner.make_env(config, source, num_envs)
        # Only PPO plays tasks of a sampler made by `make_sampler`, and that one is the order of the config.
        if getattr(source, "is_of_ppo", False):
            self.count(env)
        return env

    def count(self, env):
        step = env.step

        def counting(actions):
            self.num_steps -= 1
            if self.num_steps == 0:
                os.kill(os.getpid(), signal.SIGTERM)
            return step(actions)

        env.step = counting


class StopInCheck:
    """Parts of a run that asks itself to stop, as SIGTERM would, in the midst of its success check `number`."""

    def __init__(self, number):
        self.num_checks_left = number
        self.num_later_steps = 0

    def parts(self):
        return dataclasses.replace(PARTS, make_env=self.make_env)

    def make_env(self, config, source, num_envs):
        env = CORRIDOR.make_env(config, source, num_envs)
        if isinstance(source, TaskListSource):  # only success checks play every task once
            self.num_checks_left -= 1
            if self.num_checks_left == 0:
                self.stop_at_step(env, 3)
        return env

    def stop_at_step(self, env, number):
        step = env.step

        def counting(actions):
            nonlocal number
            number -= 1
            if number == 0:
                os.kill(os.getpid(), signal.SIGTERM)
            self.num_later_steps += number < 0
            return step(actions)

        env.step = counting


def marked_sampler(config, tasks, seed):
    sampler = make_sampler(config, tasks, seed)
    sampler.is_of_ppo = True
    return sampler


PARTS = dataclasses.replace(CORRIDOR, make_sampler=marked_sampler)


def log_of(run_dir: Path) -> list[dict]:
    """The lines of a run but for the times."""
    lines = read_metrics(run_dir / "metrics.jsonl")
    return [{name: value for name, value in line.items() if name not in CLOCKED} for line in lines]


def assert_same(one: Path, two: Path) -> None:
    assert log_of(one) == log_of(two)
    expected = weights(one / "checkpoints" / "final")
    found = weights(two / "checkpoints" / "final")
    assert expected.keys() == found.keys()
    assert all(torch.equal(tensor, found[name]) for name, tensor in expected.items())
    states = [checkpoint.load_state(path / "checkpoints" / "final") for path in (one, two)]
    assert states[0].learner == states[1].learner
    assert states[0].task_statistics == states[1].task_statistics
    assert states[0].rng_state == states[1].rng_state


def curriculum(config, **changes):
    mixed_tasks = dataclasses.replace(
        config.tasks, skills={"approach": 1.0, "break": 0.0}, curriculum=CurriculumConfig(**changes)
    )
    return dataclasses.replace(config, tasks=mixed_tasks)


def ppo(config, **changes):
    return dataclasses.replace(config, ppo=dataclasses.replace(config.ppo, **changes))


def dagger(config):
    stage = dataclasses.replace(config.imitation, dagger_rounds=1, dagger_steps=64, dagger_updates=10)
    return dataclasses.replace(config, imitation=stage)


def everything(config):
    config = curriculum(config, order="adaptive", key="kind")
    return ppo(config, loss="vtrace", value_normalisation=True, kl_target=0.01, duration_weighting="task_balanced")


def workers(config, number):
    return dataclasses.replace(
        curriculum(config, order="mixed"), rollout=RolloutConfig(envs_per_worker=4, num_workers=number)
    )


VARIANTS = {
    "everything": everything,
    "two workers": lambda config: workers(config, 2),
    "four workers, two an iteration": lambda config: workers(config, 4),
    "shuffled": lambda config: config,
    "mixed": lambda config: curriculum(config, order="mixed"),
    "adaptive": lambda config: curriculum(config, order="adaptive", key="kind"),
    "vtrace": lambda config: ppo(config, loss="vtrace", value_normalisation=True, kl_target=0.01),
    "no reference, several epochs": lambda config: ppo(config, kl_to_reference=None, num_epochs=3),
    "privileged critic": lambda config: ppo(config, privileged_critic=True, value_normalisation=True),
    "task_balanced": lambda config: ppo(config, duration_weighting="task_balanced"),
    "validated often": lambda config: dataclasses.replace(config, val_every=1),
    "dagger": dagger,
}


def stopped_run(tmp_path, **changes) -> Path:
    config = make_config(tmp_path, checkpoint_every=100, **changes)
    train(config, parts=StopAfter(config, 3, PARTS).parts())
    return tmp_path / "run"


def contents(run_dir: Path) -> dict[str, bytes]:
    """Return all files but the one that says how the last start went."""
    files = (path for path in run_dir.rglob("*") if path.is_file() and path.name != "status.json")
    return {str(path.relative_to(run_dir)): path.read_bytes() for path in files}


def truncate(folder, name, share):
    path = folder / name
    path.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])
