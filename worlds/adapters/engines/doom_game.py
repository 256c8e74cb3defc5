"""One running Doom, for its engine (vizdoom.py): a map with our things in it, a player put anywhere, a picture."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import numpy as np
import vizdoom

from worlds.adapters.engine import EngineError, Sight
from worlds.adapters.engines.doom_wad import (
    MAP,
    SCRIPT_PITCH,
    SCRIPT_PLACE,
    SCRIPT_SEE,
    SCRIPT_SPAWN,
    THINGS,
    UNITS_PER_BLOCK,
    add_on,
    map_lumps_of,
    plan_lumps,
)
from worlds.adapters.engines.floor_plan import floor_plan
from worlds.adapters.engines.picture_fit import PictureFit

_KIND_PREFIX = "vizdoom:"
_SETTLE_TICS = 3  # Doom ignores the first turns of an episode
_DEAF_TICS = 2  # and of one who was put somewhere else
_FIXED = 65536  # Doom's 1.0
_VARIABLES = ("POSITION_X", "POSITION_Y", "POSITION_Z", "ANGLE", "PITCH", "HEALTH", "ON_GROUND")
DOOM_BUTTONS = (
    "MOVE_FORWARD_BACKWARD_DELTA",
    "MOVE_LEFT_RIGHT_DELTA",
    "TURN_LEFT_RIGHT_DELTA",
    "LOOK_UP_DOWN_DELTA",
    "JUMP",
    "ATTACK",
    "USE",
)


class Here(NamedTuple):
    """What a game says of its player."""

    pose: tuple[float, float, float, float, float]  # in blocks and degrees, as ours
    health: float  # of 100
    is_on_ground: bool


class DoomGame:
    """One running Doom."""

    def __init__(self, folder: str, screen_px: tuple[int, int], world: tuple[str, int], *, is_camera: bool) -> None:
        """Start it on a map, (source, seed) of a world, with its files in `folder`; as the agent's or as a camera."""
        source, seed = world
        self._is_camera = is_camera
        package = os.path.dirname(vizdoom.__file__)
        lumps, level = _map_of(source, seed)
        path = os.path.join(folder, "camera.wad" if is_camera else "agent.wad")
        with open(path, "wb") as file:
            file.write(add_on(lumps, is_camera=is_camera))
        game = vizdoom.DoomGame()
        game.set_doom_game_path(os.path.join(package, "freedoom2.wad"))
        game.set_doom_scenario_path(path)
        game.set_doom_config_path(os.path.join(folder, "settings.ini"))
        game.set_doom_map(level)
        height, width = screen_px
        game.set_screen_resolution(getattr(vizdoom.ScreenResolution, f"RES_{width}X{height}"))
        game.set_screen_format(vizdoom.ScreenFormat.RGB24)
        game.set_labels_buffer_enabled(True)
        game.set_objects_info_enabled(True)
        game.set_sectors_info_enabled(True)
        for part in ("hud", "weapon", "crosshair", "decals", "particles", "effects_sprites", "messages", "corpses"):
            getattr(game, f"set_render_{part}")(False)
        game.set_render_screen_flashes(False)
        game.set_window_visible(False)
        game.set_sound_enabled(False)
        game.set_mode(vizdoom.Mode.PLAYER)
        game.set_available_buttons([getattr(vizdoom.Button, name) for name in DOOM_BUTTONS])
        game.set_available_game_variables([getattr(vizdoom.GameVariable, name) for name in _VARIABLES])
        game.set_episode_timeout(0)
        # Without cheats the console has no `puke`; without monsters nothing but the agent moves.
        game.add_game_args("+sv_cheats 1 -nomonsters")
        here = os.getcwd()
        os.chdir(folder)  # where it leaves a folder `_vizdoom`
        try:
            game.init()
        except Exception as error:
            raise EngineError(f"vizdoom: the map {level} of {source!r} does not start ({error})") from None
        finally:
            os.chdir(here)
        self._game = game

    def begin(self, episode: dict[str, Any], object_N3: np.ndarray) -> None:
        """Load the map again and put the placements on their floors."""
        self._game.set_seed(int(episode["seed"]) & 0x7FFFFFFF)
        self._game.new_episode()
        for _ in range(_SETTLE_TICS):
            self.act([0.0] * len(DOOM_BUTTONS))
        kinds = list(THINGS)
        for placement, place_3 in zip(episode["placements"], object_N3):
            kind = placement["kind"]
            if not kind.startswith(_KIND_PREFIX) or kind[len(_KIND_PREFIX) :] not in THINGS:
                raise EngineError(
                    f"vizdoom: it has no {kind!r}; it has {', '.join(_KIND_PREFIX + name for name in THINGS)}"
                )
            x, y, z = (round(part * _FIXED) for part in map_units(place_3))
            self._puke(SCRIPT_SPAWN, kinds.index(kind[len(_KIND_PREFIX) :]), x, y, z)
        if self._is_camera:
            self._puke(SCRIPT_SEE, 0, 0, 0)
        self.act([0.0] * len(DOOM_BUTTONS))

    def place(self, pose: tuple[float, float, float, float, float]) -> None:
        """Put the player's feet, or the camera, there and at rest; takes one tic."""
        x, y, z = (round(part * _FIXED) for part in map_units(pose[:3]))
        self._puke(SCRIPT_PLACE, x, y, z, round((270.0 - pose[3]) % 360.0 / 360.0 * _FIXED) % _FIXED)
        self._puke(SCRIPT_PITCH, round(pose[4] / 360.0 * _FIXED))
        self.act([0.0] * len(DOOM_BUTTONS))

    def rest(self) -> None:
        """Let the tics pass in which a player who was put somewhere neither walks nor turns."""
        for _ in range(_DEAF_TICS):
            self.act([0.0] * len(DOOM_BUTTONS))

    def act(self, action: list[float]) -> None:
        """Let one tic pass."""
        if self._game.is_episode_finished():
            return  # an exit of the map, or death: the present stays as it is until the next reset
        self._game.make_action(action, 1)

    def state(self) -> Any:
        """Return ViZDoom's state, the last one where the level is over."""
        state = self._game.get_state()
        if state is not None:
            self._last_state = state
        return self._last_state

    def here(self) -> Here:
        """Return where the player is."""
        x, y, z, angle_deg, pitch_deg, health, on_ground = (float(value) for value in self.state().game_variables)
        yaw_deg = (270.0 - angle_deg + 180.0) % 360.0 - 180.0
        pose = (x / UNITS_PER_BLOCK, z / UNITS_PER_BLOCK, -y / UNITS_PER_BLOCK, yaw_deg, pitch_deg)
        return Here(pose, health, on_ground > 0)

    def sight(self, object_N3: np.ndarray, fit: PictureFit) -> Sight:
        """Return the picture, and which placement each pixel shows."""
        state = self.state()
        index_of_value = np.ones(256, np.int32)
        for label in state.labels:
            if len(object_N3) and label.object_name.startswith("Marked"):
                x, y = label.object_position_x / UNITS_PER_BLOCK, label.object_position_y / UNITS_PER_BLOCK
                off_N = np.abs(object_N3[:, [0, 2]] - [x, -y]).max(axis=1)
                index_of_value[label.value] = 2 + int(off_N.argmin())
        return Sight(fit.image(state.screen_buffer), fit.labels(index_of_value[state.labels_buffer]))

    def close(self) -> None:
        """Stop the game."""
        self._game.close()

    def _puke(self, script: int, *arguments: int) -> None:
        self._game.send_game_command(f"puke {-script} " + " ".join(str(argument) for argument in arguments))


def _map_of(source: str, seed: int) -> tuple[list[tuple[str, bytes]], str]:
    """Return the lumps of a world's map, none where it is the game's own, and its name."""
    if source == "vizdoom:rooms":
        return plan_lumps(floor_plan(seed)), MAP
    if source == "vizdoom:my_way_home":
        with open(os.path.join(vizdoom.scenarios_path, "my_way_home.wad"), "rb") as file:
            return map_lumps_of(file.read()), MAP
    if source == "vizdoom:freedoom2":
        return [], f"MAP{seed % 32 + 1:02d}"
    raise EngineError(
        f"vizdoom: it has no world {source!r}; it has vizdoom:rooms, vizdoom:my_way_home and vizdoom:freedoom2"
    )


def map_units(place: Any) -> tuple[float, float, float]:
    """Return Doom's x, y, z in map units of a place in blocks."""
    return float(place[0]) * UNITS_PER_BLOCK, -float(place[2]) * UNITS_PER_BLOCK, float(place[1]) * UNITS_PER_BLOCK
