"""Claims about what is noted of an episode while it is played."""

import numpy as np

from eval.episodes.episode_track import EpisodeTracker
from mcrl.rollout.episodes import TaskListSource, run_episodes
from task_synthesis.playing.task_env import TaskEnv
from tests.task_synthesis.fixtures import some_tasks
from worlds.types import ActionBatch
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
