"""The item table as arrays for the engine's kernels. I items."""

import functools

import numpy as np

from worlds.blocks.states import BLOCK_ID, BLOCKS
from worlds.blocks.tools import tool_class
from worlds.items.kinds import ITEMS
from worlds.items.placing_rules import CANNOT, placed_states
from worlds.voxel.tables import ItemTables

_TWO_CELLS = ("door", "bed", "tall_cross")


@functools.cache
def build_item_tables() -> ItemTables:
    """Return the rows of ITEMS as arrays. Read-only."""
    nowhere = np.full((4, 6, 2), CANNOT, np.int32)
    return ItemTables(
        max_stack_I=np.array([kind.max_stack for kind in ITEMS], np.int32),
        tool_I=np.array([tool_class(kind.tool, of=kind.name) for kind in ITEMS], np.int32),
        tier_I=np.array([kind.tier for kind in ITEMS], np.int32),
        tool_speed_I=np.array([kind.tool_speed for kind in ITEMS]),
        attack_damage_I=np.array([kind.attack_damage for kind in ITEMS], np.float64),
        attack_speed_I=np.array([kind.attack_speed for kind in ITEMS]),
        place_I462=np.array([placed_states(kind.block) if kind.block else nowhere for kind in ITEMS], np.int32),
        pair_place_I=np.array(
            [bool(kind.block) and BLOCKS[BLOCK_ID[kind.block]].shape in _TWO_CELLS for kind in ITEMS]
        ),
        is_bow_I=np.array([kind.name == "bow" for kind in ITEMS]),
        is_arrow_I=np.array([kind.name == "arrow" for kind in ITEMS]),
        food_I=np.array([kind.food for kind in ITEMS], np.int32),
    )
