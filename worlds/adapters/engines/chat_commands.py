"""Chat commands of Minecraft, old (1.11.2) and new (1.16.5), that put a task into a world. Lines begin with "/"."""

from __future__ import annotations

from typing import Any

from worlds.adapters.engine import EngineError
from worlds.adapters.engines.before_flattening import old_block, old_item, old_mob
from worlds.adapters.engines.minecraft_commands import ITEM_PREFIX, blocks_of, natural_tags, set_block

# What would fill the picture with text, before all that is answered, and what would change a world that nobody touches.
_RULES = (
    "sendCommandFeedback false", "logAdminCommands false", "commandBlockOutput false", "doDaylightCycle false",
    "doWeatherCycle false", "doMobSpawning false", "doFireTick false", "randomTickSpeed 0", "mobGriefing false",
)  # fmt: skip
MOBS = frozenset(
    """
    bat bee blaze cat cave_spider chicken cod cow creeper dolphin donkey drowned elder_guardian enderman endermite
    evoker fox ghast guardian hoglin horse husk iron_golem llama magma_cube mooshroom mule ocelot panda parrot phantom
    pig piglin pillager polar_bear pufferfish rabbit ravager salmon sheep shulker silverfish skeleton skeleton_horse
    slime snow_golem spider squid stray strider trader_llama tropical_fish turtle vex villager vindicator
    wandering_trader witch wither wither_skeleton wolf zoglin zombie zombie_horse zombie_villager zombified_piglin
    """.split()
)


def still_world(look: dict[str, Any]) -> list[str]:
    """Return what makes a world stand still at the time and in the weather of a Look, with nobody in it."""
    weather = "rain" if look.get("weather") == "rain" else "clear"
    return [
        *(f"/gamerule {rule}" for rule in _RULES),
        f"/time set {int(look.get('time_ticks', 6000))}",
        f"/weather {weather} 1000000",
        "/kill @e[type=!player]",
    ]


def teleport(pose: tuple[float, float, float, float, float]) -> str:
    """Return what puts the agent's feet at x, y, z, looking along yaw and pitch."""
    x, y, z, yaw_deg, pitch_deg = pose
    return f"/tp @p {x:.6f} {y:.6f} {z:.6f} {yaw_deg:.6f} {pitch_deg:.6f}"


def game_mode(*, is_spectator: bool, is_old: bool) -> str:
    """Return what turns the agent into a camera without a body, or back."""
    if is_old:
        return "/gamemode 3 @p" if is_spectator else "/gamemode 0 @p"
    return "/gamemode spectator @p" if is_spectator else "/gamemode survival @p"


def block_lines(state: str, cell: tuple[int, int, int], *, is_old: bool) -> list[str]:
    """Return what sets a block, with the other half of doors, beds and tall plants."""
    blocks = blocks_of(state, cell)
    if not is_old:
        return [set_block(block) for block in blocks]
    lines = []
    for (x, y, z), half in blocks:
        name, data = old_block(half)
        lines.append(f"/setblock {x} {y} {z} minecraft:{name} {data}")
    return lines


def entity_line(kind: str, cell: tuple[int, int, int], *, is_old: bool) -> str:
    """Return what puts a mob, or an item ("item:apple") onto the floor of a cell, at its centre.

    Raises:
        EngineError: this version of the game has no such mob.
    """
    x, y, z = cell[0] + 0.5, float(cell[1]), cell[2] + 0.5
    if kind.startswith(ITEM_PREFIX):
        name, data = old_item(kind[len(ITEM_PREFIX) :]) if is_old else (kind[len(ITEM_PREFIX) :], 0)
        damage = f",Damage:{data}" if is_old else ""
        return f'/summon item {x} {y} {z} {{Item:{{id:"minecraft:{name}",Count:1{damage}}},Age:-32768,PickupDelay:0}}'
    mob = old_mob(kind)[0] if is_old else kind
    if not mob:
        raise EngineError(f"Minecraft 1.11.2 has no {kind}; leave tasks with it out, or use MineRL 1.0 or MineStudio")
    max_health = "generic.maxHealth" if is_old else "minecraft:generic.max_health"
    tags = ["PersistenceRequired:1", *natural_tags(kind, max_health)]
    return f"/summon {mob} {x} {y} {z} {{{','.join(tags)}}}"


def is_entity(kind: str) -> bool:
    """Tell whether a placement is a mob or an item, and not a block."""
    return kind in MOBS or kind.startswith(ITEM_PREFIX)
