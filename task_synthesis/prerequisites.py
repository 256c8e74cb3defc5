"""What an agent carries for a task, and how long it may take. Both follow from skill, kind and band."""

import functools
import math

import numpy as np

from task_synthesis.interaction import Interaction
from task_synthesis.placement.targets import tool_for
from task_synthesis.skills import Skill
from worlds.blocks import BLOCK_ID, BLOCKS, break_damage_per_tick

# Looking around and walking there several times over.
_WALK_TICKS = {"near": 200, "easy": 320, "medium": 560, "hard": 800}
# Blocks to place: none looks like a target.
_BUILDING_BLOCKS = ("cobblestone", "oak_planks", "stone_bricks", "bricks", "sandstone")

Inventory = tuple[tuple[str, int], ...]


def draw_inventory(rng: np.random.Generator, skill: Skill, kind: str) -> Inventory:
    """Return (item, count) by slot: what the skill needs for a target of `kind`. Only blocks to place are drawn."""
    tool = tool_for(kind) if skill.carries_tool else None
    if tool:
        return ((tool, 1), *skill.carries)
    if skill.carries_blocks:
        return ((_BUILDING_BLOCKS[rng.integers(len(_BUILDING_BLOCKS))], 16), *skill.carries)
    return skill.carries


def max_ticks(skill: Skill, kind: str, band: str) -> int:
    """Return the time limit: the walk several times over and the deed, twice the mining where it is breaking."""
    ticks = _WALK_TICKS[band] + skill.deed_ticks
    return ticks + 2 * _mining_ticks(kind) if skill.interaction == Interaction.BREAK else ticks


def impossible_deed(skill: Skill, kind: str) -> str:
    """Return why the skill cannot be done to a target of `kind`; "" where it can."""
    block = BLOCK_ID.get(kind)  # none of a thing of another engine
    if skill.interaction == Interaction.BREAK and (block is None or not break_damage_per_tick(tool_for(kind))[block]):
        return f"nothing breaks {kind}"  # bedrock, barriers, fluids
    if skill.interaction == Interaction.INTERACT and (block is None or not BLOCKS[block].use):
        return f"nothing happens when {kind} is used"
    return ""


@functools.cache
def _mining_ticks(kind: str) -> int:
    return math.ceil(1.0 / break_damage_per_tick(tool_for(kind))[BLOCK_ID[kind]])
