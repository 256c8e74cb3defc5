"""The engine on a GPU for code that reads numbers on the host and pictures on the GPU, as training does.

E envs, V views.

A policy on the same GPU reads pictures where they were drawn, and they are most of what a step gives: 12 KiB an env at
64 px, beside 1.2 KiB of numbers that judges and rewards look at.
"""

from collections.abc import Sequence
from dataclasses import fields, replace

import numpy as np

from worlds.types import PICTURES, TickBatch, ViewBatch
from worlds.voxel.cuda.backend import CudaVoxelBackend


class HostedCudaBackend(CudaVoxelBackend):
    """A CudaVoxelBackend whose numbers are numpy arrays; only a TickBatch's pictures are tensors on the GPU."""

    def render_views(self, env_index_V: Sequence[int], eye_V5: np.ndarray) -> ViewBatch:
        """Render views from anywhere; all of the result is on the host."""
        views = super().render_views(env_index_V, eye_V5)
        names = [field.name for field in fields(views) if getattr(views, field.name) is not None]
        return replace(views, **self._on_host(views, names))

    def is_line_clear(self, env_index_V: Sequence[int], from_V3: np.ndarray, cell_V3: np.ndarray) -> np.ndarray:
        """Tell whether a ray from each point meets its cell first, on the host."""
        (is_clear_V,) = self._memory.to_host(super().is_line_clear(env_index_V, from_V3, cell_V3))
        return is_clear_V

    def _batch(self) -> TickBatch:
        batch = super()._batch()
        return replace(batch, **self._on_host(batch, [f.name for f in fields(batch) if f.name not in PICTURES]))

    def _on_host(self, holder: TickBatch | ViewBatch, names: Sequence[str]) -> dict[str, np.ndarray]:
        arrays = self._memory.to_host(*(getattr(holder, name) for name in names))
        return dict(zip(names, arrays, strict=True))
