import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from worlds.voxel.distance import MAX_DISTANCE, build_distance, lower_distance

SIZE = 32


def slow_distance(block_XZY):
    """Return the field by asking every block of the torus: the obvious twin."""
    size_x, size_z, size_y = block_XZY.shape
    x, z, y = np.meshgrid(np.arange(size_x), np.arange(size_z), np.arange(size_y), indexing="ij")
    distance_XZY = np.full(block_XZY.shape, MAX_DISTANCE)
    for block_x, block_z, block_y in np.argwhere(block_XZY != 0):
        away_x, away_z = np.abs(x - block_x), np.abs(z - block_z)
        away = np.maximum(np.minimum(away_x, size_x - away_x), np.minimum(away_z, size_z - away_z))
        distance_XZY = np.minimum(distance_XZY, np.maximum(away, np.abs(y - block_y)))
    return distance_XZY


cells = st.tuples(st.integers(0, SIZE - 1), st.integers(0, SIZE - 1), st.integers(0, 63))


def world_with(blocks):
    block_XZY = np.zeros((SIZE, SIZE, 64), np.uint16)
    for x, z, y in blocks:
        block_XZY[x, z, y] = 1 | 3 << 12
    return block_XZY


def field_of(block_XZY):
    distance_XZY = np.full(block_XZY.shape, 255, np.uint8)
    build_distance(block_XZY, distance_XZY)
    return distance_XZY


@settings(max_examples=15, deadline=None)
@given(st.lists(cells, max_size=12))
def test_distance_field_equals_the_obvious_search(blocks):
    block_XZY = world_with(blocks)
    np.testing.assert_array_equal(field_of(block_XZY), slow_distance(block_XZY))


@settings(max_examples=15, deadline=None)
@given(st.lists(cells, max_size=6), cells)
def test_placing_a_block_updates_the_field_exactly(blocks, placed):
    distance_XZY = field_of(world_with(blocks))
    x, z, y = placed
    lower_distance(distance_XZY, x, y, z)
    np.testing.assert_array_equal(distance_XZY, field_of(world_with([*blocks, placed])))


@settings(max_examples=15, deadline=None)
@given(st.lists(cells, min_size=2, max_size=6, unique=True))
def test_field_never_over_estimates_after_a_removal_without_update(blocks):
    stale_XZY = field_of(world_with(blocks))
    assert (stale_XZY <= field_of(world_with(blocks[1:]))).all()


def test_field_of_a_full_world_is_zero():
    assert not field_of(np.full((SIZE, SIZE, 64), 1, np.uint16)).any()
