"""The engine's constant tables, made once a process."""

import functools

from worlds.blocks import build_block_tables
from worlds.items import build_item_tables
from worlds.mobs.kinds import build_mob_tables
from worlds.voxel.tables import Tables


@functools.cache
def engine_tables() -> Tables:
    """Return the tables of blocks, items and mobs. Read-only."""
    return Tables(blocks=build_block_tables(), items=build_item_tables(), mobs=build_mob_tables())
