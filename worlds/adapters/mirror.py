"""Our copy of what other engines' worlds look like: masks, depth and lines of sight, for engines that have none.

Every env begins with the scanned box and the episode's objects. Then it is kept up to date: with the cells that events
name, with what is scanned again, and with the mobs, which are drawn by our models where the engine says they are. The
light of single cells that change stays, as pictures are the engine's own. E envs, V views, H W C image, M mobs.
"""

from collections.abc import Sequence

import numpy as np

from worlds.adapters.engine import Moment, Scan
from worlds.adapters.event_rows import Cell
from worlds.adapters.names import NONE_ID, mob_id, state_id
from worlds.adapters.scanned_worlds import ScannedWorlds
from worlds.blocks import AIR
from worlds.spec import BLOCK_BITS, BLOCK_MASK, Episode
from worlds.types import EYE_HEIGHT_BLOCKS, SNEAK_EYE_HEIGHT_BLOCKS, ViewBatch
from worlds.voxel.backend import VoxelBackend
from worlds.voxel.engine_tables import engine_tables
from worlds.voxel.kernels import narrow_boxes
from worlds.voxel.state import MAX_MOBS, NO_ITEM, NO_MOB

_STILL_BLOCKS = 0.05  # a mob that has moved less keeps the direction it had


class Mirror:
    """E copies."""

    def __init__(self, num_envs: int, worlds: ScannedWorlds, *, size_blocks: Cell, image_px: tuple[int, int]) -> None:
        """Draw pictures of `image_px` (height, width); worlds of `size_blocks` come from `worlds`."""
        self._backend = VoxelBackend(
            num_envs, size_blocks=size_blocks, image_px=image_px, with_depth=True, world_cache=worlds
        )
        self._size_blocks = size_blocks
        self._wraps_E = np.zeros(num_envs, bool)

    def begin(self, e: int, episode: Episode) -> None:
        """Start env e anew: the scanned world with the episode's objects in it."""
        self._backend.reset([e], [episode])
        self._wraps_E[e] = episode.world.source == "generated"

    def follow(self, e: int, moment: Moment, origin: Cell) -> None:
        """Take over mobs and what the events say; `origin` is the engine's cell that is (0, 0, 0) here."""
        self._set_mobs(e, moment, origin)
        for place, name in moment.changed:
            x, y, z = (part - low for part, low in zip(place, origin, strict=True))
            self._put(e, (x, y, z), state_id(name))
        for event in moment.events:
            if event.name == "item_picked" and event.object_index >= 0:
                drops = self._backend.state.drops
                drops.item_ED[e, drops.object_ED[e] == event.object_index + 1] = NO_ITEM
            if event.cell is None:
                continue
            x, y, z = (part - low for part, low in zip(event.cell, origin, strict=True))
            if event.name == "block_broken":
                self._put(e, (x, y, z), AIR)
            elif event.name == "block_placed":
                self._put(e, (x, y, z), state_id(event.subject))

    def patch(self, e: int, lowest: Cell, scan: Scan) -> None:
        """Take over the blocks of a small box; `lowest` is its lowest cell in this world."""
        state_XZY = np.array([state_id(name) for name in scan.names], np.uint16)[scan.index_XZY]
        x_X, z_Z, y_Y = (low + np.arange(side) for low, side in zip(_xzy(lowest), state_XZY.shape, strict=True))
        size_x, size_y, size_z = self._size_blocks
        block_XZY = self._backend.state.terrain.block_EXZY[e]
        known_XZY = block_XZY[np.ix_(x_X % size_x, z_Z % size_z, np.clip(y_Y, 0, size_y - 1))] & BLOCK_MASK
        for i, k, j in np.argwhere(known_XZY != state_XZY).tolist():
            self._put(e, (int(x_X[i]), int(y_Y[j]), int(z_Z[k])), int(state_XZY[i, k, j]))

    def _put(self, e: int, cell: Cell, state: int) -> None:
        """Change one cell; the border that the mirror has of its own stays."""
        x, y, z = cell
        size_x, size_y, size_z = self._size_blocks
        if self._wraps_E[e]:
            x, z = x % size_x, z % size_z
        if not (self._wraps_E[e] or (0 < x < size_x and 0 < z < size_z)) or not 0 < y < size_y:
            return
        terrain = self._backend.state.terrain
        before = int(terrain.block_EXZY[e, x, z, y])
        # A door that was opened is still the object that it was.
        kind_S = engine_tables().blocks.kind_S
        is_same_kind = kind_S[before & BLOCK_MASK] == kind_S[state]
        slot = before >> BLOCK_BITS if is_same_kind else 0
        terrain.block_EXZY[e, x, z, y] = state | (slot << BLOCK_BITS)
        if state != AIR:
            narrow_boxes(terrain.field_EXZY[e], x, y, z)

    def _set_mobs(self, e: int, moment: Moment, origin: Cell) -> None:
        mobs = self._backend.state.mobs
        before = {
            (int(kind), int(slot)): (float(x), float(z), float(yaw_deg))
            for kind, slot, (x, _, z), yaw_deg in zip(
                mobs.kind_EM[e], mobs.object_EM[e], mobs.position_EM3[e], mobs.yaw_deg_EM[e], strict=True
            )
        }
        known = [(mob_id(mob.kind), mob) for mob in moment.mobs if mob.kind and mob_id(mob.kind) != NONE_ID]
        known.sort(key=lambda pair: pair[1].object_index < 0)
        mobs.kind_EM[e] = NO_MOB
        for row, (kind, mob) in enumerate(known[:MAX_MOBS]):
            x, y, z = mob.x - origin[0], mob.y - origin[1], mob.z - origin[2]
            yaw_deg = mob.yaw_deg
            if yaw_deg is None:
                yaw_deg = _heading_deg(before.get((kind, mob.object_index + 1)), x, z)
            mobs.kind_EM[e, row], mobs.object_EM[e, row] = kind, mob.object_index + 1
            mobs.position_EM3[e, row], mobs.yaw_deg_EM[e, row] = (x, y, z), yaw_deg
            mobs.velocity_EM3[e, row] = mobs.hurt_ticks_EM[e, row] = mobs.attack_ticks_EM[e, row] = 0
            mobs.is_alarmed_EM[e, row] = False
            mobs.health_EM[e, row] = mob.health

    def views(self, env_index_V: Sequence[int], eye_V5: np.ndarray) -> ViewBatch:
        """Return what cameras would see in our renderer; `eye_V5` as of EnvBackend.render_views."""
        return self._backend.render_views(env_index_V, eye_V5)

    def own_views(self, env_index_N: Sequence[int], pose_N5: np.ndarray, is_sneaking_N: np.ndarray) -> ViewBatch:
        """Return what agents at these poses (feet) would see."""
        eye_N5 = np.array(pose_N5, np.float64)
        eye_N5[:, 1] += np.where(is_sneaking_N, SNEAK_EYE_HEIGHT_BLOCKS, EYE_HEIGHT_BLOCKS)
        return self._backend.render_views(env_index_N, eye_N5)

    def is_line_clear(self, env_index_V: Sequence[int], from_V3: np.ndarray, cell_V3: np.ndarray) -> np.ndarray:
        """Tell whether a ray from each point meets its cell first, see EnvBackend.is_line_clear."""
        return self._backend.is_line_clear(env_index_V, from_V3, cell_V3)

    @property
    def view_range_blocks(self) -> float:
        """Return how far the copies can be seen."""
        return self._backend.view_range_blocks

    def close(self) -> None:
        """Drop the worlds."""
        self._backend.close()


def _heading_deg(before: tuple[float, float, float] | None, x: float, z: float) -> float:
    """Return the direction a mob has moved in since it was seen last, or the one it had."""
    if before is None:
        return 0.0
    dx, dz = x - before[0], z - before[1]
    if dx * dx + dz * dz < _STILL_BLOCKS**2:
        return before[2]
    return float(np.degrees(np.arctan2(-dx, dz)))


def _xzy(cell: Cell) -> Cell:
    return cell[0], cell[2], cell[1]
