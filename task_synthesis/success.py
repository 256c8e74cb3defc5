"""Who did what: success, failure and death of E episodes, from events and state, never from pixels.

A same-kind wrong object ends the episode as a failure, so that walking up to everything of one colour does not pay.
"""

from enum import IntEnum

import numpy as np

from task_synthesis.targets import torus_delta
from task_synthesis.task import TaskSpec
from worlds.backend import EnvBackend
from worlds.blocks import BLOCK_ID
from worlds.spec import MAX_OBJECTS
from worlds.types import EVENT_BLOCK_BROKEN, EVENT_DEATH, EYE_HEIGHT_BLOCKS, TickBatch

APPROACH_RADIUS_BLOCKS = 2.5
APPROACH_CONE_DEG = 20.0


class Outcome(IntEnum):
    """How an episode stands. Success, wrong object and death terminate; time limit and fault truncate."""

    RUNNING = 0
    SUCCESS = 1
    WRONG_OBJECT = 2
    DEATH = 3
    TIME_LIMIT = 4
    FAULT = 5


class Judge:
    """Knows the task of every env and reads each tick for what ends it (time limits aside)."""

    def __init__(self, backend: EnvBackend) -> None:
        """Judge what happens on `backend`."""
        num_envs = backend.num_envs
        self._backend = backend
        self._object_EN3 = np.zeros((num_envs, MAX_OBJECTS, 3), np.int64)
        # Objects of the target's kind, the target included; other objects never decide anything.
        self._is_same_kind_EN = np.zeros((num_envs, MAX_OBJECTS), bool)
        self._target_index_E = np.zeros(num_envs, np.int64)
        self._target_block_E = np.zeros(num_envs, np.int64)
        self._is_approach_E = np.zeros(num_envs, bool)
        self._side_E2 = np.ones((num_envs, 2))

    def begin(self, env_index: int, task: TaskSpec) -> None:
        """Judge env `env_index` by `task` from now on."""
        kind = task.placements[task.target_index].kind
        self._object_EN3[env_index] = 0
        self._is_same_kind_EN[env_index] = False
        for index, placement in enumerate(task.placements):
            self._object_EN3[env_index, index] = placement.position
            self._is_same_kind_EN[env_index, index] = placement.kind == kind
        self._target_index_E[env_index] = task.target_index
        self._target_block_E[env_index] = BLOCK_ID[kind]
        self._is_approach_E[env_index] = task.skill == "approach"
        self._side_E2[env_index] = (task.world.size_blocks[0], task.world.size_blocks[2])

    def outcomes(self, tick: TickBatch) -> np.ndarray:
        """Return int64 [E]: RUNNING, or what ended the episode in this step. Faults win, then death, then the deed."""
        outcome_E = np.full(len(tick.pose_E5), int(Outcome.RUNNING), np.int64)
        self._judge_approach(tick, outcome_E)
        self._judge_break(tick, outcome_E)
        is_dead_E = (tick.event_EN4[:, :, 0] == EVENT_DEATH).any(axis=1) | (tick.health_E <= 0)
        outcome_E[is_dead_E] = Outcome.DEATH
        outcome_E[tick.is_fault_E] = Outcome.FAULT
        return outcome_E

    def _judge_approach(self, tick: TickBatch, outcome_E: np.ndarray) -> None:
        """An object is approached when its floor is near the feet and its centre ahead, in clear view."""
        feet_E13 = tick.pose_E5[:, None, :3]
        delta_EN3 = self._object_EN3 + np.array([0.5, 0.0, 0.5]) - feet_E13
        delta_EN3[:, :, 0] = torus_delta(delta_EN3[:, :, 0], self._side_E2[:, :1])
        delta_EN3[:, :, 2] = torus_delta(delta_EN3[:, :, 2], self._side_E2[:, 1:])
        is_near_EN = (delta_EN3**2).sum(2) <= APPROACH_RADIUS_BLOCKS**2
        is_near_EN &= self._is_same_kind_EN & self._is_approach_E[:, None]
        env_N, object_N = np.nonzero(is_near_EN)
        if not len(env_N):
            return
        yaw_N, pitch_N = np.radians(tick.pose_E5[env_N, 3]), np.radians(tick.pose_E5[env_N, 4])
        view_N3 = np.stack([-np.sin(yaw_N) * np.cos(pitch_N), -np.sin(pitch_N), np.cos(yaw_N) * np.cos(pitch_N)], 1)
        to_center_N3 = delta_EN3[env_N, object_N] + np.array([0.0, 0.5 - EYE_HEIGHT_BLOCKS, 0.0])
        cosine_N = (view_N3 * to_center_N3).sum(1) / np.linalg.norm(to_center_N3, axis=1)
        faced = cosine_N >= np.cos(np.radians(APPROACH_CONE_DEG))
        env_N, object_N = env_N[faced], object_N[faced]
        if not len(env_N):
            return
        eye_N3 = tick.pose_E5[env_N, :3] + np.array([0.0, EYE_HEIGHT_BLOCKS, 0.0])
        is_clear_N = self._backend.is_line_clear(env_N, eye_N3, self._object_EN3[env_N, object_N])
        is_target_N = object_N == self._target_index_E[env_N]
        outcome_E[env_N[is_clear_N & ~is_target_N]] = Outcome.WRONG_OBJECT
        outcome_E[env_N[is_clear_N & is_target_N]] = Outcome.SUCCESS

    def _judge_break(self, tick: TickBatch, outcome_E: np.ndarray) -> None:
        """The agent's own breaking event decides: the target's slot is success, any other block of its kind is not."""
        is_broken_EN = (tick.event_EN4[:, :, 0] == EVENT_BLOCK_BROKEN) & ~self._is_approach_E[:, None]
        if not is_broken_EN.any():
            return
        is_target_EN = is_broken_EN & (tick.event_EN4[:, :, 2] == self._target_index_E[:, None] + 1)
        is_kind_EN = is_broken_EN & (tick.event_EN4[:, :, 1] == self._target_block_E[:, None])
        outcome_E[(is_kind_EN & ~is_target_EN).any(axis=1)] = Outcome.WRONG_OBJECT
        outcome_E[is_target_EN.any(axis=1)] = Outcome.SUCCESS
