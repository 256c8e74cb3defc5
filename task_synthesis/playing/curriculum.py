"""Which task an env plays next: orders of a list of tasks, and what one of them learns from how the tasks went.

Your own order is a few lines, see task_synthesis.playing.task_sampler.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from task_synthesis.held_out import check_trainable
from task_synthesis.json_reader import MisfitError, reader_of
from task_synthesis.playing.saved_state import SavedState
from task_synthesis.playing.task_deck import Decks
from task_synthesis.playing.task_sampler import LOOKAHEAD_TASKS, TaskSampler
from task_synthesis.task import TaskSpec
from worlds.spec import SPLITS, Split, seed_after

__all__ = [
    "LOOKAHEAD_TASKS",
    "AdaptiveTasks",
    "MixedTasks",
    "ShuffledTasks",
    "TaskSampler",
    "check_split",
    "check_tasks",
    "family_namer",
]

_KEY_PARTS: dict[str, Callable[[TaskSpec], str]] = {
    "skill": lambda task: task.skill,
    "band": lambda task: task.band,
    "kind": lambda task: task.family.partition("/")[2],
    "biome": lambda task: task.world.biome,
}
_READ_FAMILIES = reader_of(dict[str, tuple[float, float]])


class ShuffledTasks(TaskSampler):
    """Hands out a list of tasks in a fresh random order every time it has gone through it; see task_deck.

    Mixed at the ratio of the list, as in the paper's 1:1:1 curriculum.
    """

    def __init__(self, tasks: Sequence[TaskSpec], *, split: Split, seed: int) -> None:
        """Refuse tasks whose world is not of `split`."""
        super().__init__()
        check_tasks(tasks, split)
        self._decks = Decks(tasks, [tasks], np.random.default_rng(seed))

    def draw(self) -> TaskSpec:
        """Return the next task of the order."""
        return self._decks.next(0)

    def saved_order(self) -> SavedState:
        """Return what the decks keep."""
        return self._decks.saved()

    def load_saved_order(self, state: SavedState) -> None:
        """Deal on as the decks would have."""
        self._decks.load_saved(state)


class MixedTasks(TaskSampler):
    """Hands out families of tasks at a fixed ratio, whatever their share of the list is.

    The ratio holds at every moment, not only on average: each task is of the family that is furthest behind its share.
    Within a family the tasks are shuffled.
    """

    def __init__(
        self, tasks: Sequence[TaskSpec], *, split: Split, seed: int, shares: Mapping[str, float], key: str = "band"
    ) -> None:
        """Play the families of `shares`, by names as `family_namer(key)` gives them; shares need not sum to 1."""
        super().__init__()
        check_tasks(tasks, split)
        rng = np.random.default_rng(seed)
        families = _families(tasks, key)
        wanted = {name: share for name, share in shares.items() if share > 0}
        absent = sorted(set(wanted) - set(families))
        if absent or not wanted or any(share < 0 for share in shares.values()):
            what = f"{absent[0]!r} has a share but no task" if absent else f"the shares must be positive, got {shares}"
            raise ValueError(f"curriculum: {what}; the families of these tasks are {sorted(families)}")
        self._names = sorted(wanted)
        self._decks = Decks(tasks, [families[name] for name in self._names], rng)
        self._share_N = np.array([wanted[name] for name in self._names])
        self._share_N /= self._share_N.sum()
        # A random beginning, so that workers beside each other do not all play the same family at once.
        self._owed_N = self._share_N * rng.random(len(self._names))

    def draw(self) -> TaskSpec:
        """Return a task of the family that is owed most."""
        self._owed_N += self._share_N
        index = int(np.argmax(self._owed_N))
        self._owed_N[index] -= 1.0
        return self._decks.next(index)

    def saved_order(self) -> SavedState:
        """Return what the decks keep, and what each family is owed."""
        return SavedState.of_parts(
            {"decks": self._decks.saved(), "owed": SavedState(arrays={"N": self._owed_N.copy()})}
        )

    def load_saved_order(self, state: SavedState) -> None:
        """Deal on as the decks would have."""
        owed_N = state.part("owed").array("N", self._owed_N)
        self._decks.load_saved(state.part("decks"))
        self._owed_N = owed_N


class AdaptiveTasks(TaskSampler):
    """Hands out the families of tasks from which most is to be learned: those sometimes solved and sometimes not.

    A family with success rate p is drawn with probability proportional to its share of the list times p (1 - p), the
    variance of its outcome. p is estimated from the reports with exponential forgetting, (successes + 1) /
    (episodes + 2): a family never tried counts as 1/2, the most interesting of all. An `exploration` part of the draws
    ignores p, so that what seems impossible or mastered is looked at again. Before the first report, and whenever all
    families do equally well, this plays the mix of the list. Same seed and same reports give the same tasks.
    """

    def __init__(
        self,
        tasks: Sequence[TaskSpec],
        *,
        split: Split,
        seed: int,
        key: str = "skill/band/kind",
        exploration: float = 0.2,
        memory_episodes: float = 100.0,
    ) -> None:
        """Group `tasks` by `family_namer(key)`; an outcome counts 1/e as much after `memory_episodes` of its family."""
        super().__init__()
        check_tasks(tasks, split)
        if not 0 < exploration <= 1:
            raise ValueError(f"curriculum: exploration must be in (0, 1], got {exploration}; 0.2 is the default")
        if memory_episodes < 1:
            raise ValueError(f"curriculum: memory_episodes must be at least 1, got {memory_episodes}")
        self._rng = np.random.default_rng(seed)
        self._key, self._name_of = key, family_namer(key)
        self._exploration, self._kept_share = exploration, math.exp(-1.0 / memory_episodes)
        families = _families(tasks, key)
        self._names = sorted(families)
        self._index_of = {name: index for index, name in enumerate(self._names)}
        self._decks = Decks(tasks, [families[name] for name in self._names], self._rng)
        self._share_N = np.array([len(families[name]) / len(tasks) for name in self._names])
        self._success_N = np.zeros(len(self._names))
        self._episode_N = np.zeros(len(self._names))

    def draw(self) -> TaskSpec:
        """Return a task of a family drawn by what is to be learned from it."""
        index = int(self._rng.choice(len(self._names), p=self._probability_N()))
        return self._decks.next(index)

    def saved_order(self) -> SavedState:
        """Return what the decks keep; they share this sampler's generator."""
        return self._decks.saved()

    def load_saved_order(self, state: SavedState) -> None:
        """Deal on as the decks would have."""
        self._decks.load_saved(state)

    def report(self, task: TaskSpec, *, is_success: bool) -> None:
        """Count the outcome for the task's family; a family not among the tasks is ignored."""
        index = self._index_of.get(self._name_of(task))
        if index is not None:
            self._success_N[index] = self._success_N[index] * self._kept_share + is_success
            self._episode_N[index] = self._episode_N[index] * self._kept_share + 1.0

    def probabilities(self) -> dict[str, float]:
        """Return the chance of each family to be drawn next."""
        return dict(zip(self._names, self._probability_N().tolist(), strict=True))

    def success_rates(self) -> dict[str, float]:
        """Return the estimated success rate of each family, 1/2 where nothing is known."""
        return dict(zip(self._names, self._rate_N().tolist(), strict=True))

    def statistics(self) -> dict[str, Any]:
        """Return {"key", "families": {name: [successes, episodes]}}, both counts with forgetting."""
        counts = zip(self._names, self._success_N.tolist(), self._episode_N.tolist(), strict=True)
        return {"key": self._key, "families": {name: [won, played] for name, won, played in counts if played > 0}}

    def load_statistics(self, statistics: Mapping[str, Any]) -> None:
        """Replace all counts. Families without tasks here are left out; an empty mapping forgets everything."""
        success_N, episode_N = np.zeros(len(self._names)), np.zeros(len(self._names))
        if statistics and statistics.get("key") != self._key:
            raise ValueError(
                f"curriculum: the statistics are by {statistics.get('key')!r}, this sampler goes by {self._key!r}; "
                "resume with the key the run was started with"
            )
        try:
            families = _READ_FAMILIES(statistics.get("families", {}))
        except MisfitError as misfit:
            raise ValueError(
                f"curriculum: families{misfit} in the statistics; use another checkpoint of the run"
            ) from None
        for name, (won, played) in families.items():
            if not 0 <= won <= played < math.inf:
                raise ValueError(f"curriculum: {won:g} successes in {played:g} episodes of {name!r} cannot be")
            if name in self._index_of:
                success_N[self._index_of[name]], episode_N[self._index_of[name]] = won, played
        self._success_N, self._episode_N = success_N, episode_N

    def metrics(self) -> dict[str, float]:
        """Return the number of families seen, and to how many evenly drawn ones the mix comes (exp of its entropy)."""
        probability_N = self._probability_N()
        evenness = float(np.exp(-(probability_N * np.log(probability_N)).sum()))
        return {"curriculum_seen": float((self._episode_N > 0).sum()), "curriculum_families": evenness}

    def _rate_N(self) -> np.ndarray:
        return (self._success_N + 1.0) / (self._episode_N + 2.0)

    def _probability_N(self) -> np.ndarray:
        rate_N = self._rate_N()
        learnable_N = self._share_N * rate_N * (1.0 - rate_N)
        return self._exploration * self._share_N + (1.0 - self._exploration) * learnable_N / learnable_N.sum()


def family_namer(key: str) -> Callable[[TaskSpec], str]:
    """Return what names a task's family: `key` is one or more of skill, band, kind and biome joined by slashes."""
    parts = key.split("/")
    unknown = [part for part in parts if part not in _KEY_PARTS]
    if unknown:
        raise ValueError(f"curriculum: {unknown[0]!r} of key {key!r} is unknown; join some of {', '.join(_KEY_PARTS)}")
    return lambda task: "/".join(_KEY_PARTS[part](task) for part in parts)


def check_tasks(tasks: Sequence[TaskSpec], split: Split) -> None:
    """Raise ValueError for an empty list, a world of another split, or what is held out of training."""
    if not tasks:
        raise ValueError("curriculum: there are no tasks; make some with `mcrl synth`")
    check_split(tasks, split)


def check_split(tasks: Sequence[TaskSpec], split: Split, *, where: str = "tasks") -> None:
    """Raise ValueError for the first task that does not belong to a split.

    Its world belongs to another one, or the split is train or val and the task holds what is held out of training.
    """
    if split not in SPLITS:
        raise ValueError(f"{where}: there is no split {split!r}; choose one of {', '.join(SPLITS)}")
    for task in tasks:
        if task.split != split:
            is_by_hand = task.world.source.startswith(("generated", "anvil:"))
            engine = "" if is_by_hand else " --backend ENGINE"
            seed = seed_after(task.world.source, task.world.seed, split)
            raise ValueError(
                f"{where}: world seed {task.world.seed} of task {task.task_id} is in split {task.split!r}, but this is "
                f"a {split!r} set; make such with `mcrl synth{engine} --split {split}`"
                + (f", or give what was made by hand another world.seed, {seed} is of it" if is_by_hand else "")
            )
        check_trainable(task, split, where=where)


def _families(tasks: Sequence[TaskSpec], key: str) -> dict[str, list[TaskSpec]]:
    name_of = family_namer(key)
    families: dict[str, list[TaskSpec]] = {}
    for task in tasks:
        families.setdefault(name_of(task), []).append(task)
    return families
