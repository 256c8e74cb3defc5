"""Several workers called as one: the call is shared out as its method's @dispatch says."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from mcrl.dataflow.groups.dispatch import DispatchProtocol, Share, protocol_of

# Builds the worker of that number where this is called.
MakeWorker = Callable[[int], Any]


class WorkerLostError(RuntimeError):
    """A worker died during a call; whoever asked may ask again."""


class Workers(Protocol):
    """Where the workers of a group live. Local and Ray workers pass the same conformance tests."""

    num_workers: int

    def submit(self, method: str, shares: Sequence[Share]) -> list[Any]:
        """Begin a call of each share's worker and return what `results` takes. A worker does its calls in order."""
        ...

    def is_done(self, submitted: Sequence[Any]) -> bool:
        """Tell whether `results` would return at once."""
        ...

    def results(self, submitted: Sequence[Any]) -> list[Any]:
        """Wait for the results. What a worker raised is raised here; WorkerLostError when it died."""
        ...

    def close(self) -> None:
        """End the workers. Closing twice is fine."""
        ...


@dataclass(frozen=True, slots=True)
class GroupCall:
    """A call under way."""

    protocol: DispatchProtocol
    shares: Sequence[Share]
    submitted: Sequence[Any]
    workers: Workers

    def is_done(self) -> bool:
        """Tell whether `result` would return at once."""
        return self.workers.is_done(self.submitted)

    def result(self) -> Any:
        """Wait for the call's end and return its result."""
        return self.protocol.collect(self.shares, self.workers.results(self.submitted))


class WorkerGroup:
    """Workers of one class."""

    def __init__(self, kind: type, workers: Workers) -> None:
        """`kind` is the class that the workers are of: its @dispatch marks say how each call is shared out."""
        self._kind, self._workers = kind, workers

    def start(self, method: str, value: Any) -> GroupCall:
        """Begin a call and return at once."""
        protocol = protocol_of(self._kind, method)
        shares = protocol.distribute(value, self._workers.num_workers)
        return GroupCall(protocol, shares, self._workers.submit(method, shares), self._workers)

    def call(self, method: str, value: Any) -> Any:
        """Call a method and return its result."""
        return self.start(method, value).result()

    def close(self) -> None:
        """End the workers."""
        self._workers.close()


class LocalWorkers:
    """Workers in this process; a call is done when `submit` returns."""

    def __init__(self, make: MakeWorker, num_workers: int) -> None:
        self.num_workers = num_workers
        self._workers = [make(number) for number in range(num_workers)]

    def submit(self, method: str, shares: Sequence[Share]) -> list[Any]:
        """Do the calls, one after the other."""
        return [getattr(self._workers[share.worker], method)(share.value) for share in shares]

    def is_done(self, submitted: Sequence[Any]) -> bool:
        """Return True."""
        return True

    def results(self, submitted: Sequence[Any]) -> list[Any]:
        """Return the results."""
        return list(submitted)

    def close(self) -> None:
        """Let go of the workers."""
        self._workers = []
