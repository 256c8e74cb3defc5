"""The block table: kinds, states, boxes, looks. Boxes are compared with tests/golden/block_shapes.json."""

import json
from pathlib import Path

import numpy as np
import pytest

from tests.worlds.blocks.own_kinds import OWN_KINDS
from worlds.blocks import (
    AIR,
    BLOCK_ID,
    BLOCKS,
    NUM_BLOCKS,
    NUM_STATES,
    STATE_ID,
    STATES,
    build_block_tables,
    fluid_table,
    solid_table,
    state_of,
)
from worlds.blocks.shapes import collision_of, cube_textures, draw_of, elements_of, outline_of
from worlds.spec import BLOCK_MASK
from worlds.types import FACES
from worlds.voxel.scene import DRAW_CUBE, DRAW_ELEMENTS, DRAW_FLUID, DRAW_NOTHING, DRAW_VOID, ELEMENT_BOX
from worlds.voxel.tables import FLUID_LAVA, FLUID_WATER, USE_NOTHING, USE_OPEN, USE_PRESS, USE_TOGGLE

SHAPES = json.loads((Path(__file__).parents[2] / "golden" / "block_shapes.json").read_text())
FIRST_48 = (
    "air stone grass_block dirt sand sandstone gravel snow_block snowy_grass_block ice bedrock water oak_log "
    "oak_leaves birch_log birch_leaves spruce_log spruce_leaves cactus cobblestone mossy_cobblestone andesite "
    "oak_planks coal_ore iron_ore gold_ore diamond_ore redstone_ore lapis_ore gold_block diamond_block "
    "redstone_block emerald_block lapis_block iron_block coal_block pumpkin melon hay_block bookshelf "
    "crafting_table furnace tnt white_wool magenta_wool bricks diorite granite"
)
COLORS = (
    "white orange magenta light_blue yellow lime pink gray light_gray cyan purple blue brown green red black"
).split()  # fmt: skip


@pytest.fixture(scope="module")
def tables():
    return build_block_tables()


def test_first_48_kinds_keep_their_ids():
    assert [kind.name for kind in BLOCKS[:48]] == FIRST_48.split()


def test_there_are_more_than_200_kinds_with_names_of_their_own():
    assert NUM_BLOCKS == len(BLOCK_ID) > 200


@pytest.mark.parametrize("color", COLORS)
def test_wool_concrete_and_terracotta_come_in_every_color(color):
    assert {f"{color}_wool", f"{color}_concrete", f"{color}_terracotta"} <= set(BLOCK_ID)


def test_default_state_of_a_kind_has_the_kinds_index():
    for index, kind in enumerate(BLOCKS):
        assert STATES[index].kind is kind
        assert STATE_ID[kind.name] == state_of(kind.name) == index


def test_every_state_is_found_by_its_canonical_name():
    assert len({state.name for state in STATES}) == NUM_STATES <= BLOCK_MASK + 1
    for index, state in enumerate(STATES):
        assert state_of(state.name) == STATE_ID[state.name] == index


def test_properties_that_are_not_given_have_default_values():
    assert state_of("oak_door[open=true]") == state_of("oak_door", open="true")
    assert STATES[state_of("oak_door[open=true]")].name == "oak_door[facing=north,half=lower,hinge=left,open=true]"
    assert state_of("oak_stairs[half=top]", facing="east") == STATE_ID["oak_stairs[facing=east,half=top]"]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("oak_chair", "oak_chair"),
        ("oak_door[colour=red]", "no property 'colour'"),
        ("oak_door[facing=up]", "one of north, east, south, west"),
        ("oak_door[facing=east", "does not end"),
        ("stone[axis=y]", "it has none"),
    ],
)
def test_unknown_states_are_refused_with_what_is_known(name, said):
    with pytest.raises(ValueError, match=said):
        state_of(name)


def covered_cells(boxes):
    """Return bool [32, 48, 32]: which cells of a fine grid, 1.5 blocks high, the boxes cover."""
    grid = np.zeros((32, 48, 32), bool)
    for x0, y0, z0, x1, y1, z1 in boxes:
        low, high = np.rint(np.array([x0, y0, z0]) * 32).astype(int), np.rint(np.array([x1, y1, z1]) * 32).astype(int)
        grid[low[0] : high[0], low[1] : high[1], low[2] : high[2]] = True
    return grid


def test_collision_boxes_of_every_state_cover_what_minecrafts_do():
    wrong = []
    for state_id, state in enumerate(STATES):
        if state.kind.name in OWN_KINDS:
            continue
        assert state.kind.name in SHAPES, f"{state.kind.name}: see tests/golden/make_block_shapes.mjs"
        shapes = SHAPES[state.kind.name]
        key = "" if "" in shapes else ",".join(f"{name}={value}" for name, value in state.properties)
        if not np.array_equal(covered_cells(collision_of(state_id)), covered_cells(shapes[key])):
            wrong.append(state.name)
    assert not wrong


def test_solid_means_that_there_is_a_collision_box(tables):
    assert np.array_equal(tables.is_solid_S, tables.collision.count_S > 0)
    assert np.array_equal(solid_table(), tables.is_solid_S)
    assert not tables.is_solid_S[[BLOCK_ID[name] for name in ("air", "water", "lava", "torch", "grass", "rail")]].any()


def test_rows_of_boxes_belong_to_their_states(tables):
    for boxes, boxes_of in ((tables.collision, collision_of), (tables.outline, outline_of)):
        for state_id in range(NUM_STATES):
            start, count = boxes.start_S[state_id], boxes.count_S[state_id]
            assert [tuple(row) for row in boxes.box_B6[start : start + count]] == list(boxes_of(state_id))
        assert not boxes.is_cube_S[BLOCK_ID["oak_slab"]]
        assert boxes.is_cube_S[[BLOCK_ID["stone"], state_of("oak_slab[type=double]")]].all()


def test_everything_but_air_and_fluids_has_an_outline_inside_its_cell():
    for state_id, state in enumerate(STATES):
        boxes = outline_of(state_id)
        assert bool(boxes) == (state.kind.name not in ("air", "water", "lava")), state.name
        for box in boxes:
            assert all(0 <= low < high <= 1 for low, high in zip(box[:3], box[3:], strict=True)), state.name


def test_every_state_is_drawn_in_exactly_one_way():
    for state_id, state in enumerate(STATES):
        draw, parts, looks = draw_of(state_id), elements_of(state_id), cube_textures(state_id)
        assert bool(parts) == (draw == DRAW_ELEMENTS), state.name
        assert all(looks) == (draw in (DRAW_CUBE, DRAW_FLUID)), state.name
        for part in parts:
            assert any(part.textures), state.name
            assert all(0 <= low <= high <= 1 for low, high in zip(part.box[:3], part.box[3:], strict=True)), state.name
    assert draw_of(AIR) == DRAW_NOTHING
    assert draw_of(BLOCK_ID["barrier"]) == DRAW_VOID


def test_drawn_boxes_of_solid_elements_stay_near_what_stops_a_body():
    """Grown by three sixteenths, the outline holds every drawn box: nobody walks through what he sees."""
    for state_id, state in enumerate(STATES):
        if not collision_of(state_id) or draw_of(state_id) != DRAW_ELEMENTS or state.kind.name == "lily_pad":
            continue
        outline_B6 = np.array(outline_of(state_id))
        low, high = outline_B6[:, :3].min(0) - 3 / 16, outline_B6[:, 3:].max(0) + 3 / 16
        for part in elements_of(state_id):
            assert part.kind == ELEMENT_BOX
            is_open_gate = state.kind.shape == "gate"
            if not is_open_gate:
                assert (np.array(part.box[:3]) >= low).all(), state.name
                assert (np.array(part.box[3:]) <= high).all(), state.name


@pytest.mark.parametrize("facing", ["north", "east", "south", "west"])
def test_front_of_a_furnace_looks_where_it_faces(facing):
    looks = cube_textures(state_of("furnace", facing=facing))
    assert [FACES[face] for face, name in enumerate(looks) if name == "furnace"] == [facing]
    assert cube_textures(state_of("furnace", facing=facing, lit="true"))[FACES.index(facing)] == "furnace_front_on"


@pytest.mark.parametrize("facing", ["north", "east", "south", "west"])
def test_front_of_a_chest_looks_where_it_faces(facing):
    body = elements_of(state_of("chest", facing=facing))[0]
    assert [FACES[face] for face, name in enumerate(body.textures) if name == "chest_front"] == [facing]


@pytest.mark.parametrize(("axis", "ends"), [("x", ("west", "east")), ("y", ("down", "up")), ("z", ("north", "south"))])
def test_rings_of_a_log_show_at_the_ends_of_its_axis(axis, ends):
    looks = cube_textures(state_of("oak_log", axis=axis))
    assert {FACES[face] for face, name in enumerate(looks) if name == "oak_log_top"} == set(ends)


def test_halves_of_doors_beds_and_tall_plants_find_each_other(tables):
    num_pairs = 0
    for state_id, state in enumerate(STATES):
        other = tables.pair_state_S[state_id]
        if tables.pair_S3[state_id].any():
            num_pairs += 1
            assert other != state_id
            assert tables.pair_state_S[other] == state_id
            assert (tables.pair_S3[other] == -tables.pair_S3[state_id]).all()
        else:
            assert other == state_id, state.name
    assert num_pairs == 4 * 32 + 2 * 8 + 5 * 2


def test_head_of_a_bed_lies_where_the_bed_faces(tables):
    assert tuple(tables.pair_S3[state_of("red_bed[facing=west,part=foot]")]) == (-1, 0, 0)
    assert tuple(tables.pair_S3[state_of("red_bed[facing=south,part=foot]")]) == (0, 0, 1)


def test_used_twice_a_door_is_as_before(tables):
    for state_id, state in enumerate(STATES):
        if tables.use_S[state_id] == USE_TOGGLE:
            used = tables.used_state_S[state_id]
            assert used != state_id, state.name
            assert tables.used_state_S[used] == state_id


@pytest.mark.parametrize(
    ("name", "use"),
    [
        ("oak_door", USE_TOGGLE), ("spruce_trapdoor", USE_TOGGLE), ("oak_fence_gate", USE_TOGGLE),
        ("lever", USE_TOGGLE), ("iron_door", USE_NOTHING), ("stone", USE_NOTHING), ("stone_button", USE_PRESS),
        ("oak_button", USE_PRESS),
        ("chest", USE_OPEN), ("barrel", USE_OPEN), ("furnace", USE_OPEN), ("crafting_table", USE_OPEN),
    ],
)  # fmt: skip
def test_what_using_a_block_does(tables, name, use):
    assert tables.use_S[BLOCK_ID[name]] == use


def test_chests_open_and_crafting_tables_stay_as_they_are(tables):
    assert tables.used_state_S[state_of("chest[facing=east]")] == state_of("chest[facing=east,open=true]")
    assert tables.used_state_S[BLOCK_ID["crafting_table"]] == BLOCK_ID["crafting_table"]


@pytest.mark.parametrize(("name", "ticks"), [("stone_button", 20), ("oak_button", 30)])
def test_pressed_buttons_come_back_after_their_time(tables, name, ticks):
    pressed = tables.used_state_S[state_of(name, facing="up")]
    assert pressed == state_of(name, facing="up", powered="true")
    assert tables.used_state_S[pressed] == pressed
    assert (tables.pressed_ticks_S[BLOCK_ID[name]], tables.pressed_ticks_S[pressed]) == (0, ticks)


def test_fences_and_panes_know_their_state_for_every_set_of_links(tables):
    for state_id, state in enumerate(STATES):
        is_linked = state.kind.shape in ("fence", "pane")
        for links, linked in enumerate(tables.connect_S16[state_id]):
            assert linked == (state_of(state.kind.name, links=str(links)) if is_linked else -1)
    class_of = {name: tables.link_class_S[BLOCK_ID[name]] for name in BLOCK_ID}
    assert class_of["oak_fence"] == class_of["birch_fence"] == class_of["oak_fence_gate"] != 0
    assert class_of["nether_brick_fence"] not in (0, class_of["oak_fence"])
    assert class_of["glass_pane"] == class_of["iron_bars"] not in (0, class_of["oak_fence"])
    assert class_of["stone"] == 0


def test_what_stands_on_the_floor_and_what_hangs_on_a_wall(tables):
    standing = ("poppy", "torch", "rail", "oak_door", "sunflower", "snow", "lever[facing=up]", "red_carpet", "cactus")
    assert tables.needs_floor_S[[state_of(name) for name in standing]].all()
    hanging = ("wall_torch", "ladder", "lever[facing=east]", "oak_door[half=upper]", "sunflower[half=upper]", "stone")
    assert not tables.needs_floor_S[[state_of(name) for name in hanging]].any()


def test_surfaces_have_the_games_constants(tables):
    for name, value in (("ice", 0.98), ("packed_ice", 0.98), ("blue_ice", 0.989), ("slime_block", 0.8), ("stone", 0.6)):
        assert tables.slipperiness_S[BLOCK_ID[name]] == value
    assert tables.speed_factor_S[BLOCK_ID["soul_sand"]] == tables.speed_factor_S[BLOCK_ID["honey_block"]] == 0.4
    assert tables.jump_factor_S[BLOCK_ID["honey_block"]] == 0.5
    assert np.flatnonzero(tables.is_web_S).tolist() == [BLOCK_ID["cobweb"]]
    climbed = {STATES[state_id].kind.name for state_id in np.flatnonzero(tables.is_climbable_S)}
    assert climbed == {"ladder", "vine"}
    hurting = {STATES[state_id].kind.name: int(tables.hurt_S[state_id]) for state_id in np.flatnonzero(tables.hurt_S)}
    assert hurting == {"cactus": 1, "lava": 4, "magma_block": 1, "sweet_berry_bush": 1}


def test_fluids_are_water_lava_and_what_grows_under_water(tables):
    assert tables.fluid_S[BLOCK_ID["water"]] == tables.fluid_S[BLOCK_ID["seagrass"]] == FLUID_WATER
    assert tables.fluid_S[BLOCK_ID["lava"]] == FLUID_LAVA
    assert fluid_table().sum() == 3


def test_lamps_give_the_light_that_minecrafts_do(tables):
    published = {
        "torch": 14, "wall_torch[facing=east]": 14, "lantern": 15, "glowstone": 15, "sea_lantern": 15,
        "jack_o_lantern": 15, "lava": 15, "magma_block": 3, "furnace": 0, "furnace[lit=true]": 13, "nether_portal": 11,
        "brown_mushroom": 1, "stone": 0,
    }  # fmt: skip
    assert {name: int(tables.emission_S[state_of(name)]) for name in published} == published


def test_light_passes_air_glass_and_plants_but_no_full_block(tables):
    for name, lost in (("air", 0), ("glass", 0), ("poppy", 0), ("oak_leaves", 1), ("water", 1), ("stone", 15)):
        assert tables.opacity_S[BLOCK_ID[name]] == lost
    assert (tables.opacity_S[[state_of("oak_slab[type=double]"), state_of("snow[layers=8]")]] == 15).all()
    assert tables.opacity_S[state_of("snow[layers=7]")] == 0


def test_only_air_fluids_and_low_growth_make_way_for_a_block(tables):
    names = {STATES[state_id].kind.name for state_id in np.flatnonzero(tables.is_replaceable_S)}
    low_growth = {"grass", "fern", "dead_bush", "seagrass", "vine", "tall_grass", "large_fern"}
    assert names == {"air", "water", "lava", "snow"} | low_growth
    assert not tables.is_replaceable_S[state_of("snow[layers=2]")]


def test_double_slabs_and_snow_drop_as_much_as_they_are(tables):
    assert tables.drop_count_S[state_of("oak_slab")] == 1
    assert tables.drop_count_S[state_of("oak_slab[type=double]")] == 2
    assert tables.drop_count_S[state_of("snow[layers=5]")] == 5
