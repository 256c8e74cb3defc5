"""What the eye of a run's agent sees, at any size. H W C image."""

import numpy as np

from eval.viewer.goal_mask import resized_image
from eval.viewer.overlay import with_overlay
from eval.viewer.run import Run

_SIDES_PX = (16, 1024)


def picture_of(run: Run, size_px: tuple[int, int], *, has_overlay: bool = False) -> np.ndarray:
    """Return what the agent's eye sees, drawn anew at (height, width), uint8 [H, W, 3] RGB.

    With the overlay come what the policy believes, and the goal; policies see squares, so it is for squares.
    ValueError: no size for a picture.
    """
    least_px, most_px = _SIDES_PX
    if min(size_px) < least_px or max(size_px) > most_px or size_px[0] % 4 or size_px[1] % 4:
        raise ValueError(f"view: sides must be multiples of 4 in {least_px} .. {most_px} px, got {size_px}")
    if has_overlay and size_px[0] != size_px[1]:
        raise ValueError(f"view: the overlay is for square pictures, got {size_px}; leave it out")
    image_HWC = _seen(run, size_px) if run.voxel is None else _drawn(run, size_px)
    return with_overlay(image_HWC, belief=run.player.belief, goal=run.goal) if has_overlay else image_HWC


def _drawn(run: Run, size_px: tuple[int, int]) -> np.ndarray:
    assert run.voxel is not None
    return run.voxel.render_lens(
        [0],
        np.array([run.eye], np.float64),
        image_px=size_px,
        fov_deg_V=np.array([run.plan.draft.look.fov_deg]),
    ).image_VHWC[0]


def _seen(run: Run, size_px: tuple[int, int]) -> np.ndarray:
    """Return what the player sees of another engine, which draws nothing else; the middle, where shapes differ."""
    image_HWC = resized_image(run.last.image_EHWC[0], max(size_px))
    top, left = ((side - wanted) // 2 for side, wanted in zip(image_HWC.shape, size_px, strict=False))
    return image_HWC[top : top + size_px[0], left : left + size_px[1]]
