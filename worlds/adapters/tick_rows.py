"""What an engine tells of one env, as a row of a TickBatch. E envs, V views, H W C image, M mobs, S slots."""

from collections.abc import Mapping

import numpy as np

from worlds.adapters.engine import Moment, Sight
from worlds.adapters.event_rows import Cell, event_rows
from worlds.adapters.names import NONE_ID, item_id, mob_id
from worlds.types import MAX_EVENTS, TickBatch, ViewBatch
from worlds.voxel.state import MAX_MOBS, NUM_SLOTS


def write_moment(
    tick: TickBatch, e: int, moment: Moment, *, origin: Cell, size_blocks: Cell, object_at: Mapping[Cell, int]
) -> None:
    """Write all of a moment but what it shows into row e of `tick`; see event_rows for the rest of the arguments."""
    tick.pose_E5[e] = moment.pose
    tick.pose_E5[e, :3] -= origin
    tick.is_on_ground_E[e], tick.health_E[e] = moment.is_on_ground, moment.health
    tick.selected_E[e] = moment.selected
    tick.item_ES[e], tick.count_ES[e] = NONE_ID, 0
    for slot, (name, count) in enumerate(moment.items[:NUM_SLOTS]):
        number = item_id(name) if name else NONE_ID
        tick.item_ES[e, slot], tick.count_ES[e, slot] = number, count if number != NONE_ID else 0
    _write_mobs(tick.mob_EM6[e], moment, origin)
    tick.event_EN4[e] = event_rows(moment.events, origin=origin, size_blocks=size_blocks, object_at=object_at)


def _write_mobs(mob_M6: np.ndarray, moment: Moment, origin: Cell) -> None:
    """Write the mobs near the agent: placed ones first where there are more than rows, then the nearest."""
    mobs = moment.mobs
    if len(mobs) > MAX_MOBS:
        x, y, z = moment.pose[:3]
        mobs = sorted(
            mobs,
            key=lambda mob: (mob.object_index < 0, (mob.x - x) ** 2 + (mob.y - y) ** 2 + (mob.z - z) ** 2),
        )[:MAX_MOBS]
    mob_M6[:] = (NONE_ID, 0, 0, 0, 0, 0)
    for row, mob in enumerate(mobs):
        kind = mob_id(mob.kind) if mob.kind else NONE_ID
        place = mob.x - origin[0], mob.y - origin[1], mob.z - origin[2]
        mob_M6[row] = (kind, mob.object_index + 1, *place, mob.health)


def write_sight(image_HWC: np.ndarray, instance_HW: np.ndarray, depth_HW: np.ndarray | None, sight: Sight) -> None:
    """Write a view into arrays; what the engine does not draw is left as it is."""
    image_HWC[:] = sight.image_HWC
    if sight.instance_HW is not None:
        instance_HW[:] = sight.instance_HW
    if depth_HW is not None and sight.depth_HW is not None:
        depth_HW[:] = sight.depth_HW


def empty_views(num_views: int, image_px: tuple[int, int], *, with_depth: bool) -> ViewBatch:
    """Return views that show nothing, in black."""
    return ViewBatch(
        image_VHWC=np.zeros((num_views, *image_px, 3), np.uint8),
        instance_VHW=np.zeros((num_views, *image_px), np.int32),
        depth_VHW=np.zeros((num_views, *image_px), np.float32) if with_depth else None,
        target_V7=np.zeros((num_views, 7), np.float32),
    )


def empty_tick(num_envs: int, image_px: tuple[int, int], *, with_depth: bool) -> TickBatch:
    """Return the state of envs of which nothing is known."""
    views = empty_views(num_envs, image_px, with_depth=with_depth)
    return TickBatch(
        image_EHWC=views.image_VHWC,
        instance_EHW=views.instance_VHW,
        depth_EHW=views.depth_VHW,
        target_E7=views.target_V7,
        pose_E5=np.zeros((num_envs, 5)),
        is_on_ground_E=np.zeros(num_envs, bool),
        health_E=np.zeros(num_envs, np.float32),
        item_ES=np.full((num_envs, NUM_SLOTS), NONE_ID, np.int32),
        count_ES=np.zeros((num_envs, NUM_SLOTS), np.int32),
        selected_E=np.zeros(num_envs, np.int32),
        mob_EM6=np.full((num_envs, MAX_MOBS, 6), (NONE_ID, 0.0, 0.0, 0.0, 0.0, 0.0)),
        event_EN4=np.zeros((num_envs, MAX_EVENTS, 4), np.int32),
        is_fault_E=np.zeros(num_envs, bool),
    )
