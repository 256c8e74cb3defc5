"""The event log of a step: at most MAX_EVENTS rows an env, in the order in which things happened."""

from worlds.types import (
    EVENT_ARROW_SHOT,
    EVENT_BLOCK_BROKEN,
    EVENT_BLOCK_USED,
    EVENT_DAMAGE,
    EVENT_ITEM_DROPPED,
    EVENT_ITEM_PICKED,
    MAX_EVENTS,
)
from worlds.voxel.link import Kernel

MINOR, OF_TERRAIN, DECISIVE = range(3)


def event_weight(kind, amount, cell):
    """Return which events give way to which when the log is full: the minor ones first, see push_event.

    No task is decided by a minor one alone, and by broken or used blocks of the terrain only in that there are any. An
    item picked up is minor unless it was put there by the task; `cell` then holds its slot + 1, `amount` a block's.
    """
    if (
        kind == EVENT_DAMAGE
        or kind == EVENT_ITEM_DROPPED
        or kind == EVENT_ARROW_SHOT
        or (kind == EVENT_ITEM_PICKED and cell == 0)
    ):
        return MINOR
    is_of_block = kind == EVENT_BLOCK_BROKEN or kind == EVENT_BLOCK_USED
    return OF_TERRAIN if is_of_block and amount == 0 else DECISIVE


def push_event(e, log, kind, subject, amount, cell):
    """Add one row (kind, subject, amount, cell) to env e's events.

    A full log takes it in place of the latest of the lightest rows, if those are lighter, and else drops it.
    """
    row = int(log.num_events_E[e])
    if row == MAX_EVENTS:
        row, least = -1, event_weight(kind, amount, cell)
        for n in range(MAX_EVENTS):
            weight = event_weight(log.event_EN4[e, n, 0], log.event_EN4[e, n, 2], log.event_EN4[e, n, 3])
            if weight < least or (weight == least and row >= 0):
                row, least = n, weight
        if row < 0:
            return
        for later in range(row, MAX_EVENTS - 1):
            for column in range(4):
                log.event_EN4[e, later, column] = log.event_EN4[e, later + 1, column]
        row = MAX_EVENTS - 1
    else:
        log.num_events_E[e] = row + 1
    log.event_EN4[e, row, 0] = kind
    log.event_EN4[e, row, 1] = subject
    log.event_EN4[e, row, 2] = amount
    log.event_EN4[e, row, 3] = cell


SOURCES: tuple[Kernel, ...] = (event_weight, push_event)
