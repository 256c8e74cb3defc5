"""The skills a task can ask for: what is marked, what the agent carries, and which event makes it a success."""

from dataclasses import dataclass
from typing import Literal

from task_synthesis.interaction import Interaction
from worlds.blocks import state_of
from worlds.items import ITEM_ID
from worlds.mobs.kinds import MOB_ID
from worlds.spec import ITEM_PREFIX

TargetType = Literal["block", "mob", "item"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Skill:
    """One row of the table of skills."""

    name: str
    interaction: Interaction
    target: TargetType
    """What is marked: a block in the world, a mob, or an item on the ground."""
    kinds: tuple[str, ...]
    """Kinds of target, as in Placement.kind (an item is "item:apple"); each is seen and told apart from its picture."""
    success: str
    """In words; task_synthesis.success decides by events and state."""


_CUBES = (
    "gold_block",
    "diamond_block",
    "redstone_block",
    "emerald_block",
    "lapis_block",
    "pumpkin",
    "bookshelf",
    "crafting_table",
    "magenta_wool",
    "white_wool",
)
_DEVICES = (
    "chest",
    "barrel",
    "furnace",
    "crafting_table",
    "oak_door",
    "spruce_door",
    "oak_fence_gate",
    "oak_trapdoor",
    "lever",
    "stone_button",
)
_ANIMALS = ("cow", "sheep", "pig", "chicken", "horse", "llama", "mooshroom", "rabbit", "fox")
_ITEMS = ("item:apple", "item:diamond", "item:bread", "item:bone", "item:gold_block", "item:bow", "item:diamond_sword")

SKILLS: dict[str, Skill] = {
    skill.name: skill
    for skill in (
        Skill(
            name="approach",
            interaction=Interaction.APPROACH,
            target="block",
            kinds=_CUBES,
            success="stands within 2.5 blocks of the target and faces it, with a clear line",
        ),
        Skill(
            name="break",
            interaction=Interaction.BREAK,
            target="block",
            kinds=_CUBES,
            success="the agent breaks the target (EVENT_BLOCK_BROKEN of its slot)",
        ),
        Skill(
            name="interact",
            interaction=Interaction.INTERACT,
            target="block",
            kinds=_DEVICES,
            success="the agent uses the target (EVENT_BLOCK_USED of its slot)",
        ),
        Skill(
            name="hunt",
            interaction=Interaction.HUNT,
            target="mob",
            kinds=_ANIMALS,
            success="the target dies by the agent's hand (EVENT_MOB_KILLED of its slot by a blow); carries a sword",
        ),
        Skill(
            name="archery",
            interaction=Interaction.HUNT,
            target="mob",
            kinds=_ANIMALS,
            success="an arrow of the agent hits the target (EVENT_MOB_SHOT of its slot); carries a bow and arrows",
        ),
        Skill(
            name="pick_up",
            interaction=Interaction.PICK_UP,
            target="item",
            kinds=_ITEMS,
            success="the agent picks the target up (EVENT_ITEM_PICKED of its slot)",
        ),
        Skill(
            name="place",
            interaction=Interaction.PLACE,
            target="block",
            kinds=_CUBES,
            success="the agent places a block on a face of the target (EVENT_BLOCK_PLACED beside it); carries blocks",
        ),
    )
}


def base_kind(kind: str) -> str:
    """Return the kind without its properties: "oak_door" for "oak_door[facing=east]"."""
    return kind.partition("[")[0]


def type_of(kind: str) -> TargetType:
    """Return what sort of object a placement's kind is; raise ValueError for what this engine does not have."""
    if kind in MOB_ID:
        return "mob"
    if kind.startswith(ITEM_PREFIX):
        name = kind.removeprefix(ITEM_PREFIX)
        if name not in ITEM_ID:
            raise ValueError(f"{name!r} is no item of this engine; see worlds.items.ITEMS for the names")
        return "item"
    state_of(kind)
    return "block"
