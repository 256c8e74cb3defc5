"""Claims about engines in processes of their own, on ours: the border changes nothing."""

import numpy as np
import pytest

from tests.worlds.adapters.engine_pair import IMAGE_PX, TICK_ARRAYS, VIEW_ARRAYS, assert_same_bytes, process_backend
from tests.worlds.conformance import BackendConformance
from tests.worlds.voxel.test_backend import SIZE, make_backend, standing_episode
from worlds.spec import Placement
from worlds.types import EVENT_BLOCK_BROKEN, ActionBatch
from worlds.voxel.backend import VoxelBackend


@pytest.fixture(scope="module")
def shared_backend():
    """Engines start once for all tests of the class; every test resets them."""
    backend = process_backend()
    yield backend
    backend.close()


class TestProcessBackend(BackendConformance):
    @pytest.fixture(autouse=True)
    def _backend(self, shared_backend):
        self.backend = shared_backend

    def make(self):
        return self.backend

    def episode(self, seed):
        return standing_episode(make_backend(1), seed=seed)


def busy_episode(seed: int):
    """An episode with everything in it: mobs, a placed block under the feet, a placed cow, tools."""
    plain = standing_episode(make_backend(1), seed=seed)
    x, y, z = int(plain.start.x), int(plain.start.y), int(plain.start.z)
    return standing_episode(
        make_backend(1),
        seed=seed,
        placements=(
            Placement(kind="diamond_block", position=(x, y - 1, z)),
            Placement(kind="cow", position=(x, y, z)),
            Placement(kind="item:apple", position=(x, y, z)),
        ),
        target_index=0,
        num_ambient_mobs=6,
        tool="diamond_pickaxe",
    )


def test_an_engine_behind_the_border_gives_the_same_bytes_as_the_engine_itself():
    theirs = process_backend(with_depth=True)
    ours = VoxelBackend(2, size_blocks=SIZE, image_px=IMAGE_PX, with_depth=True)
    episodes = [busy_episode(seed) for seed in (1, 2)]
    rng, num_broken, num_events = np.random.default_rng(0), 0, 0
    for backend in (ours, theirs):
        backend.reset([0, 1], episodes)
    assert_same_bytes(ours.observe(), theirs.observe(), TICK_ARRAYS)
    eye_V5 = np.array([[*episode.start[:1], episode.start.y + 5, *episode.start[2:4], 60.0] for episode in episodes])
    eye_V5 = np.concatenate([eye_V5, eye_V5 + [3, 1, 2, 30, 5]])
    assert_same_bytes(ours.render_views([0, 1, 1, 0], eye_V5), theirs.render_views([0, 1, 1, 0], eye_V5), VIEW_ARRAYS)
    cell_V3 = np.array([episodes[e].placements[0].position for e in (0, 1, 1, 0)])
    clear_V = ours.is_line_clear([0, 1, 1, 0], eye_V5[:, :3], cell_V3)
    assert np.array_equal(clear_V, theirs.is_line_clear([0, 1, 1, 0], eye_V5[:, :3], cell_V3))
    for step in range(60):
        # First dig for as long as the block takes, then anything.
        buttons_EB = rng.random((2, 20)) < 0.3 if step > 25 else np.zeros((2, 20), bool)
        buttons_EB[:, 0] = True
        camera_deg_E2 = rng.uniform(-9, 9, (2, 2)).astype(np.float32) * (step > 25)
        actions = ActionBatch(buttons_EB=buttons_EB, camera_deg_E2=camera_deg_E2)
        left, right = ours.step(actions, num_ticks=1), theirs.step(actions, num_ticks=1)
        assert_same_bytes(left, right, TICK_ARRAYS)
        num_broken += int((left.event_EN4[:, :, 0] == EVENT_BLOCK_BROKEN).sum())
        num_events += int((left.event_EN4[:, :, 0] != 0).sum())
    theirs.reset([1], [busy_episode(5)])
    ours.reset([1], [busy_episode(5)])
    assert_same_bytes(ours.observe_only([1]), theirs.observe_only([1]), TICK_ARRAYS)
    theirs.close()
    assert num_broken >= 2
    assert num_events > num_broken


def test_a_foreign_engine_says_that_it_cannot_be_saved(shared_backend):
    with pytest.raises(NotImplementedError, match="only the built-in engine"):
        shared_backend.snapshot([0])
