"""A row of an evaluation: who plays and what it is shown. Plain values, so that rows travel to processes and files."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import torch

from eval.episodes.action_archive import unit_file
from mcrl import assembly, checkpoint
from mcrl.config import TrainConfig
from mcrl.seeding import derive_seed
from mcrl.trained import load_policy
from policies.agent import PolicyAgent
from policies.decoding import AS_TRAINED, Decoding
from policies.device import CPU, find_device
from policies.device_name import DeviceName
from policies.expert import ExpertAgent
from policies.interface import Agent, Policy
from policies.precision import uses_bf16
from policies.scripted import NoopAgent, RandomAgent
from task_synthesis.playing.task_env import TaskEnv, TaskSource
from worlds.adapters.catalogue import BUILT_IN
from worlds.anvil import Save

AgentKind = Literal["random", "noop", "expert", "policy"]
# "shuffled" shows the goal of another task of the same skill, "blank" a black picture with an empty mask.
GoalShown = Literal["own", "shuffled", "blank"]

_WEIGHTS_FILE = "model.safetensors"


@dataclass(frozen=True, kw_only=True, slots=True)
class SuiteRow:
    """One agent to judge."""

    name: str
    agent: AgentKind
    source: str
    """Where the agent comes from, for the report: a checkpoint, or what it is in words."""
    config: TrainConfig
    """Decides how the worlds are shown (size of pictures, length of a decision, form of the goal) and the policy's
    preset and precision; for a policy that of the run which made it."""
    checkpoint: Path | None = None
    """Of a policy."""
    weights_sha256: str = ""
    """Of the checkpoint's weights, see weights_sha256_of."""
    goals: GoalShown = "own"
    draws_as: str = ""
    """Name under which the agent's draws are seeded, so that two rows can differ by the goals alone; "" is `name`."""
    decoding: Decoding = AS_TRAINED
    """Of a policy."""
    device: DeviceName = "cpu"
    """Where a policy computes."""

    def __post_init__(self) -> None:
        if self.decoding != AS_TRAINED and self.agent != "policy":
            raise ValueError(f"row {self.name!r}: decoding is for policies, this row's agent is {self.agent!r}")
        if (self.agent == "policy") != (self.checkpoint is not None):
            raise ValueError(f"row {self.name!r}: a policy needs a checkpoint, and only a policy has one")

    @property
    def file_stem(self) -> str:
        """Return how files of this row are named; rows of one evaluation must differ in it."""
        return unit_file(Path(), self.name, 0).name.removesuffix(".0000.npz")

    def identity(self) -> dict[str, Any]:
        """Return everything that decides this row's episodes besides tasks and seed, as values for JSON.

        The checkpoint's place is left out: moved weights play the same.
        """
        env = dataclasses.asdict(self.config.env)
        env["engine_options"] = list(self.config.env.engine_options)  # as JSON gives it back
        del env["rewards"]  # what is paid changes nothing in a judged episode
        # Of the built-in engine nothing is said: folders that were begun before there were others can be gone on with.
        if self.config.env.backend == BUILT_IN:
            for name in ("backend", "engine_python", "engine_options"):
                del env[name]
        is_policy = self.agent == "policy"
        device = self._device() if is_policy else CPU
        arithmetic = "bf16" if uses_bf16(self.config.precision, device) else "fp32"
        return {
            "agent": self.agent,
            "goals": self.goals,
            "draws_as": self.draws_as or self.name,
            "weights_sha256": self.weights_sha256,
            "preset": self.config.preset if is_policy else "",
            # Episodes of another kind of device are others: rounding decides close draws.
            "arithmetic": arithmetic + ("" if device == CPU else f" on {device.type}") if is_policy else "",
            "env": env,
            # Named only where there is some: folders that were begun before it existed can be gone on with.
            **self.decoding.changes(),
        }

    def make_env(self, source: TaskSource, num_envs: int, *, side_blocks: int, saves: Sequence[Save] = ()) -> TaskEnv:
        """Return worlds of `side_blocks`, generated or cut out of `saves`, shown as this row's config asks."""
        tasks = dataclasses.replace(self.config.tasks, side_blocks=side_blocks)
        return assembly.make_env(dataclasses.replace(self.config, tasks=tasks), source, num_envs, saves)

    def make_agent(self, env: TaskEnv, policy: Policy | None, *, seed: int, unit: int) -> Agent:
        """Return a fresh agent for `env`; `policy` is `load_policy()` for a policy's row, else None."""
        agent_seed = derive_seed(seed, self.draws_as or self.name, unit)
        if self.agent == "random":
            return RandomAgent(env.num_envs, agent_seed)
        if self.agent == "noop":
            return NoopAgent(env.num_envs)
        if self.agent == "expert":
            return ExpertAgent(env)
        assert policy is not None
        return PolicyAgent(
            policy, env.num_envs, seed=agent_seed, precision=self.config.precision, decoding=self.decoding
        )

    def load_policy(self) -> Policy | None:
        """Return the checkpoint's policy, ready to act; ValueError names what does not fit. None for other agents."""
        if self.checkpoint is None:
            return None
        return load_policy(self.checkpoint, self.config, device=self._device())

    def _device(self) -> torch.device:
        return find_device(self.device, where="--device")


def weights_sha256_of(folder: Path) -> str:
    """Return the SHA-256 of a checkpoint's weights file; ValueError when there is none."""
    return checkpoint.sha256_of(folder / _WEIGHTS_FILE)
