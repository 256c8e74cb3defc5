"""Weights as they travel from the learner to those who act: one flat buffer a version, trainable tensors only.

Without torch, for processes that hand weights on, or act without any.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, kw_only=True, slots=True)
class ParamHeader:
    """All that is said of one version of the weights but the weights themselves."""

    version: int
    num_values: int
    checksum: int  # crc32 of the flat buffer
    frozen_checksum: int  # crc32 of the weights that stay behind, 0 where there are none
    task_statistics: Mapping[str, Any] | None = None  # what a TaskSampler is to know while these weights act


@dataclass(frozen=True, kw_only=True, slots=True)
class ParamSnapshot:
    """The trainable weights of one version. Immutable: the buffer is read-only."""

    version: int
    flat_P: np.ndarray  # float32 [P], all trainable tensors behind one another, in the layout's order
    checksum: int  # crc32 of flat_P
    frozen_checksum: int = 0  # crc32 of the weights that stay behind, 0 where there are none
    task_statistics: Mapping[str, Any] | None = None  # what a TaskSampler is to know while these weights act

    @property
    def header(self) -> ParamHeader:
        """Return everything but the weights."""
        return ParamHeader(
            version=self.version,
            num_values=self.flat_P.size,
            checksum=self.checksum,
            frozen_checksum=self.frozen_checksum,
            task_statistics=self.task_statistics,
        )
