import numpy as np

from worlds.blocks import BLOCK_ID
from worlds.voxel.raycast import FACE_TOP, FACE_WEST, NO_CELL, first_hit, is_line_clear

STONE, WATER = BLOCK_ID["stone"], BLOCK_ID["water"]
SIZE = 32


def empty_world():
    return np.zeros((SIZE, SIZE, 64), np.uint16)


def test_first_hit_tells_cell_face_and_distance():
    world = empty_world()
    world[20, 16, 30] = STONE
    assert first_hit(world, 16.5, 30.5, 16.5, 1.0, 0.0, 0.0, 5.0) == (20, 30, 16, FACE_WEST, 3.5)
    assert first_hit(world, 20.5, 34.0, 16.5, 0.0, -2.0, 0.0, 5.0) == (20, 30, 16, FACE_TOP, 3.0)
    assert first_hit(world, 16.5, 30.5, 16.5, 1.0, 0.0, 0.0, 3.0) == (*[NO_CELL] * 4, 3.0)


def test_first_hit_passes_water_and_the_seam():
    world = empty_world()
    world[0, 16, 30] = WATER
    world[2, 16, 30] = STONE
    assert first_hit(world, 30.5, 30.5, 16.5, 1.0, 0.0, 0.0, 5.0) == (2, 30, 16, FACE_WEST, 3.5)


def test_line_is_clear_until_something_stands_in_it():
    world = empty_world()
    world[1, 16, 30] = STONE
    rows = np.array([[30.5, 31.0, 16.5], [30.5 - SIZE, 31.0, 16.5 + SIZE], [30.5, 31.0, 16.5]])
    cells = np.array([[1, 30, 16], [1, 30, 16], [2, 30, 16]])
    index = np.zeros(3, np.int64)
    np.testing.assert_array_equal(is_line_clear(world[None], index, rows, cells), [True, True, False])
    world[31, 16, 30] = STONE
    np.testing.assert_array_equal(is_line_clear(world[None], index, rows, cells), [False, False, False])
