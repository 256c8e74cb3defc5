"""How a call on a group of workers is shared out and its results are put together (HybridFlow, Sheng et al. 2024).

A protocol turns the argument of a call into shares, one for each worker that is called, and their results into one
result. Where a method returns the rows it was given, collecting what was distributed gives back the argument.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

_MethodT = TypeVar("_MethodT", bound=Callable[..., Any])
_MARK = "_dispatch_protocol"


@dataclass(frozen=True, slots=True)
class Share:
    """What one worker gets of a call."""

    worker: int
    value: Any
    positions: tuple[int, ...] = ()
    """Of its rows in the whole argument, where that is rows."""


class DispatchProtocol(Protocol):
    """Implement this to share out calls in a way of your own."""

    def distribute(self, value: Any, num_workers: int) -> list[Share]:
        """Return the shares; a worker without one is not called."""
        ...

    def collect(self, shares: Sequence[Share], results: Sequence[Any]) -> Any:
        """Return the result of the call from the result of each share."""
        ...


class OneToAll:
    """Everybody gets the whole argument; the result is a list, one of each worker."""

    def distribute(self, value: Any, num_workers: int) -> list[Share]:
        """Return a share for every worker."""
        return [Share(worker, value) for worker in range(num_workers)]

    def collect(self, shares: Sequence[Share], results: Sequence[Any]) -> list[Any]:
        """Return the results in the order of the workers."""
        return list(results)


class RankZero:
    """Only the first worker is called."""

    def distribute(self, value: Any, num_workers: int) -> list[Share]:
        """Return its share."""
        return [Share(0, value)]

    def collect(self, shares: Sequence[Share], results: Sequence[Any]) -> Any:
        """Return its result."""
        (result,) = results
        return result


class _ByRows:
    """The argument is a sequence of rows, and a method returns one result a row; results keep the rows' order."""

    def distribute(self, value: Any, num_workers: int) -> list[Share]:
        """Return a share for every worker that gets rows."""
        rows = list(value)
        positions_of = self._positions(rows, num_workers)
        return [
            Share(worker, [rows[position] for position in positions_of[worker]], tuple(positions_of[worker]))
            for worker in range(num_workers)
            if positions_of[worker]
        ]

    def collect(self, shares: Sequence[Share], results: Sequence[Any]) -> list[Any]:
        """Return the results of all rows in the order of the rows."""
        result_at: dict[int, Any] = {}
        for share, result in zip(shares, results, strict=True):
            if len(result) != len(share.positions):
                raise ValueError(
                    f"worker {share.worker} returned {len(result)} results for {len(share.positions)} rows; a method "
                    "that is dispatched by rows returns one for each"
                )
            result_at |= dict(zip(share.positions, result, strict=True))
        return [result_at[position] for position in range(len(result_at))]

    def _positions(self, rows: Sequence[Any], num_workers: int) -> list[list[int]]:
        """Return which rows each worker gets."""
        raise NotImplementedError


class DataParallel(_ByRows):
    """Rows in runs of equal length; where that does not work out, the first workers get one more."""

    def _positions(self, rows: Sequence[Any], num_workers: int) -> list[list[int]]:
        length, num_longer = divmod(len(rows), num_workers)
        ends = [length * worker + min(worker, num_longer) for worker in range(num_workers + 1)]
        return [list(range(begin, end)) for begin, end in zip(ends, ends[1:], strict=False)]


class DataParallelByKey(_ByRows):
    """Rows of one key go to one worker; the largest groups are given out first, each to who has least."""

    def __init__(self, key: Callable[[Any], Hashable]) -> None:
        self._key = key

    def _positions(self, rows: Sequence[Any], num_workers: int) -> list[list[int]]:
        groups: dict[Hashable, list[int]] = defaultdict(list)
        for position, row in enumerate(rows):
            groups[self._key(row)].append(position)
        positions_of: list[list[int]] = [[] for _ in range(num_workers)]
        for group in sorted(groups.values(), key=lambda group: (-len(group), group[0])):
            min(positions_of, key=len).extend(group)
        return [sorted(positions) for positions in positions_of]


class Sticky(_ByRows):
    """A row always goes to the same worker, the one that keeps its memory."""

    def __init__(self, owner: Callable[[Any], int]) -> None:
        """`owner` is the number of a row's worker; beyond the last one it starts again from the first."""
        self._owner = owner

    def _positions(self, rows: Sequence[Any], num_workers: int) -> list[list[int]]:
        positions_of: list[list[int]] = [[] for _ in range(num_workers)]
        for position, row in enumerate(rows):
            positions_of[self._owner(row) % num_workers].append(position)
        return positions_of


ONE_TO_ALL = OneToAll()
RANK_ZERO = RankZero()
DP_SPLIT = DataParallel()
DP_BY_TASK = DataParallelByKey(lambda row: row.task_id)
STICKY = Sticky(lambda row: row.worker_id)


def dispatch(protocol: DispatchProtocol) -> Callable[[_MethodT], _MethodT]:
    """Mark a method of one argument as one that a WorkerGroup calls in this way."""

    def mark(method: _MethodT) -> _MethodT:
        setattr(method, _MARK, protocol)
        return method

    return mark


def protocol_of(kind: type, method: str) -> DispatchProtocol:
    """Return how a method of `kind` is dispatched. Raise ValueError, naming those there are, where it is not."""
    protocol = getattr(getattr(kind, method, None), _MARK, None)
    if protocol is None:
        marked = [name for name in dir(kind) if hasattr(getattr(kind, name), _MARK)]
        raise ValueError(
            f"{kind.__name__}.{method} is not dispatched; mark it with @dispatch, or call {', '.join(marked)}"
        )
    found: DispatchProtocol = protocol
    return found
