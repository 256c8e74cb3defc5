import pytest

from tests.worlds.voxel.arena import GROUND_Y, TABLES, Arena, flat
from worlds.blocks import STATES, state_of
from worlds.items import ITEM_ID
from worlds.types import EVENT_BLOCK_PLACED

ON_FLOOR = (16, GROUND_Y, 18)


def arena_with(item, count=1):
    """An agent that looks south at the floor two blocks ahead, with an item in hand."""
    arena = Arena()
    arena.give(item, count)
    arena.look_at(16.5, GROUND_Y, 18.5)
    return arena


def test_a_block_goes_against_the_face_and_out_of_the_hand():
    arena = arena_with("dirt", 2)
    arena.press("use")
    assert arena.at(*ON_FLOOR) == state_of("dirt")
    assert arena.count("dirt") == 1
    assert arena.events() == [(EVENT_BLOCK_PLACED, state_of("dirt"), 0, flat(*ON_FLOOR))]


def test_a_held_key_places_every_four_ticks():
    arena = arena_with("sand", 64)
    placed = []
    for tick in range(13):
        arena.press("use")
        placed += [tick] * len(arena.events())
    assert placed == [0, 4, 8]  # then the column is at the eye and the face is out of view: nothing hits the body
    arena = arena_with("sand", 64)
    arena.press("use")
    arena.press()
    arena.press("use")
    assert arena.count("sand") == 62


def test_nothing_is_placed_into_the_agent_or_a_mob():
    arena = Arena()
    arena.give("dirt", 5)
    arena.state.bodies.pitch_deg_E[0] = 90.0
    arena.press("use")
    assert arena.count("dirt") == 5
    arena = arena_with("dirt", 5)
    arena.put_mob("cow", 17.2, GROUND_Y, 19.2)
    arena.press("use")
    assert arena.count("dirt") == 5
    arena = arena_with("poppy", 5)
    arena.put_mob("chicken", 16.9, GROUND_Y, 18.9)
    arena.look_at(16.3, GROUND_Y, 18.2)
    arena.press("use")
    assert arena.at(*ON_FLOOR) == state_of("poppy")


def test_grass_is_replaced_and_stone_is_not():
    arena = arena_with("dirt")
    arena.put("grass", *ON_FLOOR)
    arena.look_at(16.5, GROUND_Y + 0.4, 18.5)
    arena.press("use")
    assert arena.at(*ON_FLOOR) == state_of("dirt")
    arena = arena_with("dirt")
    for y in (GROUND_Y, GROUND_Y + 1):
        arena.put("water", 16, y, 18)
    arena.press("use")
    assert arena.at(*ON_FLOOR) == state_of("dirt")


@pytest.mark.parametrize(
    ("item", "at", "face_point", "expected"),
    [
        # The agent looks south (+z): stairs rise away from it, a furnace faces it, a log lies along the clicked axis.
        ("oak_stairs", (16, 10, 18), (16.5, 10.0, 18.5), "oak_stairs[facing=south,half=bottom]"),
        ("furnace", (16, 10, 18), (16.5, 10.0, 18.5), "furnace[facing=north]"),
        ("oak_log", (16, 10, 18), (16.5, 10.0, 18.5), "oak_log"),
        ("oak_log", (16, 11, 18), (16.5, 11.5, 19.0), "oak_log[axis=z]"),
        ("oak_slab", (16, 11, 18), (16.5, 11.8, 19.0), "oak_slab[type=top]"),
        ("oak_slab", (16, 11, 18), (16.5, 11.2, 19.0), "oak_slab[type=bottom]"),
        ("torch", (16, 11, 18), (16.5, 11.5, 19.0), "wall_torch[facing=north]"),
        ("torch", (16, 10, 18), (16.5, 10.0, 18.5), "torch"),
        ("ladder", (16, 11, 18), (16.5, 11.5, 19.0), "ladder[facing=north]"),
        ("ladder", (16, 10, 18), (16.5, 10.0, 18.5), "air"),
    ],
)
def test_a_block_is_turned_by_face_and_view(item, at, face_point, expected):
    arena = Arena()
    arena.give(item)
    arena.put("stone", 16, 11, 19)
    arena.look_at(*face_point)
    arena.press("use")
    assert STATES[arena.at(*at)].name == STATES[state_of(expected)].name


def test_a_door_needs_room_for_both_halves_and_a_floor():
    arena = arena_with("oak_door")
    arena.press("use")
    assert arena.at(*ON_FLOOR) == state_of("oak_door[facing=south,half=lower]")
    assert arena.at(16, GROUND_Y + 1, 18) == state_of("oak_door[facing=south,half=upper]")
    arena = arena_with("oak_door")
    arena.put("stone", 16, GROUND_Y + 1, 18)
    arena.look_at(16.5, GROUND_Y, 18.4)
    arena.press("use")
    assert arena.at(*ON_FLOOR) == 0
    assert arena.count("oak_door") == 1


def test_a_bed_reaches_away_from_the_agent():
    arena = arena_with("red_bed")
    arena.press("use")
    assert arena.at(*ON_FLOOR) == state_of("red_bed[facing=south,part=foot]")
    assert arena.at(16, GROUND_Y, 19) == state_of("red_bed[facing=south,part=head]")


def test_plants_need_a_floor():
    arena = Arena()
    arena.give("poppy")
    arena.put("stone", 16, 11, 18)
    arena.look_at(16.5, 11.5, 18.0)
    arena.press("use")
    assert arena.at(16, 11, 17) == 0
    assert arena.count("poppy") == 1


def test_fences_join_their_own_kind_and_full_blocks():
    arena = arena_with("oak_fence", 3)
    arena.put("oak_fence", 15, GROUND_Y, 18)
    arena.put("stone", 17, GROUND_Y, 18)
    arena.put("oak_leaves", 16, GROUND_Y, 19)
    arena.press("use")
    assert arena.at(*ON_FLOOR) == state_of("oak_fence[links=10]")  # 2 east, 8 west
    assert arena.at(15, GROUND_Y, 18) == state_of("oak_fence[links=2]")
    arena = arena_with("glass_pane")
    arena.put("oak_fence", 15, GROUND_Y, 18)
    arena.press("use")
    assert arena.at(*ON_FLOOR) == state_of("glass_pane[links=0]")


def test_a_placed_block_darkens_its_cell_and_narrows_the_free_boxes():
    arena = arena_with("stone")
    arena.state.terrain.field_EXZY[0] = (15 << 4) | 8
    arena.press("use")
    assert arena.light_at(*ON_FLOOR) == 0
    assert arena.free_box_at(*ON_FLOOR) == (0, 0, 0)
    assert arena.free_box_at(16, GROUND_Y + 2, 17)[2] == 2
    assert arena.light_at(16, GROUND_Y + 2, 17) == 15
    arena = arena_with("torch")
    arena.state.terrain.field_EXZY[0] = 0
    arena.press("use")
    assert arena.light_at(*ON_FLOOR) == 14


def test_every_placeable_item_can_be_placed_somewhere_and_mined_away_again():
    for name, item in ITEM_ID.items():
        if (TABLES.items.place_I462[item] < 0).all():
            continue
        arena = Arena()
        arena.give(name)
        arena.put("stone", 16, 11, 19)
        for point in ((16.5, GROUND_Y, 18.3), (16.5, 11.5, 19.0)):
            arena.look_at(*point)
            arena.press("use")
            arena.press()
        events = [row for row in arena.events() if row[0] == EVENT_BLOCK_PLACED]
        assert len(events) == 1, name
        assert arena.count(name) == 0, name
