"""Claims about what is noted of an episode while it is played."""

import numpy as np

from eval.episodes.episode_track import EpisodeTracker
from mcrl.rollout.episodes import TaskListSource, run_episodes
from task_synthesis.playing.task_env import TaskEnv
from tests.task_synthesis.fixtures import some_tasks
from worlds.types import BUTTON_INDEX, ActionBatch
from worlds.voxel.backend import VoxelBackend


class Turner:
    """Turns round without a stop, and notes whether the first frame of each task shows the target."""

    def __init__(self) -> None:
        self.first_frame: dict[str, bool] = {}

    def act(self, observation) -> ActionBatch:
        for task, area in zip(observation.tasks, observation.target_E7[:, 0], strict=True):
            self.first_frame.setdefault(task.task_id, bool(area > 0))
        actions = ActionBatch.noop(len(observation.tasks))
        actions.camera_deg_E2[:, 1] = 9.0
        return actions


def test_a_target_that_the_first_frame_alone_shows_was_seen_at_tick_0():
    """The step after it overwrites the engine's arrays."""
    tasks = some_tasks()
    env = TaskEnv(VoxelBackend(4, size_blocks=(64, 64, 64), image_px=(64, 64)), TaskListSource(tasks), action_repeat=4)
    turner, tracker = Turner(), EpisodeTracker(tasks, ticks_per_decision=4)
    run_episodes(turner, env, tasks, on_step=tracker)
    env.backend.close()
    at_once = [tracker.track(index).first_seen_ticks == 0 for index in range(len(tasks))]
    shown = [turner.first_frame[task.task_id] for task in tasks]
    assert at_once == shown
    assert 0 < np.mean(shown) < 1


class Leaver:
    """Turns its back on the target and walks."""

    def act(self, observation) -> ActionBatch:
        actions = ActionBatch.noop(len(observation.tasks))
        turn_deg_E = np.array([180.0 + task.difficulty.target_yaw_deg for task in observation.tasks])
        actions.camera_deg_E2[:, 1] = np.where(observation.first_E, turn_deg_E / 4, 0.0)
        actions.buttons_EB[:, BUTTON_INDEX["forward"]] = True
        return actions


def test_an_agent_was_as_near_to_its_target_as_it_began():
    tasks = [task for task in some_tasks() if task.band == "near"]
    env = TaskEnv(VoxelBackend(4, size_blocks=(64, 64, 64), image_px=(16, 16)), TaskListSource(tasks), action_repeat=4)
    tracker = EpisodeTracker(tasks, ticks_per_decision=4)
    run_episodes(Leaver(), env, tasks, on_step=tracker)
    env.backend.close()
    closest_N = np.array([tracker.track(index).closest_blocks for index in range(len(tasks))])
    flat_N = np.array([task.difficulty.distance_blocks for task in tasks])
    begun_N = np.hypot(flat_N, [task.difficulty.height_blocks for task in tasks])
    assert (closest_N <= begun_N + 0.06).all()  # distances of tasks are rounded
