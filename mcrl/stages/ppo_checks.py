"""The success checks of the second stage: val tasks played every so many iterations, here or beside the run."""

from functools import partial

from mcrl.dataflow.groups.worker_group import WorkerGroup
from mcrl.dataflow.weights.snapshot import ParamSnapshot
from mcrl.rollout.episodes import EpisodeRecord
from mcrl.run import Run
from mcrl.stages.evaluator import ChecksBeside, Evaluator
from policies.interface import Policy
from task_synthesis.task import TaskSpec

# In the log's "val" lines, what these checks write.
_SUCCESS = "ppo_success"


class PPOChecks:
    """Plays the val tasks when they are due; an interrupted run has the checks of an unbroken one.

    Evaluators beside the run are the exception: what they are at when it is stopped ends with them.
    """

    def __init__(self, run: Run, policy: Policy, tasks: list[TaskSpec]) -> None:
        """Start the evaluators that the config asks for."""
        self._run = run
        self._policy = policy
        self._tasks = tasks
        self._beside = self._evaluators()

    def begin(self, iteration: int) -> None:
        """Go on after `iteration`: later lines of the log are left out, a check that a stop forestalled is made."""
        self._run.metrics.discard_after("val", iteration, name=_SUCCESS)
        if self._is_due(iteration) and not self._is_done(iteration):
            self._play(iteration)

    def after(self, iteration: int, snapshot: ParamSnapshot) -> None:
        """Play the tasks if they are due, with the policy or, beside the run, with `snapshot` of it."""
        if self._beside is None:
            if self._is_due(iteration):
                self._play(iteration)
        elif self._is_due(iteration):
            self._beside.offer(snapshot)
        else:
            self._beside.poll()

    def wait(self) -> None:
        """Wait for the evaluators that still play."""
        if self._beside is not None:
            self._beside.finish()

    def finish(self, iteration: int) -> None:
        """Play the tasks after the last iteration, unless an earlier start of the run did."""
        if not self._is_done(iteration):
            self._play(iteration)

    def close(self) -> None:
        """End the evaluators."""
        if self._beside is not None:
            self._beside.close()

    def _is_due(self, iteration: int) -> bool:
        val_every = self._run.config.val_every
        return bool(val_every) and 0 < iteration < self._run.config.ppo.num_iterations and iteration % val_every == 0

    def _is_done(self, iteration: int) -> bool:
        return self._run.metrics.has("val", iteration, name=_SUCCESS)

    def _play(self, iteration: int) -> None:
        self._run.validate(self._policy, self._tasks, "ppo", iteration)

    def _evaluators(self) -> ChecksBeside | None:
        config = self._run.config
        if not config.rollout.num_evaluators:
            return None
        from mcrl.dataflow.ray.worker_group import RayWorkers  # heavy, and only these checks need it

        make = partial(Evaluator, config, self._run.parts)
        workers = RayWorkers(make, config.rollout.num_evaluators, num_threads=config.rollout.worker_threads)

        def report(version: int, records: list[EpisodeRecord]) -> None:
            self._run.report_check(records, "ppo", version)

        return ChecksBeside(WorkerGroup(Evaluator, workers), self._tasks, report)
