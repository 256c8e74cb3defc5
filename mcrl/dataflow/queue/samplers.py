"""Which of the rows that are ready a consumer gets next.

Nothing that may be chosen waits for ever. TaskBalanced and DurationAware hand out the row that came first with every
lease: what has k rows before it leaves with the (k + 1)th lease at the latest, whatever else arrives. Fifo lets a row
be overtaken by older weights alone, and of those only so many are still in the making.
"""

from collections import defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from mcrl.dataflow.queue.rows import Row

SamplerName = Literal["fifo", "task_balanced", "duration_aware"]


class Sampler(Protocol):
    """Chooses rows. Immutable, small and without a state of its own: it is sent to where the queue lives."""

    def choose(self, rows: Sequence[Row], num_rows: int, *, version: int, rng: np.random.Generator) -> list[int]:
        """Return `num_rows` different indices into `rows`, which are in order of arrival, or [] while it cannot.

        `version` is that of the newest weights; whoever draws draws from `rng`.
        """
        ...


@dataclass(frozen=True, slots=True)
class Fifo:
    """Oldest weights first; rows of one version in the order in which they came."""

    def choose(self, rows: Sequence[Row], num_rows: int, *, version: int, rng: np.random.Generator) -> list[int]:
        """Return the indices of the oldest rows, or [] while there are too few."""
        if len(rows) < num_rows:
            return []
        return sorted(range(len(rows)), key=lambda index: rows[index].min_version)[:num_rows]


FIFO = Fifo()


@dataclass(frozen=True, slots=True)
class TaskBalanced:
    """As many rows of every task family as there are, by turns; a row counts for the family it has most steps of."""

    def choose(self, rows: Sequence[Row], num_rows: int, *, version: int, rng: np.random.Generator) -> list[int]:
        """Return indices family by family in turn, within a family in order of arrival."""
        if len(rows) < num_rows:
            return []
        waiting: dict[str, deque[int]] = defaultdict(deque)  # families in order of their first row
        for index, row in enumerate(rows):
            waiting[_main_family(row)].append(index)
        chosen: list[int] = []
        while len(chosen) < num_rows:
            for indices in waiting.values():
                if indices and len(chosen) < num_rows:
                    chosen.append(indices.popleft())
        return chosen


@dataclass(frozen=True, slots=True)
class DurationAware:
    """Rows drawn with a probability in proportion to the time they took, so that slow workers are not outnumbered.

    Right where workers are pinned to slow and fast tasks or engines, as the weighting "linear" of
    mcrl.learning.duration, and a bias where they are not: in an act-wait-act loop nothing is outnumbered.
    """

    def choose(self, rows: Sequence[Row], num_rows: int, *, version: int, rng: np.random.Generator) -> list[int]:
        """Return the index of the first row and others drawn without replacement (Efraimidis and Spirakis 2006)."""
        if len(rows) < num_rows:
            return []
        # A clock may stand still: a nanosecond keeps the logarithm of the key finite.
        duration_s_N = np.maximum([row.duration_s for row in rows], 1e-9)
        key_N = np.log(rng.random(len(rows))) / duration_s_N
        key_N[0] = np.inf
        return [int(index) for index in np.argsort(-key_N, kind="stable")[:num_rows]]


@dataclass(frozen=True, slots=True)
class StalenessBounded:
    """Only rows whose weights lag by at most `max_lag` updates, chosen among by another sampler.

    What lags more stays where it is: for consumers that are content with less, or until the queue's own bound drops it.
    """

    max_lag: int
    inner: Sampler = FIFO

    def __post_init__(self) -> None:
        if self.max_lag < 0:
            raise ValueError(f"StalenessBounded: max_lag must not be negative, got {self.max_lag}; 0 takes fresh rows")

    def choose(self, rows: Sequence[Row], num_rows: int, *, version: int, rng: np.random.Generator) -> list[int]:
        """Return what `inner` chooses among the rows that are fresh enough."""
        fresh = [index for index, row in enumerate(rows) if row.lag(version) <= self.max_lag]
        chosen = self.inner.choose([rows[index] for index in fresh], num_rows, version=version, rng=rng)
        return [fresh[index] for index in chosen]


def sampler_of(name: SamplerName) -> Sampler:
    """Return the sampler that a config names."""
    samplers: dict[SamplerName, Sampler] = {
        "fifo": FIFO,
        "task_balanced": TaskBalanced(),
        "duration_aware": DurationAware(),
    }
    return samplers[name]


def _main_family(row: Row) -> str:
    steps: dict[str, int] = defaultdict(int)
    for kind, num_steps in row.work:
        steps[kind.family] += num_steps
    return max(steps, key=lambda family: steps[family]) if steps else ""
