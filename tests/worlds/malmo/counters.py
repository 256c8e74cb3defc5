"""The statistics that the game keeps of a player: blocks mined, mobs killed, items picked up ..."""

from collections import Counter

from worlds.blocks import STATES
from worlds.items import ITEMS
from worlds.mobs.kinds import MOBS
from worlds.types import (
    EVENT_BLOCK_BROKEN,
    EVENT_BLOCK_PLACED,
    EVENT_BLOCK_USED,
    EVENT_DAMAGE,
    EVENT_DEATH,
    EVENT_ITEM_DROPPED,
    EVENT_ITEM_PICKED,
    EVENT_MOB_KILLED,
    EVENT_MOB_STRUCK,
    EVENT_NONE,
)

# The game's name of what was used, for blocks that count their use.
_USED = {
    "chest": "open_chest", "barrel": "open_barrel", "furnace": "interact_with_furnace",
    "crafting_table": "interact_with_crafting_table",
}  # fmt: skip


class Counters:
    """Counts from the engine's events, under the names of Minecraft 1.16.5 and of ours."""

    def __init__(self) -> None:
        """Begin at zero."""
        self.mined: Counter[str] = Counter()  # block kind
        self.used: Counter[str] = Counter()  # item: placed, eaten
        self.picked: Counter[str] = Counter()
        self.dropped: Counter[str] = Counter()
        self.killed: Counter[str] = Counter()  # mob
        self.custom: Counter[str] = Counter()
        self.damage_half_hearts = 0.0  # lost in the last tick

    @property
    def num_windows(self) -> int:
        """Return how many windows of blocks were opened."""
        return sum(self.custom[name] for name in _USED.values())

    def count(self, event_N4) -> None:
        """Count the events of one tick."""
        self.damage_half_hearts = 0.0
        for kind, subject, amount, last in event_N4.tolist():
            if kind == EVENT_NONE:
                break
            if kind == EVENT_BLOCK_BROKEN:
                self.mined[STATES[subject].kind.name] += 1
            elif kind == EVENT_BLOCK_PLACED:
                self.used[STATES[subject].kind.name] += 1
            elif kind == EVENT_BLOCK_USED:
                name = STATES[subject].kind.name
                if name in _USED:
                    self.custom[_USED[name]] += 1
            elif kind == EVENT_ITEM_PICKED:
                self.picked[ITEMS[subject].name] += amount
            elif kind == EVENT_ITEM_DROPPED:
                self.dropped[ITEMS[subject].name] += amount
            elif kind == EVENT_MOB_KILLED:
                self.killed[MOBS[subject].name] += 1
                self.custom["mob_kills"] += 1
            elif kind == EVENT_MOB_STRUCK:  # and no arrow's
                self.custom["damage_dealt"] += 10 * last  # the game counts tenths of a half heart
            elif kind == EVENT_DAMAGE:
                self.damage_half_hearts += amount
                self.custom["damage_taken"] += 10 * amount
            elif kind == EVENT_DEATH:
                self.custom["deaths"] += 1
