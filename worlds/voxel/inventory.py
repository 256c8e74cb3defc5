"""What an agent carries: 36 slots of stacks, the first nine of which are the hotbar. Tools do not wear out."""

from worlds.voxel.link import Kernel
from worlds.voxel.state import NO_ITEM, NUM_SLOTS


def held_item(e, hands):
    """Return the item id in hand, NO_ITEM for a bare hand."""
    return hands.item_ES[e, hands.selected_E[e]]


def change_hand(e, hands):
    """Let what has come into the hand, or the bare hand, mine from nothing and strike weakly at first.

    Who mines goes on at the same cell, and so uses nothing meanwhile.
    """
    hands.mine_progress_E[e] = 0.0
    hands.swing_ticks_E[e] = 0


def take_one(e, hands, slot):
    """Take one item out of a slot that is not empty."""
    hands.count_ES[e, slot] -= 1
    if hands.count_ES[e, slot] <= 0:
        hands.count_ES[e, slot] = 0
        hands.item_ES[e, slot] = NO_ITEM


def add_items(e, hands, items, item, count):
    """Put items into matching stacks (the one in hand first), then into empty slots; return how many found no room."""
    room = items.max_stack_I[item]
    slot = hands.selected_E[e]
    for i in range(-1, NUM_SLOTS):
        if i >= 0:
            slot = i
        if count > 0 and hands.item_ES[e, slot] == item and hands.count_ES[e, slot] < room:
            moved = min(count, room - hands.count_ES[e, slot])
            hands.count_ES[e, slot] += moved
            count -= moved
    for i in range(NUM_SLOTS):
        if count > 0 and hands.item_ES[e, i] == NO_ITEM:
            moved = min(count, room)
            hands.item_ES[e, i] = item
            hands.count_ES[e, i] = moved
            count -= moved
    return count


def find_arrows(e, hands, items):
    """Return the first slot that holds arrows, -1 when there are none."""
    for slot in range(NUM_SLOTS):
        item = hands.item_ES[e, slot]
        if item != NO_ITEM and items.is_arrow_I[item]:
            return slot
    return -1


SOURCES: tuple[Kernel, ...] = (held_item, change_hand, take_one, add_items, find_arrows)
