"""Success checks on val tasks: in the learner's process, or by evaluators beside the run while learning goes on."""

import logging
from collections.abc import Callable, Sequence
from contextlib import closing

from mcrl.assembly import Parts
from mcrl.config import TrainConfig
from mcrl.dataflow.groups.dispatch import DP_SPLIT, ONE_TO_ALL, dispatch
from mcrl.dataflow.groups.worker_group import GroupCall, WorkerGroup, WorkerLostError
from mcrl.dataflow.weights.params import ParamLayout
from mcrl.dataflow.weights.snapshot import ParamSnapshot
from mcrl.rollout.episodes import EpisodeRecord, StepWatcher, TaskListSource, run_episodes
from mcrl.seeding import derive_seed
from policies.agent import PolicyAgent
from policies.interface import Policy
from task_synthesis.task import TaskSpec

_LOG = logging.getLogger(__name__)


def play_val_tasks(
    config: TrainConfig,
    parts: Parts,
    policy: Policy,
    tasks: Sequence[TaskSpec],
    *,
    seed: int,
    on_step: StepWatcher | None = None,
) -> list[EpisodeRecord]:
    """Play every task once with drawn actions and return the records in the order of `tasks`."""
    num_envs = min(config.imitation.num_envs, len(tasks))
    agent = PolicyAgent(policy, num_envs, seed=seed, precision=config.precision)
    with closing(parts.make_env(config, TaskListSource(tasks), num_envs)) as env, agent.casts_kept():
        return run_episodes(agent, env, tasks, on_step=on_step)


class Evaluator:
    """Plays tasks with the weights it was given last."""

    def __init__(self, config: TrainConfig, parts: Parts, number: int) -> None:
        """With the first two arguments bound this is a MakeWorker. Evaluator 0 draws as the learner's process does."""
        self._config, self._parts = config, parts
        self._policy = parts.make_policy(config).eval()
        self._layout = ParamLayout(self._policy)
        self._seed = derive_seed(config.seed, "validation", *([number] if number else []))
        self._is_loaded = False

    @dispatch(ONE_TO_ALL)
    def load(self, snapshot: ParamSnapshot) -> None:
        """Play with these weights from now on."""
        self._layout.load(self._policy, snapshot)
        self._is_loaded = True

    @dispatch(DP_SPLIT)
    def play(self, tasks: Sequence[TaskSpec]) -> list[EpisodeRecord]:
        """Play every task once. Raise WorkerLostError where no weights came: those of one that died went with it."""
        if not self._is_loaded:
            raise WorkerLostError("an evaluator was started again between its weights and its tasks")
        return play_val_tasks(self._config, self._parts, self._policy, tasks, seed=self._seed)


# (updates that the weights had seen, records)
OnChecked = Callable[[int, list[EpisodeRecord]], None]


class ChecksBeside:
    """One check at a time on a group of Evaluators. The run never waits for them but at its end."""

    def __init__(self, group: WorkerGroup, tasks: Sequence[TaskSpec], on_checked: OnChecked) -> None:
        self._group, self._tasks, self._on_checked = group, list(tasks), on_checked
        self._version = 0
        self._calls: tuple[GroupCall, ...] = ()
        self.num_skipped = 0
        """Checks that fell due while the one before was under way, or whose evaluator died."""

    def offer(self, snapshot: ParamSnapshot) -> bool:
        """Begin a check of these weights and return whether it was; not while another is under way."""
        self.poll()
        if self._calls:
            self.num_skipped += 1
            _LOG.warning("val check %d skipped: the one of %d is under way", snapshot.version, self._version)
            return False
        self._version = snapshot.version
        self._calls = (self._group.start("load", snapshot), self._group.start("play", self._tasks))
        return True

    def poll(self) -> None:
        """Report a check that is done."""
        if self._calls and all(call.is_done() for call in self._calls):
            self.finish()

    def finish(self) -> None:
        """Wait for the check that is under way and report it."""
        if not self._calls:
            return
        (load, play), self._calls = self._calls, ()
        try:
            load.result()
            records = play.result()
        except WorkerLostError as error:
            self.num_skipped += 1
            _LOG.warning("val check %d lost: %s", self._version, error)
            return
        self._on_checked(self._version, records)

    def close(self) -> None:
        """Report a check that is done, tell of one that is not, and end the evaluators."""
        try:
            self.poll()
            if self._calls:
                _LOG.warning("val check %d is given up: the run ends here", self._version)
        finally:
            self._calls = ()
            self._group.close()
