"""Minecraft through MineRL: 0.4.4 of PyPI (Minecraft 1.11.2) and the 1.0 line of its repository (1.16.5).

Which of them is decided by what is installed. A task is put into the world by chat commands, and read back through
the observations of Malmo, the mod inside, by a mission of our own: MineRL's environments ask for too little. All of
this was run with MineRL's own code, against a server that speaks the protocol and answers as the sources of the 1.11.2
mod do. Mojang's game itself was not run, nor the 1.16.5 mod, whose sources say less: where it does not know one of the
observations, a scan fails with a sentence, and events lack their places.

Ambient mobs of an episode are left out.

Options:
    port: of a Minecraft with the mod that runs already; the options.txt of 1.11.2 must say fov:0.0, for 70 degrees.
    launch: a command that starts such a Minecraft, prints its port, and ends when its input is closed.
        Without either MineRL starts its own, which needs Java 8 and a display.
    timeout_s: how long the game may take to begin a mission, of a reset or a scan, 290 by default. Of a step too, but
        for that our own process waits 30 s, whatever is said here.
    seed: of the world that `scan` reads before any episode, 0 by default.
"""

from __future__ import annotations

import logging
import math
from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np

from worlds.adapters.engine import BUTTONS, Engine, EngineError, Mob, Moment, Scan, Sight
from worlds.adapters.engines.chat_commands import (
    block_lines,
    entity_line,
    game_mode,
    is_entity,
    still_world,
    teleport,
)
from worlds.adapters.engines.engine_options import count, integer, read_options, seconds, words
from worlds.adapters.engines.launched_game import LaunchedGame
from worlds.adapters.engines.malmo_events import EventReader, Placed, placed_objects
from worlds.adapters.engines.malmo_mission import BOX, Mission
from worlds.adapters.engines.malmo_report import Report, read_report
from worlds.adapters.engines.minecraft_look import check_fov
from worlds.adapters.engines.minerl_env import is_old_line, make_env, make_spec
from worlds.adapters.engines.old_scan import scan_of_old_names

_PLAYER = "MineRLAgent0"
_EYE_BLOCKS = 1.62
_LINES_A_TICK = 40  # chat lines sent with one step
_SETTLE_TICKS = 100
_CLOSE_ENOUGH = 1e-3  # blocks, degrees
_SCAN_CELLS = 65536  # of one grid: the game sends its names in one message of at most a megabyte
_ITEM_PREFIX = "item:"
# A new world takes long. A little less than the parent waits (worlds.adapters.engine_choice.Limits): so it hears what
# it was that did not answer. 300 s for a reset, 180 s until the process says hello, with the game started by then.
_TIMEOUT_S, _LAUNCH_S = 290.0, 170.0
_NO_KEYS = [False] * len(BUTTONS)
_WHILE_FAILING = (OSError, ValueError, KeyError, TypeError, AttributeError, RuntimeError, IndexError)


class MineRL(Engine):
    """One agent in one Minecraft. The game waits for every step; only its own randomness makes runs differ.

    Pressing `inventory` does nothing.
    """

    view_range_blocks = 64.0

    def __init__(self, image_px: tuple[int, int], options: dict[str, Any]) -> None:
        """Import MineRL and make ready; the game is started or connected to by the first reset."""
        known = {"port": count, "launch": words, "timeout_s": seconds, "seed": integer}
        options = read_options(options, known)
        super().__init__(image_px, options)
        self._is_old = is_old_line()
        self._spec = make_spec(image_px, is_old=self._is_old)
        timeout_s = options.get("timeout_s", _TIMEOUT_S)
        launch_s = min(timeout_s, _LAUNCH_S)
        self._game = LaunchedGame(options["launch"], timeout_s=launch_s) if "launch" in options else None
        port = self._game.port if self._game is not None else options.get("port")
        self._env = make_env(self._spec, port, is_old=self._is_old, timeout_s=timeout_s)
        self._seed: int = options.get("seed", 0)
        self._has_world = False
        self._said: Report = Report()
        self._sight = Sight(np.zeros((*image_px, 3), np.uint8))
        self._was_y = math.nan
        self._chat: deque[str] = deque(maxlen=5)
        self._events = EventReader([], self._said, is_old=self._is_old)
        self._moment: Moment | None = None

    def reset(self, episode: dict[str, Any]) -> Moment:
        """Make the world anew from its seed, put the task into it, and wait until the agent stands at the start."""
        check_fov(episode["look"])
        self._seed = int(episode["world"]["seed"])
        start = _pose(episode["start"])
        kinds = [(str(row["kind"]), _cell(row["position"])) for row in episode["placements"]]
        placed = placed_objects(kinds, is_old=self._is_old)
        self._begin(
            Mission(
                seed=self._seed,
                start=start,
                inventory=episode["inventory"],
                time_ticks=int(episode["look"]["time_ticks"]),
                watched={thing.index: thing.cell for thing in placed if not is_entity(thing.kind)},
            )
        )
        blocks = [
            line for kind, cell in kinds if not is_entity(kind) for line in block_lines(kind, cell, is_old=self._is_old)
        ]
        entities = [entity_line(kind, cell, is_old=self._is_old) for kind, cell in kinds if is_entity(kind)]
        # A spectator hovers and cannot be hurt: so the start may be in the air, and is reached in any case.
        self._say([*still_world(episode["look"]), game_mode(is_spectator=True, is_old=self._is_old), *blocks])
        self._go(start)
        self._say([*entities, game_mode(is_spectator=False, is_old=self._is_old)])
        self._tick(_NO_KEYS, (0.0, 0.0))  # what the game's server knows comes a tick late
        self._check_blocks(placed)
        self._events = EventReader(placed, self._said, is_old=self._is_old)
        return self._present([])

    def step(self, buttons: Sequence[bool], camera_deg: tuple[float, float], num_ticks: int) -> Moment:
        """Play the ticks; see Engine.step. The camera turns at the beginning of a tick, as it does in Malmo."""
        events = []
        for _ in range(num_ticks):
            if self._said.health <= 0.0:
                break  # the mod ends the mission of a dead agent
            self._tick(buttons, camera_deg)
            events += self._events.read(self._said, buttons)
        return self._present(events)

    def observe(self) -> Moment:
        """Return what the last tick has shown; the game cannot be looked at without one."""
        if self._moment is None:
            raise EngineError("minerl: no episode has begun; call reset first")
        self._moment.events, self._moment.changed = [], ()
        return self._moment

    def look_from(self, eyes: Sequence[Sequence[float]]) -> list[Sight]:
        """Fly to every eye as a spectator, without body or hand, and come back to where the agent was.

        Some ticks pass for each; mobs move on in them.
        """
        home, sights = self._said.pose, []
        self._say([game_mode(is_spectator=True, is_old=self._is_old)])
        for x, y, z, yaw_deg, pitch_deg in eyes:
            self._go((x, y - _EYE_BLOCKS, z, yaw_deg, pitch_deg))
            sights.append(Sight(self._sight.image_HWC.copy()))
        self._go(home)
        self._say([game_mode(is_spectator=False, is_old=self._is_old)])
        return sights

    def scan(self, lowest: tuple[int, int, int], size: tuple[int, int, int]) -> Scan:
        """Read a box through missions whose observation it is, a slab at a time; the world stays as it is.

        Minecraft 1.11.2 tells a block's name without its variant, see worlds.adapters.engines.old_scan.
        """
        size_x, size_y, size_z = size
        height = max(1, _SCAN_CELLS // (size_x * size_z))
        names: dict[str, int] = {}
        index_XZY = np.zeros((size_x, size_z, size_y), np.uint16)
        for y in range(0, size_y, height):
            part = min(height, size_y - y)
            corner = (lowest[0], lowest[1] + y, lowest[2])
            said = self._begin(
                Mission(
                    seed=self._seed,
                    is_fresh=not self._has_world,
                    start=self._said.pose if self._has_world else None,
                    box=(corner, (corner[0] + size_x - 1, corner[1] + part - 1, corner[2] + size_z - 1)),
                )
            )
            found = said.get(BOX, ())
            if len(found) != size_x * part * size_z:
                raise EngineError(
                    f"minerl: a scan of {size_x * part * size_z} blocks was answered with {len(found)}; this Malmo "
                    "has no ObservationFromGrid"
                )
            indices = [names.setdefault(name, len(names)) for name in found]
            index_XZY[:, :, y : y + part] = (
                np.array(indices, np.uint16).reshape(part, size_z, size_x).transpose(2, 1, 0)
            )
        self._moment = None  # the mission that was played is over
        return scan_of_old_names(names, index_XZY) if self._is_old else Scan(list(names), index_XZY)

    def close(self) -> None:
        """End the mission, and the game if MineRL has started it."""
        try:
            self._env.close()
        except _WHILE_FAILING:
            logging.getLogger(__name__).debug("minerl: not closed cleanly", exc_info=True)
        if self._game is not None:
            self._game.close()

    def _begin(self, mission: Mission) -> dict[str, Any]:
        """Start a mission and return what the mod says first."""
        self._spec.mission = mission
        try:
            observation = self._env.reset()
        except _WHILE_FAILING as error:
            raise EngineError(f"minerl: the mission does not begin ({_words(error)})") from error
        self._has_world = True
        return self._take(observation)

    def _take(self, observation: dict[str, Any]) -> dict[str, Any]:
        """Keep the frame and the report of an observation."""
        said = observation["report"]
        self._was_y = self._said.pose[1]
        try:
            self._said = read_report(said, is_old=self._is_old, player=_PLAYER)
        except (KeyError, TypeError, ValueError) as error:
            raise EngineError(f"minerl: the game's report cannot be read ({_words(error)})") from error
        self._chat.extend(self._said.chat)
        self._sight = Sight(np.ascontiguousarray(observation["pov"][..., :3]))
        return said

    def _tick(self, buttons: Sequence[bool], camera_deg: tuple[float, float], chat: Sequence[str] = ()) -> None:
        # No window is opened: the mod of 1.11.2 ends the game then, and in 1.16.5 no other key works until it is left.
        action: dict[str, Any] = {key: int(is_down and key != "inventory") for key, is_down in zip(BUTTONS, buttons)}
        action["camera"] = np.array(camera_deg, np.float32)
        if chat:
            action["chat"] = list(chat)
        try:
            observation, _, is_over, info = self._env.step(action)
        except _WHILE_FAILING as error:
            raise EngineError(f"minerl: the game's answer cannot be used ({_words(error)})") from error
        if "error" in info:
            raise EngineError("minerl: the game does not answer any more")
        self._take(observation)
        if is_over and self._said.health > 0.0:
            raise EngineError("minerl: the game has ended the mission")

    def _say(self, lines: Sequence[str]) -> None:
        """Say chat lines, and let the tick pass in which the game's server reads them."""
        for first in range(0, len(lines), _LINES_A_TICK):
            self._tick(_NO_KEYS, (0.0, 0.0), lines[first : first + _LINES_A_TICK])

    def _go(self, pose: tuple[float, float, float, float, float]) -> None:
        """Teleport the agent and wait until it is there, two ticks or more: then the frame shows it."""
        self._say([teleport(pose)])
        for tick in range(_SETTLE_TICKS):
            self._tick(_NO_KEYS, (0.0, 0.0))
            if tick > 0 and _distance(self._said.pose, pose) < _CLOSE_ENOUGH:
                return
        raise EngineError(
            f"minerl: the agent was sent to {_rounded(pose)} and is at {_rounded(self._said.pose)}; the place is taken "
            "or in the air"
        )

    def _check_blocks(self, placed: Sequence[Placed]) -> None:
        for thing in placed:
            found = self._said.watched.get(thing.index, thing.name)
            if not is_entity(thing.kind) and found != thing.name:
                raise EngineError(
                    f"minerl: {thing.kind} was put at {thing.cell}, but {found} is there; the game said last: "
                    f"{' / '.join(self._chat) or 'nothing'}"
                )

    def _present(self, events: list[Any]) -> Moment:
        said = self._said
        self._moment = Moment(
            sight=self._sight,
            pose=said.pose,
            # The mod does not say; who neither rises nor falls in a tick stands, but for the top of a jump.
            is_on_ground=abs(said.pose[1] - self._was_y) < 1e-6,
            health=said.health,
            items=said.items,
            selected=said.selected,
            mobs=[
                Mob(entity.name, entity.x, entity.y, entity.z, entity.life, self._events.object_of(key), entity.yaw_deg)
                for key, entity in said.entities.items()
                if not entity.name.startswith(_ITEM_PREFIX)
            ],
            events=events,
            changed=self._events.changed(),
        )
        return self._moment


def _pose(numbers: Sequence[float]) -> tuple[float, float, float, float, float]:
    x, y, z, yaw_deg, pitch_deg = (float(number) for number in numbers)
    return x, y, z, yaw_deg, pitch_deg


def _cell(numbers: Sequence[int]) -> tuple[int, int, int]:
    x, y, z = (int(number) for number in numbers)
    return x, y, z


def _distance(pose: Sequence[float], other: Sequence[float]) -> float:
    turn = (pose[3] - other[3] + 180.0) % 360.0 - 180.0
    return max(abs(turn), *(abs(pose[axis] - other[axis]) for axis in (0, 1, 2, 4)))


def _rounded(pose: Sequence[float]) -> str:
    return ", ".join(f"{part:.2f}" for part in pose)


def _words(error: BaseException) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:200]
