"""A rollout worker that sleeps instead of acting: for measuring everything around the acting."""

import dataclasses
import time

import numpy as np

from mcrl.dataflow.weights.snapshot import ParamSnapshot
from mcrl.rollout.fragment import Fragment
from task_synthesis.goal import CrossViewGoal
from task_synthesis.interaction import Interaction


class SleepingWorker:
    """Hands over copies of one fragment after `latency_s` seconds each time. Its latency is simulated."""

    def __init__(
        self, template: Fragment, num_envs: int, latency_s: float, worker_id: int, first_sequence: int
    ) -> None:
        """With the first three arguments bound this is a WorkerFactory."""
        self.num_envs = num_envs
        self._template, self._latency_s = template, latency_s
        self._worker_id, self._sequence = worker_id, first_sequence
        self._version = 0

    def load(self, snapshot: ParamSnapshot) -> None:
        """Mark what comes as made with these weights."""
        self._version = snapshot.version

    def collect(self) -> list[Fragment]:
        """Sleep, and return a fragment of every env."""
        begin_ns = time.monotonic_ns()
        time.sleep(self._latency_s)
        fragments = [
            dataclasses.replace(
                self._template,
                min_version=self._version,
                max_version=self._version,
                worker_id=self._worker_id,
                env_index=env_index,
                sequence=self._sequence,
                start_ns=begin_ns,
                end_ns=time.monotonic_ns(),
            )
            for env_index in range(self.num_envs)
        ]
        self._sequence += 1
        return fragments

    def close(self) -> None:
        """Do nothing: there is no engine."""


def blank_fragment(num_steps: int, image_px: int) -> Fragment:
    """Return a fragment of the size of a real one in which nothing happens."""
    flags_T, numbers_T = np.zeros(num_steps, bool), np.zeros(num_steps, np.float32)
    goal = CrossViewGoal(
        image_HWC=np.zeros((image_px, image_px, 3), np.uint8),
        mask_HW=np.zeros((image_px, image_px), bool),
        interaction=Interaction.APPROACH,
    )
    return Fragment(
        image_THWC=np.zeros((num_steps, image_px, image_px, 3), np.uint8),
        goals=(goal,),
        task_ids=("none",),
        families=("none",),
        goal_index_T=np.zeros(num_steps, np.int64),
        first_T=flags_T,
        previous_action_TA=np.zeros((num_steps, 1), np.uint8),
        action_TA=np.zeros((num_steps, 1), np.uint8),
        expert_action_TA=None,
        log_prob_T=numbers_T,
        value_T=numbers_T,
        reference_logits_TL=None,
        reward_T=numbers_T,
        terminated_T=flags_T,
        truncated_T=flags_T,
        bootstrap_value_T=numbers_T,
        is_valid_T=~flags_T,
        outcome_T=np.zeros(num_steps, np.int64),
        target_T7=np.zeros((num_steps, 7), np.float32),
        memory={},
        min_version=0,
        max_version=0,
        worker_id=0,
        env_index=0,
        sequence=0,
        start_ns=0,
        end_ns=0,
    )
