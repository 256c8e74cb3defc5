"""Items: what can be carried, and what tools, food and blocks in the hand do."""

from worlds.blocks.shapes import block_texture_names
from worlds.blocks.tools import SOURCES as BREAK_SOURCES
from worlds.blocks.tools import TOOL_CLASSES, break_damage, can_harvest
from worlds.items.kinds import ITEM_ID, ITEMS, NUM_ITEMS, ItemKind, item_texture_names
from worlds.items.tables import build_item_tables

__all__ = [
    "BREAK_SOURCES", "ITEMS", "ITEM_ID", "NUM_ITEMS", "TOOL_CLASSES", "ItemKind", "all_texture_names", "break_damage",
    "build_item_tables", "can_harvest",
]  # fmt: skip


def all_texture_names() -> tuple[str, ...]:
    """Return the sorted names of every texture that blocks and items show; mobs have their own."""
    return tuple(sorted(block_texture_names() | item_texture_names()))
