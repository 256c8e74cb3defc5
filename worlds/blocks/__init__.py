"""Blocks: their kinds, their states, their shapes, and what tools do to them. Numbers are Java Edition 1.16.5's.

Where blocks and items differ from it, on purpose, all in one list:
- States: stairs are straight, chests single, wheat ripe, berry bushes full, redstone lamps off, lanterns stand; vines
  cling to one wall; `links` of fences and panes is one number for four sides; levers and buttons on a floor have
  facing=up and one direction; nothing hangs from a ceiling; `open` of a chest, which the game keeps elsewhere, is a
  property; snowy_grass_block is a kind of its own; nothing is waterlogged but seagrass.
- Boxes: flowers are not shifted inside their cell. Collision is otherwise the game's for every state (tested).
- Support: only what stands on a floor falls with it; torches, ladders and levers stay when their wall goes; lily pads,
  beds and lanterns need nothing but what `needs_floor` says.
- Drops: fixed numbers, the mean rounded down (lapis lazuli 6, redstone 4); none for what is rare (seeds, saplings,
  flint) or takes shears or silk touch.
- Light: glass, slabs, stairs and all other shapes that do not fill their cell let it through whole.
- Placing: see worlds.items.placing_rules. Items: hunger is off, food heals its points; buckets hold no fluid.
- Looks: see worlds.blocks.elements.
"""

from worlds.blocks.kinds import BlockKind
from worlds.blocks.states import (
    AIR,
    BLOCK_ID,
    BLOCKS,
    NUM_BLOCKS,
    NUM_STATES,
    STATE_ID,
    STATES,
    BlockState,
    state_of,
)
from worlds.blocks.tables import break_damage_per_tick, build_block_tables, fluid_table, solid_table
from worlds.blocks.tools import TOOL_CLASSES, TOOLS

__all__ = [
    "AIR", "BLOCKS", "BLOCK_ID", "NUM_BLOCKS", "NUM_STATES", "STATES", "STATE_ID", "TOOLS", "TOOL_CLASSES", "BlockKind",
    "BlockState", "break_damage_per_tick", "build_block_tables", "fluid_table", "solid_table", "state_of",
]  # fmt: skip
