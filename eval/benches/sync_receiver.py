"""A receiver of weights that says when each version was whole, and what it cost."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Protocol

import torch
import torch.distributed as dist
from torch import nn

from mcrl.dataflow.weights.broadcast import BroadcastParamReader, WeightGroup
from mcrl.dataflow.weights.double_buffer import DoubleBuffer
from mcrl.dataflow.weights.param_store import LocalParamStore, ParamReader
from mcrl.dataflow.weights.params import ParamLayout
from policies.threads import use_threads

_LIMIT_S = 240.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Taken:
    """One version, whole and swapped to the front."""

    at_s: float  # time.monotonic, the same clock in all processes of a machine
    num_bytes: int
    cpu_s: float  # of the receiver's process since it was asked


class Receiver:
    """Lives where weights arrive."""

    def __init__(self) -> None:
        use_threads(1)
        self._reader: ParamReader | None = None
        self._buffer: DoubleBuffer | None = None

    def listen_to(self, reader: ParamReader, num_values: int) -> None:
        """Make room for that many values that `reader` will bring."""
        self._reader, self._buffer = reader, DoubleBuffer(flat_layout(num_values))

    def listen_to_board(self, board: list[Any], num_values: int) -> None:
        """Make room for what is posted on a board of the Ray store, in a list so that it stays a handle."""
        from mcrl.dataflow.ray.params import RayParamReader

        self.listen_to(RayParamReader(board[0]), num_values)

    def join(self, port: int, rank: int, num_receivers: int, generation: int, num_values: int) -> None:
        """Make room for what a gloo group brings, and join it; returns when all have."""
        store = dist.TCPStore("127.0.0.1", port, None, False, timedelta(seconds=_LIMIT_S))
        self.listen_to(BroadcastParamReader(make_group(store, rank, num_receivers, generation)), num_values)

    def take(self) -> Taken:
        """Wait for the next version and swap to it."""
        assert self._reader is not None
        assert self._buffer is not None
        cpu_s, end_s, arrival = time.process_time(), time.monotonic() + _LIMIT_S, None
        while arrival is None:
            assert time.monotonic() < end_s, "no weights came"
            arrival = self._reader.receive(self._buffer, timeout_s=1.0)
        self._buffer.swap()
        return Taken(at_s=time.monotonic(), num_bytes=arrival.num_bytes, cpu_s=time.process_time() - cpu_s)

    def leave(self) -> None:
        """Let go of buffers and connections."""
        self._reader = self._buffer = None


class Host(Protocol):
    """Where a receiver lives."""

    def call(self, method: str, *arguments: Any) -> Callable[[], Any]:
        """Begin a method call of the receiver; calling what is returned waits for its result."""
        ...

    def close(self) -> None:
        """End it."""
        ...


class ThreadHost:
    """A receiver on a thread of this process."""

    def __init__(self) -> None:
        self._receiver = Receiver()
        self._thread = ThreadPoolExecutor(1)

    def call(self, method: str, *arguments: Any) -> Callable[[], Any]:
        """Begin a method call."""
        return self._thread.submit(getattr(self._receiver, method), *arguments).result

    def close(self) -> None:
        """End the thread."""
        self._thread.shutdown()


def local_reader(store: LocalParamStore) -> ParamReader:
    """Return one more receiving end of a store in this process."""
    return store.reader()


def make_group(store: dist.Store, rank: int, num_receivers: int, generation: int) -> WeightGroup:
    """Join a gloo group of the bench."""
    return WeightGroup(store, rank=rank, num_receivers=num_receivers, generation=generation, timeout_s=_LIMIT_S)


def flat_layout(num_values: int) -> ParamLayout:
    """Return the layout of a policy that is one tensor, without the policy."""
    net = nn.Module()
    net.weight = nn.Parameter(torch.empty(num_values, device="meta"))
    return ParamLayout(net)
