"""Pictures of one size from an engine's pictures of another: the middle of them, at the wanted shape and scale.

H W wanted rows and columns, R S those of the engine's picture.
"""

from __future__ import annotations

import math

import numpy as np


class PictureFit:
    """Cuts the middle part with the wanted shape and field of view out of a picture, and scales it."""

    def __init__(
        self, source_px: tuple[int, int], source_fov_deg: float, wanted_px: tuple[int, int], fov_deg: float
    ) -> None:
        """Sizes are (height, width) and fields of view vertical; pixels are square. ValueError: it does not fit."""
        height, width = wanted_px
        share = math.tan(math.radians(fov_deg) / 2) / math.tan(math.radians(source_fov_deg) / 2)
        scale = source_px[0] * share / height
        if source_px[0] < height * scale or source_px[1] < width * scale:
            raise ValueError(
                f"a picture of {width} x {height} with a field of view of {fov_deg:g} degrees is more than the "
                f"{source_fov_deg:.1f} degrees the engine draws; ask for a smaller look.fov_deg"
            )
        self._weight_HR = _weights(source_px[0], height, scale)
        self._weight_WS = _weights(source_px[1], width, scale)
        self._row_H = _centers(source_px[0], height, scale)
        self._column_W = _centers(source_px[1], width, scale)

    def image(self, source_RSC: np.ndarray) -> np.ndarray:
        """Return uint8 [H, W, C]: each pixel the mean of what it covers."""
        mean_HSC = np.tensordot(self._weight_HR, source_RSC.astype(np.float32), (1, 0))
        mean_HWC = np.tensordot(self._weight_WS, mean_HSC, (1, 1)).transpose(1, 0, 2)
        return np.rint(mean_HWC).astype(np.uint8)

    def labels(self, source_RS: np.ndarray) -> np.ndarray:
        """Return [H, W]: each pixel what its centre shows."""
        return source_RS[np.ix_(self._row_H, self._column_W)]


def _weights(source_px: int, wanted_px: int, scale: float) -> np.ndarray:
    """Return float32 [wanted, source]: the share of each source pixel in each wanted one."""
    edge = (source_px - wanted_px * scale) / 2 + np.arange(wanted_px + 1) * scale
    low, high = edge[:-1, None], edge[1:, None]
    covered = np.minimum(high, np.arange(1, source_px + 1)) - np.maximum(low, np.arange(source_px))
    return (np.clip(covered, 0, None) / scale).astype(np.float32)


def _centers(source_px: int, wanted_px: int, scale: float) -> np.ndarray:
    center = (source_px - wanted_px * scale) / 2 + (np.arange(wanted_px) + 0.5) * scale
    return np.minimum(center.astype(int), source_px - 1)
