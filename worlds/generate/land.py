"""The randomness of one world: independent streams by name. X Z columns."""

import zlib
from dataclasses import dataclass

import numpy as np

from worlds.generate.biome import Biome, Range
from worlds.generate.noise import hash_bits, hash_unit, periodic_noise_XZ
from worlds.spec import WorldSpec


@dataclass(frozen=True, slots=True)
class Land:
    """A spec with its biome: every name is an independent stream."""

    spec: WorldSpec
    biome: Biome

    @property
    def is_full(self) -> bool:
        """Tell whether plants, caves and structures are wanted."""
        return self.spec.detail == "full"

    def key(self, name: str) -> np.uint64:
        """Return the key of one part of the world."""
        return np.uint64(
            hash_bits(np.uint64(self.spec.seed), zlib.crc32(self.biome.name.encode()), zlib.crc32(name.encode()), 0)
        )

    def unit(self, name: str, index: int = 0) -> float:
        """Return the `index`-th number of a stream, in [0, 1)."""
        return hash_unit(self.key(name), index, 0, 0)

    def draw(self, name: str, bounds: Range) -> float:
        """Return this world's own value from a range."""
        return bounds[0] + (bounds[1] - bounds[0]) * self.unit(name)

    def noise_XZ(self, name: str, wavelength: float) -> np.ndarray:
        """Return a seamless noise layer, float64 [X, Z], roughly in [-1, 1]."""
        return periodic_noise_XZ(self.key(name), self.spec.size_blocks[0], self.spec.size_blocks[2], wavelength)
