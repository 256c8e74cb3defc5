"""Claims about the engine's bench: the scene is the frozen one, and it is what it says."""

import numpy as np
import pytest

from eval.benches.standard_play import StandardPlay
from eval.benches.standard_scene import CONTENT_HASH, NUM_ENVS, content_hash, standard_episodes, standard_poses
from eval.peers import turns
from worlds.voxel.backend import VoxelBackend
from worlds.voxel.engine_tables import engine_tables


@pytest.fixture(scope="module")
def backend():
    backend = VoxelBackend(NUM_ENVS, size_blocks=(128, 64, 128), image_px=(8, 8))
    backend.reset(range(NUM_ENVS), standard_episodes())
    return backend


def test_the_standard_scene_is_the_frozen_one(backend):
    assert content_hash(backend, standard_poses(backend)) == CONTENT_HASH


def test_every_world_of_the_standard_scene_has_eight_mobs(backend):
    assert ((backend.state.mobs.kind_EM >= 0).sum(axis=1) == 8).all()


def test_agents_of_the_standard_scene_stand_in_the_open(backend):
    is_solid_S = engine_tables().blocks.is_solid_S
    for e, poses_P5 in enumerate(standard_poses(backend)):
        x, y, z = np.floor(poses_P5[:, :3]).astype(int).T
        for height in (0, 1):
            assert not is_solid_S[backend.state.terrain.block_EXZY[e, x, z, y + height] & 0xFFF].any()


def test_the_scene_is_played_at_the_size_of_a_peers_pictures():
    standard_play = StandardPlay((60, 80), seed=0)
    assert standard_play.iterate(1) == turns.FRAMES_PER_ITERATION
    assert standard_play._backend.observe().image_EHWC.shape == (NUM_ENVS, 60, 80, 3)
