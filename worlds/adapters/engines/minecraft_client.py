"""The agent of a Minecraft 1.16 that is driven tick by tick: what it is told, where it is, what is around it.

`sim` is a MinecraftSim of MineStudio, or whatever else steps with the same action and tells the same info: one tick a
step, chat lines, scans of blocks and mobs ("voxels", "mobs") in boxes around the agent.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from worlds.adapters.engine import BUTTONS, EngineError, Sight
from worlds.adapters.engines.minecraft_cells import Box, Cells, wrapped_deg
from worlds.adapters.engines.minecraft_commands import Cell, PlacedBlock, bare, game_state, set_block, teleport
from worlds.adapters.engines.minecraft_events import Body

NUM_SLOTS = 36
KEYS = tuple(
    name for name in BUTTONS if name not in ("drop", "inventory")
)  # it has no key to drop; no window is opened
_NEAR_BLOCKS = 7  # a scan this far around the agent comes with every tick
_FAR_BLOCKS = 40  # ROCKET-3 scans as far; chunks farther away may not be there
_SETTLE_TICKS = 100
_STEADY_TICKS = 2
_ENDING_S = 0.3  # of a game's launcher, after the game
_PLACE_TOLERANCE_BLOCKS = 0.05
_FALL_BLOCKS = 2.0  # of a body that is looked at a few ticks after it was let go
_TURN_TOLERANCE_DEG = 0.5
_RIPPLE_LEVELS = 1.0  # of 255, in the mean over a picture; a chunk that appears is more


class MinecraftClient:
    """One agent. Every method may raise EngineError; the game is then of no more use."""

    def __init__(
        self, sim: Any, image_px: tuple[int, int], render_scale: int, has_ended: Callable[[], bool] = lambda: False
    ) -> None:
        """Drive `sim`, whose pictures are `render_scale` times as high and wide as `image_px` (height, width).

        `has_ended` is asked when something fails: it tells whether the game's process is gone.
        """
        self.sim = sim
        self._has_ended = has_ended
        self.info: dict[str, Any] = {}
        self.cells = Cells(Box((0, 0, 0), (0, 0, 0)), (), (0, 0, 0))
        self.selected = 0
        self._image_px, self._scale = image_px, render_scale
        self._is_on_ground = True

    def renew(self, seed: int) -> None:
        """Make the world of a seed anew, whatever was done to it."""
        with self._told("making a world"):
            self.sim.env.seed(seed)
            self.sim.reset()
        self.info, self.selected = {}, 0

    def tick(
        self,
        keys: Mapping[str, int],
        camera_deg: tuple[float, float] = (0.0, 0.0),
        *,
        chat: str = "",
        box: Box | None = None,
    ) -> None:
        """Let one tick pass; camera is (pitch, yaw) in degrees. `box` is scanned instead of what is near the agent.

        Whatever window has opened is left again: chests and tables are used by opening them, no more.
        """
        self._pass(keys, camera_deg, chat, box)
        if self._is_window_open():
            self._pass({"inventory": 1}, (0.0, 0.0), "", box)
            self._pass({}, (0.0, 0.0), "", box)
            if self._is_window_open():
                raise EngineError("a window of the game has opened and does not close")

    def _pass(self, keys: Mapping[str, int], camera_deg: tuple[float, float], chat: str, box: Box | None) -> None:
        """Let one tick pass. All keys are named, for a key stays down until it is let go."""
        before = self.feet_cell() if self.info else (0, 0, 0)
        before_y = self.info["player_pos"]["y"] if self.info else math.nan
        box = box or Box.around(before, _NEAR_BLOCKS)
        action: dict[str, Any] = dict.fromkeys((*KEYS, "inventory"), 0)
        action.update(keys)
        action["camera"] = np.asarray(camera_deg, np.float32)
        action["voxels"] = np.asarray(box.request(before), np.int32)
        action["mobs"] = np.asarray([-_FAR_BLOCKS, _FAR_BLOCKS] * 3, np.int32)
        if chat:
            action["chat"] = chat
        with self._told("a step"):
            _, _, is_over, _, info = self.sim.step(action)
        if "error" in info:
            raise EngineError(f"the game does not answer ({info['error']})")
        self.info = info
        if is_over and self.health() > 0:
            raise EngineError("the game ended the mission by itself")
        # Offsets count from where the agent is when the game looks, which is after the tick.
        after = self.feet_cell()
        self.cells = Cells(box.moved(before, after), info.get("voxels") or (), after)
        x, y, z = self.pose()[:3]
        self._is_on_ground = not abs(y - before_y) >= 1e-3 and self.cells.is_ground_under(x, y, z)

    def command(self, command: str) -> None:
        """Say a command. It takes a tick, and its effect may show in the next."""
        self.tick({}, chat=command)

    def come_to(self, pose: Sequence[float], *, is_steady: bool = False, may_fall: bool = False) -> None:
        """Bring the agent to feet x, y, z, yaw, pitch, and wait until it is there; `is_steady`: and its picture stays.

        `may_fall` is for whoever is no spectator: where there is no floor, it is on its way down already.

        Raises:
            EngineError: it does not get there.
        """
        self.command(teleport(*pose))
        num_there, picture_HWC = 0, None
        for waited in range(_SETTLE_TICKS):
            self.tick({})
            is_there = self._is_at(pose, _FALL_BLOCKS if may_fall else 0.0)
            # Where much moves no picture stays: after a while, the place is enough.
            if is_steady and waited < _SETTLE_TICKS // 2:
                is_there = is_there and picture_HWC is not None and _is_same(picture_HWC, self.info["pov"])
            picture_HWC = self.info["pov"]
            num_there = num_there + 1 if is_there else 0
            if num_there >= (_STEADY_TICKS if is_steady else 1):
                return
        found = ", ".join(f"{part:.2f}" for part in self.pose())
        raise EngineError(f"the agent was sent to {[round(part, 2) for part in pose]}, and is at [{found}]")

    def kinds_at(self, cells: Sequence[Cell]) -> dict[Cell, str]:
        """Return the kinds of blocks in cells, wherever they are; the agent must be a spectator to fly there."""
        kinds: dict[Cell, str] = {}
        for cell in cells:
            if cell not in kinds:
                self._fly_near(cell)
                found = self.scan(Box.around(cell, 1))
                kinds.update((other, found[other]) for other in cells if other in found.box)
        return kinds

    def put_blocks(self, blocks: Sequence[PlacedBlock]) -> list[PlacedBlock]:
        """Set blocks; return those in whose cells something else is afterwards."""
        for block in blocks:
            self._fly_near(block.cell)
            self.command(set_block(block))
        kinds = self.kinds_at([block.cell for block in blocks])
        return [block for block in blocks if kinds[block.cell] != bare(game_state(block.state))]

    def _fly_near(self, cell: Cell) -> None:
        """Go where a cell is surely loaded."""
        if max(abs(part - at) for part, at in zip(cell, self.feet_cell())) > _FAR_BLOCKS:
            self.come_to([cell[0] + 0.5, cell[1] + 1.0, cell[2] + 0.5, 0.0, 0.0])

    def scan(self, box: Box) -> Cells:
        """Return the blocks of a box near the agent, which must stand still."""
        self.tick({}, box=box)
        if self.cells.box.lowest != box.lowest:
            self.tick({}, box=box)
        return self.cells

    def scan_tile(self, box: Box) -> Cells:
        """Return the blocks of a box that a spectator flies to, once two scans agree: chunks come late."""
        self.come_to([*((low + high) / 2.0 for low, high in zip(box.lowest, box.highest)), 0.0, 0.0])
        last = None
        for _ in range(_SETTLE_TICKS):
            cells = self.scan(box)
            if cells.kind and cells.kind == last:
                return cells
            last = cells.kind
        raise EngineError(
            f"the blocks from {list(box.lowest)} to {list(box.highest)} did not load; move closer to the spawn"
        )

    def pose(self) -> list[float]:
        """Return feet x, y, z in blocks, yaw in [-180, 180) and pitch in degrees."""
        place = self.info["player_pos"]
        return [*(float(place[axis]) for axis in "xyz"), wrapped_deg(float(place["yaw"])), float(place["pitch"])]

    def feet_cell(self) -> Cell:
        """Return the cell of the agent's feet."""
        return tuple(math.floor(part) for part in self.pose()[:3])

    def health(self) -> float:
        """Return half hearts; full where the game does not tell."""
        return float(self.info.get("health", 20.0))

    def is_hungry(self) -> bool:
        """Tell whether less than all food is there."""
        return float(self.info.get("food_level", 20.0)) < 20.0

    def items(self) -> list[tuple[str, int]]:
        """Return (item, count) by slot, ("", 0) where it is empty."""
        items = [("", 0)] * NUM_SLOTS
        for slot, stack in (self.info.get("inventory") or {}).items():
            kind = bare(str(stack["type"]))
            if kind not in ("none", "air", "") and 0 <= int(slot) < NUM_SLOTS:
                items[int(slot)] = (kind, int(stack["quantity"]))
        return items

    def body(self) -> Body:
        """Return the agent as the events want it."""
        return Body(self.pose(), self.health(), self._is_on_ground, self.items()[self.selected][0])

    def sight(self) -> Sight:
        """Return the game's picture, each pixel the mean of render_scale x render_scale of its own."""
        image_HWC = np.asarray(self.info["pov"], np.uint8)
        if self._scale > 1:
            height, width = self._image_px
            fine = image_HWC.reshape(height, self._scale, width, self._scale, 3)
            image_HWC = (fine.mean(axis=(1, 3)) + 0.5).astype(np.uint8)
        return Sight(np.ascontiguousarray(image_HWC))

    def _is_at(self, pose: Sequence[float], fall_blocks: float) -> bool:
        found = self.pose()
        off = [part - other for part, other in zip(found[:3], pose[:3])]
        if -fall_blocks < off[1] < 0:
            off[1] = 0.0
        is_near = max(abs(part) for part in off) < _PLACE_TOLERANCE_BLOCKS
        turn_deg = abs(wrapped_deg(found[3] - pose[3])), abs(found[4] - pose[4])
        return is_near and max(turn_deg) < _TURN_TOLERANCE_DEG

    @contextlib.contextmanager
    def _told(self, what: str) -> Iterator[None]:
        """Turn whatever the package raises into an EngineError that says during what."""
        try:
            yield
        except EngineError:
            raise
        except Exception as error:
            time.sleep(_ENDING_S)
            if self._has_ended():
                raise EngineError(f"the game has ended, in {what}") from error
            lines = [line.strip() for line in str(error).splitlines() if line.strip()]
            reason = f": {lines[-1][:200]}" if lines else ""
            raise EngineError(f"the game failed in {what} ({type(error).__name__}{reason})") from error

    def _is_window_open(self) -> bool:
        return bool(np.any(self.info.get("isGuiOpen", False)))


def _is_same(before_HWC: np.ndarray, after_HWC: np.ndarray) -> bool:
    """Tell whether two pictures show the same but for clouds and ripples; uint8 [H, W, 3]."""
    return float(np.abs(before_HWC.astype(np.int16) - after_HWC).mean()) < _RIPPLE_LEVELS
