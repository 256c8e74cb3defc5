"""Claims about mirrored worlds: our own engine poses as a foreign one, and our copy of its blocks shows the same."""

import numpy as np
import pytest

from task_synthesis.foreign.foreign_tasks import make_tasks
from tests.worlds.adapters.engine_pair import compile_kernels
from worlds.adapters.backend import ProcessBackend
from worlds.adapters.catalogue import choice_of, entry_of
from worlds.types import BUTTONS, ActionBatch

IMAGE_PX = (64, 64)
NAME = "voxel-process"
# Fewer say more about the edge of a pixel than about the mirror.
MIN_PIXELS = 5


def scenes(num_tasks, views_of, *, skills, num_steps):
    """Return (IoU, family, true pixels) of targets in scenes of `num_tasks` tasks, before and after some steps."""
    compile_kernels()
    source = entry_of(NAME).source
    shares = dict.fromkeys(skills, 1.0)
    tasks = make_tasks(choice_of(NAME), source, num_tasks, split="held_out", image_px=IMAGE_PX[0], skills=shares)
    true = ProcessBackend(1, choice_of(NAME), image_px=IMAGE_PX)
    mirrored = ProcessBackend(1, choice_of(NAME, options=["has_masks=false"]), image_px=IMAGE_PX)
    found, rng = [], np.random.default_rng(0)
    try:
        for task in tasks:
            for backend in (true, mirrored):
                backend.reset([0], [task.episode()])
            for moment in range(2):
                eye_V5 = np.array([np.add(task.goal_view, shift) for shift in views_of(rng)])
                left, right = (backend.render_views([0] * len(eye_V5), eye_V5) for backend in (true, mirrored))
                assert np.array_equal(left.image_VHWC, right.image_VHWC)
                for wanted_HW, got_HW in zip(left.instance_VHW, right.instance_VHW, strict=True):
                    wanted_HW, got_HW = (part_HW == 2 + task.target_index for part_HW in (wanted_HW, got_HW))
                    if wanted_HW.sum() >= MIN_PIXELS:
                        iou = (wanted_HW & got_HW).sum() / (wanted_HW | got_HW).sum()
                        found.append((float(iou), task.family, int(wanted_HW.sum())))
                for _ in range(num_steps if moment == 0 else 0):
                    actions = ActionBatch(
                        buttons_EB=rng.random((1, len(BUTTONS))) < 0.3,
                        camera_deg_E2=rng.uniform(-9, 9, (1, 2)).astype(np.float32),
                    )
                    for backend in (true, mirrored):
                        backend.step(actions, num_ticks=4)
    finally:
        true.close()
        mirrored.close()
    return found


@pytest.mark.slow
def test_mirrored_masks_are_the_true_masks_in_two_hundred_scenes():
    def shifts(rng):
        """The goal view itself, and two more from about there."""
        return [np.zeros(5), *([*rng.uniform(-1.0, 1.0, 3), *rng.uniform(-6.0, 6.0, 2)] for _ in range(2))]

    found = scenes(44, shifts, skills=("approach", "break", "interact", "hunt"), num_steps=6)
    iou_N = np.array([iou for iou, _, _ in found])
    assert len(iou_N) >= 200
    assert np.median(iou_N) >= 0.98
    # Blocks are exact. A mob's legs swing by a phase that no engine reports: at few pixels that is seen.
    assert all(family.startswith("hunt/") for iou, family, _ in found if iou < 0.9), sorted(found)[:20]
    assert (iou_N < 0.9).mean() < 0.05
