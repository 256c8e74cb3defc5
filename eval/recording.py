"""Recordings of a few episodes of a suite, kept in memory until it is known which are worth showing."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from mcrl.episodes import PlayedStep
from task_synthesis.goal import CrossViewGoal
from task_synthesis.task import TaskSpec
from task_synthesis.task_env import Outcome
from worlds.types import BUTTONS


@dataclass(slots=True)
class EpisodeRecording:
    """What one agent saw and did in one episode, decision by decision."""

    task: TaskSpec
    goal: CrossViewGoal
    ticks_per_decision: int
    images: list[np.ndarray] = field(default_factory=list)  # uint8 [H, W, 3] RGB, before each decision, then the end
    keys: list[str] = field(default_factory=list)  # what was pressed after each image but the last, in words
    outcome: str = ""  # "" until the episode is over


class EpisodeRecorder:
    """Records the first episodes of every skill and band: a StepWatcher."""

    def __init__(self, tasks: Sequence[TaskSpec], *, num_per_group: int, ticks_per_decision: int) -> None:
        """`num_per_group` bounds the memory: an episode of 100 decisions at 64 px takes 1.2 MB."""
        self._ticks_per_decision = ticks_per_decision
        self._chosen: set[int] = set()
        counts: Counter[tuple[str, str]] = Counter()
        for index, task in enumerate(tasks):
            counts[task.skill, task.band] += 1
            if counts[task.skill, task.band] <= num_per_group:
                self._chosen.add(index)
        self._recording_of: dict[int, EpisodeRecording] = {}

    def __call__(self, step: PlayedStep) -> None:
        """Note what the recorded envs saw and did in this decision."""
        for e, index in enumerate(step.task_index_E.tolist()):
            if index not in self._chosen:
                continue
            observation, transition = step.observation, step.transition
            recording = self._recording_of.setdefault(
                index,
                EpisodeRecording(
                    task=observation.tasks[e],
                    goal=observation.goals[e],
                    ticks_per_decision=self._ticks_per_decision,
                    images=[observation.image_EHWC[e].copy()] if observation.first_E[e] else [],
                ),
            )
            recording.keys.append(keys_text(step.actions.buttons_EB[e], step.actions.camera_deg_E2[e]))
            # The view before the next decision; where the episode ended, the view that ended it.
            recording.images.append(transition.final_image_EHWC[e].copy())
            if transition.terminated_E[e] or transition.truncated_E[e]:
                recording.outcome = Outcome(int(transition.outcome_E[e])).name.lower().replace("_", " ")

    def finished(self) -> list[EpisodeRecording]:
        """Return the recordings of episodes that are over, in the order of the tasks."""
        return [recording for _, recording in sorted(self._recording_of.items()) if recording.outcome]


def keys_text(buttons_B: np.ndarray, camera_deg_2: np.ndarray) -> str:
    """Return an action in words: pressed keys, then the turn of the camera in degrees a tick."""
    parts = [name for name, is_pressed in zip(BUTTONS, buttons_B, strict=True) if is_pressed]
    pitch_deg, yaw_deg = (float(value) for value in camera_deg_2)
    if abs(yaw_deg) > 0.05:
        parts.append(f"turn {'right' if yaw_deg > 0 else 'left'} {abs(yaw_deg):.0f} deg")
    if abs(pitch_deg) > 0.05:
        parts.append(f"look {'down' if pitch_deg > 0 else 'up'} {abs(pitch_deg):.0f} deg")
    return " + ".join(parts) or "nothing"


def choose_for_show(recordings: Sequence[EpisodeRecording], num_shown: int) -> list[EpisodeRecording]:
    """Return episodes worth showing: the first success of each skill, then the first failure, then more successes.

    The choice follows this rule and the task order only, so nobody picks the prettiest. Episodes of fewer than four
    decisions show nothing and come last.
    """
    long_enough = [recording for recording in recordings if len(recording.keys) >= 4]
    successes = [recording for recording in long_enough if recording.outcome == "success"]
    first_of_skill = list({recording.task.skill: recording for recording in reversed(successes)}.values())[::-1]
    failures = [recording for recording in long_enough if recording.outcome != "success"]
    ordered = [*first_of_skill[: max(1, num_shown - 1)], *failures[:1], *successes, *failures, *recordings]
    chosen: list[EpisodeRecording] = []
    for recording in ordered:
        if len(chosen) < num_shown and not any(recording is other for other in chosen):
            chosen.append(recording)
    return chosen
