"""Things on a floor, and a start from which one of them is to be reached: what a task is drawn around. N columns."""

from collections.abc import Sequence

import numpy as np

from task_synthesis.foreign.walkable_floor import WalkableFloor
from task_synthesis.placement.starts import Start, draw_start_view, most_path_blocks
from task_synthesis.synthesis_config import SynthesisConfig
from worlds.spec import Placement
from worlds.types import EYE_HEIGHT_BLOCKS, Pose

_LAYOUT_DRAWS, _START_DRAWS = 20, 40
_OTHERS_WITHIN_BLOCKS = (2.0, 9.0)  # of the target, so that both are in question; no two nearer than the first
_MIN_START_TO_OBJECT_BLOCKS = 4.0  # as in our own worlds
# A multiple of this is exact in every engine's angles; Doom has 65536 to the circle.
_ANGLE_STEP_DEG = 360.0 / 256.0


def draw_things(
    rng: np.random.Generator, floor: WalkableFloor, kinds: Sequence[str], config: SynthesisConfig
) -> tuple[Placement, ...] | str:
    """Return the target, first, with others of its kind and of other kinds; or why there is no room."""
    open_N2 = floor.open_cells()
    if not len(open_N2):
        return "no_open_floor"
    num_same, num_other = (
        int(rng.integers(low, high + 1)) for low, high in (config.num_same_kind, config.num_other_kind)
    )
    num_other = min(num_other, len(kinds) - 1)  # each of a kind of its own
    low, high = _OTHERS_WITHIN_BLOCKS
    target_x, target_z = (int(part) for part in open_N2[rng.integers(len(open_N2))])
    walk_XZ = floor.walks(target_x, target_z, most_blocks=2 * high, blocked=set())
    off_N = np.hypot(*(open_N2 - (target_x, target_z)).T)
    near_N2 = open_N2[(off_N >= low) & (off_N <= high) & np.isfinite(walk_XZ[open_N2[:, 0], open_N2[:, 1]])]
    cells = [(target_x, target_z)]
    for _ in range(_LAYOUT_DRAWS):
        if len(cells) == 1 + num_same + num_other:
            drawn = rng.permutation(list(kinds)).tolist()
            names = [drawn[0]] * (1 + num_same) + drawn[1 : 1 + num_other]
            return tuple(
                Placement(kind=name, position=(x, int(floor.floor_XZ[x, z]), z))
                for name, (x, z) in zip(names, cells, strict=True)
            )
        if not len(near_N2):
            break
        x, z = (int(part) for part in near_N2[rng.integers(len(near_N2))])
        if np.hypot(*(np.array(cells) - (x, z)).T).min() >= low:
            cells.append((x, z))
    return "no_room_for_others"


def draw_thing_start(
    rng: np.random.Generator, floor: WalkableFloor, placements: Sequence[Placement], band_blocks: tuple[float, float]
) -> Start | str:
    """Return a start from which turning round shows the target, the first placement; or why there is none."""
    low, high = band_blocks
    x, y, z = placements[0].position
    blocked = {(placement.position[0], placement.position[2]) for placement in placements[1:]}
    walk_XZ = floor.walks(x, z, most_blocks=most_path_blocks(high), blocked=blocked)
    reached_N2 = np.argwhere(np.isfinite(walk_XZ))
    off_N = np.hypot(*(reached_N2 - (x, z)).T)
    reached_N2 = reached_N2[(off_N >= low) & (off_N <= high)]
    if not len(reached_N2):
        return "no_start_in_band"
    place_N3 = np.array([placement.position for placement in placements])
    reason = "start_hidden"
    for _ in range(_START_DRAWS):
        at_x, at_z = (int(part) for part in reached_N2[rng.integers(len(reached_N2))])
        at_y = int(floor.floor_XZ[at_x, at_z])
        path_blocks = float(walk_XZ[at_x, at_z])
        eye_3 = np.array([at_x + 0.5, at_y + EYE_HEIGHT_BLOCKS, at_z + 0.5])
        if np.linalg.norm(place_N3 - (at_x, at_y, at_z), axis=1).min() < _MIN_START_TO_OBJECT_BLOCKS:
            reason = "start_at_object"
        elif path_blocks > most_path_blocks(float(np.hypot(at_x - x, at_z - z))):
            reason = "detour"
        elif floor.is_seen(eye_3, np.array([x + 0.5, y + 0.5, z + 0.5])):
            yaw_deg, pitch_deg = (round(part / _ANGLE_STEP_DEG) * _ANGLE_STEP_DEG for part in draw_start_view(rng))
            return Start(Pose(at_x + 0.5, float(at_y), at_z + 0.5, yaw_deg, pitch_deg), path_blocks, in_sight=True)
    return reason
