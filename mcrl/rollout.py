"""A rollout worker: a policy that acts in E environments and hands over fragments.

E envs, T steps, A action factors, L logits, N envs whose value is asked for.
"""

import numpy as np
import torch
from torch import Tensor

from mcrl.dataflow.contracts import LockstepEnv
from mcrl.dataflow.params import ParamLayout, ParamSnapshot
from mcrl.fragment import Fragment
from mcrl.learning.batch import split_memory, stack_goals
from mcrl.recorder import FragmentRecorder
from mcrl.seeding import derive_seed
from policies import action_codec
from policies.interface import EncodedGoals, Memory, Policy, PolicyStep
from policies.precision import Precision, autocast
from task_synthesis.task_env import Observation, Transition


class _Player:
    """One network in E environments: its memory and the goals as it encodes them."""

    def __init__(self, policy: Policy, num_envs: int, precision: Precision, seed: int) -> None:
        self.policy = policy.eval()
        self._generator = torch.Generator().manual_seed(seed)
        self.memory: Memory = policy.initial_memory(num_envs)
        self._precision = precision
        self._env_index_E = torch.arange(num_envs)
        self._goals: EncodedGoals | None = None

    def see_goals(self, observation: Observation) -> None:
        """Encode the goals of the envs that begin an episode; all of them after the weights have changed."""
        goals = observation.goals
        rows = np.flatnonzero(observation.first_E) if self._goals is not None else np.arange(len(goals))
        if not len(rows):
            return
        stacked = stack_goals([goals[row] for row in rows])
        with torch.no_grad(), autocast(self._precision, "cpu"):
            encoded = self.policy.encode_goals(stacked.image_GHWC, stacked.mask_GHW, stacked.interaction_G)
        if self._goals is None:
            self._goals = encoded
        else:
            self._goals.put(torch.from_numpy(rows), encoded)

    def forget_goals(self) -> None:
        """Encode every goal anew next time: the weights have changed."""
        self._goals = None

    def act(self, image_EHWC: Tensor, first_E: Tensor, previous_action_EA: Tensor) -> PolicyStep:
        """Choose actions and move the memory on."""
        assert self._goals is not None
        with torch.no_grad(), autocast(self._precision, "cpu"):
            step = self.policy.act(
                image_EHWC,
                self._goals,
                self._env_index_E,
                first_E,
                previous_action_EA,
                self.memory,
                generator=self._generator,
            )
        self.memory = step.memory
        return step

    def value(self, row_N: Tensor, image_NHWC: Tensor, previous_action_NA: Tensor) -> Tensor:
        """Return float32 [N], the value of views that go on from the envs `row_N`, without moving their memory."""
        assert self._goals is not None
        memory_N = {name: tensor[row_N] for name, tensor in self.memory.items()}
        never_first_N = torch.zeros(len(row_N), dtype=torch.bool)
        with torch.no_grad(), autocast(self._precision, "cpu"):
            return self.policy.value(
                image_NHWC, self._goals, row_N, never_first_N, previous_action_NA, memory_N
            ).float()


class RolloutWorker:
    """Plays on and on; every `collect` returns the next T steps of every env.

    The frozen reference, where there is one, watches the same steps with a memory of its own that never restarts at
    a fragment, so that its logits are those of a policy that saw the whole episode.
    """

    def __init__(
        self,
        env: LockstepEnv,
        policy: Policy,
        reference: Policy | None,
        *,
        fragment_steps: int,
        worker_id: int,
        seed: int,
        precision: Precision,
        first_sequence: int = 0,
    ) -> None:
        """Reset `env` and begin. `policy` is this worker's own copy: `load` overwrites its weights."""
        self.num_envs = env.num_envs
        self._env = env
        self._fragment_steps = fragment_steps
        self._worker_id = worker_id
        self._sequence = first_sequence
        self._version = 0
        self._layout = ParamLayout(policy)
        player_seed = derive_seed(seed, "rollout", worker_id, first_sequence)
        self._player = _Player(policy, env.num_envs, precision, player_seed)
        # The reference samples too, and throws it away; a generator of its own keeps the policy's actions the same
        # with and without it.
        self._reference = None if reference is None else _Player(reference, env.num_envs, precision, 0)
        self._observation = env.reset()
        self._previous_action_EA = np.zeros((env.num_envs, action_codec.NUM_FACTORS), np.int64)

    def load(self, snapshot: ParamSnapshot) -> None:
        """Act with these weights from now on."""
        self._layout.load(self._player.policy, snapshot)
        self._version = snapshot.version
        self._player.forget_goals()

    def collect(self) -> list[Fragment]:
        """Return the next fragment of every env."""
        memories = split_memory(self._player.memory, self.num_envs)
        recorder = FragmentRecorder(self.num_envs, self._fragment_steps)
        for t in range(self._fragment_steps):
            observation = self._observation
            recorder.see(observation, self._previous_action_EA)
            # Copied: the env overwrites its arrays in the next step.
            image_EHWC = torch.from_numpy(observation.image_EHWC.copy())
            first_E = torch.from_numpy(observation.first_E.copy())
            previous_EA = torch.from_numpy(self._previous_action_EA)
            self._player.see_goals(observation)
            step = self._player.act(image_EHWC, first_E, previous_EA)
            reference_logits_EL: np.ndarray | None = None
            if self._reference is not None:
                self._reference.see_goals(observation)
                watched = self._reference.act(image_EHWC, first_E, previous_EA)
                reference_logits_EL = watched.logits_EL.float().numpy()
            action_EA = step.action_EA.numpy()
            recorder.act(
                action_EA,
                log_prob_E=step.log_prob_E.float().numpy(),
                value_E=step.value_E.float().numpy(),
                reference_logits_EL=reference_logits_EL,
            )
            transition = self._env.step(action_codec.decode(action_EA))
            is_last = t == self._fragment_steps - 1
            recorder.result(transition, self._bootstrap_value(transition, step.action_EA, is_last=is_last))
            self._previous_action_EA = action_EA
            self._observation = transition.observation
        fragments = recorder.cut(memories, version=self._version, worker_id=self._worker_id, sequence=self._sequence)
        self._sequence += 1
        return fragments

    def _bootstrap_value(self, transition: Transition, action_EA: Tensor, *, is_last: bool) -> np.ndarray:
        """Return float32 [E]: the value beyond this step where the world goes on unseen, 0 elsewhere."""
        is_open_E = transition.truncated_E | (is_last & ~transition.terminated_E)
        value_E = np.zeros(self.num_envs, np.float32)
        rows = np.flatnonzero(is_open_E & transition.is_valid_E)
        if len(rows):
            row_N = torch.from_numpy(rows)
            image_NHWC = torch.from_numpy(transition.final_image_EHWC[rows])
            value_E[rows] = self._player.value(row_N, image_NHWC, action_EA[row_N]).numpy()
        return value_E
