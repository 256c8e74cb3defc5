"""A video of a run: played again from its actions at a larger picture size, with what the policy believed. H W C."""

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from eval.episodes.video import MAX_FRAMES, VIEW_PX, draw_frame, write_frames
from eval.viewer.overlay import with_overlay
from eval.viewer.run import Run
from worlds.types import TICK_S, ActionBatch
from worlds.voxel.backend import VoxelBackend
from worlds.voxel.world_cache import WorldCache


def write_run_video(run: Run, stem: Path, worlds: WorldCache, *, has_overlay: bool = True) -> Path:
    """Write what has been played to `stem` plus the codec's suffix and return the path.

    Long runs play faster than life, so that the file stays below some MB.

    Raises:
        ValueError: nothing was played yet, or nothing can be written there.
    """
    if not run.num_decisions:
        raise ValueError("video: nothing was played yet; press play first")
    if run.voxel is None:
        raise ValueError("video: another engine cannot play a run again; videos are of the built-in engine")
    frames_per_s = 1 / (TICK_S * run.ticks_per_decision)
    try:
        stem.parent.mkdir(parents=True, exist_ok=True)
        return write_frames(_frames(run, worlds, has_overlay=has_overlay), stem, frames_per_s=frames_per_s)
    except RuntimeError as error:
        raise ValueError(f"video: {error}; choose another place") from None
    except OSError as error:
        where = error.filename or stem
        raise ValueError(f"video: {where}: cannot be written ({error.strerror}); choose another place") from None


def _frames(run: Run, worlds: WorldCache, *, has_overlay: bool) -> Iterator[np.ndarray]:
    """Yield a frame for every decision that is shown, the last one with the outcome; uint8 [H, W, 3] BGR."""
    engine = VoxelBackend(1, size_blocks=run.episode.world.size_blocks, image_px=(VIEW_PX, VIEW_PX), world_cache=worlds)
    engine.reset([0], [run.episode])
    tick = engine.observe()
    last = run.num_decisions
    every = max(1, math.ceil(last / MAX_FRAMES))
    actions_of = run.trace.actions(run.ticks_per_decision)
    for decision in range(last + 1):
        if decision % every == 0 or decision == last:
            is_decided = decision < last
            image_HWC = tick.image_EHWC[0]
            if has_overlay:
                belief = run.trace.beliefs[decision] if is_decided else None
                image_HWC = with_overlay(image_HWC, belief=belief, goal=run.trace.goals[min(decision, last - 1)])
            turn_deg_2 = actions_of.camera_deg_D2[decision] * run.ticks_per_decision if is_decided else None
            yield draw_frame(
                image_HWC,
                ticks=decision * run.ticks_per_decision if is_decided else run.ticks,
                max_ticks=run.plan.max_ticks,
                buttons_B=actions_of.buttons_DB[decision] if is_decided else None,
                turn_deg_2=turn_deg_2,
                outcome="" if is_decided or not run.is_over else run.outcome.name.lower(),
            )
        if decision < last:
            actions = ActionBatch(
                buttons_EB=actions_of.buttons_DB[[decision]], camera_deg_E2=actions_of.camera_deg_D2[[decision]]
            )
            num_ticks = min(run.ticks_per_decision, run.ticks - decision * run.ticks_per_decision)
            tick = engine.step(actions, num_ticks=num_ticks)
