"""Claims about measures taken the quick way: they say what large pictures of everything say."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from task_synthesis.placement.layout import Layout
from task_synthesis.placement.sites import Sites
from task_synthesis.skills import base_kind
from task_synthesis.synthesis_config import at_scale
from task_synthesis.task import TaskSpec
from task_synthesis.views.close_look import CloseLook
from task_synthesis.views.start_views import is_ahead
from task_synthesis.views.viewpoints import draw_goal_view
from tests.task_synthesis.test_skills import SIDE, tasks_of_all_skills
from worlds.spec import BLOCK_BITS
from worlds.types import EYE_HEIGHT_BLOCKS, Pose
from worlds.voxel.backend import VoxelBackend
from worlds.voxel.state import NO_ITEM, NO_MOB

FOV_DEG = 70.0


@pytest.fixture(scope="module")
def backend():
    return VoxelBackend(1, size_blocks=(SIDE, 64, SIDE), image_px=(128, 128), with_depth=True)


def eye_of(task: TaskSpec) -> Pose:
    return task.start._replace(y=task.start.y + EYE_HEIGHT_BLOCKS)


def layout_of(task: TaskSpec) -> Layout:
    return Layout(base_kind(task.placements[task.target_index].kind), task.placements, task.target_index)


@settings(max_examples=25, deadline=None)
@given(index=st.integers(0, 71), yaw_deg=st.floats(-180, 180), pitch_deg=st.floats(-90, 90))
def test_a_target_in_the_picture_lies_ahead_of_the_camera(backend, index, yaw_deg, pitch_deg):
    task = tasks_of_all_skills()[0][index]
    backend.reset([0], [task.episode()])
    target = task.placements[task.target_index].position
    # From where it can be seen, and from afar.
    for place in (task.goal_view, eye_of(task)):
        eye = place._replace(yaw_deg=yaw_deg, pitch_deg=pitch_deg)
        if backend.render_views([0], np.array([eye])).target_V7[0, 0] > 0:
            assert is_ahead(eye, target, fov_deg=FOV_DEG, circle_blocks=(SIDE, SIDE))


def test_whether_the_first_frame_shows_the_target_is_what_the_first_frame_shows(backend):
    small = VoxelBackend(1, size_blocks=(SIDE, 64, SIDE), image_px=(64, 64))
    seen = set()
    for task in tasks_of_all_skills()[0]:
        small.reset([0], [task.episode()])
        assert (small.observe().target_E7[0, 0] > 0) == task.difficulty.visible_at_start
        seen.add(task.difficulty.visible_at_start)
    assert seen == {False, True}


def area_alone(backend: VoxelBackend, task: TaskSpec, eye: Pose) -> float:
    """The target's share of a large picture of it in empty space."""
    backend.reset([0], [task.episode()])
    state, slot = backend.state, task.target_index + 1
    block_XZY = state.terrain.block_EXZY[0]
    block_XZY[block_XZY >> BLOCK_BITS != slot] = 0
    state.mobs.kind_EM[0, state.mobs.object_EM[0] != slot] = NO_MOB
    state.drops.item_ED[0, state.drops.object_ED[0] != slot] = NO_ITEM
    return float(backend.render_views([0], np.array([eye])).target_V7[0, 0])


def test_the_close_look_refuses_what_the_goal_view_would_and_leaves_no_trace(backend):
    config = at_scale()
    close_look, sites, rng = CloseLook(backend, config), Sites(), np.random.default_rng(0)
    verdicts = {"": 0, "target_hidden": 0, "mask_too_small": 0, "target_overgrown": 0}
    for task in tasks_of_all_skills()[0][::2]:
        backend.reset([0], [task.episode()])
        world = backend._worlds.get([task.world])[0].world
        layout = layout_of(task)
        before = [array.copy() for array in (backend.state.terrain.block_EXZY, backend.state.mobs.kind_EM)]
        for style in config.goal_views:
            eye = draw_goal_view(
                rng, style, layout.kind, layout.target_position, lambda x, z, world=world: sites.ground(world, x, z)
            )
            backend.reset([0], [task.episode()])
            if eye is None or eye.y >= 63 or backend.state.terrain.block_EXZY[0][cell_of(eye)]:
                continue
            (verdict,) = close_look.faults([0], [eye], [layout])
            area = float(backend.render_views([0], np.array([eye])).target_V7[0, 0])
            verdicts[verdict] += 1
            if verdict in ("target_hidden", "mask_too_small"):
                assert area < config.goal_area[0]
            if verdict == "target_overgrown":
                assert area < (1.1 - config.max_hidden_share) * area_alone(backend, task, eye)
            if verdict == "" and area >= 2 * config.goal_area[0]:
                assert area > (0.9 - config.max_hidden_share) * area_alone(backend, task, eye)
        backend.reset([0], [task.episode()])
        assert np.array_equal(before[0], backend.state.terrain.block_EXZY)
        close_look.faults([0], [task.goal_view], [layout])
        after = backend.state.terrain.block_EXZY, backend.state.mobs.kind_EM
        assert all(np.array_equal(old, new) for old, new in zip(before, after, strict=True))
    assert min(verdicts.values()) > 0, verdicts


def cell_of(eye: Pose) -> tuple[int, int, int]:
    return int(np.floor(eye.x)) % SIDE, int(np.floor(eye.z)) % SIDE, int(np.floor(eye.y))


def test_a_lens_like_the_eye_shows_what_the_eye_sees(backend):
    task = tasks_of_all_skills()[0][0]
    backend.reset([0], [task.episode()])
    eye_V5 = np.array([task.goal_view])
    seen = backend.render_views([0], eye_V5)
    lens = backend.render_lens([0], eye_V5, image_px=(128, 128), fov_deg_V=np.array([FOV_DEG]))
    assert np.array_equal(lens.image_VHWC, seen.image_VHWC)
    narrow = backend.render_lens([0], eye_V5, image_px=(32, 32), fov_deg_V=np.array([35.0]))
    assert narrow.image_VHWC.shape == (1, 32, 32, 3)
    with pytest.raises(ValueError, match="every env may be named once"):
        backend.render_lens([0, 0], np.tile(eye_V5, (2, 1)), image_px=(32, 32), fov_deg_V=np.full(2, 35.0))
