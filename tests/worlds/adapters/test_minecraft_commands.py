"""Claims about the commands that Minecraft is given: they name blocks, items and mobs as the game does."""

from worlds.adapters.engines.minecraft_commands import (
    PlacedBlock,
    bare,
    blocks_of,
    game_state,
    inventory_commands,
    set_block,
    summon,
    teleport,
)


def test_a_door_is_two_blocks_and_a_bed_lies_in_its_direction():
    assert blocks_of("oak_door[facing=east,open=true]", (1, 2, 3)) == [
        PlacedBlock((1, 2, 3), "oak_door[facing=east,half=lower,open=true]"),
        PlacedBlock((1, 3, 3), "oak_door[facing=east,half=upper,open=true]"),
    ]
    assert [block.cell for block in blocks_of("red_bed[facing=east]", (1, 2, 3))] == [(1, 2, 3), (2, 2, 3)]
    assert blocks_of("oak_trapdoor", (1, 2, 3)) == [PlacedBlock((1, 2, 3), "oak_trapdoor")]


def test_a_whole_number_keeps_its_point_for_without_it_the_game_means_the_middle_of_the_cell():
    assert teleport(8.0, 64.0, -3.0, 90.0, 1e-12) == "/tp @p 8.0 64.0 -3.0 90.0 0.0"
    assert teleport(8.123456, 64.0, 0.0, 0.0, 0.0).startswith("/tp @p 8.123456 ")


def test_commands_name_states_slots_and_items_as_the_game_does():
    assert set_block(PlacedBlock((1, 2, 3), "chest[facing=west]")) == "/setblock 1 2 3 minecraft:chest[facing=west]"
    commands = inventory_commands([("bow", 1), ("", 0), *[("", 0)] * 7, ("arrow", 16)])
    assert commands == [
        "/replaceitem entity @p hotbar.0 minecraft:bow 1",
        "/replaceitem entity @p inventory.0 minecraft:arrow 16",
    ]
    for ours, theirs in (
        ("stone_button[facing=up]", "stone_button[face=floor,facing=north]"),
        ("lever[facing=east,powered=true]", "lever[face=wall,facing=east,powered=true]"),
        ("chest[facing=west,open=true]", "chest[facing=west]"),
        ("vine[facing=north]", "vine[south=true]"),
        ("glass_pane[links=5]", "glass_pane"),
        ("snowy_grass_block", "grass_block[snowy=true]"),
        ("oak_trapdoor[facing=south,half=bottom,open=false]", "oak_trapdoor[facing=south,half=bottom,open=false]"),
    ):
        assert game_state(ours) == theirs
    assert "Health:1.0f" in summon("cow", 0.5, 64.0, 0.5, is_frail=True)
    horse = summon("horse", 0.5, 64.0, 0.5)
    assert 'Health:22.0f,Attributes:[{Name:"minecraft:generic.max_health",Base:22.0d}]' in horse
    assert summon("horse", 0.5, 64.0, 0.5, is_frail=True).count("Health:") == 1
    assert 'HandItems:[{id:"minecraft:bow"' in summon("skeleton", 0.5, 64.0, 0.5)
    assert '{Item:{id:"minecraft:apple",Count:1b}' in summon("item:apple", 0.5, 64.0, 0.5)
    assert [bare(name) for name in ("minecraft:oak_log[axis=y]", "entity.minecraft.cow", "Polar Bear")] == [
        "oak_log",
        "cow",
        "polar_bear",
    ]
