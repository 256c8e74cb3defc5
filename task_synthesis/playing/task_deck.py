"""Tasks dealt in random order, but so that the worlds of tasks dealt near each other are few enough to be kept."""

from collections.abc import Sequence

import numpy as np

from task_synthesis.playing.saved_state import SavedState
from task_synthesis.task import TaskSpec

# Half of what a WorldCache keeps by default, so that the worlds of one window and of the next fit.
_WINDOW_BYTES = 128 * 2**20
_BYTES_PER_CELL = 4  # of a prepared world: block 2, free box 1, light 1
_LEAST_WORLDS = 8

# N tasks, W worlds.


class WorldWindows:
    """Cuts the worlds of a list of tasks into windows, anew in every round.

    A window is 128 worlds of 64 x 64 x 64 blocks, a thousand tasks and more. The decks of one sampler share the
    windows: when they keep pace, they are in the same worlds.
    """

    def __init__(self, tasks: Sequence[TaskSpec], rng: np.random.Generator) -> None:
        """Number the worlds of all tasks that any deck holds; `rng` decides the windows of all rounds."""
        self._index_of = {world: index for index, world in enumerate(dict.fromkeys(task.world for task in tasks))}
        self.seed = int(rng.integers(2**63))
        largest = max(int(np.prod(world.size_blocks)) for world in self._index_of)
        self._worlds_per_window = max(_LEAST_WORLDS, _WINDOW_BYTES // (_BYTES_PER_CELL * largest))

    def worlds_of(self, tasks: Sequence[TaskSpec]) -> np.ndarray:
        """Return the number of each task's world, int64 [N]."""
        return np.array([self._index_of[task.world] for task in tasks], np.int64)

    def of_round(self, round_index: int) -> np.ndarray:
        """Return the window of each world in a round, int64 [W]; the same for whoever asks."""
        order_W = np.random.default_rng([self.seed, round_index]).permutation(len(self._index_of))
        window_W: np.ndarray = order_W // self._worlds_per_window
        return window_W


class TaskDeck:
    """Deals every task once in a random order, window by window, then again in another.

    Dealt from the whole list, two of three tasks of the laptop recipe needed a world that was no longer kept, and
    making it (2.5 ms of a core) took four times as long as the rest of the reset.
    """

    def __init__(self, tasks: Sequence[TaskSpec], rng: np.random.Generator, windows: WorldWindows) -> None:
        self._tasks, self._rng, self._windows = list(tasks), rng, windows
        self._world_N = windows.worlds_of(tasks)
        self._round_index = 0
        self._order: list[int] = []

    def next(self) -> TaskSpec:
        """Return the next task; all are dealt before one comes again."""
        if not self._order:
            self._order = self._shuffled()
            self._round_index += 1
        return self._tasks[self._order.pop()]

    def saved(self) -> SavedState:
        """Return what is left of this round; the generator and the windows are not the deck's alone."""
        return SavedState(values={"round_index": self._round_index}, arrays={"order": np.array(self._order, np.int64)})

    def load_saved(self, state: SavedState) -> None:
        """Deal what was left when a deck of the same tasks said `saved`."""
        round_index, order_N = state.value("round_index", int), state.vector("order", np.int64)
        is_of_tasks = np.isin(order_N, np.arange(len(self._tasks))).all() and len(set(order_N)) == len(order_N)
        if round_index < 0 or not is_of_tasks:
            raise state.misfit(f"round {round_index} deals tasks that are not those {len(self._tasks)} of this run")
        self._round_index, self._order = round_index, order_N.tolist()

    def _shuffled(self) -> list[int]:
        shuffled_N = self._rng.permutation(len(self._tasks))
        window_N = self._windows.of_round(self._round_index)[self._world_N[shuffled_N]]
        # Stable: within a window the tasks stay shuffled.
        order: list[int] = shuffled_N[np.argsort(window_N, kind="stable")].tolist()
        return order


class Decks:
    """A deck for each of some families of tasks; they share the windows and the generator."""

    def __init__(
        self, tasks: Sequence[TaskSpec], families: Sequence[Sequence[TaskSpec]], rng: np.random.Generator
    ) -> None:
        """Deal from each of `families`, all of them among `tasks`. `rng` may be used by others between two deals."""
        self._rng = rng
        self._windows = WorldWindows(tasks, rng)
        self._decks = [TaskDeck(family, rng, self._windows) for family in families]

    def next(self, family_index: int) -> TaskSpec:
        """Return the next task of a family."""
        return self._decks[family_index].next()

    def saved(self) -> SavedState:
        """Return all that decides the next tasks, the generator included."""
        decks = {f"deck_{index}": deck.saved() for index, deck in enumerate(self._decks)}
        return SavedState.of_parts(decks, windows_seed=self._windows.seed, rng=self._rng.bit_generator.state)

    def load_saved(self, state: SavedState) -> None:
        """Deal on as decks of the same families would have that said `saved`."""
        self._windows.seed = state.value("windows_seed", int)
        for index, deck in enumerate(self._decks):
            deck.load_saved(state.part(f"deck_{index}"))
        state.read_generator("rng", self._rng)
