"""Weights on their way from the learner to those who act: one flat buffer a version, trainable tensors only."""

import math
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import nn


@dataclass(frozen=True, kw_only=True, slots=True)
class ParamSnapshot:
    """The trainable weights of one version. Immutable: the buffer is read-only."""

    version: int
    flat_P: np.ndarray  # float32 [P], all trainable tensors behind one another, in the layout's order
    checksum: int  # crc32 of flat_P
    frozen_checksum: int = 0  # crc32 of the weights that stay behind, 0 where there are none
    task_statistics: Mapping[str, Any] | None = None  # what a TaskSampler is to know while these weights act


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
        start = 0
        for name, shape in self.shapes.items():
            size = math.prod(shape)
            flat_P[start : start + size] = parameters[name].detach().cpu().numpy().reshape(-1)
            start += size
        flat_P.flags.writeable = False
        checksum = zlib.crc32(flat_P.data)
        return ParamSnapshot(
            version=version,
            flat_P=flat_P,
            checksum=checksum,
            frozen_checksum=self.frozen_checksum,
            task_statistics=task_statistics,
        )

    def load(self, policy: nn.Module, snapshot: ParamSnapshot) -> None:
        """Copy the weights into `policy`. Raise ValueError when the buffer is torn or of another policy."""
        if snapshot.flat_P.shape != (self.num_values,):
            raise ValueError(
                f"weights version {snapshot.version} hold {snapshot.flat_P.size} values, this policy has "
                f"{self.num_values}; build learner and worker from the same preset"
            )
        if zlib.crc32(snapshot.flat_P.data) != snapshot.checksum:
            raise ValueError(f"weights version {snapshot.version} were torn on the way; publish them again")
        if snapshot.frozen_checksum != self.frozen_checksum:
            raise ValueError(
                f"weights version {snapshot.version} go with other frozen weights than this policy has; give the run "
                "the pretrained_weights that its initial_policy was made from"
            )
        parameters = dict(policy.named_parameters())
        # The buffer is read-only and torch wants a writable one to wrap: one copy of the whole, then views.
        flat = torch.from_numpy(snapshot.flat_P.copy())
        start = 0
        with torch.no_grad():
            for name, shape in self.shapes.items():
                size = math.prod(shape)
                parameters[name].copy_(flat[start : start + size].view(shape))
                start += size


class ParamStore:
    """The newest weights of a run. Versions only grow."""

    def __init__(self, policy: nn.Module) -> None:
        """Serve the trainable weights of `policy`."""
        self.layout = ParamLayout(policy)
        self.latest: ParamSnapshot | None = None

    def publish(
        self, policy: nn.Module, version: int, *, task_statistics: Mapping[str, Any] | None = None
    ) -> ParamSnapshot:
        """Take the weights as `version`, greater than every one before."""
        assert self.latest is None or version > self.latest.version, f"version {version} is not new"
        self.latest = self.layout.snapshot(policy, version, task_statistics=task_statistics)
        return self.latest
