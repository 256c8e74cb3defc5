"""A rollout worker: a policy that acts in E environments and hands over fragments. A action factors."""

import time

import numpy as np
import torch

from mcrl.dataflow.contracts import LockstepEnv, SavableEnv
from mcrl.dataflow.weights.delayed_update import DelayedUpdate
from mcrl.dataflow.weights.param_store import ParamReader
from mcrl.dataflow.weights.params import ParamLayout
from mcrl.dataflow.weights.snapshot import ParamHeader, ParamSnapshot
from mcrl.learning.batch import split_memory
from mcrl.rollout.fragment import Fragment
from mcrl.rollout.recorder import FragmentRecorder
from mcrl.seeding import derive_seed
from policies import action_codec
from policies.agent import PolicyAgent
from policies.device import to_numpy
from policies.interface import Policy
from policies.precision import Precision
from task_synthesis.playing.saved_state import SavedState
from task_synthesis.playing.task_env import Observation, Transition
from task_synthesis.playing.task_sampler import TaskSampler


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
        sampler: TaskSampler | None = None,
        is_timed: bool = False,
        draws_on_device: bool = False,
    ) -> None:
        """Play in `env`, from a reset of it on. `policy` is this worker's own copy: `load` overwrites its weights.

        It is computed where its weights are, and the reference must be there as well.

        `sampler` hands `env` its tasks; `load` tells it what is known of them. With `is_timed` fragments say how long
        the engine took, see mcrl.learning.duration. With `draws_on_device` actions are drawn where the policy is.
        """
        self.num_envs = env.num_envs
        self._env = env
        self._sampler = sampler
        self._fragment_steps = fragment_steps
        self._worker_id = worker_id
        self._sequence = first_sequence
        self._is_timed = is_timed
        self._version = 0
        self._layout = ParamLayout(policy)
        player_seed = derive_seed(seed, "rollout", worker_id, first_sequence)
        self._player = PolicyAgent(
            policy, env.num_envs, seed=player_seed, precision=precision, draws_on_device=draws_on_device
        )
        # It draws actions as well, and nobody heeds them: with a generator of its own the policy's actions are the
        # same with and without a reference.
        self._reference: PolicyAgent | None = None
        if reference is not None:
            self._reference = PolicyAgent(reference, env.num_envs, seed=0, precision=precision)
        self._update: DelayedUpdate | None = None
        # Reset with the first use, since a worker may be set to what another one saved instead.
        self._observation: Observation | None = None

    def load(self, snapshot: ParamSnapshot) -> None:
        """Act with these weights from now on."""
        self._layout.load(self._player.policy, snapshot)
        self._note(snapshot.header)

    def follow(self, reader: ParamReader) -> DelayedUpdate:
        """Take weights from `reader` between two ticks, as they come, instead of by `load`."""
        self._update = DelayedUpdate(self._player.policy, reader, on_swap=self._note)
        return self._update

    def _note(self, header: ParamHeader) -> None:
        """Take note of the weights that act from now on."""
        self._version = header.version
        if self._sampler is not None and header.task_statistics is not None:
            self._sampler.load_statistics(header.task_statistics)
        self._player.forget_weights()
        self._player.refresh_goals(self._seen())

    def saved(self) -> SavedState | None:
        """Return the present between two fragments: envs, sampler, memories, generators; None if they cannot say it.

        Weights and version are not in here: `load` brings them back.
        """
        env = self._env.saved() if isinstance(self._env, SavableEnv) else None
        sampler = None if self._sampler is None else self._sampler.saved()
        if env is None or sampler is None:
            return None
        parts = {"env": env, "sampler": sampler, "player": self._player.saved()}
        if self._reference is not None:
            parts["reference"] = self._reference.saved()
        return SavedState.of_parts(parts)

    def load_saved(self, state: SavedState) -> None:
        """Go on as a worker made alike would have after `saved`, once `load` has brought the weights back."""
        if self._sampler is None or not isinstance(self._env, SavableEnv):
            raise state.misfit(f"this run's {type(self._env).__name__} cannot be set to what was saved")
        if (self._reference is None) == ("reference" in state.values):
            raise state.misfit("one of the saved run and this one has a reference policy, and the other has none")
        self._sampler.load_saved(state.part("sampler"))
        self._observation = self._env.load_saved(state.part("env"))
        self._player.load_saved(state.part("player"), self._observation)
        if self._reference is not None:
            self._reference.load_saved(state.part("reference"), self._observation)

    @property
    def env(self) -> LockstepEnv:
        """Return what it plays in."""
        return self._env

    @property
    def player(self) -> PolicyAgent:
        """Return who plays."""
        return self._player

    def close(self) -> None:
        """End the engines it plays in."""
        self._env.close()

    def _seen(self) -> Observation:
        if self._observation is None:
            self._observation = self._env.reset()
            if self._reference is not None:  # which may be asked what it remembers before it has looked
                self._reference.refresh_goals(self._observation)
        return self._observation

    def collect(self) -> list[Fragment]:
        """Return the next fragment of every env."""
        with self._player.casts_kept():
            return self._collect()

    def _collect(self) -> list[Fragment]:
        # Views that the engine drew on the policy's GPU are learned from there, and so is the memory of them.
        stays = isinstance(self._seen().image_EHWC, torch.Tensor)
        memories = split_memory(
            self._player.memory_on_device() if stays else self._player.memory_numpy(), self.num_envs
        )
        recorder = FragmentRecorder(self.num_envs, self._fragment_steps, keeps_situations=True)
        min_version = self._version
        for t in range(self._fragment_steps):
            if self._update is not None and t > 0:
                self._update.swap()
            observation = self._seen()
            # Looked at once: the reference has the same frozen weights, or `ParamLayout.load` had refused them.
            view_E = self._player.look(observation)
            frozen_E = None if view_E.dtype == torch.uint8 else view_E if stays else to_numpy(view_E)[0]
            recorder.see(observation, self._player.previous_action_EA, frozen_E)
            step = self._player.step(observation, view_E)
            watched = [] if self._reference is None else [self._reference.step(observation, view_E).logits_EL]
            # Both policies have computed before one is waited for: a device is asked once a step.
            action_EA, log_prob_E, value_E, *logits = to_numpy(step.action_EA, step.log_prob_E, step.value_E, *watched)
            if self._reference is not None:
                self._reference.note_action(action_EA)
            recorder.act(
                action_EA,
                log_prob_E=log_prob_E,
                value_E=value_E,
                reference_logits_EL=logits[0] if logits else None,
            )
            actions = action_codec.decode(action_EA)
            begin_ns = time.monotonic_ns()
            transition = self._env.step(actions)
            step_s: float | None = None
            if self._is_timed:
                # The time of the engine alone: a reset belongs to no action, and all envs of a lockstep share a step.
                step_s = (time.monotonic_ns() - begin_ns - transition.reset_ns) / 1e9
            is_last = t == self._fragment_steps - 1
            recorder.result(transition, self._bootstrap_value(transition, is_last=is_last), step_s=step_s)
            self._observation = transition.observation
        fragments = recorder.cut(memories, version=self._version, worker_id=self._worker_id, sequence=self._sequence)
        for fragment in fragments:
            fragment.min_version = min_version
        self._sequence += 1
        return fragments

    def _bootstrap_value(self, transition: Transition, *, is_last: bool) -> np.ndarray:
        """Return float32 [E]: the value beyond this step where the world goes on unseen, 0 elsewhere."""
        is_open_E = transition.truncated_E | (is_last & ~transition.terminated_E)
        value_E = np.zeros(self.num_envs, np.float32)
        index_N = np.flatnonzero(is_open_E & transition.is_valid_E)
        value_E[index_N] = self._player.bootstrap_value(transition.final_image_EHWC, index_N)
        return value_E
