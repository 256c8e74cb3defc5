"""The skills a task can ask for: what is marked, what the agent carries, and what makes it a success."""

from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal

from task_synthesis.interaction import Interaction
from task_synthesis.standing import Progress, near_and_facing
from worlds.adapters.thing_worlds import THING_KINDS
from worlds.blocks import BLOCK_ID, state_of
from worlds.items import ITEM_ID
from worlds.mobs.kinds import MOB_ID
from worlds.spec import ITEM_PREFIX
from worlds.types import (
    EVENT_BLOCK_BROKEN,
    EVENT_BLOCK_PLACED,
    EVENT_BLOCK_USED,
    EVENT_ITEM_PICKED,
    EVENT_MOB_KILLED,
    EVENT_MOB_SHOT,
    EVENT_MOB_STRUCK,
)

TargetType = Literal["block", "mob", "item"]
# Whom a deed is done to: the target, another placed object of its kind, or any block of its kind but the target; or to
# a face of the target, or of such another object.
Whom = Literal["target", "other", "other_block", "face_of_target", "face_of_other"]
Weapon = Literal["hand", "arrow"]
APPROACH_RADIUS_BLOCKS, _APPROACH_CONE_DEG = 2.5, 20.0


@dataclass(frozen=True, slots=True)
class Deed:
    """An event that the agent causes, and to whom."""

    event: int
    """EVENT_* of worlds.types."""
    whom: Whom
    by: Weapon | None = None
    """Of a kill: with what; None is either."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Skill:
    """One row of the table of skills: what makes it a skill but how the expert does it (policies.expert.decide)."""

    name: str
    interaction: Interaction
    target: TargetType
    """What is marked: a block in the world, a mob, or an item on the ground."""
    kinds: tuple[str, ...]
    """Kinds of target, as in Placement.kind (an item is "item:apple"); each is seen and told apart from its picture."""
    success: str
    """In words."""
    succeeds_by: tuple[Deed, ...] = ()
    """Any of them is a success."""
    succeeds_where: Progress | None = None
    """Where no event is the success: how much of it a step is. With the target it is one; with another object of its
    kind the episode fails."""
    fails_by: tuple[Deed, ...] = ()
    """Any of them ends the episode: another object was meant, or the target can no longer be what it was asked for."""
    deed_ticks: int
    """What the deed itself takes, generously, beside the walk; breaking adds the mining time."""
    reach_from_eye_blocks: float
    """Within it the target's centre counts as within reach (a milestone): a hand reaches 4.5 blocks to a block's face
    and 3 to a mob's, an item comes to whoever stands over it."""
    reach_from_feet_blocks: float
    """So near the centre of the target's floor, only the deed is left to do (causes of failures)."""
    carries: tuple[tuple[str, int], ...] = ()
    """(item, count) by slot at the start, whatever the target."""
    carries_tool: bool = False
    """The tool for the class of blocks that the target is of, where there is one."""
    carries_blocks: bool = False
    """Blocks to place, of a kind that is drawn."""
    first_hit: int | None = None
    """EVENT_* on the target that is a first hit before the success (a milestone)."""
    hit_key: str | None = None
    """Where work on the target begins without an event: the button held while it is under the crosshair."""


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

_BLOWS_AT_OTHERS = (Deed(EVENT_MOB_STRUCK, "other"), Deed(EVENT_MOB_SHOT, "other"))

SKILLS: dict[str, Skill] = {
    skill.name: skill
    for skill in (
        Skill(
            name="approach",
            interaction=Interaction.APPROACH,
            target="block",
            kinds=_CUBES,
            success="stands within 2.5 blocks of the target and faces it, with a clear line",
            succeeds_where=near_and_facing(APPROACH_RADIUS_BLOCKS, cone_deg=_APPROACH_CONE_DEG),
            deed_ticks=0,
            reach_from_eye_blocks=5.0,
            reach_from_feet_blocks=APPROACH_RADIUS_BLOCKS,
        ),
        Skill(
            name="break",
            interaction=Interaction.BREAK,
            target="block",
            kinds=_CUBES,
            success="the agent breaks the target",
            succeeds_by=(Deed(EVENT_BLOCK_BROKEN, "target"),),
            fails_by=(Deed(EVENT_BLOCK_BROKEN, "other_block"),),
            deed_ticks=30,
            reach_from_eye_blocks=5.0,
            # 4.5 from the eye to the surface, so from the feet the same: what the eye is higher than the centre of a
            # block costs as much as its half width gains.
            reach_from_feet_blocks=4.5,
            carries_tool=True,
            hit_key="attack",
        ),
        Skill(
            name="interact",
            interaction=Interaction.INTERACT,
            target="block",
            kinds=_DEVICES,
            success="the agent uses the target",
            succeeds_by=(Deed(EVENT_BLOCK_USED, "target"),),
            fails_by=(Deed(EVENT_BLOCK_USED, "other"), Deed(EVENT_BLOCK_BROKEN, "target")),
            deed_ticks=40,
            reach_from_eye_blocks=5.0,
            reach_from_feet_blocks=4.5,
            first_hit=EVENT_BLOCK_USED,
        ),
        Skill(
            name="hunt",
            interaction=Interaction.HUNT,
            target="mob",
            kinds=_ANIMALS,
            success="the target dies by the agent's hand",
            succeeds_by=(Deed(EVENT_MOB_KILLED, "target", by="hand"),),
            fails_by=(*_BLOWS_AT_OTHERS, Deed(EVENT_MOB_KILLED, "target", by="arrow")),
            deed_ticks=400,  # animals wander and flee
            reach_from_eye_blocks=3.5,
            reach_from_feet_blocks=3.5,  # 3 to the hide, which is about half a block before the centre
            carries=(("iron_sword", 1),),
            first_hit=EVENT_MOB_STRUCK,
        ),
        Skill(
            name="archery",
            interaction=Interaction.HUNT,
            target="mob",
            kinds=_ANIMALS,
            success="an arrow of the agent hits the target",
            succeeds_by=(Deed(EVENT_MOB_SHOT, "target"),),
            fails_by=(*_BLOWS_AT_OTHERS, Deed(EVENT_MOB_KILLED, "target", by="hand")),
            deed_ticks=400,  # arrows miss
            # A range instead of a reach: beyond it an arrow rarely meets an animal that walks; the expert's too.
            reach_from_eye_blocks=20.0,
            reach_from_feet_blocks=20.0,
            carries=(("bow", 1), ("arrow", 16)),
            first_hit=EVENT_MOB_SHOT,
        ),
        Skill(
            name="pick_up",
            interaction=Interaction.PICK_UP,
            target="item",
            kinds=_ITEMS,
            success="the agent picks the target up",
            succeeds_by=(Deed(EVENT_ITEM_PICKED, "target"),),
            fails_by=(Deed(EVENT_ITEM_PICKED, "other"),),
            deed_ticks=40,
            reach_from_eye_blocks=2.0,
            reach_from_feet_blocks=1.5,  # boxes 1 block wider than the body's 0.3 meet
        ),
        Skill(
            name="place",
            interaction=Interaction.PLACE,
            target="block",
            kinds=_CUBES,
            success="the agent places a block on a face of the target",
            succeeds_by=(Deed(EVENT_BLOCK_PLACED, "face_of_target"),),
            fails_by=(Deed(EVENT_BLOCK_PLACED, "face_of_other"), Deed(EVENT_BLOCK_BROKEN, "target")),
            deed_ticks=60,
            reach_from_eye_blocks=5.0,
            reach_from_feet_blocks=4.5,
            carries_blocks=True,
            hit_key="use",
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
    if kind in THING_KINDS:
        return "block"  # of another engine; it stands there and can be walked to
    if base_kind(kind) not in BLOCK_ID:
        close = get_close_matches(kind, [*BLOCK_ID, *MOB_ID], n=1)
        if kind in ITEM_ID:
            hint = f"an item that lies there is {ITEM_PREFIX + kind!r}"
        elif close:
            hint = f"did you mean {close[0]}?"
        else:
            hint = "worlds.blocks.BLOCKS and worlds.mobs.kinds.MOBS have the names"
        raise ValueError(f"{kind!r} is no block and no mob of this engine; {hint}")
    state_of(kind)
    return "block"
