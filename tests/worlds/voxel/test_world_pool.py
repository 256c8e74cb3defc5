"""Claims about episodes that begin on a GPU, of what needs none: the host's arrays stand for those there."""

import dataclasses
import gc
import weakref

import numpy as np
import pytest

from worlds.generate.terrain import generate
from worlds.spec import Episode, Look, Placement, WorldSpec
from worlds.types import Pose
from worlds.voxel.cuda.memory import HostMemory
from worlds.voxel.cuda.world_pool import WorldPool
from worlds.voxel.daylight import darkness
from worlds.voxel.episode_start import begin_episode, begin_life
from worlds.voxel.state import empty_state
from worlds.voxel.world_cache import prepare

SIZE = (32, 64, 32)
LOOKS = (Look(), Look(time_ticks=13_000), Look(time_ticks=18_000))


def world(seed: int):
    return prepare(generate(WorldSpec(seed=seed, biome="forest", size_blocks=SIZE, detail="full")))


def episode(**changes) -> Episode:
    spec = WorldSpec(seed=0, biome="forest", size_blocks=SIZE, detail="full")
    placements = (
        Placement(kind="oak_door[half=lower]", position=(31, 50, 0)),
        Placement(kind="chest", position=(31, 50, 1)),
    )
    begun = Episode(world=spec, start=Pose(8.5, 52.0, 8.5, 0.0, 0.0), seed=7, placements=placements, num_ambient_mobs=4)
    return dataclasses.replace(begun, **changes)


def test_a_pool_gives_the_terrain_that_an_episode_begins_in():
    worlds = [world(seed) for seed in range(5)]
    state, pool = empty_state(6, SIZE), WorldPool(HostMemory(), SIZE, least=2)
    rng = np.random.default_rng(0)
    for _ in range(20):  # five worlds in two slots: most are brought in anew
        chosen, looks, env_N = rng.integers(5, size=2), rng.choice(3, 2), rng.choice(6, 2, replace=False)
        drawn = [LOOKS[look] for look in looks]
        dark_N = np.array([darkness(look) for look in drawn], np.uint8)
        terrain = state.terrain
        pool.copy([worlds[w] for w in chosen], dark_N, env_N, terrain.block_EXZY, terrain.field_EXZY)
        for e, w, look in zip(env_N, chosen, drawn, strict=True):
            begun = empty_state(1, SIZE)
            begin_episode(begun, 0, episode(look=look, placements=(), num_ambient_mobs=0), worlds[w])
            assert np.array_equal(terrain.block_EXZY[e], begun.terrain.block_EXZY[0])
            assert np.array_equal(terrain.field_EXZY[e], begun.terrain.field_EXZY[0])


def test_a_pool_knows_a_world_that_was_made_again_and_holds_none_on_the_host():
    num_writes = []

    class Counting(HostMemory):
        def write(self, array, values):
            num_writes.append(1)
            super().write(array, values)

    state, pool = empty_state(1, SIZE), WorldPool(Counting(), SIZE, least=2)
    terrain, dark_N, env_N = state.terrain, np.zeros(1, np.uint8), np.zeros(1, np.int64)
    made = [world(0), world(0)]
    held = [weakref.ref(prepared.box_XZY) for prepared in made]
    for prepared in made:
        pool.copy([prepared], dark_N, env_N, terrain.block_EXZY, terrain.field_EXZY)
    assert len(num_writes) == 3  # blocks, boxes and light, once
    del made, prepared
    gc.collect()
    assert [array() for array in held] == [None, None]


def test_what_an_episode_puts_is_told_in_order_and_can_be_taken_back():
    prepared, state, puts = world(0), empty_state(1, SIZE), []
    state.terrain.block_EXZY[0] = prepared.world.block_XZY
    begin_life(state, 0, episode(), prepared, puts)
    assert [(put.x, put.y, put.z) for put in puts] == [(31, 50, 0), (31, 51, 0), (31, 50, 1)]
    begun = empty_state(1, SIZE)
    begin_episode(begun, 0, episode(), prepared)
    assert np.array_equal(state.terrain.block_EXZY, begun.terrain.block_EXZY)
    assert np.array_equal(state.mobs.position_EM3, begun.mobs.position_EM3)
    for put in reversed(puts):
        assert state.terrain.block_EXZY[0, put.x, put.z, put.y] == put.value
        state.terrain.block_EXZY[0, put.x, put.z, put.y] = put.before
    assert np.array_equal(state.terrain.block_EXZY[0], prepared.world.block_XZY)


def test_what_was_put_before_a_bad_placement_is_told():
    prepared, state, puts = world(0), empty_state(1, SIZE), []
    outside = tuple(Placement(kind="chest", position=(3, y, 3)) for y in (50, 64))
    with pytest.raises(ValueError, match="outside the world"):
        begin_life(state, 0, episode(placements=outside), prepared, puts)
    assert [(put.x, put.y, put.z) for put in puts] == [(3, 50, 3)]
