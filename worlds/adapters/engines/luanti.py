"""Luanti (Minetest) 5.6 with minetest_game as an engine: another renderer and another physics, in lockstep.

Luanti has no lockstep of its own. A library preloaded into its client (luanti_client/lockstep.c) holds it after every
frame and hands it its clock, so a tick is one frame of 50 ms whatever the machine is busy with; the server lives in the
same process and takes its time from those frames. A mod (luanti_mod) places, scans, restores and tells what happened.

The engine's coordinates begin at the ground in the middle of a square of dry land near the middle of the map, which
the mod finds by the seed: the world of any seed has something to walk on around the origin.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from worlds.adapters.engine import BUTTONS, Engine, Event, Moment, Scan, Sight
from worlds.adapters.engines import luanti_files as files
from worlds.adapters.engines import luanti_names as names
from worlds.adapters.engines.engine_options import integer, read_options, seconds
from worlds.adapters.engines.luanti_places import Places, Pose, distances
from worlds.adapters.engines.luanti_session import LuantiSession

_EYE_HEIGHT_BLOCKS = 1.62
_SITE_BLOCKS = 128
_TIME_LIMIT_S = 60.0
_AROUND_BLOCKS = (64, 32, 64)  # of the box, that are made with it: they are in sight from there
_QUIET_FRAMES = 5  # without a change of the picture: all there is to see has come
_FIRST_QUIET_FRAMES = 8  # in a new world, where more has to come
_STILL = 0.02  # blocks and degrees; what is off by more has moved
# Luanti widens what it is asked for on narrow pictures: tall = wide asks for 70 and gets 88.5 (Camera::update).
_WIDEST, _REFERENCE_ASPECT = 1.4, 16.0 / 10.0
_KEYS = tuple("" if name == "inventory" else name for name in BUTTONS)  # the inventory would open a window


class Luanti(Engine):
    """One Luanti under a virtual display, with one agent.

    Options: seed (of the world that is open before the first episode, default 1), time_limit_s (60).
    """

    has_masks = True
    has_depth = True
    is_realtime = True  # packets between its client and its server come when they come: no two runs are alike
    view_range_blocks = 64.0

    def __init__(self, image_px: tuple[int, int], options: dict[str, Any]) -> None:
        """Start the display and the game."""
        super().__init__(image_px, read_options(options, {"seed": integer, "time_limit_s": seconds}))
        self._folder = Path(tempfile.mkdtemp(prefix="mcrl-luanti-"))
        time_limit_s = self.options.get("time_limit_s", _TIME_LIMIT_S)
        self._session = LuantiSession(self._folder, image_px, time_limit_s=time_limit_s)
        self._cells: list[tuple[int, int, int]] = []  # of the placements
        self._start: Pose | None = None  # while the agent has not left it
        self._yaw_deg = 0.0
        self._last_event = 0
        try:
            self._open_world(self.options.get("seed", 1))
        except BaseException:
            self.close()
            raise

    def reset(self, episode: dict[str, Any]) -> Moment:
        """Restore the box, place what is to be placed, and put the agent at the start."""
        world, look = episode["world"], episode["look"]
        if world["seed"] != self._seed:
            self._open_world(world["seed"])
        self._load(world["origin_blocks"], world["size_blocks"])
        nodes, self._cells = [], []
        for placement in episode["placements"]:
            name, param2 = names.node_of(placement["kind"])
            x, y, z = placement["position"]
            self._cells.append((x, y, z))
            nodes.append({"name": name, "param2": param2, "at": self._places.node((x, y, z))})
        start = Pose(*episode["start"])
        self._yaw_deg = start.yaw_deg
        self._session.fov_deg = look["fov_deg"]
        items = [{"name": names.item_of(name) if name else "", "count": count} for name, count in episode["inventory"]]
        self._session.ask(
            "begin",
            nodes=nodes,
            inventory=items,
            fov_deg=self._asked_fov_deg(),
            time=(look["time_ticks"] + 6000) % 24000 / 24000.0,
            pose=self._places.theirs(start),
        )
        self._last_event = 0
        self._session.arrive(self._places.theirs(start))
        self._session.settle(_QUIET_FRAMES)
        self._session.ask("free")
        self._session.tap("hotbar.1")
        self._start = start
        return self.observe()

    def step(self, buttons: Sequence[bool], camera_deg: tuple[float, float], num_ticks: int) -> Moment:
        """Hold the keys for `num_ticks` frames of 50 ms, turning in each, and return what is then seen."""
        keys = tuple(key for key, is_down in zip(_KEYS, buttons) if is_down and key)
        return self._moment(self._session.tick(keys, camera_deg, num_ticks))

    def observe(self) -> Moment:
        """Draw the present, the clock standing still."""
        return self._moment(self._session.draw())

    def look_from(self, eyes: Sequence[Sequence[float]]) -> list[Sight]:
        """Return what is seen from each eye: the agent is held there, for Luanti has no camera but its own.

        It comes back to where it was, at rest.
        """
        back = self._pose()
        sights = []
        for x, y, z, yaw_deg, pitch_deg in eyes:
            self._hold((x, y - _EYE_HEIGHT_BLOCKS, z, yaw_deg, pitch_deg), _QUIET_FRAMES)
            sights.append(self._sight(self._session.draw()))
        self._hold(back, _QUIET_FRAMES)
        self._session.ask("free")
        self._session.sync(num_steps=2)
        return sights

    def lines_clear(self, froms: Sequence[Sequence[float]], cells: Sequence[Sequence[int]]) -> list[bool]:
        """Ask Luanti's own ray caster."""
        if not froms:
            return []
        lines = [[*self._places.point(place), *self._places.node(cell)] for place, cell in zip(froms, cells)]
        return [bool(is_clear) for is_clear in self._session.ask("lines", lines=lines)["clear"]]

    def scan(self, lowest: tuple[int, int, int], size: tuple[int, int, int]) -> Scan:
        """Read a box out of the map, making it first where nobody has been."""
        if not self._is_loaded(lowest, size):
            self._load(lowest, size)
        path = self._folder / "scan.bin"
        found = self._session.ask("scan", lowest=self._places.box(lowest, size)[0], size=size, path=str(path))["names"]
        index_XZY = np.fromfile(path, np.uint16).reshape(size[0], size[2], size[1])
        path.unlink()
        return Scan([names.block_of(node, int(param2)) for node, param2 in map(str.split, found)], index_XZY)

    def close(self) -> None:
        """Stop the game and the display and remove the folder."""
        self._session.close()
        files.remove(self._folder)

    def _open_world(self, seed: int) -> None:
        self._session.open_world(seed)
        self._seed = seed
        self._box: tuple[tuple[int, ...], tuple[int, ...]] | None = None
        self._places = Places(self._session.ask("site", side=_SITE_BLOCKS)["middle"])

    def _is_loaded(self, lowest: Sequence[int], size: Sequence[int]) -> bool:
        return self._box is not None and all(
            edge <= low and low + length <= edge + side
            for low, length, edge, side in zip(lowest, size, self._box[0], self._box[1])
        )

    def _load(self, lowest: Sequence[int], size: Sequence[int]) -> None:
        """Make a box and look round in it, so that all of it comes to the client.

        A world has one box, made first and all at once: what Luanti makes at the border of what is there already is
        another wood, and other ruins, than where it makes both together.
        """
        box = (tuple(lowest), tuple(size))
        if box == self._box:
            return
        if self._box is not None:
            self._open_world(self._seed)
        low, high = self._places.box(lowest, size)
        seen_low = [edge - away for edge, away in zip(low, _AROUND_BLOCKS)]
        seen_high = [edge + away for edge, away in zip(high, _AROUND_BLOCKS)]
        # One after the other: in a queue of all a piece that the client has asked to see would come first.
        for middle in self._session.ask("pieces", lowest=seen_low, highest=seen_high)["middles"]:
            self._session.ask("make", at=middle)
        self._session.ask("load", lowest=low, highest=high)
        x, y, z = (edge + length / 2 for edge, length in zip(lowest, size))
        for yaw_deg in (0.0, 90.0, 180.0, 270.0):
            self._hold((x, y, z, yaw_deg, 0.0), _FIRST_QUIET_FRAMES)
        self._box = box

    def _hold(self, pose: Sequence[float], num_quiet: int) -> None:
        """Keep the agent at a pose, free of gravity, until what is seen from there has come."""
        place = self._places.theirs(pose)
        self._session.ask("hold", pose=place)
        self._session.arrive(place)
        self._session.settle(num_quiet)

    def _moment(self, image_HWC: np.ndarray) -> Moment:
        present = self._session.present
        items = zip(present["items"] or (), present["counts"] or ())
        return Moment(
            sight=self._sight(image_HWC),
            pose=self._pose(),
            is_on_ground=bool(present["is_on_ground"]),
            health=float(present["health"]),
            items=[(names.name_of_item(name), int(count)) for name, count in items],
            selected=int(present["selected"]),
            events=self._take_events(present["events"] or ()),
        )

    def _sight(self, image_HWC: np.ndarray) -> Sight:
        """Return the newest picture with the placement each of its pixels belongs to."""
        code_HWC, depth_HW = self._session.draw_cells()
        is_something_HW = depth_HW < 1.0
        instance_HW = is_something_HW.astype(np.int32)
        for index, cell in enumerate(self._cells):
            code_C = np.array(files.cell_code(self._places.node(cell)), np.uint8)
            instance_HW[(code_HWC == code_C).all(axis=2) & is_something_HW] = 2 + index
        away_HW = distances(depth_HW, self._session.fov_deg, self.view_range_blocks)
        return Sight(np.ascontiguousarray(image_HWC), instance_HW, away_HW)

    def _asked_fov_deg(self) -> float:
        """Return what Luanti must be asked for so that the picture is as tall as the look says."""
        height, width = self.image_px
        widened = min(max(math.sqrt(_REFERENCE_ASPECT * height / width), 1.0), _WIDEST)
        return self._session.fov_deg / widened

    def _pose(self) -> Pose:
        """Return the agent's pose; exactly the start as long as it has not left it, for places travel rounded."""
        pose = self._places.ours(self._session.present["pose"], self._yaw_deg)
        if self._start is not None and max(abs(a - b) for a, b in zip(pose, self._start)) < _STILL:
            return self._start
        self._start = None
        self._yaw_deg = pose.yaw_deg
        return pose

    def _take_events(self, told: Sequence[dict[str, Any]]) -> list[Event]:
        """Return what is new among the events, and let the mod forget it."""
        events = []
        for event in told:
            if event["number"] <= self._last_event:
                continue
            self._last_event = int(event["number"])
            subject, cell, index = event["subject"], None, -1
            if event.get("cell"):
                cell = self._places.cell(event["cell"])
                index = self._cells.index(cell) if cell in self._cells else -1
                node, param2 = subject.split()
                subject = names.block_of(node, int(param2))
            events.append(Event(event["name"], subject, int(event["amount"]), cell, index))
        if events:
            self._session.tell("ack", number=self._last_event)
        return events
