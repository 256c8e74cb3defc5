"""One agent at play: in a free world or on a task, driven by keys, a person, the expert or a policy. H W C image."""

import dataclasses
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from eval.episodes.action_text import keys_text
from policies.interface import Agent
from task_synthesis.goal import CrossViewGoal
from task_synthesis.playing.task_env import Observation, Outcome, TaskEnv
from worlds.adapters.backend import ProcessBackend
from worlds.items import ITEMS
from worlds.spec import Episode
from worlds.types import ActionBatch, TickBatch
from worlds.voxel.backend import VoxelBackend

NUM_HOTBAR_SLOTS = 9
FAULT = Outcome.FAULT.name.lower()


@dataclass(frozen=True, slots=True)
class PlayFrame:
    """What the agent sees at one moment, and what a player wants to know besides."""

    image_HWC: np.ndarray  # uint8 [H, W, 3] RGB
    tick: int  # since the beginning
    health: float  # half hearts
    hotbar: tuple[tuple[str, int], ...]  # (item, count) of the nine slots, "" for an empty one
    selected: int  # slot in hand
    position: tuple[float, float, float]  # feet
    keys: str  # what was pressed before this moment, in words
    outcome: str  # of the task, "" while it runs and in a free world
    goal: CrossViewGoal | None


class _Watched:
    """Keeps what a player wants to know after each tick. Comes before the engine in the list of bases, with one env."""

    last: TickBatch
    stepped: PlayFrame
    """What the last step led to, copied: at its end an env begins the next episode, over the arrays of this one."""

    def step(self, actions: ActionBatch, *, num_ticks: int = 1) -> TickBatch:
        """Play on; see EnvBackend.step."""
        self.last = super().step(actions, num_ticks=num_ticks)  # type: ignore[misc]  # the engine's
        self.stepped = self.frame(tick=0, keys="")
        return self.last

    def observe(self) -> TickBatch:
        """Look without letting time pass; see EnvBackend.observe."""
        self.last = super().observe()  # type: ignore[misc]  # the engine's
        return self.last

    def frame(self, *, tick: int, keys: str, outcome: str = "", goal: CrossViewGoal | None = None) -> PlayFrame:
        """Return the present, copied."""
        return _frame(self.last, tick, keys, outcome, goal)


class WatchedBackend(_Watched, VoxelBackend):
    """The built-in engine, watched."""


class WatchedProcess(_Watched, ProcessBackend):
    """Another engine, watched."""


def _frame(last: TickBatch, tick: int, keys: str, outcome: str, goal: CrossViewGoal | None) -> PlayFrame:
    slots = zip(last.item_ES[0, :NUM_HOTBAR_SLOTS].tolist(), last.count_ES[0].tolist(), strict=False)
    x, y, z = last.pose_E5[0, :3].tolist()
    return PlayFrame(
        image_HWC=last.image_EHWC[0].copy(),
        tick=tick,
        health=float(last.health_E[0]),
        hotbar=tuple((ITEMS[item].name, count) if item >= 0 else ("", 0) for item, count in slots),
        selected=int(last.selected_E[0]),
        position=(x, y, z),
        keys=keys,
        outcome=outcome,
        goal=goal,
    )


class Stage(Protocol):
    """Where it is played."""

    ticks_per_step: int

    def begin(self) -> PlayFrame:
        """Start, and return the first view."""
        ...

    def step(self, action: ActionBatch) -> PlayFrame:
        """Act for `ticks_per_step` ticks and return what is seen then; its outcome says when it is over."""
        ...

    def close(self) -> None:
        """End the engine."""
        ...


class FreeStage:
    """A world without a task. It is over when the agent dies."""

    ticks_per_step = 1

    def __init__(self, backend: WatchedBackend | WatchedProcess, episode: Episode) -> None:
        self._backend, self._episode = backend, episode
        self._tick = 0

    def begin(self) -> PlayFrame:
        """Start the episode."""
        self._tick = 0
        self._backend.reset([0], [self._episode])
        self._backend.observe()
        return self._backend.frame(tick=0, keys="")

    def step(self, action: ActionBatch) -> PlayFrame:
        """Act for one tick."""
        self._backend.step(action)
        self._tick += 1
        return dataclasses.replace(
            self._backend.stepped, tick=self._tick, keys=_words(action), outcome=_end(self._backend.last)
        )

    def close(self) -> None:
        """End the engine."""
        self._backend.close()


class TaskStage:
    """A task, judged as in training."""

    def __init__(self, env: TaskEnv) -> None:
        """Play what `env` hands out first; its backend is a watched one."""
        assert isinstance(env.backend, (WatchedBackend, WatchedProcess))
        self._backend = env.backend
        self._env = env
        self.ticks_per_step = env.action_repeat
        self.observation: Observation | None = None
        self._goal: CrossViewGoal | None = None

    def begin(self) -> PlayFrame:
        """Start the task."""
        self.observation = self._env.reset()
        self._goal = self.observation.goals[0]
        return self._backend.frame(tick=0, keys="", goal=self._goal)

    def step(self, action: ActionBatch) -> PlayFrame:
        """Act for `ticks_per_step` ticks."""
        transition = self._env.step(action)
        self.observation = transition.observation
        outcome = Outcome(int(transition.outcome_E[0]))
        return dataclasses.replace(
            self._backend.stepped,
            tick=int(transition.episode_ticks_E[0]),
            keys=_words(action),
            outcome="" if outcome == Outcome.RUNNING else outcome.name.lower().replace("_", " "),
            goal=self._goal,
        )

    def close(self) -> None:
        """End the engine."""
        self._backend.close()


Driver = Callable[[PlayFrame], ActionBatch | None]
"""Chooses what to do next; None stops the play."""


def drive_by_script(actions: Iterable[ActionBatch]) -> Driver:
    """Return a driver that does what stands in a list, then stops."""
    rest: Iterator[ActionBatch] = iter(actions)
    return lambda frame: next(rest, None)


def drive_by_agent(agent: Agent, stage: TaskStage) -> Driver:
    """Return a driver that lets an agent choose."""

    def choose(frame: PlayFrame) -> ActionBatch:
        assert stage.observation is not None
        return agent.act(stage.observation)

    return choose


def play(stage: Stage, driver: Driver, show: Callable[[PlayFrame], None], *, max_ticks: int | None = None) -> PlayFrame:
    """Play until the driver stops, the episode is over or `max_ticks` have passed; return the last frame."""
    frame = stage.begin()
    show(frame)
    while not frame.outcome and (max_ticks is None or frame.tick < max_ticks):
        action = driver(frame)
        if action is None:
            break
        frame = stage.step(action)
        show(frame)
    return frame


def _end(last: TickBatch) -> str:
    if last.is_fault_E[0]:
        return FAULT
    return "death" if last.health_E[0] <= 0 else ""


def _words(action: ActionBatch) -> str:
    return keys_text(action.buttons_EB[0], action.camera_deg_E2[0])
