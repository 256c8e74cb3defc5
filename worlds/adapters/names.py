"""Names that an engine uses, as numbers of our tables. What a table lacks is the nearest thing, or left out."""

import functools

from worlds.anvil.chunk import SavedState
from worlds.anvil.mapping import map_state
from worlds.blocks import STATE_ID
from worlds.items import ITEM_ID
from worlds.mobs.kinds import MOB_ID

NONE_ID = -1
# What EVENT_DAMAGE and EVENT_DEATH tell apart, in the order of DAMAGE_*.
_CAUSES = {name: number for number, name in enumerate(("fall", "mob", "arrow", "block", "drowning", "void"))}


@functools.cache
def state_id(name: str) -> int:
    """Return the state that stands for a block; always one: a strange name is what a save's would become."""
    name = name.removeprefix("minecraft:")
    if name in STATE_ID:
        return STATE_ID[name]
    kind, _, listed = name.partition("[")
    pairs = (item.partition("=")[::2] for item in listed.removesuffix("]").split(",") if item)
    return STATE_ID[map_state(SavedState(f"minecraft:{kind}", tuple(sorted(pairs)))).state]


def item_id(name: str) -> int:
    """Return the item, NONE_ID where our table has none of that name."""
    return ITEM_ID.get(name.removeprefix("minecraft:"), NONE_ID)


def mob_id(kind: str) -> int:
    """Return the mob kind, NONE_ID where our table has none of that name."""
    return MOB_ID.get(kind.removeprefix("minecraft:"), NONE_ID)


def damage_id(cause: str) -> int:
    """Return DAMAGE_*; fire, lava and whatever else there is count as a block's."""
    return _CAUSES.get(cause, _CAUSES["block"])
