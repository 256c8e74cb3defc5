"""The event log of a step: at most MAX_EVENTS rows an env, in the order in which things happened."""

from worlds.types import (
    EVENT_ARROW_SHOT,
    EVENT_DAMAGE,
    EVENT_ITEM_DROPPED,
    EVENT_ITEM_PICKED,
    MAX_EVENTS,
)
from worlds.voxel.link import Kernel


def is_minor_event(kind, cell):
    """Tell whether an event may be left out when the log is full: no task is decided by it alone.

    An item picked up is minor unless it was put there by the task; `cell` then holds its slot + 1.
    """
    return (
        kind == EVENT_DAMAGE
        or kind == EVENT_ITEM_DROPPED
        or kind == EVENT_ARROW_SHOT
        or (kind == EVENT_ITEM_PICKED and cell == 0)
    )


def push_event(e, log, kind, subject, amount, cell):
    """Add one row (kind, subject, amount, cell) to env e's events.

    A full log drops a minor event; any other one pushes out the latest minor one, and is dropped when there is none.
    """
    row = int(log.num_events_E[e])
    if row == MAX_EVENTS:
        if is_minor_event(kind, cell):
            return
        row -= 1
        while row >= 0 and not is_minor_event(log.event_EN4[e, row, 0], log.event_EN4[e, row, 3]):
            row -= 1
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


SOURCES: tuple[Kernel, ...] = (is_minor_event, push_event)
