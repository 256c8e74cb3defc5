"""What a kind of item is, and the list of them all. Java Edition 1.16.5."""

from dataclasses import dataclass

from worlds.blocks.states import BLOCK_ID, BLOCKS
from worlds.blocks.tools import MATERIALS, TOOLS

# Damage in half hearts and blows a second of a full blow, by tool and in the order of MATERIALS.
_ATTACK: dict[str, tuple[tuple[float, ...], tuple[float, ...]]] = {
    "sword": ((4, 5, 6, 4, 7, 8), (1.6, 1.6, 1.6, 1.6, 1.6, 1.6)),
    "axe": ((7, 9, 9, 7, 9, 10), (0.8, 0.8, 0.9, 1.0, 1.0, 1.0)),
    "pickaxe": ((2, 3, 4, 2, 5, 6), (1.2, 1.2, 1.2, 1.2, 1.2, 1.2)),
    "shovel": ((2.5, 3.5, 4.5, 2.5, 5.5, 6.5), (1.0, 1.0, 1.0, 1.0, 1.0, 1.0)),
    "hoe": ((1, 1, 1, 1, 1, 1), (1.0, 2.0, 3.0, 1.0, 4.0, 4.0)),
}
# Food points; hunger is off, so they heal as many half hearts.
_FOODS: dict[str, int] = {
    "apple": 4, "golden_apple": 4, "bread": 5, "cookie": 2, "carrot": 3, "potato": 1, "baked_potato": 5, "beetroot": 1,
    "melon_slice": 2, "sweet_berries": 2, "pumpkin_pie": 8, "dried_kelp": 1, "beef": 3, "cooked_beef": 8, "porkchop": 3,
    "cooked_porkchop": 8, "chicken": 2, "cooked_chicken": 6, "mutton": 2, "cooked_mutton": 6, "rabbit": 3,
    "cooked_rabbit": 5, "cod": 2, "cooked_cod": 5, "salmon": 2, "cooked_salmon": 6, "rotten_flesh": 4, "spider_eye": 2,
}  # fmt: skip
_MATERIALS_AND_DROPS: tuple[str, ...] = (
    "coal", "charcoal", "diamond", "emerald", "redstone", "lapis_lazuli", "iron_ingot", "gold_ingot", "gold_nugget",
    "iron_nugget", "netherite_ingot", "quartz", "flint", "clay_ball", "brick", "glowstone_dust", "prismarine_crystals",
    "book", "paper", "stick", "wheat", "wheat_seeds", "string", "feather", "leather", "rabbit_hide", "bone",
    "bone_meal", "gunpowder", "slime_ball", "ink_sac", "sugar",
)  # fmt: skip
# Stack sizes that are not 64.
_STACKS: dict[str, int] = {
    "snowball": 16, "egg": 16, "ender_pearl": 16, "bucket": 16, "water_bucket": 1, "lava_bucket": 1, "milk_bucket": 1,
    "flint_and_steel": 1, "bow": 1, "shears": 1, "cake": 1, "white_bed": 1, "red_bed": 1, "saddle": 1,
}  # fmt: skip
# Kinds of blocks that no item places: they come about in other ways.
_NO_ITEM = frozenset(("air", "water", "lava", "nether_portal", "wall_torch", "wheat", "sweet_berry_bush"))
# Blocks whose item has a picture of its own instead of showing the block.
_OWN_PICTURE = frozenset(("door", "cake", "cauldron", "lantern", "lever"))
# Blocks whose item shows the block's own texture, flat.
_FLAT = frozenset(("cross", "ladder", "vine", "torch", "rail", "lily_pad", "pane"))


@dataclass(frozen=True, kw_only=True, slots=True)
class ItemKind:
    """One row of the item table."""

    name: str
    block: str = ""  # kind of block that it places, "" none
    sprite: str = ""  # texture of its flat picture, "" it is drawn as its block
    max_stack: int = 64
    tool: str = ""  # a name in TOOL_CLASSES
    tool_speed: float = 1.0  # times the bare hand, on blocks of the tool's class
    tier: int = -1  # 0 wood and gold, 1 stone, 2 iron, 3 diamond and netherite
    attack_damage: float = 1.0  # half hearts of a full blow
    attack_speed: float = 4.0  # blows a second
    food: int = 0  # half hearts that eating gives


def _sprite_of_block(name: str, shape: str, textures: tuple[str, str, str], front: str, second: str) -> str:
    if shape in _OWN_PICTURE:
        return name
    if shape in _FLAT:
        return textures[0]
    if shape == "tall_cross":
        return front or second
    return ""


def _block_items() -> list[ItemKind]:
    return [
        ItemKind(
            name=kind.name,
            block=kind.name,
            sprite=_sprite_of_block(kind.name, kind.shape, kind.textures, kind.front, kind.second),
            max_stack=_STACKS.get(kind.name, 64),
        )
        for kind in BLOCKS
        if kind.name not in _NO_ITEM
    ]


def _tools() -> list[ItemKind]:
    tools = []
    for tool, (damages, speeds) in _ATTACK.items():
        for material, damage, blows_per_s in zip(MATERIALS, damages, speeds, strict=True):
            name = f"{material}_{tool}"
            _, speed, tier = TOOLS[name]
            tools.append(
                ItemKind(
                    name=name,
                    sprite=name,
                    max_stack=1,
                    tool=tool,
                    tool_speed=speed,
                    tier=tier,
                    attack_damage=damage,
                    attack_speed=blows_per_s,
                )  # fmt: skip
            )
    _, speed, tier = TOOLS["shears"]
    tools.append(ItemKind(name="shears", sprite="shears", max_stack=1, tool="shears", tool_speed=speed, tier=tier))
    return tools


def _loose_items() -> list[ItemKind]:
    """Return everything that is neither block nor tool."""
    stacked = [name for name in _STACKS if name not in BLOCK_ID and name not in TOOLS]
    names = ("arrow", *_MATERIALS_AND_DROPS, *stacked)
    return [
        *(ItemKind(name=name, sprite=name, max_stack=_STACKS.get(name, 64)) for name in names),
        *(ItemKind(name=name, sprite=name, food=food) for name, food in _FOODS.items()),
    ]


ITEMS: tuple[ItemKind, ...] = (*_block_items(), *_tools(), *_loose_items())
ITEM_ID: dict[str, int] = {kind.name: index for index, kind in enumerate(ITEMS)}
NUM_ITEMS = len(ITEMS)


def item_texture_names() -> set[str]:
    """Return the name of every flat picture of an item."""
    return {kind.sprite for kind in ITEMS} - {""}
