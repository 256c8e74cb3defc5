"""The structures that a world may hold, by name."""

import functools
from collections.abc import Callable

from worlds.generate.blueprint import Blueprint
from worlds.generate.houses import house, igloo, tent, watch_tower, witch_hut
from worlds.generate.landmarks import (
    animal_pen,
    farm,
    fossil,
    fountain,
    lamp_post,
    mine,
    pyramid,
    ruined_portal,
    stone_circle,
    well,
)
from worlds.generate.style import STYLES, Style

NUM_VARIANTS = 3

BUILDINGS: dict[str, Callable[[Style, int], Blueprint]] = {
    "house": house,
    "igloo": igloo,
    "tent": tent,
    "witch_hut": witch_hut,
    "watch_tower": watch_tower,
    "well": well,
    "lamp_post": lamp_post,
    "animal_pen": animal_pen,
    "farm": farm,
    "mine": mine,
    "ruined_portal": ruined_portal,
    "pyramid": pyramid,
    "stone_circle": stone_circle,
    "fountain": fountain,
    "fossil": fossil,
}


@functools.cache
def blueprint(name: str, wood: str, variant: int, quarters: int) -> Blueprint:
    """Return a structure's drawing, turned clockwise by `quarters`; drawn once a process."""
    return BUILDINGS[name](STYLES[wood], variant).turned(quarters)
