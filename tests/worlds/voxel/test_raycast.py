import math

import numpy as np
import pytest

from worlds.blocks import build_block_tables, state_of
from worlds.types import FACE_DOWN, FACE_UP, FACE_WEST
from worlds.voxel.raycast import NO_CELL, first_hit, first_hit_cpu, is_line_clear

STONE, WATER = state_of("stone"), state_of("water")
OUTLINE, COLLISION = build_block_tables().outline, build_block_tables().collision
SIZE = 32


def empty_world():
    return np.zeros((SIZE, SIZE, 64), np.uint16)


def test_first_hit_tells_cell_face_and_distance():
    world = empty_world()
    world[20, 16, 30] = STONE
    assert first_hit(world, OUTLINE, 16.5, 30.5, 16.5, 1.0, 0.0, 0.0, 5.0) == (20, 30, 16, FACE_WEST, 3.5)
    assert first_hit(world, OUTLINE, 20.5, 34.0, 16.5, 0.0, -2.0, 0.0, 5.0) == (20, 30, 16, FACE_UP, 3.0)
    assert first_hit(world, OUTLINE, 16.5, 30.5, 16.5, 1.0, 0.0, 0.0, 3.0) == (*[NO_CELL] * 4, 3.0)


def test_first_hit_passes_water_and_the_seam():
    world = empty_world()
    world[0, 16, 30] = WATER
    world[2, 16, 30] = STONE
    assert first_hit(world, OUTLINE, 30.5, 30.5, 16.5, 1.0, 0.0, 0.0, 5.0) == (2, 30, 16, FACE_WEST, 3.5)


def test_first_hit_meets_a_slab_at_its_surface_and_passes_above_it():
    world = empty_world()
    world[20, 16, 30] = state_of("oak_slab[type=bottom]")
    world[22, 16, 30] = STONE
    assert first_hit(world, OUTLINE, 20.5, 32.0, 16.5, 0.0, -1.0, 0.0, 5.0) == (20, 30, 16, FACE_UP, 1.5)
    assert first_hit(world, OUTLINE, 20.5, 28.0, 16.5, 0.0, 1.0, 0.0, 5.0) == (20, 30, 16, FACE_DOWN, 2.0)
    assert first_hit(world, OUTLINE, 18.5, 30.25, 16.5, 1.0, 0.0, 0.0, 5.0)[:4] == (20, 30, 16, FACE_WEST)
    assert first_hit(world, OUTLINE, 18.5, 30.75, 16.5, 1.0, 0.0, 0.0, 5.0)[:4] == (22, 30, 16, FACE_WEST)


def test_a_ray_from_inside_a_box_hits_it_at_once_and_one_from_beside_it_does_not():
    world = empty_world()
    world[20, 16, 30] = state_of("oak_slab[type=bottom]")
    assert first_hit(world, OUTLINE, 20.5, 30.2, 16.5, 0.0, 1.0, 0.0, 5.0) == (20, 30, 16, NO_CELL, 0.0)
    assert first_hit(world, OUTLINE, 20.5, 30.7, 16.5, 0.0, 1.0, 0.0, 5.0)[1] == NO_CELL


def test_grass_stops_a_pointer_but_not_an_arrow():
    world = empty_world()
    world[20, 16, 30] = state_of("grass")
    assert first_hit(world, OUTLINE, 18.5, 30.3, 16.5, 1.0, 0.0, 0.0, 5.0)[0] == 20
    assert first_hit(world, COLLISION, 18.5, 30.3, 16.5, 1.0, 0.0, 0.0, 5.0)[0] == NO_CELL


def walked_hit(world, ox, oy, oz, dx, dy, dz, max_blocks):
    """The slow twin: small steps until a point lies in an outline box."""
    step = 1e-3
    for i in range(int(max_blocks / step)):
        x, y, z = ox + dx * i * step, oy + dy * i * step, oz + dz * i * step
        cell = (math.floor(x) % SIZE, math.floor(z) % SIZE, math.floor(y))
        if not 0 <= cell[2] < 64:
            continue
        state = world[cell]
        start = OUTLINE.start_S[state]
        for box in OUTLINE.box_B6[start : start + OUTLINE.count_S[state]]:
            if all(box[axis] <= part % 1.0 <= box[axis + 3] for axis, part in enumerate((x, y, z))):
                return cell[0], cell[2], cell[1], i * step
    return None


def test_first_hit_equals_a_walk_in_small_steps_through_random_shapes():
    random = np.random.default_rng(3)
    world = empty_world()
    filled = random.random(world.shape) < 0.25
    world[filled] = random.integers(0, len(OUTLINE.count_S), world.shape)[filled]
    misses = 0
    for _ in range(40):
        ox, oz, oy = random.uniform(0, SIZE), random.uniform(0, SIZE), random.uniform(5, 59)
        direction = random.normal(size=3)
        dx, dy, dz = direction / np.linalg.norm(direction)
        x, y, z, _, distance = first_hit(world, OUTLINE, ox, oy, oz, dx, dy, dz, 6.0)
        expected = walked_hit(world, ox, oy, oz, dx, dy, dz, 6.0)
        if expected is None:
            assert y == NO_CELL
            misses += 1
            continue
        # A step may pass a corner that the exact ray touches: then the exact hit comes first.
        assert distance <= expected[3] + 1e-9
        if distance > expected[3] - 3e-3:
            assert (x, y, z) == expected[:3]
        else:
            misses += 1
    assert misses < 12


def test_compiled_and_plain_first_hit_are_equal():
    random = np.random.default_rng(4)
    world = empty_world()
    filled = random.random(world.shape) < 0.1
    world[filled] = random.integers(0, len(OUTLINE.count_S), world.shape)[filled]
    for _ in range(100):
        ray = (*random.uniform(5, 30, 3), *random.normal(size=3))
        assert first_hit_cpu(world, OUTLINE, *ray, 9.0) == first_hit(world, OUTLINE, *ray, 9.0)


def test_line_is_clear_until_something_stands_in_it():
    world = empty_world()
    world[1, 16, 30] = STONE
    rows = np.array([[30.5, 31.0, 16.5], [30.5 - SIZE, 31.0, 16.5 + SIZE], [30.5, 31.0, 16.5]])
    cells = np.array([[1, 30, 16], [1, 30, 16], [2, 30, 16]])
    index = np.zeros(3, np.int64)
    np.testing.assert_array_equal(is_line_clear(world[None], OUTLINE, index, rows, cells), [True, True, False])
    world[31, 16, 30] = STONE
    np.testing.assert_array_equal(is_line_clear(world[None], OUTLINE, index, rows, cells), [False, False, False])


@pytest.mark.parametrize("name", ["oak_stairs", "torch", "oak_fence", "lever", "oak_door[open=true]", "poppy", "snow"])
def test_line_to_any_shape_is_clear_from_every_side(name):
    world = empty_world()
    world[16, 16, 30] = state_of(name)
    rows = np.array([[16.5 + dx, 30.5 + dy, 16.5 + dz] for dx in (-3, 3) for dy in (-2, 2) for dz in (-3, 0, 3)])
    cells = np.tile([16, 30, 16], (len(rows), 1))
    assert is_line_clear(world[None], OUTLINE, np.zeros(len(rows), np.int64), rows, cells).all()
