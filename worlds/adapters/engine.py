"""The engine's side of an adapter: what a world must do to be driven by us. Runs in the child process.

This module and those beside it in `engines/` are run by the engine's own interpreter, Python 3.8 or newer, which has
numpy and whatever the engine needs, and nothing of ours: they import the standard library, numpy, the engine's package,
this module and each other alone (but for `voxel.py`, which is our engine).

Names cross the border, never numbers of our tables: blocks, items and mobs are called as in Minecraft, without the
"minecraft:" prefix, and block states as "oak_door[half=lower,open=true]". Places are in the engine's own coordinates,
which the parent has shifted; axes, angles and units are those of `worlds.types`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

# The 20 keys of MineRL's action space, in the order of `Engine.step`'s `buttons`; the same as worlds.types.BUTTONS.
BUTTONS = (
    ("attack", "back", "forward", "jump", "left", "right", "sneak", "sprint", "use", "drop", "inventory")
    + tuple(f"hotbar.{slot}" for slot in range(1, 10))
)  # fmt: skip

# What may have happened, by name; amounts as the EVENT_* of worlds.types say.
EVENT_NAMES = (
    "block_broken",  # subject: block state
    "damage",  # subject: "fall", "mob", "arrow", "block", "drowning", "void"; amount: half hearts lost by the agent
    "death",  # subject as for damage
    "block_placed",  # subject: block state
    "block_used",  # subject: block state before
    "mob_struck",  # subject: mob; amount: half hearts
    "mob_shot",  # subject: mob; amount: half hearts
    "mob_killed",  # subject: mob; amount: 0 by hand, 1 by arrow
    "item_picked",  # subject: item; amount: count
    "arrow_shot",  # subject: item; amount: charge in percent
    "item_dropped",  # subject: item; amount: count
)


class EngineError(Exception):
    """The engine cannot go on; the message is one sentence for the user. The parent restarts the child."""


class Event(NamedTuple):
    """Something the agent did or suffered in a step."""

    name: str  # one of EVENT_NAMES
    subject: str
    amount: int = 0
    cell: tuple[int, int, int] | None = None  # of a block
    object_index: int = -1  # of the episode's placement it happened to, where the engine knows; -1 is none


class Mob(NamedTuple):
    """A mob near the agent."""

    kind: str
    x: float
    y: float  # of its feet
    z: float
    health: float  # half hearts
    object_index: int = -1  # of the episode's placement it is; -1 is none
    yaw_deg: float | None = None  # of the body; None: the engine does not say


@dataclass
class Sight:
    """What one camera sees."""

    image_HWC: np.ndarray  # uint8 [H, W, 3] RGB, row 0 is the top
    instance_HW: np.ndarray | None = None  # int32 [H, W], 0 sky, 1 terrain, 2 + i placement i; None: it has no masks
    depth_HW: np.ndarray | None = None  # float32 [H, W], blocks along the ray


@dataclass
class Moment:
    """The state of the engine after a step, as far as the contract speaks of it."""

    sight: Sight
    pose: tuple[float, float, float, float, float]  # feet x, y, z in blocks, yaw, pitch in degrees
    is_on_ground: bool = True
    health: float = 20.0  # half hearts, 0 is dead
    items: Sequence[tuple[str, int]] = ()  # (item, count) by slot, 0 .. 8 the hotbar; ("", 0) is empty
    selected: int = 0
    mobs: list[Mob] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    changed: Sequence[tuple[tuple[int, int, int], str]] = ()  # (cell, block state) that it noticed to have changed


class Scan(NamedTuple):
    """A box of blocks."""

    names: list[str]  # block states that occur
    index_XZY: np.ndarray  # uint16 [X, Z, Y] into `names`


_LEFT_ALONE = "{}() is left alone; write it, see Engine in worlds/adapters/engine.py"


class Engine:
    """One agent in one world. Subclass it, and override what the engine can do; what it cannot, it leaves alone.

    A method that is left alone raises NotImplementedError, which the parent hears of when it says hello: it then does
    without (no masks: mirrored ones where there is a scan) or refuses with a sentence that names the engine.
    """

    has_masks = False  # whether every Sight has instance_HW
    has_depth = False  # whether every Sight has depth_HW, at least where the option "with_depth" asks for it
    can_rescan = False  # whether a scan of a small box lets no time pass and moves nothing: it is then done in episodes
    is_realtime = False  # whether time passes between steps, so that no two runs are alike
    view_range_blocks = 64.0

    def __init__(self, image_px: tuple[int, int], options: dict[str, Any]) -> None:
        """Start the engine with pictures of `image_px` (height, width); `options` are the user's, by name."""
        self.image_px = image_px
        self.options = options

    def reset(self, episode: dict[str, Any]) -> Moment:
        """Begin an episode: `worlds.spec.Episode` as a dict. World restored, objects placed, agent at the start."""
        raise NotImplementedError(_LEFT_ALONE.format("reset"))

    def step(self, buttons: Sequence[bool], camera_deg: tuple[float, float], num_ticks: int) -> Moment:
        """Repeat the action for `num_ticks` ticks of 50 ms, camera (pitch, yaw) a tick, and keep all events."""
        raise NotImplementedError(_LEFT_ALONE.format("step"))

    def observe(self) -> Moment:
        """Return the present without letting time pass, as far as the engine can."""
        raise NotImplementedError(_LEFT_ALONE.format("observe"))

    def look_from(self, eyes: Sequence[Sequence[float]]) -> list[Sight]:
        """Return what cameras see from (x, y, z of the eye, yaw, pitch), the agent's own body left out."""
        raise NotImplementedError(_LEFT_ALONE.format("look_from"))

    def lines_clear(self, froms: Sequence[Sequence[float]], cells: Sequence[Sequence[int]]) -> list[bool]:
        """Tell whether the centre of each cell is the first thing a ray from each point meets."""
        raise NotImplementedError(_LEFT_ALONE.format("lines_clear"))

    def scan(self, lowest: tuple[int, int, int], size: tuple[int, int, int]) -> Scan:
        """Return the blocks of a box by its lowest cell (x, y, z) and its sides along x, y, z."""
        raise NotImplementedError(_LEFT_ALONE.format("scan"))

    def close(self) -> None:
        """Stop the engine and whatever it started."""
