"""The side of a queue that lives in a process of its own and may die at any moment; nothing is lost by it.

    owner (the learner's process)             server (the queue's process)           other consumers
    JournalledQueue  --- numbered call --->   QueueServer { LocalQueue }   <------   QueueReader
      { journal }    <--- result + all calls since the last answer ---

The owner (mcrl.dataflow.queue.journalled) keeps the payloads and a journal: a state and the calls after it, in the
order in which the server made them, those of others included. A server that starts anew says so; the owner hands it
state, calls and payloads, and it is where it was when it last answered the owner. So a call of the owner takes effect
exactly once. What other consumers did after that answer is undone: their rows come back to them, and they see a row at
least once.
"""

import contextlib
import dataclasses
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from mcrl.dataflow.queue.local_queue import LocalQueue
from mcrl.dataflow.queue.rows import RowId
from mcrl.dataflow.queue.state import QueueSettings, QueueState

# Methods that change nothing.
_READING = ("counts", "high_water_marks", "state")
_STRIPPED = "a payload that the owner keeps"


@dataclass(frozen=True, kw_only=True, slots=True)
class Call:
    """One call of a queue's method."""

    method: str
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    time_s: float = 0.0  # by the server's clock, when it was made


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """What the server says to a call."""

    is_ready: bool  # False: it has just started and knows nothing
    result: Any = None
    error: str | None = None  # of a ValueError
    time_s: float = 0.0  # by the server's clock, when the call was made
    has_released: bool = False  # there is something to take
    calls: tuple[Call, ...] = ()  # to the owner: all since the last answer, without payloads


@dataclass(frozen=True, kw_only=True, slots=True)
class Recovery:
    """All that a server needs to be where it was."""

    state: QueueState
    time_s: float  # of the state, by the server's clock
    calls: tuple[Call, ...]  # since then
    payloads: Mapping[RowId, Mapping[str, Any]]


class QueueServer:
    """The server's side. Knows nothing until it is given a Recovery."""

    def __init__(self, settings: QueueSettings, clock: Callable[[], float] = time.monotonic) -> None:
        """Serve a queue of these settings, whose leases expire by `clock`."""
        self._settings = settings
        self._clock = clock
        self._now_s: float | None = None  # time stands still during a call, so that a replay sees the same
        self._queue: LocalQueue | None = None
        self._unsaid: list[Call] = []
        self._last_number = -1
        self._last_answer = Answer(is_ready=False)

    def recover(self, recovery: Recovery) -> None:
        """Be where the state and the calls after it lead, with those payloads."""
        replayed = LocalQueue(self._settings, clock=self._time_s)
        self._now_s = recovery.time_s
        replayed.restore(
            recovery.state, {saved.row.row_id: dict.fromkeys(saved.columns, _STRIPPED) for saved in recovery.state.rows}
        )
        for call in recovery.calls:
            self._now_s = call.time_s
            with contextlib.suppress(ValueError):  # refused as it was the first time
                getattr(replayed, call.method)(*call.args, **call.kwargs)
        state = replayed.state()  # leases keep the time that was left to them at the last call
        self._now_s = None
        self._queue = LocalQueue(self._settings, clock=self._time_s)
        self._queue.restore(state, recovery.payloads)

    def owner_call(self, number: int, call: Call) -> Answer:
        """Make a call of the owner, or say again what it was answered when `number` was made before."""
        if self._queue is None:
            return Answer(is_ready=False)
        if number != self._last_number:
            answer = self._make(self._queue, call)
            self._last_number = number
            self._last_answer = dataclasses.replace(answer, calls=tuple(self._unsaid))
            self._unsaid = []
        return self._last_answer

    def call(self, call: Call) -> Answer:
        """Make a call of another consumer."""
        return Answer(is_ready=False) if self._queue is None else self._make(self._queue, call)

    def _make(self, queue: LocalQueue, call: Call) -> Answer:
        self._now_s = now_s = self._clock()
        result, error = None, None
        try:
            result = getattr(queue, call.method)(*call.args, **call.kwargs)
        except ValueError as refusal:
            error = str(refusal)
        self._now_s = None
        if call.method not in _READING:
            self._unsaid.append(_stripped(call, now_s))
        return Answer(is_ready=True, result=result, error=error, time_s=now_s, has_released=queue.has_released)

    def _time_s(self) -> float:
        return self._clock() if self._now_s is None else self._now_s


def _stripped(call: Call, time_s: float) -> Call:
    """Return a call as the journal keeps it: without payloads, which would keep fragments from being freed."""
    args = call.args
    if call.method == "put":
        args = (tuple(dataclasses.replace(row, payloads=_strip(row.payloads)) for row in args[0]),)
    elif call.method == "ack":
        args = (args[0], {name: _strip(column) for name, column in (args[1] or {}).items()})
    return Call(method=call.method, args=args, kwargs=call.kwargs, time_s=time_s)


def _strip(payloads: Mapping[Any, Any]) -> dict[Any, Any]:
    """Return what stands for payloads in a journal; a mark, a column without payload, stays one."""
    return {key: None if payload is None else _STRIPPED for key, payload in payloads.items()}
