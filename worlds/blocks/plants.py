"""Kinds that grow, and the cobweb: thin things that stop nobody."""

from worlds.blocks.kinds import BlockKind, cube
from worlds.voxel.tables import FLUID_WATER

_FLOWERS = (
    "dandelion", "poppy", "blue_orchid", "allium", "azure_bluet", "oxeye_daisy", "cornflower", "lily_of_the_valley",
    "red_tulip",
)  # fmt: skip


def _plant(name: str, drop: str | None = None, **more: object) -> BlockKind:
    return cube(name, 0.0, "plant", drop=drop, shape="cross", opacity=0, needs_floor=True, **more)  # type: ignore[arg-type]


def _tall_plant(name: str, drop: str | None = None, *, front: str = "", is_replaceable: bool = False) -> BlockKind:
    return cube(
        name, 0.0, "plant", drop=drop, side=f"{name}_bottom", second=f"{name}_top", front=front, shape="tall_cross",
        opacity=0, needs_floor=True, is_replaceable=is_replaceable,
    )  # fmt: skip


PLANTS: tuple[BlockKind, ...] = (
    _plant("grass", "", is_replaceable=True),
    _plant("fern", "", is_replaceable=True),
    _plant("dead_bush", "stick", is_replaceable=True),
    *(_plant(name) for name in _FLOWERS),
    _plant("brown_mushroom", emission=1),
    _plant("red_mushroom"),
    _plant("sugar_cane"),
    cube("wheat", 0.0, "plant", side="wheat_stage7", shape="crop", opacity=0, needs_floor=True),
    _plant("sweet_berry_bush", "sweet_berries", count=2, side="sweet_berry_bush_stage3", hurt=1),
    _plant("oak_sapling"),
    _plant("birch_sapling"),
    _plant("spruce_sapling"),
    BlockKind(
        name="seagrass", hardness=0.0, shape="cross", textures=("seagrass", "seagrass", "seagrass"), fluid=FLUID_WATER,
        opacity=1, is_replaceable=True, needs_floor=True,
    ),
    _tall_plant("tall_grass", "", is_replaceable=True),
    _tall_plant("large_fern", "", is_replaceable=True),
    _tall_plant("sunflower", front="sunflower_front"),
    _tall_plant("rose_bush"),
    _tall_plant("lilac"),
    cube("lily_pad", 0.0, "plant", shape="lily_pad", opacity=0),
    cube("cobweb", 4.0, "cobweb", 0, drop="string", shape="cross", opacity=1, is_web=True),
)  # fmt: skip
