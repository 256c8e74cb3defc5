"""Chat commands of Minecraft 1.16 that build an episode, and how its names are read. Cells and places in blocks."""

from __future__ import annotations

from typing import Any, NamedTuple

Cell = tuple  # (x, y, z); `tuple[int, int, int]` would need Python 3.9 here

AIR_NAMES = frozenset({"air", "cave_air", "void_air"})
ITEM_PREFIX = "item:"

# Said once in every new world: nothing but the agent and the episode's own mobs changes it, no text covers a picture.
RULES = (
    "/gamerule sendCommandFeedback false",
    "/gamerule commandBlockOutput false",
    "/gamerule logAdminCommands false",
    "/gamerule announceAdvancements false",
    "/gamerule showDeathMessages false",
    "/gamerule doDaylightCycle false",
    "/gamerule doWeatherCycle false",
    "/gamerule doMobSpawning false",
    "/gamerule doPatrolSpawning false",
    "/gamerule doTraderSpawning false",
    "/gamerule doInsomnia false",
    "/gamerule doFireTick false",
    "/gamerule mobGriefing false",
    "/gamerule randomTickSpeed 0",
    "/gamerule doImmediateRespawn true",
    "/gamerule spawnRadius 0",
    "/difficulty normal",
)

_TALL_PLANTS = frozenset({"tall_grass", "large_fern", "sunflower", "lilac", "rose_bush", "peony", "tall_seagrass"})
_FACING_STEP = {"north": (0, -1), "south": (0, 1), "west": (-1, 0), "east": (1, 0)}
# Full health in half hearts, for an engine whose scan does not tell it.
FULL_HEALTH = {
    "cow": 10, "mooshroom": 10, "sheep": 8, "pig": 10, "chicken": 4, "horse": 22, "donkey": 22, "llama": 22, "wolf": 8,
    "rabbit": 3, "cat": 10, "ocelot": 10, "fox": 10, "polar_bear": 30, "villager": 20, "iron_golem": 100, "zombie": 20,
    "husk": 20, "skeleton": 20, "stray": 20, "spider": 16, "cave_spider": 12, "creeper": 20,
}  # fmt: skip


_BRED = frozenset({"horse", "donkey", "llama"})  # whose health differs from one to the next
_ARCHERS = frozenset({"skeleton", "stray"})
FRAIL_HEALTH = 1.0  # half hearts
_OPPOSITE = {"north": "south", "south": "north", "east": "west", "west": "east"}


class PlacedBlock(NamedTuple):
    """A block state in a cell."""

    cell: Cell
    state: str


def bare(name: str) -> str:
    """Return the kind in a block's, item's or mob's name: "oak_door" for "minecraft:oak_door[half=lower]"."""
    kind = name.partition("[")[0].rpartition(":")[2]
    # Names of entities may come as their translation keys.
    return kind.rpartition(".")[2].strip().lower().replace(" ", "_")


def is_entity(kind: str) -> bool:
    """Tell whether a placement's kind is a mob or an item on the ground, and no block."""
    return kind.startswith(ITEM_PREFIX) or bare(kind) in FULL_HEALTH


def properties_of(state: str) -> dict[str, str]:
    """Return the properties in a block state's name."""
    inside = state.partition("[")[2].rstrip("]")
    return dict(part.split("=", 1) for part in inside.split(",") if part)


def state_name(kind: str, properties: dict[str, str]) -> str:
    """Return a block state's name, its properties in the order of the alphabet."""
    if not properties:
        return kind
    return kind + "[" + ",".join("{}={}".format(*pair) for pair in sorted(properties.items())) + "]"


def blocks_of(state: str, cell: Cell) -> list[PlacedBlock]:
    """Return all blocks of one placed thing: doors, beds and tall plants have two, the lower or foot end first."""
    kind, properties = bare(state), properties_of(state)
    x, y, z = cell
    if kind.endswith("_door") or kind in _TALL_PLANTS:
        base_y = y - 1 if properties.get("half") == "upper" else y
        return [
            PlacedBlock((x, base_y + dy, z), state_name(kind, dict(properties, half=half)))
            for dy, half in enumerate(("lower", "upper"))
        ]
    if kind.endswith("_bed"):
        facing = properties.get("facing", "north")
        dx, dz = _FACING_STEP[facing]
        back = 1 if properties.get("part") == "head" else 0
        blocks = []
        for step, part in enumerate(("foot", "head")):
            state = state_name(kind, dict(properties, facing=facing, part=part))
            blocks.append(PlacedBlock((x + (step - back) * dx, y, z + (step - back) * dz), state))
        return blocks
    return [PlacedBlock((x, y, z), state_name(kind, properties))]


def game_state(state: str) -> str:
    """Return a block state under the names of Minecraft 1.16.5; ours differ in what worlds.blocks lists."""
    kind, properties = bare(state), properties_of(state)
    if kind == "lever" or kind.endswith("_button"):
        facing = properties.pop("facing", "up")
        is_floor = facing == "up"  # one direction is like another there, to us
        properties.update(face="floor" if is_floor else "wall", facing="north" if is_floor else facing)
    elif kind == "vine" and "facing" in properties:
        held = _OPPOSITE[properties.pop("facing")]  # a vine names the sides that it hangs on
        properties[held] = "true"
    elif kind.endswith("chest"):
        properties.pop("open", None)
    elif kind == "snowy_grass_block":
        kind, properties = "grass_block", {"snowy": "true"}
    properties.pop("links", None)  # the game links panes and fences itself
    return state_name(kind, properties)


def set_block(block: PlacedBlock) -> str:
    """Return the command that puts a block into its cell; what was there drops nothing."""
    return "/setblock {} {} {} minecraft:{}".format(*block.cell, game_state(block.state))


def summon(kind: str, x: float, y: float, z: float, *, is_frail: bool = False) -> str:
    """Return the command that makes a grown mob, or with "item:NAME" a single item on the ground.

    One that is frail dies of any arrow.
    """
    where = f"{x:.3f} {y:.3f} {z:.3f}"
    if kind.startswith(ITEM_PREFIX):
        item = kind[len(ITEM_PREFIX) :]
        # Of an age that it never reaches its end in an episode.
        return f'/summon minecraft:item {where} {{Item:{{id:"minecraft:{item}",Count:1b}},PickupDelay:0s,Age:-32768s}}'
    tags = ["PersistenceRequired:1b", "Age:0", *natural_tags(kind, "minecraft:generic.max_health")]
    if is_frail:
        tags = [*(tag for tag in tags if not tag.startswith("Health:")), f"Health:{FRAIL_HEALTH:.1f}f"]
    return f"/summon minecraft:{kind} {where} {{{','.join(tags)}}}"


def natural_tags(kind: str, max_health: str) -> list[str]:
    """Return what a mob has that comes by itself, and lacks where it is summoned with any tag of its own.

    `max_health` is the game's name of that attribute.
    """
    if kind in _BRED:
        health = float(FULL_HEALTH[kind])
        return [f"Health:{health}f", f'Attributes:[{{Name:"{max_health}",Base:{health}d}}]']
    return ['HandItems:[{id:"minecraft:bow",Count:1b},{}]'] if kind in _ARCHERS else []


def inventory_commands(inventory: list[Any]) -> list[str]:
    """Return the commands that fill slots of an emptied inventory; (item, count) by slot, "" leaves one empty."""
    commands = []
    for slot, (item, count) in enumerate(inventory):
        if item:
            where = f"hotbar.{slot}" if slot < 9 else f"inventory.{slot - 9}"
            commands.append(f"/replaceitem entity @p {where} minecraft:{bare(item)} {int(count)}")
    return commands


def teleport(x: float, y: float, z: float, yaw_deg: float, pitch_deg: float) -> str:
    """Return the command that puts the agent's feet somewhere; numbers as exact as the game's own."""
    return "/tp @p " + " ".join(_number(value) for value in (x, y, z, yaw_deg, pitch_deg))


def _number(value: float) -> str:
    """Return digits as commands read them: no exponent, and a point, for "8" would be the middle of a cell, "8.5"."""
    text = f"{value:.9f}".rstrip("0")
    return text + "0" if text.endswith(".") else text
