"""Where the goal camera stands and where the agent starts."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from task_synthesis.skills import base_kind, type_of
from worlds.mobs.kinds import MOB_ID, MOBS
from worlds.types import EYE_HEIGHT_BLOCKS, Pose

# How far off centre the target may be, so that where it is in the picture tells nothing by itself.
CAMERA_YAW_JITTER_DEG = 16.0
CAMERA_PITCH_JITTER_DEG = 10.0
START_PITCH_DEG = (-5.0, 20.0)
_DIRECTION_DRAWS = 16
# Cameras come nearer to small things: factors on all lengths of a style.
_ITEM_SCALE, _KNOB_SCALE, _SMALLEST_SCALE = 0.4, 0.45, 0.55
_KNOBS = frozenset(("lever", "stone_button"))


@dataclass(frozen=True, slots=True)
class ViewStyle:
    """One way to photograph a target of a block's size."""

    distance_blocks: tuple[float, float]
    """Horizontal, from the eye to the target's centre."""
    height_blocks: tuple[float, float] | None
    """Of the eye above the target's floor; None: of a body that stands on the ground there."""


GOAL_VIEWS: dict[str, ViewStyle] = {
    # From close by, anywhere between a child's eye and a house's roof.
    "close": ViewStyle((3.0, 8.0), (1.2, 4.5)),
    "human": ViewStyle((3.0, 9.0), None),
    # Looking down at 45 to 80 degrees.
    "birds_eye": ViewStyle((2.0, 7.0), (8.0, 14.0)),
    # Over the shoulder of somebody on the way there.
    "third_person": ViewStyle((5.0, 11.0), (3.0, 6.0)),
}


def draw_goal_view(
    rng: np.random.Generator,
    style: str,
    kind: str,
    target: tuple[int, int, int],
    ground: Callable[[int, int], int],
) -> Pose | None:
    """Return the eye of a camera that looks roughly at the target, or None where nobody can stand.

    Args:
        rng: of the draws.
        style: a key of GOAL_VIEWS.
        kind: of the target; the camera comes nearer to small ones.
        target: its cell.
        ground: (x, z) of a column, not wrapped, to the y of the feet of a body standing there, -1 for none.

    Returns: positions that are not wrapped.
    """
    scale = _scale_of(kind)
    wanted = GOAL_VIEWS[style]
    distance = rng.uniform(*wanted.distance_blocks) * scale
    height = rng.uniform(*wanted.height_blocks) * scale if wanted.height_blocks else 0.0
    yaw_deg = rng.uniform(-180.0, 180.0)
    direction = math.radians(yaw_deg)
    x = target[0] + 0.5 + math.sin(direction) * distance
    z = target[2] + 0.5 - math.cos(direction) * distance
    if wanted.height_blocks is None:
        feet = ground(math.floor(x), math.floor(z))
        if feet < 0:
            return None
        height = feet + EYE_HEIGHT_BLOCKS - target[1]
    pitch_deg = math.degrees(math.atan2(height - 0.5, distance))
    yaw_jitter, pitch_jitter = rng.uniform(-1, 1), rng.uniform(-1, 1)
    return Pose(
        x=round(x, 3),
        y=round(target[1] + height, 3),
        z=round(z, 3),
        yaw_deg=round(yaw_deg + yaw_jitter * CAMERA_YAW_JITTER_DEG, 2),
        pitch_deg=round(max(-90.0, min(90.0, pitch_deg + pitch_jitter * CAMERA_PITCH_JITTER_DEG)), 2),
    )


def _scale_of(kind: str) -> float:
    sort = type_of(kind)
    if sort == "item":
        return _ITEM_SCALE
    if sort == "mob":
        return max(_SMALLEST_SCALE, min(1.0, MOBS[MOB_ID[kind]].height))
    return _KNOB_SCALE if base_kind(kind) in _KNOBS else 1.0


def draw_start_column(
    rng: np.random.Generator, target: tuple[int, int, int], band_blocks: tuple[float, float], side_blocks: int
) -> tuple[int, int]:
    """Return the column (x, z), not wrapped, of a start whose distance on the torus is uniform in the band."""
    distance = rng.uniform(*band_blocks)
    for _ in range(_DIRECTION_DRAWS):
        direction = rng.uniform(0.0, 2 * math.pi)
        dx, dz = math.cos(direction) * distance, math.sin(direction) * distance
        # Farther than half a side along one axis it is nearer the other way round.
        if max(abs(dx), abs(dz)) < side_blocks / 2 - 1:
            break
    return math.floor(target[0] + 0.5 + dx), math.floor(target[2] + 0.5 + dz)


def draw_start_view(rng: np.random.Generator) -> tuple[float, float]:
    """Return (yaw, pitch) of an agent that looks anywhere around, roughly level."""
    return round(rng.uniform(-180.0, 180.0), 2), round(rng.uniform(*START_PITCH_DEG), 2)
