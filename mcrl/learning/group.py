"""Processes that learn as one: torch.distributed between a leader, rank 0, and its helpers."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

# How long a helper waits for its leader between two updates: a rollout or a validation on a slow engine takes its time.
# The death of the leader ends the wait at once, since its connections close.
IDLE_TIMEOUT_S = 24 * 3600.0

LOOPBACK = "127.0.0.1"  # the ends are processes of one machine

_DTYPES = {
    str(dtype).removeprefix("torch."): dtype
    for dtype in (torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.uint8)
} | {"bool": torch.bool}


class LearnerLostError(RuntimeError):
    """Another learner process died, or did not answer in time."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Message:
    """What a leader tells a helper, or a helper answers. No pickle: JSON and tensors."""

    kind: str
    numbers: Mapping[str, float | bool | Sequence[int]] = field(default_factory=dict)  # what JSON can hold
    tensors: Mapping[str, Tensor] = field(default_factory=dict)  # on the CPU


class LearnerGroup:
    """One process's end of the group. Every method raises LearnerLostError when another end is gone.

    The group is one of its own and not torch's default one, so that nothing else that uses torch.distributed in the
    process meets it. Gradients are added up in one flat buffer rather than by DistributedDataParallel, which averages
    alike over processes whatever number of valid steps each has, wants a backward pass in every one of them and
    parameters that stay frozen or stay not; the overlap with the backward pass it would bring is worth little beside
    that at 0.1 - 30 M parameters.
    """

    def __init__(self, store: dist.Store, *, rank: int, size: int, timeout_s: float) -> None:
        """Meet the other ends at `store`; waits for them up to `timeout_s`."""
        self.rank, self.size = rank, size
        self.is_stop_wished = False
        """Whether some process of the group was asked to stop: the same in all of them after every sum."""
        self._timeout = timedelta(seconds=timeout_s)
        self._wishes_stop = False
        try:
            meeting = dist.PrefixStore("learners", store)
            options = dist.ProcessGroupGloo._Options()  # type: ignore[attr-defined]  # not in its stub
            options._timeout = self._timeout
            # Else it listens where the machine's name leads, which others may reach.
            options._devices = [dist.ProcessGroupGloo.create_device(hostname=LOOPBACK)]
            # Any: the stub of this class lacks what it takes over from its base class.
            self._processes: Any = dist.ProcessGroupGloo(meeting, rank, size, options)
        except RuntimeError as error:
            raise LearnerLostError(f"the {size} learner processes did not meet within {timeout_s:g} s") from error

    def wish_stop(self) -> None:
        """Ask the whole group to stop after the update that is running, or else the next one."""
        self._wishes_stop = True

    def add_up(self, flat_P: Tensor) -> None:
        """Replace float32 [P] by its sum over all processes, to the bit the same in each; all must call it."""
        # The wish travels with what every process sends anyway, so all hear of it in the same step.
        wished = torch.tensor([float(self._wishes_stop)])
        try:
            # Both are begun before one is waited for: the small one costs no round trip of its own.
            for work in [self._processes.allreduce([flat_P]), self._processes.allreduce([wished])]:
                work.wait()
        except RuntimeError as error:
            raise self._lost("while gradients were added up") from error
        self.is_stop_wished = self.is_stop_wished or bool(wished)

    def send(self, message: Message, *, to: int) -> None:
        """Send a message to the process of rank `to`, which must be receiving or about to."""
        flat = {name: tensor.detach().contiguous().reshape(-1) for name, tensor in message.tensors.items()}
        layout = [[name, str(x.dtype).removeprefix("torch."), list(x.shape)] for name, x in message.tensors.items()]
        header = json.dumps({"kind": message.kind, "numbers": message.numbers, "layout": layout}).encode("ascii")
        header_N = torch.frombuffer(bytearray(header), dtype=torch.uint8)
        try:
            for tensor in (torch.tensor([len(header)]), header_N, *flat.values()):
                if tensor.numel():
                    self._processes.send([tensor.view(torch.uint8)], to, 0).wait(self._timeout)
        except RuntimeError as error:
            raise self._lost(f"while sending to learner {to}") from error

    def receive(self, *, sender: int = 0, is_idle: bool = False) -> Message:
        """Wait for the next message of the process of rank `sender`; `is_idle` waits up to IDLE_TIMEOUT_S for it."""
        first_timeout = timedelta(seconds=IDLE_TIMEOUT_S) if is_idle else self._timeout
        try:
            length = torch.zeros(1, dtype=torch.int64)
            self._processes.recv([length.view(torch.uint8)], sender, 0).wait(first_timeout)
            header_N = torch.zeros(int(length), dtype=torch.uint8)
            self._processes.recv([header_N], sender, 0).wait(self._timeout)
            header = json.loads(header_N.numpy().tobytes())
            tensors = {}
            for name, dtype, shape in header["layout"]:
                tensors[name] = torch.empty(shape, dtype=_DTYPES[dtype])
                if math.prod(shape):
                    flat = tensors[name].view(-1).view(torch.uint8)
                    self._processes.recv([flat], sender, 0).wait(self._timeout)
        except RuntimeError as error:
            raise self._lost(f"while waiting for learner {sender}") from error
        return Message(kind=header["kind"], numbers=header["numbers"], tensors=tensors)

    def close(self) -> None:
        """Close the connections: whoever waits for this process hears that it is gone."""
        self._processes = None

    def _lost(self, when: str) -> LearnerLostError:
        return LearnerLostError(
            f"learner {self.rank} of {self.size}: another one ended, or was silent for "
            f"{self._timeout.total_seconds():g} s, {when}"
        )
