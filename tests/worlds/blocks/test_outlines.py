"""What a pointer meets, against the outlines of Java Edition 1.16.5 (`getShape` of each class of blocks)."""

import pytest

from worlds.blocks import BLOCKS, STATES, state_of
from worlds.blocks.boxes import collision_of, outline_of, px

FULL = (0, 0, 0, 16, 16, 16)
GRASS, SAPLING, FLOWER, MUSHROOM = (
    (2, 0, 2, 14, 13, 14),
    (2, 0, 2, 14, 12, 14),
    (5, 0, 5, 11, 10, 11),
    (5, 0, 5, 11, 6, 11),
)
# By state, in sixteenths of a block; blocks whose outline is their collision box are tested with that.
PUBLISHED: dict[str, tuple[tuple[float, ...], ...]] = {
    **dict.fromkeys(("grass", "fern", "dead_bush"), (GRASS,)),
    **dict.fromkeys(("oak_sapling", "birch_sapling", "spruce_sapling", "seagrass"), (SAPLING,)),
    **dict.fromkeys(("dandelion", "poppy", "blue_orchid", "allium", "azure_bluet", "oxeye_daisy"), (FLOWER,)),
    **dict.fromkeys(("cornflower", "lily_of_the_valley", "red_tulip"), (FLOWER,)),
    **dict.fromkeys(("brown_mushroom", "red_mushroom"), (MUSHROOM,)),
    **dict.fromkeys(("tall_grass", "sunflower[half=upper]", "wheat", "sweet_berry_bush", "cobweb"), (FULL,)),
    "sugar_cane": ((2, 0, 2, 14, 16, 14),),
    "cactus": ((1, 0, 1, 15, 16, 15),),
    **dict.fromkeys(("soul_sand", "honey_block"), (FULL,)),
    "snow": ((0, 0, 0, 16, 2, 16),),
    "snow[layers=5]": ((0, 0, 0, 16, 10, 16),),
    "torch": ((6, 0, 6, 10, 10, 10),),
    "wall_torch[facing=north]": ((5.5, 3, 11, 10.5, 13, 16),),
    "wall_torch[facing=east]": ((0, 3, 5.5, 5, 13, 10.5),),
    "vine[facing=south]": ((0, 0, 0, 16, 16, 1),),  # it hangs on the block to the north
    "vine[facing=west]": ((15, 0, 0, 16, 16, 16),),
    "rail": ((0, 0, 0, 16, 2, 16),),
    "oak_pressure_plate": ((1, 0, 1, 15, 1, 15),),
    "nether_portal[axis=x]": ((0, 0, 6, 16, 16, 10),),
    "nether_portal[axis=z]": ((6, 0, 0, 10, 16, 16),),
    "lever[facing=up]": ((5, 0, 4, 11, 6, 12),),
    "lever[facing=north]": ((5, 4, 10, 11, 12, 16),),
    "lever[facing=west]": ((10, 4, 5, 16, 12, 11),),
    "stone_button[facing=up]": ((5, 0, 6, 11, 2, 10),),
    "stone_button[facing=up,powered=true]": ((5, 0, 6, 11, 1, 10),),
    "stone_button[facing=south]": ((5, 6, 0, 11, 10, 2),),
    "stone_button[facing=east,powered=true]": ((0, 6, 5, 1, 10, 11),),
    "oak_fence_gate[facing=north]": ((0, 0, 6, 16, 16, 10),),
    "oak_fence_gate[facing=east,open=true]": ((6, 0, 0, 10, 16, 16),),
    "oak_fence": ((6, 0, 6, 10, 16, 10),),
    "oak_fence[links=2]": ((6, 0, 6, 10, 16, 10), (10, 0, 6, 16, 16, 10)),
}  # fmt: skip


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_pointer_meets_the_outline_of_the_game(name):
    assert set(outline_of(state_of(name))) == {px(*box) for box in PUBLISHED[name]}


def test_every_other_kind_is_met_where_it_stops_a_body():
    told = {name.partition("[")[0] for name in PUBLISHED}
    alike = {kind.shape for kind in BLOCKS if kind.name in told} | {"air", "fluid"}
    others = [index for index, state in enumerate(STATES) if state.kind.shape not in alike]
    assert len(others) > 400
    assert all(outline_of(index) == collision_of(index) for index in others)
