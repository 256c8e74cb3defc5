"""The looks of the engine's own block states."""

import pytest

from worlds.blocks import BLOCK_ID, NUM_STATES, STATES, state_of
from worlds.blocks.shapes import cube_textures, elements_of
from worlds.textures.atlas import texture_rows
from worlds.types import FACES
from worlds.voxel.looks import PACKED_CROSS, PACKED_ROW, PACKED_SPECIAL, build_block_looks
from worlds.voxel.scene import DRAW_CUBE, DRAW_ELEMENTS, DRAW_FLUID, DRAW_NOTHING


@pytest.fixture(scope="module")
def looks():
    return build_block_looks(texture_rows())


def test_every_state_has_a_look(looks):
    assert len(looks.draw_S) == len(looks.packed_S8) == NUM_STATES
    is_shaped_S = looks.draw_S == DRAW_ELEMENTS
    assert (looks.element_count_S[is_shaped_S] > 0).all()
    assert (looks.element_count_S[~is_shaped_S] == 0).all()
    assert looks.element_count_S.sum() == len(looks.element_kind_N) == len(looks.element_box_N6)


@pytest.mark.parametrize(
    ("state", "draw"),
    [("air", DRAW_NOTHING), ("stone", DRAW_CUBE), ("water", DRAW_FLUID), ("oak_door", DRAW_ELEMENTS)],
)
def test_states_are_drawn_as_what_they_are(looks, state, draw):
    assert looks.draw_S[BLOCK_ID[state]] == draw


def look_of(state_id: int):
    return cube_textures(state_id), elements_of(state_id)


@pytest.mark.parametrize("name", ["open", "lit", "powered", "half", "part", "layers"])
def test_what_is_open_lit_pressed_or_the_other_half_is_seen_to_be(name):
    num_seen = 0
    for state in STATES:
        values = dict(state.kind.properties).get(name, ())
        if state.kind.shape == "trapdoor" and name == "half" and state.get("open") == "true":
            continue  # an open one stands from floor to ceiling, whichever half it lay in
        looks = {look_of(state_of(state.name, **{name: value})) for value in values}
        assert len(looks) == len(values), state.name
        num_seen += bool(values)
    assert num_seen > 0


@pytest.mark.parametrize(("facing", "bottom"), [("up", "down"), ("west", "east"), ("south", "north")])
def test_the_bottom_of_a_barrel_is_opposite_to_its_lid(facing, bottom):
    looks = dict(zip(FACES, cube_textures(state_of("barrel", facing=facing, open="true")), strict=True))
    assert looks.pop(facing) == "barrel_top_open"
    assert looks.pop(bottom) == "barrel_bottom"
    assert set(looks.values()) == {"barrel_side"}


def test_elements_stay_within_their_cell(looks):
    assert looks.element_box_N6.min() >= 0.0
    assert looks.element_box_N6.max() <= 1.0
    assert (looks.element_box_N6[:, :3] <= looks.element_box_N6[:, 3:]).all()


def test_rows_name_textures_of_the_set(looks):
    rows = texture_rows()
    assert looks.texture_S6.max() < len(rows)
    assert looks.element_texture_N6.max() < len(rows)
    log = BLOCK_ID["oak_log"]
    assert looks.texture_S6[log].tolist() == [rows[f"oak_log{end}"] for end in ("", "", "_top", "_top", "", "")]


def test_most_plants_take_the_fast_path(looks):
    for name in ("grass", "poppy", "fern"):
        assert looks.packed_S8[BLOCK_ID[name], 0] & PACKED_SPECIAL
        assert looks.packed_S8[BLOCK_ID[name], 0] & ((1 << PACKED_ROW) - 1) == PACKED_CROSS


def test_a_texture_that_nothing_draws_is_one_sentence():
    rows = {name: row for name, row in texture_rows().items() if name != "sand"}
    with pytest.raises(ValueError, match="nothing draws 'sand', which block sand wears"):
        build_block_looks(rows)
