"""Claims about Luanti's names of blocks and items, and Minecraft's."""

import pytest

from worlds.adapters.engines import luanti_names
from worlds.blocks import state_of


def test_every_node_has_a_block_of_ours():
    nodes = [*luanti_names._BLOCKS, *luanti_names._LOGS, "stairs:slab_cobble", "stairs:stair_outer_wood", "wool:grey"]
    nodes += ["default:torch_wall", "xpanes:bar_flat", "walls:cobble", "default:fence_wood", "somebody:something"]
    for node in nodes:
        for param2 in (0, 3, 12, 23):
            state_of(luanti_names.block_of(node, param2))


def test_items_that_an_episode_gives_are_told_by_the_names_they_were_given_by():
    for item in (*luanti_names._ITEMS, *luanti_names._NODES):
        assert luanti_names.name_of_item(luanti_names.item_of(item)) == item


@pytest.mark.parametrize(
    ("block", "node", "param2"),
    [
        ("gravel", "default:gravel", 0),
        ("red_mushroom", "flowers:mushroom_red", 0),
        ("oak_fence", "default:fence_wood", 0),
        ("torch", "default:torch", 1),  # on the floor, not under a ceiling
        ("ladder[facing=north]", "default:ladder_wood", 5),
        ("chest[facing=north]", "default:chest", 2),
    ],
)
def test_a_block_is_set_as_itself_and_not_as_what_looks_like_it(block, node, param2):
    assert luanti_names.node_of(block) == (node, param2)
    assert luanti_names.block_of(node, param2).partition("[")[0] == block.partition("[")[0]


def test_stairs_upside_down_look_where_minetest_game_turns_them():
    # Its stairs/init.lua turns 21 and 23, east and west, round.
    facings = [luanti_names.block_of("stairs:stair_wood", param2) for param2 in (0, 1, 2, 3, 20, 23, 22, 21)]
    assert facings[:4] == [f"oak_stairs[facing={way},half=bottom]" for way in ("north", "east", "south", "west")]
    assert facings[4:] == [f"oak_stairs[facing={way},half=top]" for way in ("north", "east", "south", "west")]


def test_what_luanti_lacks_is_refused_with_what_it_has():
    with pytest.raises(ValueError, match=r"no block like 'barrel' .* choose targets among .*bookshelf"):
        luanti_names.node_of("barrel")
    with pytest.raises(ValueError, match=r"no item like 'bow'"):
        luanti_names.item_of("bow")
