"""Claims about snapshots: the future after one is the future that was."""

import numpy as np
import pytest

from tests.worlds.voxel.test_fuzz import episodes, random_actions
from worlds.voxel.backend import VoxelBackend
from worlds.voxel.state import rows_of

SIZE = (64, 64, 64)


def played(num_envs: int = 3, ticks: int = 60) -> VoxelBackend:
    backend = VoxelBackend(num_envs, size_blocks=SIZE, image_px=(16, 16))
    rng = np.random.default_rng(1)
    backend.reset(range(num_envs), episodes(0, num_envs, rng))
    for _ in range(ticks // 4):
        backend.step(random_actions(num_envs, rng), num_ticks=4)
    return backend


def future(backend: VoxelBackend, steps: int = 15) -> list[bytes]:
    rng = np.random.default_rng(2)
    parts = []
    for _ in range(steps):
        tick = backend.step(random_actions(backend.num_envs, rng), num_ticks=4)
        parts += [array.tobytes() for array in (tick.image_EHWC, tick.instance_EHW, tick.event_EN4, tick.mob_EM6)]
    return parts + [array.tobytes() for group in backend.state for array in group]


def test_the_same_actions_after_restore_give_the_same_bytes():
    backend = played()
    snapshot = backend.snapshot([0, 1, 2])
    first = future(backend)
    backend.restore([0, 1, 2], snapshot)
    assert future(backend) == first


def test_a_snapshot_does_not_change_when_its_env_plays_on():
    backend = played()
    snapshot = backend.snapshot([1])
    before = snapshot.state.terrain.block_EXZY.tobytes(), snapshot.state.mobs.position_EM3.tobytes()
    future(backend)
    assert (snapshot.state.terrain.block_EXZY.tobytes(), snapshot.state.mobs.position_EM3.tobytes()) == before


def test_a_snapshot_can_be_restored_into_another_env_and_touches_no_other():
    backend = played()
    left = [array.tobytes() for group in rows_of(backend.state, np.array([0, 1])) for array in group]
    backend.restore([2], backend.snapshot([0]))
    assert np.array_equal(backend.state.terrain.block_EXZY[2], backend.state.terrain.block_EXZY[0])
    assert np.array_equal(backend.observe().image_EHWC[2], backend.observe().image_EHWC[0])
    assert [array.tobytes() for group in rows_of(backend.state, np.array([0, 1])) for array in group] == left


def test_a_snapshot_of_another_number_of_envs_is_refused():
    backend = played()
    with pytest.raises(ValueError, match="restore it into a backend like the one it came from"):
        backend.restore([0], backend.snapshot([0, 1]))
