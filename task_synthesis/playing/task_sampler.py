"""What every order of tasks has in common: a source that announces, listens, and can be brought back where it was.

An env takes its tasks from a TaskSource, any function from an env's index to a task. A `TaskSampler` is a source that
also announces what comes next, hears how episodes ended, and keeps what it knows as JSON. Your own is a few lines:

    class HardestFirst(TaskSampler):
        '''Plays the tasks by falling distance, over and over.'''

        def __init__(self, tasks):
            super().__init__()
            self._tasks = sorted(tasks, key=lambda task: -task.difficulty.distance_blocks)
            self._next = 0

        def draw(self):
            self._next += 1
            return self._tasks[(self._next - 1) % len(self._tasks)]

Give it to `TaskEnv(backend, HardestFirst(tasks))`, or to a training run as `make_sampler` of mcrl.assembly.Parts. A run
that is interrupted goes on to the bit where it was if the sampler says where that is:

        def saved_order(self):
            return SavedState(values={"next": self._next})

        def load_saved_order(self, state):
            self._next = state.value("next", int)
"""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Mapping
from typing import Any

from task_synthesis.playing.saved_state import SavedState
from task_synthesis.task import TaskSpec, from_json_line, to_json_line

LOOKAHEAD_TASKS = 4
"""Tasks a sampler decides ahead of handing them out, so that their worlds can be made meanwhile."""


class TaskSampler(ABC):
    """A TaskSource that decides a few tasks ahead. Subclasses say what `draw` returns; the rest is optional."""

    def __init__(self) -> None:
        self._ahead: deque[TaskSpec] = deque()

    @abstractmethod
    def draw(self) -> TaskSpec:
        """Decide one task. Called in the order in which tasks are handed out, LOOKAHEAD_TASKS before each."""

    def __call__(self, env_index: int) -> TaskSpec:
        """Return the next task, whichever env asks."""
        self._look_ahead()
        task = self._ahead.popleft()
        self._look_ahead()
        return task

    def upcoming(self, num_tasks: int) -> list[TaskSpec]:
        """Return the tasks handed out next, as far as they are decided; asking changes nothing."""
        return list(self._ahead)[:num_tasks]

    def report(self, task: TaskSpec, *, is_success: bool) -> None:  # noqa: B027 - by default nobody listens
        """Hear how an episode ended that the engine did not fail. Most samplers do not care."""

    def statistics(self) -> dict[str, Any]:
        """Return what was learned from reports as plain JSON; empty where nothing was."""
        return {}

    def load_statistics(self, statistics: Mapping[str, Any]) -> None:  # noqa: B027 - there is nothing to know
        """Know from now on exactly what `statistics` of a sampler made alike knew."""

    def metrics(self) -> dict[str, float]:
        """Return numbers for a run's log."""
        return {}

    def saved(self) -> SavedState | None:
        """Return where in its order the sampler is, what is decided ahead included; None where `saved_order` is.

        What it learned from reports is not in here but in `statistics`.
        """
        order = self.saved_order()
        if order is None:
            return None
        return SavedState.of_parts({"order": order}, ahead=[to_json_line(task) for task in self._ahead])

    def load_saved(self, state: SavedState) -> None:
        """Go on where a sampler of the same tasks was when it said `saved`."""
        ahead = [from_json_line(line, where=f"{state.where}: ahead") for line in state.strings("ahead")]
        self.load_saved_order(state.part("order"))
        self._ahead = deque(ahead)

    def saved_order(self) -> SavedState | None:
        """Return all that decides the next `draw` besides tasks and statistics; None if that cannot be said."""
        return None

    def load_saved_order(self, state: SavedState) -> None:
        """Draw from now on what a sampler made alike would have drawn after `saved_order`."""
        raise state.misfit(f"{type(self).__name__} has no load_saved_order")

    def _look_ahead(self) -> None:
        # Always this far and never at the wish of who asks: what is drawn must not depend on who looked.
        while len(self._ahead) < LOOKAHEAD_TASKS:
            self._ahead.append(self.draw())
