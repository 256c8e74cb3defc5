"""What an agent carries for a task, and how long it may take. Both follow from skill, kind and band."""

import functools
import math

import numpy as np

from task_synthesis.skills import Skill
from task_synthesis.targets import tool_for
from worlds.blocks import BLOCK_ID, break_damage_per_tick

# Looking around and walking there several times over.
_WALK_TICKS = {"near": 200, "easy": 320, "medium": 560, "hard": 800}
# What the deed itself takes, generously: animals wander and flee, arrows miss.
_DEED_TICKS = {"approach": 0, "interact": 40, "hunt": 400, "archery": 400, "pick_up": 40, "place": 60}
_BREAK_TICKS = 30
# Blocks to place: none looks like a target.
_BUILDING_BLOCKS = ("cobblestone", "oak_planks", "stone_bricks", "bricks", "sandstone")

Inventory = tuple[tuple[str, int], ...]


def draw_inventory(rng: np.random.Generator, skill: Skill, kind: str) -> Inventory:
    """Return (item, count) by slot: what the skill needs for a target of `kind`. Only "place" draws."""
    if skill.name == "break":
        tool = tool_for(kind)
        return ((tool, 1),) if tool else ()
    if skill.name == "hunt":
        return (("iron_sword", 1),)
    if skill.name == "archery":
        return (("bow", 1), ("arrow", 16))
    if skill.name == "place":
        return ((_BUILDING_BLOCKS[rng.integers(len(_BUILDING_BLOCKS))], 16),)
    return ()


def max_ticks(skill: Skill, kind: str, band: str) -> int:
    """Return the time limit: the walk several times over and the deed, twice the mining where it is breaking."""
    if skill.name == "break":
        return _WALK_TICKS[band] + _BREAK_TICKS + 2 * _mining_ticks(kind)
    return _WALK_TICKS[band] + _DEED_TICKS[skill.name]


@functools.cache
def _mining_ticks(kind: str) -> int:
    return math.ceil(1.0 / break_damage_per_tick(tool_for(kind))[BLOCK_ID[kind]])
