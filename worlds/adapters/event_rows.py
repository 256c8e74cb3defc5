"""Events that an engine tells by name, as rows of worlds.types. N events kept a step."""

from collections.abc import Mapping, Sequence

import numpy as np

from worlds.adapters.engine import Event
from worlds.adapters.names import damage_id, item_id, mob_id, state_id
from worlds.types import (
    EVENT_ARROW_SHOT,
    EVENT_BLOCK_BROKEN,
    EVENT_BLOCK_PLACED,
    EVENT_BLOCK_USED,
    EVENT_DAMAGE,
    EVENT_DEATH,
    EVENT_ITEM_DROPPED,
    EVENT_ITEM_PICKED,
    EVENT_MOB_KILLED,
    EVENT_MOB_SHOT,
    EVENT_MOB_STRUCK,
    MAX_EVENTS,
)

Cell = tuple[int, int, int]

_BLOCK = {"block_broken": EVENT_BLOCK_BROKEN, "block_placed": EVENT_BLOCK_PLACED, "block_used": EVENT_BLOCK_USED}
_BLOW = {"mob_struck": EVENT_MOB_STRUCK, "mob_shot": EVENT_MOB_SHOT}
_HARM = {"damage": EVENT_DAMAGE, "death": EVENT_DEATH}
_ITEM = {"arrow_shot": EVENT_ARROW_SHOT, "item_dropped": EVENT_ITEM_DROPPED}


def event_rows(
    events: Sequence[Event], *, origin: Cell, size_blocks: Cell, object_at: Mapping[Cell, int]
) -> np.ndarray:
    """Return int32 [N, 4], padded with kind 0; where there are more than N, what concerns placed objects comes first.

    Args:
        events: in the engine's own coordinates.
        origin: the engine's cell that is (0, 0, 0) of the world.
        size_blocks: of the world, x, y, z.
        object_at: index of the placed object that stands in a cell of the world, for engines that do not know.
    """
    rows = [_row(event, origin, size_blocks, object_at) for event in events]
    if len(rows) > MAX_EVENTS:
        rows.sort(key=lambda row: not (row[0] == EVENT_DEATH or _slot(row)))
    event_N4 = np.zeros((MAX_EVENTS, 4), np.int32)
    for number, row in enumerate(rows[:MAX_EVENTS]):
        event_N4[number] = row
    return event_N4


def _slot(row: tuple[int, int, int, int]) -> int:
    """Return the object slot + 1 that a row is about, 0 for none."""
    kind, _, amount, last = row
    if kind == EVENT_ITEM_PICKED:
        return last
    return amount if kind in (*_BLOCK.values(), *_BLOW.values(), EVENT_MOB_KILLED) else 0


def _row(event: Event, origin: Cell, size_blocks: Cell, object_at: Mapping[Cell, int]) -> tuple[int, int, int, int]:
    name, slot = event.name, event.object_index + 1
    if name in _BLOCK:
        if event.cell is None:
            return _BLOCK[name], state_id(event.subject), slot, 0
        x, y, z = (part - low for part, low in zip(event.cell, origin, strict=True))
        size_x, size_y, size_z = size_blocks
        slot = slot or object_at.get((x, y, z), -1) + 1
        # A block that was just placed belongs to no object.
        slot = 0 if name == "block_placed" else slot
        if not (0 <= x < size_x and 0 <= y < size_y and 0 <= z < size_z):
            return _BLOCK[name], state_id(event.subject), slot, 0
        return _BLOCK[name], state_id(event.subject), slot, (x * size_z + z) * size_y + y
    if name in _BLOW:
        return _BLOW[name], mob_id(event.subject), slot, event.amount
    if name in _HARM:
        return _HARM[name], damage_id(event.subject), event.amount, 0
    if name == "mob_killed":
        return EVENT_MOB_KILLED, mob_id(event.subject), slot, EVENT_MOB_SHOT if event.amount else EVENT_MOB_STRUCK
    if name == "item_picked":
        return EVENT_ITEM_PICKED, item_id(event.subject), event.amount, slot
    return _ITEM[name], item_id(event.subject), event.amount, 0
