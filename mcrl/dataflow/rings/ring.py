"""A rollout worker of G engines that step at their own pace: none waits for another. E envs a group, T steps.

    lane 0   step ......|         step ...|            reset .............................|
    lane 1   step ..|             step .......|   step ...|       step ....|
                    act(0, 1)^                act(1)^     act(1)^

A group is one engine's environments in lockstep (a real engine has one). Whatever groups are ready act together, in one
batch; resets, slow engines and engines that start again hold up only themselves. Each group cuts its own fragments.
"""

import logging
import math
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from mcrl.dataflow.inference.stream import ActReply, FollowingInference, InferenceStream
from mcrl.dataflow.rings.bootstrap import bootstrap_values
from mcrl.dataflow.rings.group import BackendFactory, Began, Group, Stepped, fault
from mcrl.dataflow.rings.step_runner import Done, StepRunner, ThreadRunner
from mcrl.rollout.fragment import Fragment, FragmentStatus
from mcrl.rollout.recorder import FragmentRecorder

if TYPE_CHECKING:
    from mcrl.dataflow.weights.delayed_update import DelayedUpdate
    from mcrl.dataflow.weights.param_store import ParamReader
    from mcrl.dataflow.weights.snapshot import ParamHeader, ParamSnapshot
    from task_synthesis.playing.task_env import Transition

_LOG = logging.getLogger(__name__)

# An engine that fails this often without a step in between is broken, not unlucky.
_MAX_FAILURES_IN_A_ROW = 3

# Ends of engines that are closed with the ring are waited for, but not for ever.
_CLOSE_LIMIT_S = 10.0


class EnvRing:
    """A FragmentWorker whose groups need not keep step.

    `collect` makes one fragment an env, as every worker does. `start` and `poll` let each group go on by itself:
    ask for a fragment wherever there is room for one, and take what is finished.
    """

    def __init__(
        self,
        make_backend: BackendFactory,
        inference: InferenceStream,
        *,
        num_groups: int,
        envs_per_group: int,
        fragment_steps: int,
        worker_id: int,
        step_limit_s: float,
        first_sequence: int | Sequence[int] = 0,
        is_timed: bool = False,
        runner: StepRunner | None = None,
    ) -> None:
        """Start all engines, each in its lane.

        `first_sequence` is of the groups' first fragments, one number or one a group. An engine that has not answered
        within `step_limit_s` is given up and started again. With `is_timed` fragments say how long the engine took.
        """
        if num_groups < 1:
            raise ValueError(f"ring.num_groups must be at least 1, got {num_groups}")
        if not step_limit_s > 0:
            raise ValueError(f"ring.step_limit_s must be above 0, got {step_limit_s}")
        self.num_envs = num_groups * envs_per_group
        self.num_failures: Counter[FragmentStatus] = Counter()
        """Engines given up, by what befell them."""
        self.num_memories_lost = 0
        """Memories of envs that began empty in the middle of an episode, because their host had died."""
        self._make_backend, self._inference = make_backend, inference
        self._envs_per_group, self._fragment_steps = envs_per_group, fragment_steps
        self._worker_id, self._step_limit_s, self._is_timed = worker_id, step_limit_s, is_timed
        self._ending: list[threading.Thread] = []  # of engines that were ready when nobody wanted them any more
        self._runner: StepRunner = runner or ThreadRunner(num_groups, on_unheard=self._end_unheard)
        first = [first_sequence] * num_groups if isinstance(first_sequence, int) else first_sequence
        self._finished: list[Fragment] = []
        self._num_busy = 0  # engines at work
        self._earliest_limit_s = math.inf  # no engine at work must have answered before
        self._groups = [Group(index, sequence) for index, sequence in zip(range(num_groups), first, strict=True)]
        for group in self._groups:
            self._begin(group)

    @property
    def num_idle(self) -> int:
        """Return how many groups no fragment was asked of."""
        return sum(not group.is_started for group in self._groups)

    def load(self, snapshot: "ParamSnapshot") -> None:
        """Act with these weights from the next step of every group on, be it in the middle of a fragment."""
        self._inference.load(snapshot)
        self._hear(snapshot.header)

    def follow(self, reader: "ParamReader") -> "DelayedUpdate":
        """Take weights from `reader` instead of by `load`, before the next step of every group."""
        assert isinstance(self._inference, FollowingInference), "replicas get their weights by load"
        return self._inference.follow(reader, self._hear)

    def collect(self) -> list[Fragment]:
        """Return the next fragment of every env, in order."""
        self.start(self.num_idle)
        fragments: list[Fragment] = []
        while len(fragments) < self.num_envs:
            fragments += self.poll(self._step_limit_s)
        return sorted(fragments, key=lambda fragment: fragment.env_index)

    def start(self, num_groups: int = 1) -> None:
        """Ask for one more fragment an env of each of `num_groups` groups that are idle."""
        idle = [group for group in self._groups if not group.is_started]
        assert num_groups <= len(idle), f"{num_groups} groups are to start, {len(idle)} are idle"
        # Those first that have made least, so that nobody starves where not all may go on.
        for group in sorted(idle, key=lambda group: group.sequence)[:num_groups]:
            group.is_started = True

    def poll(self, timeout_s: float) -> list[Fragment]:
        """Go on until a group has finished its fragments and return them; return nothing after `timeout_s`.

        Raises:
            RuntimeError: an engine failed again and again.
        """
        deadline_s = self._runner.now_s() + timeout_s
        while True:
            self._act()
            now_s = self._runner.now_s()
            if now_s >= deadline_s or not self._num_busy:
                return []
            self._receive(self._runner.wait(max(0.0, min(deadline_s, self._earliest_limit_s) - now_s)))
            if self._runner.now_s() >= self._earliest_limit_s:
                self._give_up_hung()
            if self._finished:
                self._act()  # engines work while the caller looks at the fragments
                finished, self._finished = self._finished, []
                return finished

    def close(self) -> None:
        """End all engines. Closing twice is fine."""
        for group in self._groups:
            group.life += 1  # an engine still being built ends itself
        self._runner.close()
        threads = [group.backend.end() for group in self._groups if group.backend is not None]
        limit_s = time.monotonic() + _CLOSE_LIMIT_S
        for thread in [*threads, *self._ending]:
            thread.join(max(0.0, limit_s - time.monotonic()))
        for group in self._groups:
            group.backend, group.limit_s = None, None
        self._inference.close()

    def _end_unheard(self, result: Began | Stepped | None) -> None:
        """End an engine that began and that no group knows of."""
        self._ending += [result.backend.end()] if isinstance(result, Began) else []

    def _hear(self, header: "ParamHeader") -> None:
        for group in self._groups:
            group.new_statistics = header.task_statistics

    # --------------------------------------------------------------------------------------------------- acting

    def _act(self) -> None:
        """Let all groups act that are ready, in one batch, and set their engines to work."""
        ready = [group for group in self._groups if group.is_started and group.observation is not None]
        if not ready:
            return
        replies = self._inference.act([group.request(self._worker_id) for group in ready])
        for group, reply in zip(ready, replies, strict=True):
            self._record(group, reply)
            self._submit(group, group.step_work(self._runner.now_s))

    def _record(self, group: Group, reply: ActReply) -> None:
        if reply.is_memory_lost:
            self.num_memories_lost += self._envs_per_group
            # What was recorded rests on a memory that no longer is: the fragment begins again here.
            self._begin_again(group)
        if group.recorder is None:
            assert reply.memories is not None
            group.recorder = FragmentRecorder(self._envs_per_group, self._fragment_steps, keeps_situations=True)
            group.num_recorded, group.memories, group.min_version = 0, reply.memories, reply.version
        assert group.observation is not None
        group.reply = reply
        group.recorder.see(group.observation, reply.previous_action_EA, reply.view_E)
        group.recorder.act(
            reply.action_EA,
            log_prob_E=reply.log_prob_E,
            value_E=reply.value_E,
            reference_logits_EL=reply.reference_logits_EL,
        )

    def _begin_again(self, group: Group) -> None:
        """Throw away what is recorded of the fragment in the making."""
        group.has_gap = group.has_gap or group.recorder is not None
        group.recorder = None

    # -------------------------------------------------------------------------------------------------- engines

    def _begin(self, group: Group) -> None:
        self._submit(group, group.begin_work(self._make_backend))

    def _submit(self, group: Group, work: Callable[[], Began | Stepped]) -> None:
        group.observation = None
        group.limit_s = self._runner.now_s() + self._step_limit_s
        self._earliest_limit_s = min(self._earliest_limit_s, group.limit_s)
        self._num_busy += 1
        self._runner.submit(group.index, work)

    def _receive(self, finished: Sequence[Done]) -> None:
        """Take in what the engines did."""
        stepped: list[tuple[Group, Stepped]] = []
        for done in finished:  # first of all: an error below ends the ring, and it ends what its groups know of
            if isinstance(done.result, Began):
                group = self._groups[done.lane]
                group.backend, group.observation = done.result.backend, done.result.observation
        for done in finished:
            group = self._groups[done.lane]
            assert group.limit_s is not None
            begin_s, group.limit_s = group.limit_s - self._step_limit_s, None
            self._num_busy -= 1
            if isinstance(done.error, (RuntimeError, OSError, EOFError)):
                self._fail(group, "crashed", str(done.error) or type(done.error).__name__, done.end_s - begin_s)
                continue
            if done.error is not None:  # a bug, or a refusal of what the user asked for
                raise done.error
            if isinstance(done.result, Stepped):
                stepped.append((group, done.result))
        values = bootstrap_values(
            self._inference, stepped, worker_id=self._worker_id, fragment_steps=self._fragment_steps
        )
        for (group, result), value_E in zip(stepped, values, strict=True):
            group.observation = result.transition.observation
            group.failures_in_a_row = 0
            if value_E is None:  # the memory is gone that the fragment rests on: it begins again
                self._begin_again(group)
            else:
                self._result(group, result.transition, value_E, result.step_s)

    def _result(self, group: Group, transition: "Transition", value_E: np.ndarray, step_s: float) -> None:
        """Record what came of a step, and cut the fragments if it was their last."""
        assert group.recorder is not None
        assert group.reply is not None
        group.recorder.result(transition, value_E, step_s=step_s if self._is_timed else None)
        group.num_recorded += 1
        if group.num_recorded < self._fragment_steps:
            return
        version = group.reply.version
        fragments = group.recorder.cut(
            group.memories, version=version, worker_id=self._worker_id, sequence=group.sequence
        )
        for fragment in fragments:
            fragment.env_index += group.index * self._envs_per_group
            fragment.min_version, fragment.status = group.min_version, group.status
            fragment.has_gap = group.has_gap
        self._finished += fragments
        group.sequence += 1
        group.recorder, group.is_started, group.status, group.has_gap = None, False, "ok", False

    # -------------------------------------------------------------------------------------------------- failures

    def _give_up_hung(self) -> None:
        """Give up the engines that have not answered in time."""
        now_s = self._runner.now_s()
        late = [group for group in self._groups if group.limit_s is not None and now_s >= group.limit_s]
        for group in late:
            self._runner.abandon(group.index)
            group.limit_s = None
            self._num_busy -= 1
            self._fail(group, "timeout", f"no answer within {self._step_limit_s:g} s", self._step_limit_s)
        limits_s = [group.limit_s for group in self._groups if group.limit_s is not None]
        self._earliest_limit_s = min(limits_s, default=math.inf)

    def _fail(self, group: Group, status: FragmentStatus, reason: str, step_s: float) -> None:
        """Count an engine that failed after `step_s`, end its episodes without a verdict, and start it again."""
        self.num_failures[status] += 1
        group.failures_in_a_row += 1
        if group.failures_in_a_row >= _MAX_FAILURES_IN_A_ROW:
            raise RuntimeError(
                f"ring: engine {group.index} of worker {self._worker_id} failed {_MAX_FAILURES_IN_A_ROW} times without "
                f"taking a step, the last time with: {reason}; mend the engine, or raise rollout.step_limit_s "
                "if it is only slow"
            )
        _LOG.warning(
            "engine %d of worker %d: %s (%s); it starts again, and its episodes do not count",
            group.index,
            self._worker_id,
            status,
            reason,
        )
        group.status = status
        was_stepping = group.recorder is not None and group.backend is not None
        if group.backend is not None:
            group.backend.end()
            group.backend = None
        group.life += 1
        self._begin(group)
        if was_stepping:
            self._result(group, fault(self._envs_per_group), np.zeros(self._envs_per_group, np.float32), step_s)
