"""Weights by torch.distributed: one broadcast a version from the learner to R receivers, gloo on CPUs, NCCL on GPUs.

What a version is goes through a key-value store (torch's TCPStore or FileStore), and the receivers wait there: a
collective that one end waits in for an unknown time would end in its time-out. The weights go by broadcast.
"""

import dataclasses
import json
import time
from collections.abc import Iterator
from datetime import timedelta
from typing import Any, Literal

import numpy as np
import torch
import torch.distributed as dist
from torch import Tensor

from mcrl.dataflow.weights.double_buffer import DoubleBuffer
from mcrl.dataflow.weights.param_store import Arrival, check_newer
from mcrl.dataflow.weights.snapshot import ParamHeader, ParamSnapshot
from mcrl.dataflow.weights.weight_delta import encode_delta
from mcrl.dataflow.weights.weight_format import WeightFormat

Transport = Literal["gloo", "nccl"]

_SENDER = 0
_POLL_S = 0.005  # a tenth of a tick
# Of one broadcast: gloo counts bytes in 32 bits on some paths, and NCCL stages a message on the device.
_MESSAGE_BYTES = 1 << 28


class WeightGroup:
    """Sender (rank 0) and receivers (ranks 1 .. R), joined for one stretch of a run.

    A collective cannot go on without one of its members: when one dies, the others start a group of the next
    `generation` on the same store. The store must outlive the group; what it knows of versions spans generations.
    """

    def __init__(
        self,
        store: dist.Store,
        *,
        rank: int,
        num_receivers: int,
        generation: int = 0,
        transport: Transport = "gloo",
        timeout_s: float = 120.0,
    ) -> None:
        """Join. Returns when all have. `timeout_s` bounds how long one member waits for another in a transfer."""
        if not 0 <= rank <= num_receivers:
            raise ValueError(
                f"weight group: rank {rank} of {num_receivers} receivers; 0 sends, 1 .. {num_receivers} receive"
            )
        self.store = dist.PrefixStore("weights", store)
        self.keys = dist.PrefixStore(f"weights/{generation}", store)
        self.num_receivers = num_receivers
        self._timeout_s = timeout_s
        self._device = torch.device("cuda" if transport == "nccl" else "cpu")
        # Not torch's default group, and not one made of it: the learners' own groups are for gradients, and a receiver
        # belongs to none.
        self._group: Any
        if transport == "nccl":
            options = dist.ProcessGroupNCCL.Options()
            options._timeout = timedelta(seconds=timeout_s)
            self._group = dist.ProcessGroupNCCL(self.keys, rank, num_receivers + 1, options)
        else:
            self._group = dist.ProcessGroupGloo(self.keys, rank, num_receivers + 1, timedelta(seconds=timeout_s))
        # Connections are made by the first collective: here, and not when weights are waited for.
        self._broadcast(torch.zeros(1, device=self._device))

    def send(self, payload_N: np.ndarray) -> None:
        """Send a one-dimensional array to all receivers. Raise RuntimeError if one is missing."""
        for start, end in _messages(payload_N):
            # A copy because torch wraps writable memory only, and a snapshot's is not: one message at a time.
            self._broadcast(torch.from_numpy(payload_N[start:end].copy()).to(self._device))

    def receive(self, out_N: np.ndarray) -> None:
        """Fill a one-dimensional array with what the sender sends. Raise RuntimeError if it is missing."""
        for start, end in _messages(out_N):
            part = torch.from_numpy(out_N[start:end])
            staged = part.to(self._device)
            self._broadcast(staged)
            if staged.device != part.device:
                part.copy_(staged)

    def _broadcast(self, message: Tensor) -> None:
        options = dist.BroadcastOptions()
        options.rootRank = _SENDER
        try:
            self._group.broadcast([message], options).wait(timedelta(seconds=self._timeout_s))
        except RuntimeError as error:
            raise RuntimeError(
                f"weights by broadcast: a member of the group is missing ({str(error).splitlines()[0]}); start a group "
                "of the next generation"
            ) from None


def _messages(values_N: np.ndarray) -> Iterator[tuple[int, int]]:
    """Yield first and last + 1 value of every message that the array goes in."""
    size = _MESSAGE_BYTES // values_N.itemsize
    for start in range(0, values_N.size, size):
        yield start, min(start + size, values_N.size)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class _Announcement:
    """What receivers must know before the bytes come."""

    header: ParamHeader
    num_packed_bytes: int | None  # of a delta; None for the whole weights


class BroadcastParamStore:
    """The learner's end of a group."""

    def __init__(self, group: WeightGroup, *, weight_format: WeightFormat = "whole") -> None:
        self._group = group
        self._format = weight_format
        self._last: ParamSnapshot | None = None  # all members of the group have it
        self._num_announced = 0

    def newest_version(self) -> int | None:
        """Return the newest version that any generation of the group was sent."""
        return int(self._group.store.get("newest")) if self._group.store.check(["newest"]) else None

    def publish(self, snapshot: ParamSnapshot) -> None:
        """Send the weights to all receivers; returns when they are on their way to the last of them."""
        check_newer(snapshot.header, self.newest_version())
        num_packed_bytes, payload = None, snapshot.flat_P
        if self._format == "delta" and self._last is not None:
            payload = encode_delta(self._last.flat_P, snapshot.flat_P, base_version=self._last.version).packed_N
            num_packed_bytes = payload.size
        # Before the first byte: a version that some receivers may have must never be used again.
        self._group.store.set("newest", str(snapshot.version))
        announcement = _Announcement(header=snapshot.header, num_packed_bytes=num_packed_bytes)
        self._group.keys.set(f"announced/{self._num_announced}", json.dumps(dataclasses.asdict(announcement)))
        self._num_announced += 1
        self._group.send(payload)
        self._last = snapshot

    def close(self) -> None:
        """Let go of the weights that deltas are made from."""
        self._last = None


class BroadcastParamReader:
    """The end of one receiver of a group."""

    def __init__(self, group: WeightGroup) -> None:
        self._group = group
        self._num_heard = 0

    def receive(self, buffer: DoubleBuffer, *, timeout_s: float) -> Arrival | None:
        """Take part in the next broadcast, if one begins within `timeout_s`, straight into the idle half."""
        key = f"announced/{self._num_heard}"
        # Not the store's own wait: it warns on stderr whenever its time is up.
        end_s = time.monotonic() + timeout_s
        while not self._group.keys.check([key]):
            if time.monotonic() >= end_s:
                return None
            time.sleep(_POLL_S)
        announced = json.loads(self._group.keys.get(key))
        heard = f"heard/{self._num_heard}"
        if self._group.keys.add(heard, 1) == self._group.num_receivers:  # nobody will ask for it again
            self._group.keys.delete_key(key)
            self._group.keys.delete_key(heard)
        header, num_packed_bytes = ParamHeader(**announced["header"]), announced["num_packed_bytes"]
        self._num_heard += 1
        if num_packed_bytes is None:
            idle_P = buffer.begin(header)
            self._group.receive(idle_P)
            is_whole, num_bytes = buffer.complete(header), idle_P.nbytes
        else:
            packed_N = np.empty(num_packed_bytes, np.uint8)
            self._group.receive(packed_N)
            is_whole, num_bytes = buffer.write_delta(header, packed_N), num_packed_bytes
        if not is_whole:
            # The next delta would go on top of weights that this receiver does not have.
            raise RuntimeError(
                f"weights version {header.version} were torn on the way; start a group of the next generation"
            )
        return Arrival(version=header.version, num_bytes=num_bytes)

    def close(self) -> None:
        """Nothing to let go of."""
