"""Our judged episodes at the peers' setting, by turns with them: `python -m eval.benches.nature_evaluation SEED`."""

from collections.abc import Sequence

import numpy as np
import torch

from eval.benches.frame_pool_env import FramePoolEnv
from eval.benches.nature_policy import NaturePolicy
from eval.benches.unplayed_task import unplayed_task
from eval.episodes.action_archive import pack
from eval.episodes.episode_track import EpisodeTracker
from eval.episodes.judged_episode import judged_episode
from eval.episodes.records import JudgedEpisode
from eval.peers import turns
from mcrl.rollout.episodes import TaskListSource, run_episodes
from policies.agent import PolicyAgent
from policies.precision import Precision
from policies.threads import use_threads
from task_synthesis.playing.task_env import Observation, Transition, Whereabouts
from task_synthesis.task import TaskSpec
from worlds.types import ActionBatch

_TICKS_PER_DECISION = 1  # frame pools age by one a decision


class JudgedPools(FramePoolEnv):
    """Frame pools that name a task of a list for each episode, and say where everybody is: always at one place."""

    def hand_out(self, tasks: Sequence[TaskSpec]) -> None:
        """Let the episodes from the next reset on be those of `tasks`."""
        self._source = TaskListSource(tasks)

    def reset(self) -> Observation:
        """Begin an episode in every env."""
        self._tasks = [self._source(index) for index in range(self.num_envs)]
        return super().reset()

    def step(self, actions: ActionBatch) -> Transition:
        """Let every env take one decision."""
        transition = super().step(actions)
        for index in np.flatnonzero(transition.observation.first_E).tolist():
            self._tasks[index] = transition.observation.tasks[index] = self._source(index)
        place_E3 = np.zeros((self.num_envs, 3))
        transition.whereabouts = Whereabouts(
            feet_E3=place_E3, target_E3=place_E3, target_area_E=np.zeros(self.num_envs, np.float32)
        )
        return transition


class NatureEvaluation:
    """What eval.judging.unit does with the tasks of a unit, around the shared network and env."""

    def __init__(self, *, precision: Precision, seed: int) -> None:
        """Build all of it."""
        torch.manual_seed(seed)
        self._policy, self._precision, self._seed = NaturePolicy().eval(), precision, seed
        self._env = JudgedPools(turns.NUM_ENVS, seed)
        self._tasks = [
            unplayed_task(max_ticks=turns.EPISODE_STEPS, world_seed=index)
            for index in range(turns.EPISODES_PER_EVALUATION)
        ]

    def iterate(self, num_iterations: int) -> int:
        """Judge all episodes so many times; return how many decisions were taken in them."""
        num_decisions = 0
        for _ in range(num_iterations):
            episodes, _ = self.judge()
            num_decisions += sum(episode.ticks for episode in episodes)
        return num_decisions

    def judge(self) -> tuple[list[JudgedEpisode], bytes]:
        """Return the records of all episodes and their packed actions."""
        self._env.hand_out(self._tasks)
        agent = PolicyAgent(self._policy, turns.NUM_ENVS, seed=self._seed, precision=self._precision)
        tracker = EpisodeTracker(self._tasks, ticks_per_decision=_TICKS_PER_DECISION)
        with agent.casts_kept():
            records = run_episodes(agent, self._env, self._tasks, on_step=tracker)
        episodes = [
            judged_episode(
                task, record, tracker.track(index), row="policy", suite="", unit=0, goal_task_id=task.task_id
            )
            for index, (task, record) in enumerate(zip(self._tasks, records, strict=True))
        ]  # fmt: skip
        ids = [task.task_id for task in self._tasks]
        return episodes, pack(dict(zip(ids, tracker.actions(), strict=True)))


def main() -> None:
    """Take turns until stdin ends."""
    use_threads(1)
    versions = {"torch": torch.__version__, "numpy": np.__version__}
    turns.take_turns(NatureEvaluation(precision="auto", seed=turns.seed()).iterate, versions)


if __name__ == "__main__":
    main()
