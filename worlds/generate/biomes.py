"""All biomes by name."""

from worlds.generate.biome import SEA_LEVEL, Biome
from worlds.generate.biomes_cold import COLD
from worlds.generate.biomes_hot import HOT
from worlds.generate.biomes_temperate import TEMPERATE

__all__ = ["BIOMES", "SEA_LEVEL"]

# The first four are those of the first version: "plain" worlds of them stay as they were, byte by byte.
_FIRST = ("plains", "forest", "desert", "snowy_hills")
_BY_NAME = {biome.name: biome for biome in (*TEMPERATE, *HOT, *COLD)}
BIOMES: dict[str, Biome] = {**{name: _BY_NAME[name] for name in _FIRST}, **_BY_NAME}
