"""A policy host that serves many callers: whatever waits while it computes is its next batch."""

import queue
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

import numpy as np

from mcrl.dataflow.inference.policy_host import PolicyHost
from mcrl.dataflow.inference.stream import ActReply, ActRequest, GroupKey, HostStateLostError, ValueRequest
from mcrl.dataflow.weights.snapshot import ParamSnapshot


@dataclass(frozen=True, slots=True)
class _Call:
    act: Sequence[ActRequest]
    values: Sequence[ValueRequest]
    snapshot: ParamSnapshot | None
    answer: "Future[Any]"


class InferenceServer:
    """Batches the requests of several rollout workers (as SRL's policy worker does; arXiv 2306.16688, section 3.2).

    One thread computes. While it is at it requests wait, and then leave together: the busier, the larger the batches,
    and nobody waits for a batch to fill. Safe to call from many threads at once.
    """

    def __init__(self, make_host: Callable[[], PolicyHost]) -> None:
        """Build the host in the thread that will compute."""
        self.num_batches = 0
        self.num_requests = 0
        self._calls: queue.SimpleQueue[_Call | None] = queue.SimpleQueue()
        self._is_closed = False
        # Held while something is put into the queue: behind its end, which `close` puts there, nobody would answer it.
        self._entry = threading.Lock()
        self._version = 0
        self._ready: Future[None] = Future()
        self._thread = threading.Thread(target=self._run, args=(make_host,), name="inference", daemon=True)
        self._thread.start()

    def version(self) -> int:
        """Return the version of the weights that act now; 0 before the first were loaded."""
        self._ready.result()
        return self._version

    def load(self, snapshot: ParamSnapshot) -> None:
        """Act with these weights from the next batch on, unless newer ones do: versions only grow."""
        self._ask(_Call((), (), snapshot, Future()))

    def act(self, requests: Sequence[ActRequest], *, min_version: int = 0) -> list[ActReply]:
        """Choose the actions of these groups.

        Raises:
            HostStateLostError: weights as new as `min_version` or a goal are not here; nothing has changed.
            ConnectionError: the server is closed, or was before the answer; `load` and `values` raise it too.
        """
        if self.version() < min_version:
            raise HostStateLostError(f"inference acts with weights {self._version}, {min_version} are wanted")
        replies: list[ActReply] = self._ask(_Call(requests, (), None, Future()))
        return replies

    def values(self, requests: Sequence[ValueRequest]) -> list[np.ndarray]:
        """Return float32 [N] for each request. Raise HostStateLostError for a group that is not known here."""
        values: list[np.ndarray] = self._ask(_Call((), requests, None, Future()))
        return values

    def close(self) -> None:
        """End the thread after what it is at. Closing twice is fine."""
        with self._entry:
            self._is_closed = True
            self._calls.put(None)
        self._thread.join()

    def _ask(self, call: _Call) -> Any:
        self._ready.result()
        with self._entry:
            if self._is_closed or not self._thread.is_alive():
                raise ConnectionError("inference: the server is closed")
            self._calls.put(call)
        return call.answer.result()

    def _run(self, make_host: Callable[[], PolicyHost]) -> None:
        try:
            host = make_host()
        except BaseException as error:  # raised again in whoever asks
            self._ready.set_exception(error)
            return
        self._ready.set_result(None)
        held: list[_Call] = []
        while True:
            calls: list[_Call | None] = list(held) or [self._calls.get()]
            held = []
            while not self._calls.empty():
                calls.append(self._calls.get())
            batch: list[_Call] = []
            groups: set[GroupKey] = set()
            for call in calls:
                if call is None:
                    _refuse([*batch, *held, *(c for c in calls if c is not None)])
                    return
                if call.snapshot is not None:
                    self._load(host, call)
                elif groups & (own := {request.group for request in call.act}):
                    held.append(call)  # the same request again: answered from memory, once it is answered at all
                else:
                    groups |= own
                    batch.append(call)
            self._compute(host, batch)

    def _load(self, host: PolicyHost, call: _Call) -> None:
        assert call.snapshot is not None
        try:
            if call.snapshot.version > self._version:
                host.load(call.snapshot)
                self._version = call.snapshot.version
            call.answer.set_result(None)
        except Exception as error:  # raised again in whoever asked
            call.answer.set_exception(error)

    def _compute(self, host: PolicyHost, calls: Sequence[_Call]) -> None:
        """Answer all calls, in one batch if that can be."""
        if not calls:
            return
        self.num_batches += 1
        self.num_requests += len(calls)
        try:
            replies = iter(host.act([request for call in calls for request in call.act]))
            values = iter(host.values([request for call in calls for request in call.values]))
        except Exception as error:  # raised again in whoever asked for it
            if len(calls) == 1:
                calls[0].answer.set_exception(error)
                return
            for call in calls:  # one of them is to blame: the others get their answers
                self._compute(host, [call])
            return
        for call in calls:
            answer = [next(values) for _ in call.values] if call.values else [next(replies) for _ in call.act]
            call.answer.set_result(answer)


def _refuse(calls: Sequence[_Call]) -> None:
    for call in calls:
        if not call.answer.done():
            call.answer.set_exception(ConnectionError("inference: the server was closed"))
