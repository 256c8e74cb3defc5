"""A group of a ring: the environments of one engine, what they are at, and what becomes of an engine that failed."""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mcrl.dataflow.inference.stream import ActReply, ActRequest
from mcrl.rollout.fragment import FragmentStatus
from mcrl.rollout.recorder import FragmentRecorder

if TYPE_CHECKING:  # a sleeping worker imports neither torch nor the engine
    from mcrl.dataflow.contracts import LockstepEnv
    from task_synthesis.playing.curriculum import TaskSampler
    from task_synthesis.playing.task_env import Observation, Transition


@dataclass(kw_only=True, slots=True)
class Backend:
    """One engine and what belongs to it."""

    env: "LockstepEnv"
    sampler: "TaskSampler | None" = None
    """Hands `env` its tasks; hears of the statistics that come with new weights."""

    def end(self) -> threading.Thread:
        """Close the engine in a thread of its own: it may be the one that hangs."""
        thread = threading.Thread(target=self.env.close, daemon=True)
        thread.start()
        return thread


# Builds the engine of a group in its life: (group, life). `life` counts how often it was started again.
BackendFactory = Callable[[int, int], Backend]


@dataclass(frozen=True, slots=True)
class Began:
    """A new engine, and what its agents see first."""

    backend: Backend
    observation: "Observation"


@dataclass(frozen=True, slots=True)
class Stepped:
    """What a step led to."""

    transition: "Transition"
    step_s: float  # of the engine alone: a reset belongs to no action


@dataclass(slots=True)
class Group:
    """What the ring knows of one engine and its fragments."""

    index: int
    sequence: int  # of the fragment in the making, or of the next one
    life: int = 0
    backend: Backend | None = None
    observation: "Observation | None" = None  # None while the engine is at work
    limit_s: float | None = None  # moment by which the engine must have answered; None while it rests
    is_started: bool = False  # a fragment was asked for
    recorder: FragmentRecorder | None = None  # None: no step of the fragment was taken yet
    num_recorded: int = 0
    memories: Sequence[dict[str, np.ndarray]] = ()
    reply: ActReply | None = None
    num_requests: int = 0
    min_version: int = 0
    status: FragmentStatus = "ok"
    has_gap: bool = False  # steps that were recorded for the fragment were thrown away
    failures_in_a_row: int = 0
    new_statistics: Mapping[str, Any] | None = None

    def request(self, worker_id: int) -> ActRequest:
        """Return the next request: what to do now?"""
        assert self.observation is not None
        request = ActRequest(
            group=(worker_id, self.index),
            request_id=self.num_requests,
            image_EHWC=self.observation.image_EHWC,
            first_E=self.observation.first_E,
            goals=self.observation.goals,
            previous_action_EA=None if self.reply is None else self.reply.action_EA,
            wants_memory=self.recorder is None,
        )
        self.num_requests += 1
        return request

    def begin_work(self, make_backend: BackendFactory) -> Callable[[], Began]:
        """Return the work of building the group's engine and beginning an episode in every env."""
        life = self.life

        def begin() -> Began:
            backend = make_backend(self.index, life)
            # Given up while it starts or resets, its result is heard by nobody, and nobody else knows of this engine.
            try:
                self._check_wanted(life)
                observation = backend.env.reset()
                self._check_wanted(life)
            except BaseException:
                backend.end()
                raise
            return Began(backend, observation)

        return begin

    def _check_wanted(self, life: int) -> None:
        """Raise RuntimeError where the group has gone on without the engine of that life."""
        if self.life != life:
            raise RuntimeError(f"engine {self.index} was given up while it started")

    def step_work(self, now_s: Callable[[], float]) -> Callable[[], Stepped]:
        """Return the work of carrying out the reply."""
        assert self.backend is not None
        assert self.reply is not None
        backend, actions = self.backend, self.reply.actions
        statistics, self.new_statistics = self.new_statistics, None

        def step() -> Stepped:
            if backend.sampler is not None and statistics is not None:
                backend.sampler.load_statistics(statistics)
            begin_s = now_s()
            transition = backend.env.step(actions)
            return Stepped(transition, now_s() - begin_s - transition.reset_ns / 1e9)

        return step


def fault(num_envs: int) -> "Transition":
    """Return a step that failed: truncated, and to be left out of learning."""
    # With the engine's kernels, which sleepers do without.
    from task_synthesis.playing.task_env import Outcome, Transition

    nothing_E = np.zeros(num_envs, bool)
    return Transition(
        observation=None,  # type: ignore[arg-type]  # the next one comes from another engine
        reward_E=np.zeros(num_envs, np.float32),
        terminated_E=nothing_E,
        truncated_E=~nothing_E,
        outcome_E=np.full(num_envs, int(Outcome.FAULT)),
        episode_ticks_E=np.zeros(num_envs, np.int64),
        final_image_EHWC=np.zeros((num_envs, 0, 0, 3), np.uint8),
        is_valid_E=nothing_E,
    )
