import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from worlds.voxel.field import MAX_DISTANCE, build_distance, build_light, write_field

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
@given(st.lists(cells, min_size=2, max_size=6, unique=True))
def test_field_never_over_estimates_after_a_removal_without_update(blocks):
    stale_XZY = field_of(world_with(blocks))
    assert (stale_XZY <= field_of(world_with(blocks[1:]))).all()


def test_field_of_a_full_world_is_zero():
    assert not field_of(np.full((SIZE, SIZE, 64), 1, np.uint16)).any()


# States of a tiny table: air, stone, leaves, a lamp that lets no light through, a torch.
EMISSION_S = np.array([0, 0, 0, 15, 14], np.uint8)
OPACITY_S = np.array([0, 15, 1, 15, 0], np.uint8)


def slow_light(block_XZY):
    """Return (sky, lamp) levels by letting light spread until nothing changes: the obvious twin."""
    size_x, size_z, size_y = block_XZY.shape
    state_XZY = block_XZY & 0xFFF
    sky_XZY = np.zeros(block_XZY.shape, int)
    for x in range(size_x):
        for z in range(size_z):
            for y in range(size_y - 1, -1, -1):
                if OPACITY_S[state_XZY[x, z, y]]:
                    break
                sky_XZY[x, z, y] = 15
    is_clear_XZY = OPACITY_S[state_XZY] < 15
    lamp_XZY = EMISSION_S[state_XZY].astype(int)
    for light_XZY in (sky_XZY, lamp_XZY):
        for _ in range(15):
            padded = np.pad(light_XZY, ((0, 0), (0, 0), (1, 1)))
            near_XZY = np.maximum(padded[:, :, 2:], padded[:, :, :-2])
            for axis in (0, 1):
                for shift in (-1, 1):
                    near_XZY = np.maximum(near_XZY, np.roll(light_XZY, shift, axis))
            np.maximum(light_XZY, np.where(is_clear_XZY, near_XZY - 1, 0), out=light_XZY)
    return sky_XZY, lamp_XZY


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 2**31), st.sampled_from([0.05, 0.3, 0.6]))
def test_light_equals_the_obvious_spreading(seed, share):
    rng = np.random.default_rng(seed)
    is_filled = rng.random((SIZE, SIZE, 64)) < share
    block_XZY = np.where(is_filled, rng.choice([1, 1, 2, 3, 4], p=[0.6, 0.1, 0.2, 0.05, 0.05], size=is_filled.shape), 0)
    block_XZY[:, :, :4] = 1
    light_XZY = np.full(block_XZY.shape, 255, np.uint8)
    build_light(block_XZY.astype(np.uint16), EMISSION_S, OPACITY_S, light_XZY)
    sky_XZY, lamp_XZY = slow_light(block_XZY.astype(np.uint16))
    np.testing.assert_array_equal(light_XZY >> 4, sky_XZY)
    np.testing.assert_array_equal(light_XZY & 15, lamp_XZY)


def test_night_dims_the_sky_and_leaves_lamps_alone():
    distance_XZY = np.full((4, 4, 64), 5, np.uint8)
    light_XZY = np.full((4, 4, 64), 15 << 4, np.uint8)
    light_XZY[0, 0, 0] = 15 << 4 | 12
    field_XZY = np.empty_like(light_XZY)
    write_field(distance_XZY, light_XZY, 11, field_XZY)
    assert (field_XZY & 15 == 5).all()
    assert field_XZY[0, 0, 0] >> 4 == 12
    assert field_XZY[1, 0, 0] >> 4 == 4
