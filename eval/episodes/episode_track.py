"""Where agents went, what they saw and what they did: a watcher of played episodes. E envs, N tasks, S steps."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from eval.episodes.action_archive import EpisodeActions
from mcrl.rollout.episodes import PlayedStep
from task_synthesis.placement.targets import circle_of, torus_delta
from task_synthesis.task import TaskSpec

_NEVER = -1


@dataclass(frozen=True, kw_only=True, slots=True)
class EpisodeTrack:
    """One episode, looked at once a decision."""

    walked_blocks: float
    """Length of the way that the agent went, horizontally."""
    closest_blocks: float
    """Smallest distance from the feet to the centre of the target's floor; a mob counts where it stands then."""
    first_seen_ticks: int | None
    """Age of the episode when the target first came into view; None when it never did."""
    last_seen_ticks: int | None
    """Age of the episode when the target was last in view."""


class EpisodeTracker:
    """A StepWatcher that measures the episodes of a list of tasks and keeps their actions."""

    def __init__(self, tasks: Sequence[TaskSpec], *, ticks_per_decision: int) -> None:
        """Watch one play of `tasks`."""
        num_tasks = len(tasks)
        self._ticks_per_decision = ticks_per_decision
        self._side_N2 = np.array([circle_of(task.world) for task in tasks], np.float64)
        self._last_feet_N3 = np.array([task.start[:3] for task in tasks], np.float64)
        self._walked_N = np.zeros(num_tasks)
        self._closest_N = self._distances(np.arange(num_tasks), self._last_feet_N3, _target_floors(tasks))
        self._first_seen_N = np.full(num_tasks, _NEVER)
        self._last_seen_N = np.full(num_tasks, _NEVER)
        self._task_index: list[np.ndarray] = []
        self._buttons: list[np.ndarray] = []
        self._camera_deg: list[np.ndarray] = []

    def __call__(self, step: PlayedStep) -> None:
        """Note one decision of every env that plays a task."""
        whereabouts = step.transition.whereabouts
        if whereabouts is None:
            raise ValueError("episode track: the env does not say where its agents are; use a TaskEnv")
        is_played_E = step.task_index_E >= 0
        index_E = step.task_index_E[is_played_E]
        is_seen_at_first_E = step.observation.first_E & (step.observation.target_E7[:, 0] > 0) & is_played_E
        self._see(step.task_index_E[is_seen_at_first_E], 0)
        feet_E3, target_E3 = whereabouts.feet_E3[is_played_E], whereabouts.target_E3[is_played_E]
        moved_E3 = self._between(index_E, self._last_feet_N3[index_E], feet_E3)
        self._walked_N[index_E] += np.hypot(moved_E3[:, 0], moved_E3[:, 2])
        self._last_feet_N3[index_E] = feet_E3
        distance_E = self._distances(index_E, feet_E3, target_E3)
        self._closest_N[index_E] = np.minimum(self._closest_N[index_E], distance_E)
        is_seen_E = (whereabouts.target_area_E > 0) & is_played_E
        self._see(step.task_index_E[is_seen_E], step.transition.episode_ticks_E[is_seen_E])
        self._task_index.append(index_E)
        self._buttons.append(step.actions.buttons_EB[is_played_E].astype(bool))
        self._camera_deg.append(step.actions.camera_deg_E2[is_played_E].astype(np.float32))

    def track(self, task_index: int) -> EpisodeTrack:
        """Return what was measured of a task's episode."""
        first, last = int(self._first_seen_N[task_index]), int(self._last_seen_N[task_index])
        return EpisodeTrack(
            walked_blocks=round(float(self._walked_N[task_index]), 2),
            closest_blocks=round(float(self._closest_N[task_index]), 2),
            first_seen_ticks=None if first == _NEVER else first,
            last_seen_ticks=None if last == _NEVER else last,
        )

    def actions(self) -> list[EpisodeActions]:
        """Return what was done in each episode, in the order of the tasks."""
        index_S = np.concatenate(self._task_index)
        # Stable: decisions of one episode stay in order.
        order_S = np.argsort(index_S, kind="stable")
        ends_N = np.searchsorted(index_S[order_S], np.arange(1, len(self._walked_N)))
        buttons = np.split(np.concatenate(self._buttons)[order_S], ends_N)
        camera_deg = np.split(np.concatenate(self._camera_deg)[order_S], ends_N)
        return [
            EpisodeActions(buttons_DB=pressed, camera_deg_D2=turned, ticks_per_decision=self._ticks_per_decision)
            for pressed, turned in zip(buttons, camera_deg, strict=True)
        ]

    def _between(self, index_E: np.ndarray, from_E3: np.ndarray, to_E3: np.ndarray) -> np.ndarray:
        """Return float64 [E, 3], the shortest way from one place to another in the worlds of these tasks."""
        way_E3 = to_E3 - from_E3
        way_E3[:, 0] = torus_delta(way_E3[:, 0], self._side_N2[index_E, 0])
        way_E3[:, 2] = torus_delta(way_E3[:, 2], self._side_N2[index_E, 1])
        return way_E3

    def _distances(self, index_E: np.ndarray, from_E3: np.ndarray, to_E3: np.ndarray) -> np.ndarray:
        """Return float64 [E], how far apart two places are in the worlds of these tasks."""
        return np.linalg.norm(self._between(index_E, from_E3, to_E3), axis=1)

    def _see(self, index_E: np.ndarray, age_ticks_E: np.ndarray | int) -> None:
        is_new_E = self._first_seen_N[index_E] == _NEVER
        self._first_seen_N[index_E] = np.where(is_new_E, age_ticks_E, self._first_seen_N[index_E])
        self._last_seen_N[index_E] = age_ticks_E


def _target_floors(tasks: Sequence[TaskSpec]) -> np.ndarray:
    """Return float64 [N, 3], where each episode begins with its target: the centre of its floor."""
    return np.add([task.placements[task.target_index].position for task in tasks], (0.5, 0.0, 0.5))
