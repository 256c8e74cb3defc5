from concurrent.futures import wait

import numpy as np
import pytest

from tests.worlds.anvil.anvil_files import write_save
from worlds.anvil import open_save
from worlds.spec import WorldSpec
from worlds.voxel.world_cache import WorldCache


def spec(seed: int) -> WorldSpec:
    return WorldSpec(seed=seed, size_blocks=(32, 64, 32))


def test_an_announced_world_is_the_one_that_would_have_been_made():
    patient, eager = WorldCache(), WorldCache()
    eager.announce([spec(1), spec(2)])
    for made, announced in zip(patient.get([spec(1), spec(2)]), eager.get([spec(1), spec(2)]), strict=True):
        assert np.array_equal(made.world.block_XZY, announced.world.block_XZY)
        assert np.array_equal(made.light_XZY, announced.light_XZY)


def test_worlds_come_in_the_order_asked_for_and_once_each():
    cache = WorldCache(num_threads=2)
    worlds = cache.get([spec(3), spec(1), spec(3), spec(2)])
    assert [world.world.spec.seed for world in worlds] == [3, 1, 3, 2]
    assert worlds[0] is worlds[2]


def test_worlds_announced_in_vain_leave_room_for_others():
    cache = WorldCache(num_threads=2)
    cache.announce([spec(seed) for seed in range(64)])
    wait(cache._pending.values())
    cache.announce([spec(100)])
    assert list(cache._pending) == [spec(100)]
    assert cache.get([spec(0)])[0].world.spec.seed == 0


def test_the_oldest_world_goes_when_memory_is_full():
    cache = WorldCache(max_bytes=1)
    first = cache.get([spec(1)])[0]
    cache.get([spec(2)])
    assert cache.get([spec(1)])[0] is not first


def test_a_save_that_was_not_opened_is_refused_in_one_sentence():
    with pytest.raises(ValueError, match="no save that was opened"):
        WorldCache().get([WorldSpec(seed=0, source="anvil:abc", size_blocks=(32, 64, 32))])


def test_a_save_that_is_another_than_the_one_opened_is_told_so(tmp_path):
    save = open_save(write_save(tmp_path, lambda x, y, z: "minecraft:stone", "1.18", chunks=range(1), ys=range(1)))
    with pytest.raises(ValueError, match=f"what was, {save.folder}, is another, or has changed since; give its folder"):
        WorldCache(saves=[save]).get([WorldSpec(seed=0, source="anvil:abc", size_blocks=(32, 64, 32))])


def test_a_world_that_cannot_be_made_fails_where_it_is_asked_for():
    cache, moon = WorldCache(), WorldSpec(seed=0, biome="moon", size_blocks=(32, 64, 32))
    for _ in range(2):
        cache.announce([moon, spec(5)])
        wait(cache._pending.values())
        assert cache.get([spec(5)])[0].world.spec.seed == 5
        with pytest.raises(ValueError, match="moon"):
            cache.get([moon])
