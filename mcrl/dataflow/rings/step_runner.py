"""Where the steps of several engines run while others are waited for: threads, or a clock that only pretends."""

import contextlib
import heapq
import itertools
import queue
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class Done:
    """What came of a piece of work."""

    lane: int
    result: Any
    error: BaseException | None
    end_s: float
    """When it was done, on the runner's clock."""


class StepRunner(Protocol):
    """Runs one piece of work at a time in each of its lanes, and the lanes beside one another."""

    def now_s(self) -> float:
        """Return the time in seconds since some fixed moment."""
        ...

    def submit(self, lane: int, work: Callable[[], Any]) -> None:
        """Begin `work` in a lane that is idle."""
        ...

    def wait(self, timeout_s: float) -> list[Done]:
        """Return what is done, in that order; wait up to `timeout_s` for the first."""
        ...

    def abandon(self, lane: int) -> None:
        """Give up what runs in the lane: its result is never returned, and the lane is idle."""
        ...

    def close(self) -> None:
        """Give up everything. Closing twice is fine."""
        ...


class ThreadRunner:
    """A thread a lane. Threads die with the process: a hung engine cannot keep it alive."""

    def __init__(self, num_lanes: int, *, on_unheard: Callable[[Any], None] = lambda result: None) -> None:
        """`on_unheard` is called with every result that is never returned, in whichever thread."""
        self._on_unheard = on_unheard
        self._done: queue.SimpleQueue[tuple[_Lane, Done]] = queue.SimpleQueue()
        self._lanes = [_Lane(lane, self._done, on_unheard) for lane in range(num_lanes)]

    def now_s(self) -> float:
        """Return the monotonic clock in seconds."""
        return time.monotonic()

    def submit(self, lane: int, work: Callable[[], Any]) -> None:
        """Begin `work` in a lane that is idle."""
        self._lanes[lane].inbox.put(work)

    def wait(self, timeout_s: float) -> list[Done]:
        """Return what is done, in that order; wait up to `timeout_s` for the first."""
        found: list[Done] = []
        deadline_s = time.monotonic() + timeout_s
        while True:
            try:
                left_s = deadline_s - time.monotonic()
                # Whoever is done meanwhile comes along: one batch for all of them.
                is_first = not found and left_s > 0
                lane, done = self._done.get(timeout=left_s) if is_first else self._done.get_nowait()
            except queue.Empty:
                return found
            if lane is self._lanes[done.lane]:
                found.append(done)
            else:  # given up after it had come
                self._on_unheard(done.result)

    def abandon(self, lane: int) -> None:
        """Give up what runs in the lane and let a fresh thread serve it."""
        self._lanes[lane].give_up()
        self._lanes[lane] = _Lane(lane, self._done, self._on_unheard)

    def close(self) -> None:
        """Let every thread end after what it is at."""
        for lane in self._lanes:
            lane.give_up()
        self._lanes = []
        with contextlib.suppress(queue.Empty):
            while True:
                self._on_unheard(self._done.get_nowait()[1].result)


class _Lane:
    """One thread and its work."""

    def __init__(
        self, index: int, done: "queue.SimpleQueue[tuple[_Lane, Done]]", on_unheard: Callable[[Any], None]
    ) -> None:
        self.inbox: queue.SimpleQueue[Callable[[], Any] | None] = queue.SimpleQueue()
        self._index, self._done, self._on_unheard = index, done, on_unheard
        self._lock, self._is_given_up = threading.Lock(), False
        threading.Thread(target=self._run, name=f"ring-{index}", daemon=True).start()

    def give_up(self) -> None:
        """Let the thread end after what it is at; what comes of that is heard by nobody."""
        with self._lock:
            self._is_given_up = True
        self.inbox.put(None)

    def _run(self) -> None:
        while (work := self.inbox.get()) is not None:
            result, error = None, None
            try:
                result = work()
            except BaseException as caught:  # raised again where the result is taken
                error = caught
            with self._lock:  # either it is in the queue before the lane is given up, or nobody looks there for it
                is_heard = not self._is_given_up
                if is_heard:
                    self._done.put((self, Done(self._index, result, error, time.monotonic())))
            if not is_heard:
                self._on_unheard(result)


@dataclass(order=True, slots=True)
class _Event:
    end_s: float
    order: int
    done: Done = field(compare=False)


class VirtualRunner:
    """Lanes on a clock of their own: work is run at once, and is done when the time it slept has seemed to pass.

    It is the Clock of the environments it runs (mcrl.dataflow.rings.latency), so that hours of waiting are tested in
    milliseconds and the order of events depends on nothing but the model.
    """

    def __init__(self) -> None:
        self._now_s = 0.0
        self._slept_s = 0.0
        self._order = itertools.count()
        self._events: list[_Event] = []

    def now_s(self) -> float:
        """Return the virtual time, as those see it who are at work."""
        return self._now_s + self._slept_s

    def sleep(self, duration_s: float) -> None:
        """Let time pass for the work that runs now; for nobody else."""
        self._slept_s += duration_s

    def submit(self, lane: int, work: Callable[[], Any]) -> None:
        """Run `work`; it is done once what it slept has passed."""
        self._slept_s = 0.0
        result, error = None, None
        try:
            result = work()
        except Exception as caught:  # raised again where the result is taken
            error = caught
        end_s = self.now_s()
        self._slept_s = 0.0
        heapq.heappush(self._events, _Event(end_s, next(self._order), Done(lane, result, error, end_s)))

    def wait(self, timeout_s: float) -> list[Done]:
        """Return what is done at the next moment at which anything is, if it lies within `timeout_s`."""
        limit_s = self._now_s + timeout_s
        if not self._events or self._events[0].end_s > limit_s:
            self._now_s = limit_s
            return []
        self._now_s = self._events[0].end_s
        found = []
        while self._events and self._events[0].end_s <= self._now_s:
            found.append(heapq.heappop(self._events).done)
        return found

    def abandon(self, lane: int) -> None:
        """Forget what runs in the lane."""
        self._events = [event for event in self._events if event.done.lane != lane]
        heapq.heapify(self._events)

    def close(self) -> None:
        """Forget everything."""
        self._events = []
