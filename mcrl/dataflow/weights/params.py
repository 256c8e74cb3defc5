"""Which weights of a policy travel, out of it and into another: mcrl.dataflow.weights.snapshot is what does."""

import math
import zlib
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from mcrl.dataflow.weights.snapshot import ParamHeader, ParamSnapshot


class ParamLayout:
    """Which tensors of a policy travel, and where each lies in the flat buffer.

    Fixed when it is made: freezing a tensor later, for a warm-up, does not change what travels.
    """

    def __init__(self, policy: nn.Module) -> None:
        """Lay out the parameters of `policy` that require a gradient."""
        self.shapes: dict[str, tuple[int, ...]] = {}
        for name, parameter in policy.named_parameters():
            if parameter.requires_grad:
                assert parameter.dtype == torch.float32, f"{name} is {parameter.dtype}, trainable weights are float32"
                self.shapes[name] = tuple(parameter.shape)
        self.num_values = sum(math.prod(shape) for shape in self.shapes.values())
        # What stays behind must be the same at both ends, or acting and learning are two policies.
        self.frozen_checksum = 0
        for name, parameter in policy.named_parameters():
            if name not in self.shapes:
                self.frozen_checksum = zlib.crc32(parameter.detach().cpu().numpy().data, self.frozen_checksum)

    def snapshot(
        self, policy: nn.Module, version: int, *, task_statistics: Mapping[str, Any] | None = None
    ) -> ParamSnapshot:
        """Copy the weights out of `policy`."""
        flat_P = np.empty(self.num_values, np.float32)
        parameters = dict(policy.named_parameters())
        for name, part in self._parts(torch.from_numpy(flat_P)):
            part.copy_(parameters[name].detach())
        flat_P.flags.writeable = False
        return ParamSnapshot(
            version=version,
            flat_P=flat_P,
            checksum=zlib.crc32(flat_P.data),
            frozen_checksum=self.frozen_checksum,
            task_statistics=task_statistics,
        )

    def load(self, policy: nn.Module, snapshot: ParamSnapshot) -> None:
        """Copy the weights into `policy`. Raise ValueError when the buffer is torn or of another policy."""
        self.check(snapshot.header)
        if zlib.crc32(snapshot.flat_P.data) != snapshot.checksum:
            raise ValueError(f"weights version {snapshot.version} were torn on the way; publish them again")
        parameters = dict(policy.named_parameters())
        # The buffer is read-only and torch wants a writable one to wrap: one copy of the whole, then views.
        with torch.no_grad():
            for name, part in self._parts(torch.from_numpy(snapshot.flat_P.copy())):
                parameters[name].copy_(part)

    def bind(self, policy: nn.Module, flat: Tensor) -> None:
        """Make the travelling parameters of `policy` views of `flat`, float32 [P]; a copy on another device.

        The parameters stay the same objects. Whoever writes to `flat` afterwards writes to a policy on its device.
        """
        parameters = dict(policy.named_parameters())
        for name, part in self._parts(flat):
            parameters[name].data = part.to(parameters[name].device)

    def check(self, header: ParamHeader) -> None:
        """Raise ValueError when the weights are of another policy than the one laid out here."""
        if header.num_values != self.num_values:
            raise ValueError(
                f"weights version {header.version} hold {header.num_values} values, this policy has "
                f"{self.num_values}; build learner and worker from the same preset"
            )
        if header.frozen_checksum != self.frozen_checksum:
            raise ValueError(
                f"weights version {header.version} go with other frozen weights than this policy has; give the run "
                "the pretrained_weights that its initial_policy was made from"
            )

    def _parts(self, flat: Tensor) -> Iterator[tuple[str, Tensor]]:
        """Yield every travelling tensor's name and its view of `flat`, in the layout's order."""
        start = 0
        for name, shape in self.shapes.items():
            size = math.prod(shape)
            yield name, flat[start : start + size].view(shape)
            start += size
