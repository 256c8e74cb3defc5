"""Cutting what happens in E envs over T steps into one fragment an env. A action factors, L logits."""

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from mcrl.rollout.fragment import Fragment
from task_synthesis.goal import CrossViewGoal
from task_synthesis.playing.task_env import Observation, Transition


class FragmentRecorder:
    """Records T steps: for each `see`, then `act`, then `result`; `cut` gives the fragments."""

    def __init__(self, num_envs: int, num_steps: int, *, keeps_situations: bool = False) -> None:
        """Expect `num_steps` steps of `num_envs` envs; what they tell of situations is kept if asked for."""
        self._num_envs, self._num_steps = num_envs, num_steps
        self._keeps_situations = keeps_situations
        self._step = 0
        self._start_ns = time.monotonic_ns()
        self._goals = [_GoalTrack() for _ in range(num_envs)]
        self._step_s: list[float] = []
        # [E, T, ...]: an env's rows lie together, so that its fragment is a view and not a copy.
        self._arrays: dict[str, np.ndarray | Tensor] = {}

    def see(
        self, observation: Observation, previous_action_EA: np.ndarray, view_E: np.ndarray | Tensor | None = None
    ) -> None:
        """Record what the agents see before they act; `previous_action_EA` counts for nothing where a view is first.

        `view_E`, if given, is what the policy's frozen part made of the views, and recorded in their place.
        """
        for env in range(self._num_envs):
            if self._step == 0 or observation.first_E[env]:
                task = observation.tasks[env]
                self._goals[env].begin(self._step, observation.goals[env], task.task_id, task.family)
        view_E = observation.image_EHWC if view_E is None else view_E
        self._put("image_THWC", view_E, view_E.dtype)
        self._put("first_T", observation.first_E, np.bool_)
        self._put("target_T7", observation.target_E7, np.float32)
        self._put("previous_action_TA", previous_action_EA, np.uint8)
        if self._keeps_situations and observation.situation_EP is not None:
            self._put("situation_TP", observation.situation_EP, np.float32)

    def act(
        self,
        action_EA: np.ndarray,
        *,
        log_prob_E: np.ndarray,
        value_E: np.ndarray,
        reference_logits_EL: np.ndarray | None = None,
        expert_action_EA: np.ndarray | None = None,
    ) -> None:
        """Record what was done and what the policy that did it thought."""
        self._put("action_TA", action_EA, np.uint8)
        self._put("log_prob_T", log_prob_E, np.float32)
        self._put("value_T", value_E, np.float32)
        if reference_logits_EL is not None:
            self._put("reference_logits_TL", reference_logits_EL, np.float32)
        if expert_action_EA is not None:
            self._put("expert_action_TA", expert_action_EA, np.uint8)

    def result(self, transition: Transition, bootstrap_value_E: np.ndarray, *, step_s: float | None = None) -> None:
        """Record what came of it; `bootstrap_value_E` is the value beyond the step where the world goes on unseen.

        `step_s` is the time the engine took, in wall seconds; None in every step, or in none.
        """
        if step_s is not None:
            self._step_s.append(step_s)
        self._put("reward_T", transition.reward_E, np.float32)
        if transition.reward_parts_EP is not None:
            self._put("reward_parts_TP", transition.reward_parts_EP, np.float32)
        if "situation_TP" in self._arrays:
            # An engine that failed tells none: zeros, beyond which nothing is worth anything.
            nothing_EP = np.zeros_like(self._arrays["situation_TP"][:, 0])  # type: ignore[arg-type]  # never a tensor
            told_EP = transition.final_situation_EP
            self._put("after_TP", nothing_EP if told_EP is None else told_EP, np.float32)
        self._put("terminated_T", transition.terminated_E, np.bool_)
        self._put("truncated_T", transition.truncated_E, np.bool_)
        self._put("bootstrap_value_T", bootstrap_value_E, np.float32)
        self._put("is_valid_T", transition.is_valid_E, np.bool_)
        self._put("outcome_T", transition.outcome_E, np.int64)
        self._step += 1

    def cut(self, memories: Sequence[dict[str, Any]], *, version: int, worker_id: int, sequence: int) -> list[Fragment]:
        """Return one fragment an env; `memories` are those before step 0, and `version` acted in all steps."""
        assert self._step == self._num_steps, f"{self._step} of {self._num_steps} steps were recorded"
        end_ns = time.monotonic_ns()
        step_s_T = np.array(self._step_s) if self._step_s else None
        return [
            Fragment(
                goals=tuple(self._goals[env].goals),
                task_ids=tuple(self._goals[env].task_ids),
                families=tuple(self._goals[env].families),
                goal_index_T=self._goals[env].index(self._num_steps),
                memory=memories[env],
                min_version=version,
                max_version=version,
                worker_id=worker_id,
                env_index=env,
                sequence=sequence,
                start_ns=self._start_ns,
                end_ns=end_ns,
                step_s_G=None if step_s_T is None else self._goals[env].mean(step_s_T),
                **self._arrays_of(env),
            )
            for env in range(self._num_envs)
        ]

    def _arrays_of(self, env: int) -> dict[str, Any]:
        absent = {"reference_logits_TL": None, "expert_action_TA": None}
        return absent | {name: array[env] for name, array in self._arrays.items()}

    def _put(self, name: str, value: np.ndarray | Tensor, kind: Any) -> None:
        if name not in self._arrays:
            shape = (self._num_envs, self._num_steps, *value.shape[1:])
            # What is on a GPU stays there.
            is_tensor = isinstance(value, Tensor)
            self._arrays[name] = (
                torch.zeros(shape, dtype=kind, device=value.device) if is_tensor else np.zeros(shape, kind)
            )
        self._arrays[name][:, self._step] = value  # type: ignore[assignment]  # both are tensors, or neither


class _GoalTrack:
    """The goals of one env within one fragment, each once, and the step from which each held."""

    def __init__(self) -> None:
        self._first_step: list[int] = []
        self.goals: list[CrossViewGoal] = []
        self.task_ids: list[str] = []
        self.families: list[str] = []

    def begin(self, step: int, goal: CrossViewGoal, task_id: str, family: str) -> None:
        self._first_step.append(step)
        self.goals.append(goal)
        self.task_ids.append(task_id)
        self.families.append(family)

    def index(self, num_steps: int) -> np.ndarray:
        """Return int64 [T], which goal held at each step."""
        return np.searchsorted(np.array(self._first_step), np.arange(num_steps), side="right") - 1

    def mean(self, number_T: np.ndarray) -> np.ndarray:
        """Return float32 [G], the mean of a number over the steps of each goal."""
        index_T = self.index(len(number_T))
        return (np.bincount(index_T, number_T) / np.bincount(index_T)).astype(np.float32)
