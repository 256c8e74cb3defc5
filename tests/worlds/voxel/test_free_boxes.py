import numba
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.worlds.voxel.free_box_promises import broken_promises
from worlds.voxel.field import build_distance
from worlds.voxel.free_boxes import BOXES, SOURCES, add_flat_boxes
from worlds.voxel.link import link

SIZE = 32
_narrow_boxes = link(SOURCES, numba.njit, {})["narrow_boxes"]
cells = st.tuples(st.integers(0, SIZE - 1), st.integers(0, SIZE - 1), st.integers(0, 63))


def codes_of(block_XZY):
    code_XZY = np.empty(block_XZY.shape, np.uint8)
    build_distance(block_XZY, code_XZY)
    add_flat_boxes(code_XZY)
    return code_XZY


def world_with(blocks, floor=0):
    block_XZY = np.zeros((SIZE, SIZE, 64), np.uint16)
    block_XZY[:, :, :floor] = 1
    for x, z, y in blocks:
        block_XZY[x, z, y] = 1
    return block_XZY


@settings(max_examples=5, deadline=None)
@given(st.lists(cells, max_size=10), st.integers(0, 40))
def test_no_box_holds_a_block(blocks, floor):
    block_XZY = world_with(blocks, floor)
    assert len(broken_promises(codes_of(block_XZY), block_XZY)) == 0


@settings(max_examples=5, deadline=None)
@given(st.lists(cells, max_size=4), st.integers(0, 40), st.lists(cells, min_size=1, max_size=3))
def test_no_box_holds_a_block_after_some_were_placed(blocks, floor, placed):
    code_XZY = codes_of(world_with(blocks, floor))
    for x, z, y in placed:
        _narrow_boxes(code_XZY, x, y, z)
    assert len(broken_promises(code_XZY, world_with([*blocks, *placed], floor))) == 0


def test_cells_over_open_ground_promise_a_flat_box():
    code_XZY = codes_of(world_with([], floor=20))
    assert BOXES[code_XZY[0, 0, 20]] == (8, 8, 1)
    assert BOXES[code_XZY[0, 0, 21]] == (8, 8, 2)
    assert (code_XZY[:, :, 28:] == 8).all()


def test_light_in_the_high_nibble_survives_a_placed_block():
    code_XZY = codes_of(world_with([], floor=20)) | np.uint8(0xA0)
    _narrow_boxes(code_XZY, 5, 22, 5)
    assert (code_XZY >> 4 == 10).all()
