"""Our own engine as if it were somebody else's: what the process layer and mirrored worlds are tested on.

The one engine here that needs ours, and so our interpreter. Worlds are those of the episode, or, where the source is
"voxel:BIOME:SIDE:DETAIL", generated ones of that side, of which an episode sees a box, as it does of real Minecraft:
places are then counted from the middle of the world.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from worlds.adapters.engine import Engine, Event, Mob, Moment, Scan, Sight
from worlds.adapters.engines.engine_options import read_options, truth
from worlds.kernel_cache import use_cache_of_these_sources

use_cache_of_these_sources()  # before the first kernel is declared, which worlds/__init__.py does for everybody else

from worlds.blocks import STATES  # noqa: E402
from worlds.items import ITEMS  # noqa: E402
from worlds.mobs.kinds import MOBS  # noqa: E402
from worlds.spec import BLOCK_MASK, Episode, Look, Placement, WorldSpec  # noqa: E402
from worlds.types import EVENT_MOB_SHOT, ActionBatch, Pose, TickBatch  # noqa: E402
from worlds.voxel.backend import VoxelBackend  # noqa: E402

_CAUSES = ("fall", "mob", "arrow", "block", "drowning", "void")
_EVENTS = (
    "",
    "block_broken",
    "damage",
    "death",
    "block_placed",
    "block_used",
    "mob_struck",
    "mob_shot",
    "mob_killed",
    "item_picked",
    "arrow_shot",
    "item_dropped",
)  # fmt: skip, by EVENT_* of worlds.types


class VoxelEngine(Engine):
    """One env of a VoxelBackend. Options: with_depth (bool), has_masks (bool, default true)."""

    can_rescan = True

    def __init__(self, image_px: tuple[int, int], options: dict[str, Any]) -> None:
        """Take the options; the world's size is known with the first episode."""
        super().__init__(image_px, read_options(options, {"has_masks": truth, "with_depth": truth}))
        self.has_masks = self.options.get("has_masks", True)
        self.has_depth = self.options.get("with_depth", False)
        self._backend: VoxelBackend | None = None
        self._size_blocks = (0, 0, 0)
        self._middle = 0  # x and z of the cell that is called (0, 0)

    def reset(self, episode: dict[str, Any]) -> Moment:
        """Play `episode` in a fresh copy of its world."""
        fields = dict(episode)
        given = WorldSpec(**{name: _tuples(value) for name, value in fields.pop("world").items()})
        spec = _world_of(given)
        self._size_blocks = spec.size_blocks
        self._middle = 0 if spec is given else spec.size_blocks[0] // 2
        (x, y, z), (yaw_deg, pitch_deg) = fields["start"][:3], fields.pop("start")[3:]
        start = Pose(x + self._middle, y, z + self._middle, yaw_deg, pitch_deg)
        look = Look(**{name: _tuples(v) for name, v in fields.pop("look").items()})
        placements = tuple(
            Placement(kind=row["kind"], position=self._cell(row["position"])) for row in fields.pop("placements")
        )
        if self._backend is None or self._backend.size_blocks != spec.size_blocks:
            self._backend = VoxelBackend(
                1,
                size_blocks=spec.size_blocks,
                image_px=self.image_px,
                with_depth=self.has_depth,
            )
        rest = {name: _tuples(value) for name, value in fields.items()}
        self._backend.reset([0], [Episode(world=spec, start=start, look=look, placements=placements, **rest)])
        # The contract's arrays of a reset are those of the first look.
        return self._moment(self._backend.observe())

    def step(self, buttons: Sequence[bool], camera_deg: tuple[float, float], num_ticks: int) -> Moment:
        """Play."""
        actions = ActionBatch(buttons_EB=np.array([buttons], bool), camera_deg_E2=np.array([camera_deg], np.float32))
        return self._moment(self._playing.step(actions, num_ticks=num_ticks))

    def observe(self) -> Moment:
        """Look."""
        return self._moment(self._playing.observe())

    def look_from(self, eyes: Sequence[Sequence[float]]) -> list[Sight]:
        """Return what cameras see."""
        eye_V5 = np.array(eyes, np.float64).reshape(-1, 5)
        eye_V5[:, [0, 2]] += self._middle
        views = self._playing.render_views([0] * len(eyes), eye_V5)
        return [
            self._sight(image_HWC, views.instance_VHW[v], None if views.depth_VHW is None else views.depth_VHW[v])
            for v, image_HWC in enumerate(views.image_VHWC)
        ]

    def lines_clear(self, froms: Sequence[Sequence[float]], cells: Sequence[Sequence[int]]) -> list[bool]:
        """Trace rays."""
        from_V3 = np.array(froms, np.float64).reshape(-1, 3)
        from_V3[:, [0, 2]] += self._middle
        cell_V3 = np.array([self._cell(cell) for cell in cells])
        clear_V = self._playing.is_line_clear([0] * len(cells), from_V3, cell_V3)
        return [bool(clear) for clear in clear_V]

    def scan(self, lowest: tuple[int, int, int], size: tuple[int, int, int]) -> Scan:
        """Read the blocks as they are now."""
        block_XZY = self._playing.state.terrain.block_EXZY[0] & BLOCK_MASK
        size_x, size_z, size_y = block_XZY.shape
        x_X, z_Z = (self._middle + low + np.arange(side) for low, side in ((lowest[0], size[0]), (lowest[2], size[2])))
        y_Y = np.arange(lowest[1], lowest[1] + size[1])
        part_XZY = block_XZY[np.ix_(x_X % size_x, z_Z % size_z, np.clip(y_Y, 0, size_y - 1))]
        part_XZY[:, :, (y_Y < 0) | (y_Y >= size_y)] = 0
        state_N, index_XZY = np.unique(part_XZY, return_inverse=True)
        return Scan([STATES[state].name for state in state_N], index_XZY.reshape(part_XZY.shape).astype(np.uint16))

    def _cell(self, cell: Sequence[int]) -> tuple[int, int, int]:
        """Return where a cell lies in the engine's own world, which wraps around."""
        x, y, z = cell
        size_x, _, size_z = self._size_blocks
        return (x + self._middle) % size_x, y, (z + self._middle) % size_z

    @property
    def _playing(self) -> VoxelBackend:
        if self._backend is None:
            raise ValueError("voxel: there is no episode yet; reset first")
        return self._backend

    def _sight(self, image_HWC: np.ndarray, instance_HW: np.ndarray, depth_HW: np.ndarray | None) -> Sight:
        return Sight(image_HWC, instance_HW if self.has_masks else None, depth_HW)

    def _moment(self, tick: TickBatch) -> Moment:
        x, y, z, yaw_deg, pitch_deg = tick.pose_E5[0]
        return Moment(
            sight=self._sight(
                tick.image_EHWC[0], tick.instance_EHW[0], None if tick.depth_EHW is None else tick.depth_EHW[0]
            ),
            pose=(float(x) - self._middle, float(y), float(z) - self._middle, float(yaw_deg), float(pitch_deg)),
            is_on_ground=bool(tick.is_on_ground_E[0]),
            health=float(tick.health_E[0]),
            items=[
                (ITEMS[item].name if item >= 0 else "", count)
                for item, count in zip(tick.item_ES[0].tolist(), tick.count_ES[0].tolist(), strict=True)
            ],
            selected=int(tick.selected_E[0]),
            mobs=[
                Mob(MOBS[int(kind)].name if kind >= 0 else "", mx - self._middle, my, mz - self._middle, *rest)
                for kind, mx, my, mz, *rest in self._mob_rows(tick)
            ],
            events=[self._event(*row) for row in tick.event_EN4[0].tolist() if row[0]],
        )

    def _mob_rows(self, tick: TickBatch) -> list[tuple[Any, ...]]:
        """Return kind, x, y, z, health, object index and yaw of every row, those without a mob included."""
        yaw_M = self._playing.state.mobs.yaw_deg_EM[0].tolist()
        return [
            (kind, x, y, z, health, int(slot) - 1, yaw_deg)
            for (kind, slot, x, y, z, health), yaw_deg in zip(tick.mob_EM6[0].tolist(), yaw_M, strict=True)
        ]

    def _event(self, kind: int, subject: int, amount: int, cell: int) -> Event:
        """Take a row of worlds.types apart."""
        name = _EVENTS[kind]
        if name in ("damage", "death"):
            return Event(name, _CAUSES[subject], amount)
        if name in ("block_broken", "block_placed", "block_used"):
            _, size_y, size_z = self._size_blocks
            column, y = divmod(cell, size_y)
            x, z = divmod(column, size_z)
            return Event(name, STATES[subject].name, 0, (x - self._middle, y, z - self._middle), amount - 1)
        if name in ("mob_struck", "mob_shot"):
            return Event(name, MOBS[subject].name, cell, None, amount - 1)
        if name == "mob_killed":
            return Event(name, MOBS[subject].name, int(cell == EVENT_MOB_SHOT), None, amount - 1)
        object_index = cell - 1 if name == "item_picked" else -1
        return Event(name, ITEMS[subject].name, amount, None, object_index)


def _world_of(spec: WorldSpec) -> WorldSpec:
    """Return the generated world that a spec means."""
    if spec.source == "generated":
        return spec
    _, biome, side, detail = spec.source.split(":")
    return WorldSpec(seed=spec.seed, biome=biome, size_blocks=(int(side), 64, int(side)), detail=detail)  # type: ignore[arg-type]


def _tuples(value: Any) -> Any:
    """Return a JSON value with tuples in place of lists."""
    return tuple(_tuples(part) for part in value) if isinstance(value, list) else value
