"""Luanti (Minetest) 5.6 with minetest_game as an engine: another renderer and another physics, in lockstep.

Luanti has no lockstep of its own. A library preloaded into its client (luanti_client/lockstep.c) holds it after every
frame and hands it its clock, so a tick is one frame of 50 ms whatever the machine is busy with; the server lives in the
same process and takes its time from those frames. A mod (luanti_mod) places, scans, restores and tells what happened.

Luanti's nodes lie at whole numbers and its +z is north; here a cell is [n, n + 1) and +z is south.
"""

import math
import tempfile
import time
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

import numpy as np

from worlds.adapters.engine import BUTTONS, Engine, EngineError, Event, Moment, Scan, Sight
from worlds.adapters.engines import luanti_files as files
from worlds.adapters.engines import luanti_names as names
from worlds.adapters.engines.luanti_client import Frame, LuantiClient
from worlds.adapters.engines.luanti_control import LuantiControl

_TICK_S = 0.05
_EYE_HEIGHT_BLOCKS = 1.62
_SYNC_S = 0.001  # a frame that only lets the server answer
_TIME_LIMIT_S = 60.0
_QUIET_STEPS = 4  # of the server without a change of the picture: all there is to see has come
_FIRST_QUIET_STEPS = 8  # in a new world, where more has to come
_FIRST_STEPS = 60  # of the server, until most of a new world within sight has been sent
_MOVED_BLOCKS = 0.02  # places travel in steps of a thousandth; what is off by more has moved
# Luanti widens what it is asked for on narrow pictures: tall = wide asks for 70 and gets 88.5 (Camera::update).
_WIDEST, _REFERENCE_ASPECT = 1.4, 16.0 / 10.0
_NEAR_BLOCKS, _FAR_BLOCKS = 0.1, 10000.0

# What the keys of the action space are to Luanti's client; the inventory opens a window and is left out.
_KEYS = tuple("" if name == "inventory" else name for name in BUTTONS)


class Luanti(Engine):
    """One Luanti under a virtual display, with one agent.

    Options: seed (of the world that is open before the first episode, default 1), time_limit_s.
    """

    has_masks = True
    is_realtime = True  # packets between its client and its server come when they come: no two runs are alike
    view_range_blocks = 80.0

    def __init__(self, image_px: Tuple[int, int], options: Dict[str, Any]) -> None:
        """Start the display and the game."""
        super().__init__(image_px, options)
        self._time_limit_s = float(options.get("time_limit_s", _TIME_LIMIT_S))
        self._programs = files.find_programs()
        self._folder = Path(tempfile.mkdtemp(prefix="mcrl-luanti-"))
        self._control = LuantiControl()
        self._client = LuantiClient(self._folder, time_limit_s=self._time_limit_s)
        files.write_shaders(self._programs["share"], self._folder / "shaders")
        self._library = files.build_lockstep(self._programs["cc"], self._folder)
        self._seed = -1
        self._box: Optional[Tuple[Tuple[int, int, int], Tuple[int, int, int]]] = None
        self._cells: List[Tuple[int, ...]] = []  # of the placements
        self._fov_deg = 70.0
        self._is_odd = False
        self._debt_s = 0.0  # game time that went into syncing and comes off the next tick
        self._start: Optional[Tuple[float, float, float, float, float]] = None  # while the agent has not moved
        self._yaw_deg = 0.0
        self._events_seen = 0
        try:
            self._open_world(int(options.get("seed", 1)))
        except BaseException:
            self.close()
            raise

    def reset(self, episode: Dict[str, Any]) -> Moment:
        """Restore the box, place what is to be placed, and put the agent at the start."""
        world = episode["world"]
        if world["seed"] != self._seed:
            self._open_world(world["seed"])
        self._load(tuple(world["origin_blocks"]), tuple(world["size_blocks"]))
        self._cells = [tuple(placement["position"]) for placement in episode["placements"]]
        nodes = []
        for placement in episode["placements"]:
            node, param2 = names.node_of(placement["kind"])
            x, y, z = placement["position"]
            nodes.append({"name": node, "param2": param2, "at": [x, y, -z]})
        self._fov_deg = episode["look"]["fov_deg"]
        start = tuple(float(part) for part in episode["start"])
        self._yaw_deg = start[3]
        self._ask(
            "begin",
            nodes=nodes,
            inventory=[
                {"name": names.item_of(name) if name else "", "count": count} for name, count in episode["inventory"]
            ],
            fov_deg=self._asked_fov_deg(),
            time=((episode["look"]["time_ticks"] + 6000) % 24000) / 24000.0,
            pose=_theirs(start),
        )
        self._events_seen = 0
        self._arrive(start)
        self._settle(_QUIET_STEPS)
        self._ask("free")
        self._press(("hotbar.1",))
        self._sync()
        self._press(())
        self._sync(num_steps=2)
        self._start = start  # type: ignore[assignment]
        return self.observe()

    def step(self, buttons: Sequence[bool], camera_deg: Tuple[float, float], num_ticks: int) -> Moment:
        """Hold the keys for `num_ticks` frames of 50 ms, turning in each, and return what is then seen."""
        keys = tuple(key for key, is_down in zip(_KEYS, buttons) if is_down and key)
        for tick in range(num_ticks):
            duration_s = _TICK_S - self._debt_s
            self._debt_s = 0.0
            if tick == num_ticks - 1:
                self._is_odd = not self._is_odd
                duration_s -= _SYNC_S
            self._press(keys, duration_s, camera_deg)
        image_HWC = self._sync(colors=True)
        self._debt_s -= _SYNC_S  # the first one was planned
        return self._moment(image_HWC)

    def observe(self) -> Moment:
        """Draw the present, the clock standing still."""
        return self._moment(self._client.frame(0.0, colors=True).image_HWC)

    def _moment(self, image_HWC: Optional[np.ndarray]) -> Moment:
        present = self._control.present
        events = self._take_events(present["events"] or [])
        return Moment(
            sight=self._sight(image_HWC),
            pose=self._pose(present),
            is_on_ground=bool(present["is_on_ground"]),
            health=float(present["health"]),
            items=[
                (names.name_of_item(name), int(count))
                for name, count in zip(present["items"] or (), present["counts"] or ())
            ],
            selected=int(present["selected"]),
            events=events,
        )

    def look_from(self, eyes: Sequence[Sequence[float]]) -> List[Sight]:
        """Return what is seen from each eye: the agent is held there, for Luanti has no camera but its own."""
        back = self._ours(self._control.present["pose"]) if self._start is None else self._start
        sights = []
        for x, y, z, yaw_deg, pitch_deg in eyes:
            pose = (x, y - _EYE_HEIGHT_BLOCKS, z, yaw_deg, pitch_deg)
            self._ask("hold", pose=_theirs(pose))
            self._arrive(pose)
            self._settle(_QUIET_STEPS)
            sights.append(self._sight(self._client.frame(0.0, colors=True).image_HWC))
        self._ask("hold", pose=_theirs(back))
        self._arrive(back)
        self._settle(1)
        self._ask("free")
        self._sync(num_steps=2)
        return sights

    def lines_clear(self, froms: Sequence[Sequence[float]], cells: Sequence[Sequence[int]]) -> List[bool]:
        """Ask Luanti's own ray caster."""
        lines = [[x - 0.5, y - 0.5, 0.5 - z, cell[0], cell[1], -cell[2]] for (x, y, z), cell in zip(froms, cells)]
        return [bool(is_clear) for is_clear in self._ask("lines", lines=lines)["clear"]] if lines else []

    def scan(self, lowest: Tuple[int, int, int], size: Tuple[int, int, int]) -> Scan:
        """Read a box out of the map, making it first where nobody has been."""
        if not self._is_loaded(lowest, size):
            self._load(lowest, size)
        path = self._folder / "scan.bin"
        corner = (lowest[0], lowest[1], -(lowest[2] + size[2] - 1))
        found = self._ask("scan", lowest=corner, size=size, path=str(path))["names"]
        index_XZY = np.fromfile(path, np.uint16).reshape(size[0], size[2], size[1])
        path.unlink()
        blocks = [names.block_of(node, int(param2)) for node, param2 in (name.split(" ") for name in found)]
        return Scan(blocks, index_XZY)

    def site(self, size: Tuple[int, int, int]) -> Tuple[int, int, int]:
        """Return the lowest cell of a box of mostly dry land near the middle of the open world."""
        x, y, z = self._ask("site", size=size)["lowest"]
        return int(x), int(y), -(int(z) + size[2] - 1)

    def close(self) -> None:
        """Stop the game and the display and remove the folder."""
        self._client.close()
        self._control.close()

    def _open_world(self, seed: int) -> None:
        self._client.stop_game()
        self._control.forget()
        self._seed, self._box = seed, None
        settings = files.write_world(
            self._folder,
            seed=seed,
            port=self._control.port,
            token=self._control.token,
            window_px=self.image_px,
            shaders=self._folder / "shaders",
        )
        world = str(self._folder / "world")
        command = [self._programs["minetest"], "--go", "--world", world, "--gameid", "minetest_game"]
        command += ["--name", "agent", "--config", str(settings), "--port", str(files.free_port())]
        self._client.start_game(command, self._library)
        self._until(lambda: bool(self._control.present.get("is_ready")), "nobody joined the world", _TICK_S)
        self._client.frame(_SYNC_S, keys=("chat",))
        self._client.frame(_SYNC_S)
        self._is_odd = False

    def _is_loaded(self, lowest: Sequence[int], size: Sequence[int]) -> bool:
        return self._box is not None and all(
            edge <= low and low + length <= edge + side
            for low, length, edge, side in zip(lowest, size, self._box[0], self._box[1])
        )

    def _load(self, lowest: Tuple[int, ...], size: Tuple[int, ...]) -> None:
        box = (tuple(lowest), tuple(size))
        if box == self._box:
            return
        low = (lowest[0], lowest[1], -(lowest[2] + size[2] - 1))
        high = (lowest[0] + size[0] - 1, lowest[1] + size[1] - 1, -lowest[2])
        self._ask("load", lowest=low, highest=high)
        middle = [edge + length / 2 for edge, length in zip(lowest, size)]
        for yaw_deg in (0.0, 90.0, 180.0, 270.0):
            pose = (middle[0], middle[1], middle[2], yaw_deg, 0.0)
            self._ask("hold", pose=_theirs(pose))
            self._arrive(pose)
            self._until_step(self._control.present["step"] + _FIRST_STEPS)
            self._settle(_FIRST_QUIET_STEPS)
        self._box = box  # type: ignore[assignment]

    def _ask(self, verb: str, **arguments: Any) -> Dict[str, Any]:
        """Send a request and let as little time pass as its answer takes."""
        number = self._control.send(verb, **arguments)
        answers: List[Dict[str, Any]] = []

        def is_answered() -> bool:
            answer = self._control.answer(number)
            if answer is not None:
                answers.append(answer)
            return bool(answers)

        self._until(is_answered, "%s was not answered" % verb)
        if "error" in answers[0]:
            raise EngineError("luanti: %s: %s" % (verb, answers[0]["error"]))
        return answers[0]

    def _until(
        self, is_done: Callable[[], bool], complaint: str, duration_s: float = _SYNC_S, *, colors: bool = False
    ) -> Optional[np.ndarray]:
        """Let short frames pass until `is_done`; return the last picture where `colors` are asked for."""
        image_HWC = None
        deadline_s = time.monotonic() + self._time_limit_s
        while not is_done():
            if time.monotonic() > deadline_s:
                raise EngineError("luanti: %s within %g s" % (complaint, self._time_limit_s))
            image_HWC = self._client.frame(duration_s, colors=colors).image_HWC
            self._debt_s += duration_s
            self._control.listen(0.004)
        return image_HWC

    def _press(
        self, keys: Sequence[str], duration_s: float = 0.0, camera_deg: Tuple[float, float] = (0.0, 0.0)
    ) -> None:
        """Let a frame pass with these keys down, and with the one by which the server's echo is known."""
        # Luanti's mouse is slower where the picture is narrower (Game::getSensitivityScaleFactor).
        scale = 1.3763818698 * math.tan(math.radians(self._fov_deg) / 2)
        mouse_deg = (camera_deg[0] / scale, camera_deg[1] / scale)
        self._client.frame(duration_s, keys=tuple(keys) + (("echo",) if self._is_odd else ()), mouse_deg=mouse_deg)

    def _sync(self, num_steps: int = 1, *, colors: bool = False) -> Optional[np.ndarray]:
        """Wait until the server has heard of the newest frame and made `num_steps` steps; return the last picture."""
        step = self._control.present["step"]

        def is_heard() -> bool:
            present = self._control.present
            return present["step"] >= step + num_steps and present["is_odd"] == self._is_odd

        return self._until(is_heard, "the server did not hear of the client", colors=colors)

    def _arrive(self, pose: Sequence[float]) -> None:
        """Wait until the client stands where it was put."""

        def is_there() -> bool:
            here = self._ours(self._control.present["pose"])
            turn_deg = (here[3] - pose[3] + 180.0) % 360.0 - 180.0
            is_near = max(abs(a - b) for a, b in zip(here[:3], pose[:3])) < _MOVED_BLOCKS
            return is_near and abs(turn_deg) < 0.1 and abs(here[4] - max(-89.5, min(89.5, pose[4]))) < 0.1

        self._is_odd = not self._is_odd
        self._press(())
        self._until(is_there, "the agent did not get to %s" % (tuple(pose),))
        self._sync()

    def _until_step(self, step: int) -> None:
        """Let time pass until the server has made its step number `step`."""
        self._until(lambda: self._control.present["step"] >= step, "the server made no step", _TICK_S)

    def _settle(self, num_quiet: int) -> None:
        """Let time pass until the picture has not changed for `num_quiet` steps of the server."""
        deadline_s = time.monotonic() + self._time_limit_s
        before, quiet_since = self._draw(), self._control.present["step"]
        while self._control.present["step"] < quiet_since + num_quiet:
            if time.monotonic() > deadline_s:
                raise EngineError("luanti: the picture did not come to rest within %g s" % self._time_limit_s)
            self._client.frame(_TICK_S)
            self._control.listen(0.02)
            now = self._draw()
            if not np.array_equal(now.image_HWC, before.image_HWC) or not np.array_equal(now.depth_HW, before.depth_HW):
                before, quiet_since = now, self._control.present["step"]
        self._debt_s = 0.0

    def _draw(self) -> Frame:
        """Return the cells and depths of the present."""
        return self._client.frame(0.0, cells=True, depth=True)

    def _sight(self, image_HWC: Optional[np.ndarray]) -> Sight:
        """Return the newest picture with which placement each of its pixels belongs to."""
        drawn = self._draw()
        assert image_HWC is not None
        assert drawn.image_HWC is not None
        assert drawn.depth_HW is not None
        instance_HW = np.where(drawn.depth_HW < 1.0, 1, 0).astype(np.int32)
        code_HW = _packed(drawn.image_HWC)
        for index, (x, y, z) in enumerate(self._cells):
            code = np.array([x % 256, files.NODE_CODE + y % 64, -z % 256], np.uint8)
            instance_HW[(code_HW == _packed(code)) & (instance_HW == 1)] = 2 + index
        return Sight(np.ascontiguousarray(image_HWC), instance_HW, self._distances(drawn.depth_HW))

    def _distances(self, depth_HW: np.ndarray) -> np.ndarray:
        """Return float32 [H, W], blocks along each ray, of a depth buffer; the view range where nothing is."""
        ahead_HW = (
            _NEAR_BLOCKS * _FAR_BLOCKS / (_FAR_BLOCKS - depth_HW.astype(np.float64) * (_FAR_BLOCKS - _NEAR_BLOCKS))
        )
        height, width = self.image_px
        slope = math.tan(math.radians(self._fov_deg) / 2)
        down_H = (np.arange(height) + 0.5) / height * 2 - 1
        right_W = ((np.arange(width) + 0.5) / width * 2 - 1) * width / height
        away_HW = ahead_HW * np.sqrt(1 + slope**2 * (down_H[:, None] ** 2 + right_W**2))
        return np.minimum(away_HW, self.view_range_blocks).astype(np.float32)

    def _asked_fov_deg(self) -> float:
        """Return what Luanti must be asked for so that the picture is as tall as the look says."""
        height, width = self.image_px
        return self._fov_deg / min(max(math.sqrt(_REFERENCE_ASPECT * height / width), 1.0), _WIDEST)

    def _pose(self, present: Dict[str, Any]) -> Tuple[float, float, float, float, float]:
        """Return the agent's pose; exactly the start as long as it has not left it, for places travel rounded."""
        pose = self._ours(present["pose"])
        if self._start is not None:
            if max(abs(a - b) for a, b in zip(pose, self._start)) < _MOVED_BLOCKS:
                return self._start
            self._start = None
        self._yaw_deg = pose[3]
        return pose

    def _ours(self, pose: Sequence[float]) -> Tuple[float, float, float, float, float]:
        """Return a pose of Luanti's in our axes, with the yaw that is nearest to the last one."""
        x, y, z, around_rad, down_rad = pose
        yaw_deg = 180.0 - math.degrees(around_rad)
        yaw_deg += 360.0 * round((self._yaw_deg - yaw_deg) / 360.0)
        return x + 0.5, y + 0.5, 0.5 - z, yaw_deg, math.degrees(down_rad)

    def _take_events(self, told: Sequence[Dict[str, Any]]) -> List[Event]:
        """Return what is new among the events, and let the mod forget it."""
        events = []
        for event in told:
            if event["number"] <= self._events_seen:
                continue
            self._events_seen = int(event["number"])
            subject, cell, index = event["subject"], None, -1
            if event.get("cell"):
                x, y, z = (int(part) for part in event["cell"])
                cell = (x, y, -z)
                index = self._cells.index(cell) if cell in self._cells else -1
                node, param2 = subject.split(" ")
                subject = names.block_of(node, int(param2))
            events.append(Event(event["name"], subject, int(event["amount"]), cell, index))
        if events:
            self._control.send("ack", number=self._events_seen)
        return events


def _theirs(pose: Sequence[float]) -> List[float]:
    """Return a pose of feet in Luanti's axes: x, y, z, angles in radians."""
    x, y, z, yaw_deg, pitch_deg = pose
    return [x - 0.5, y - 0.5, 0.5 - z, math.radians((180.0 - yaw_deg) % 360.0), math.radians(pitch_deg)]


def _packed(code_C: np.ndarray) -> np.ndarray:
    """Return uint32 [...] of the three bytes of a colour."""
    wide = code_C.astype(np.uint32)
    return wide[..., 0] << 16 | wide[..., 1] << 8 | wide[..., 2]
