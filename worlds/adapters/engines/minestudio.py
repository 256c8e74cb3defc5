"""Minecraft 1.16.5 through MineStudio's MinecraftSim: one agent, in worlds by seed, put back after every episode.

Options: `folder`, where MineStudio's game is (else $MINESTUDIO_DIR, else ~/.cache/mcrl/minestudio); `seed` of the first
world, made while the engine starts; `render_scale`, how many times finer than asked for the game draws (its own texts
and bars are of fixed size, so that small pictures would be full of them; 1 is as it is).
"""

from __future__ import annotations

import contextlib
import importlib.util
import math
import os
import signal
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from worlds.adapters.engine import BUTTONS, Engine, EngineError, Event, Moment, Scan, Sight
from worlds.adapters.engines.engine_options import count, integer, read_options, text
from worlds.adapters.engines.minecraft_cells import AIR, EYE_BLOCKS, Box
from worlds.adapters.engines.minecraft_client import KEYS, MinecraftClient
from worlds.adapters.engines.minecraft_commands import (
    RULES,
    Cell,
    PlacedBlock,
    bare,
    blocks_of,
    inventory_commands,
    is_entity,
    summon,
)
from worlds.adapters.engines.minecraft_events import EventReader
from worlds.adapters.engines.minecraft_look import check_fov
from worlds.adapters.engines.minestudio_folder import PrivateFolder, game_folder

_WINDOW_PX = 360  # the game's window is at least as high, unless render_scale says otherwise
_TILE_BLOCKS = 64  # side of what one scan of the whole world covers
_BLACK_TICKS = 20
_RESTORE_ROUNDS = 3
_MOST_CHANGES = 400  # more blocks than this are put back by making the world anew


class MineStudio(Engine):
    """One MinecraftSim."""

    def __init__(self, image_px: tuple[int, int], options: dict[str, Any]) -> None:
        """Start the game and its first world; a minute or two with the real game."""
        super().__init__(image_px, read_options(options, {"folder": text, "seed": integer, "render_scale": count}))
        scale = self.options.get("render_scale", max(1, math.ceil(_WINDOW_PX / min(image_px))))
        self._client: MinecraftClient | None = None
        if importlib.util.find_spec("minestudio") is None:  # the package first: it is what fetches the game
            raise ModuleNotFoundError("No module named 'minestudio'", name="minestudio")
        self._folder = PrivateFolder(game_folder(self.options.get("folder")))
        self._seed: int | None = None  # of the world there is
        self._is_fit = False  # it can be put back; else it must be made anew
        self._sky: tuple[int, str] | None = None
        self._reader: EventReader | None = None
        self._covered: dict[Cell, str] = {}  # what was where the episode has put its blocks
        try:
            # Not before: MINESTUDIO_DIR must name the private folder when it is imported.
            from minestudio.simulator import MinecraftSim

            height, width = image_px
            sim = MinecraftSim(
                action_type="env",
                obs_size=(width, height),
                render_size=(width * scale, height * scale),
                num_empty_frames=_BLACK_TICKS,
            )
            self._client = MinecraftClient(sim, image_px, scale, lambda: _has_ended(sim))
            self._make_world(self.options.get("seed", 0))
        except BaseException:
            self.close()
            raise

    def reset(self, episode: dict[str, Any]) -> Moment:
        """See Engine.reset; a world of another seed is made anew, else the last episode is undone block by block."""
        check_fov(episode["look"])
        client, seed = self._started(), int(episode["world"]["seed"])
        if self._is_fit and seed == self._seed:
            self._undo_episode(client)
        if not self._is_fit or seed != self._seed:
            self._make_world(seed)
        self._is_fit = False  # until the reset is complete
        start = [float(part) for part in episode["start"]]
        client.command("/gamemode spectator @p")
        client.come_to(start)
        client.command("/kill @e[type=!player]")
        self._place(client, episode["placements"])
        client.command("/clear @p")
        for command in inventory_commands(episode["inventory"]):
            client.command(command)
        self._set_sky(client, episode["look"])
        client.come_to(start)
        client.command("/gamemode survival @p")
        if client.health() < 20.0 or client.is_hungry():
            client.command("/effect give @p minecraft:instant_health 1 20 true")
            client.command("/effect give @p minecraft:saturation 1 20 true")
        client.command("/effect clear @p")
        client.command("/kill @e[type=item]")  # what the dead have left
        # The game counts what a blow takes and not what an arrow does: of an arrow it tells only that it killed.
        is_frail = any(bare(item) == "bow" for item, _ in episode["inventory"])
        for placement in episode["placements"]:
            if is_entity(placement["kind"]):
                x, y, z = placement["position"]
                client.command(summon(placement["kind"], x + 0.5, float(y), z + 0.5, is_frail=is_frail))
        client.tick({"hotbar.1": 1})
        client.selected = 0
        client.come_to(start, may_fall=True)
        self._reader = EventReader(episode["placements"], client.info, client.cells, client.body(), is_frail=is_frail)
        self._is_fit = True
        return self._moment([], {})

    def step(self, buttons: Sequence[bool], camera_deg: tuple[float, float], num_ticks: int) -> Moment:
        """See Engine.step; pressing `drop` or `inventory` does nothing."""
        client, reader = self._started(), self._playing()
        is_down = dict(zip(BUTTONS, buttons))
        keys = {name: int(is_down[name]) for name in KEYS}
        for slot in range(9):
            if is_down[f"hotbar.{slot + 1}"]:
                client.selected = slot
        events: list[Event] = []
        changed: dict[Cell, str] = {}
        for _ in range(num_ticks):
            client.tick(keys, camera_deg)
            events += reader.read(buttons, client.info, client.cells, client.body())
            changed.update(reader.changed_now)
            if client.health() <= 0:
                self._is_fit = False  # who has died is somewhere else, and the mission may be over
                break
        return self._moment(events, changed)

    def observe(self) -> Moment:
        """See Engine.observe."""
        return self._moment([], {})

    def look_from(self, eyes: Sequence[Sequence[float]]) -> list[Sight]:
        """See Engine.look_from; a spectator has no body, hand or bars. Mobs walk on meanwhile."""
        sights = []
        with self._flying() as client:
            for x, y, z, yaw_deg, pitch_deg in eyes:
                client.come_to([x, y - EYE_BLOCKS, z, yaw_deg, pitch_deg], is_steady=True)
                sights.append(client.sight())
        return sights

    def scan(self, lowest: tuple[int, int, int], size: tuple[int, int, int]) -> Scan:
        """See Engine.scan; tile by tile, so that every chunk is there. States come without properties."""
        names, number = [AIR], {AIR: 0}
        index_XZY = np.zeros((size[0], size[2], size[1]), np.uint16)
        end_x, end_y, end_z = (low + side for low, side in zip(lowest, size))
        with self._flying() as client:
            for x in range(lowest[0], end_x, _TILE_BLOCKS):
                for z in range(lowest[2], end_z, _TILE_BLOCKS):
                    tile = Box((x, lowest[1], z), (min(x + _TILE_BLOCKS, end_x), end_y, min(z + _TILE_BLOCKS, end_z)))
                    for cell, kind in client.scan_tile(tile).kind.items():
                        index = number.setdefault(kind, len(names))
                        if index == len(names):
                            names.append(kind)
                        index_XZY[cell[0] - lowest[0], cell[2] - lowest[2], cell[1] - lowest[1]] = index
        return Scan(names, index_XZY)

    def close(self) -> None:
        """Stop the game, and what MineStudio has left running beside it."""
        client, self._client = self._client, None
        if client is not None:
            with contextlib.suppress(Exception):
                client.sim.close()
            with contextlib.suppress(Exception):
                from minestudio.simulator.minerl.env import database_manager

                watcher_pid, owner_pid = database_manager.database["daemon"]
                if owner_pid == os.getpid():
                    os.kill(watcher_pid, signal.SIGKILL)
                    os.waitpid(watcher_pid, 0)
        self._folder.remove()

    def _started(self) -> MinecraftClient:
        if self._client is None:
            raise EngineError("it is closed; start another")
        return self._client

    def _playing(self) -> EventReader:
        if self._reader is None:
            raise EngineError("no episode is under way; reset it first")
        return self._reader

    @contextlib.contextmanager
    def _flying(self) -> Any:
        """Let the agent be a spectator for a while, and bring it back to where it was."""
        client = self._started()
        home = client.pose()
        client.command("/gamemode spectator @p")
        yield client
        client.come_to(home)
        client.command("/gamemode survival @p")
        client.come_to(home, may_fall=True)

    def _make_world(self, seed: int) -> None:
        """Make the world of a seed anew, whatever was done to it."""
        client = self._started()
        self._is_fit, self._sky, self._reader, self._covered = False, None, None, {}
        client.renew(seed)
        for rule in RULES:
            client.command(rule)
        self._seed, self._is_fit = seed, True

    def _undo_episode(self, client: MinecraftClient) -> None:
        """Put every block back that the last episode has changed; where that fails, the world must be made anew."""
        if self._reader is None:
            return
        kinds = {**self._reader.changed, **self._covered}
        self._is_fit, self._reader = False, None
        if len(kinds) > _MOST_CHANGES:
            return
        client.command("/gamemode spectator @p")
        wrong = [PlacedBlock(cell, kinds[cell]) for cell in sorted(kinds, key=lambda cell: cell[1])]
        for _ in range(_RESTORE_ROUNDS):
            if not wrong:
                break
            wrong = client.put_blocks(wrong)
        self._is_fit = not wrong

    def _place(self, client: MinecraftClient, placements: Sequence[Mapping[str, Any]]) -> None:
        """Put the episode's blocks into the world, and remember what was there."""
        blocks = [
            block
            for placement in placements
            if not is_entity(placement["kind"])
            for block in blocks_of(placement["kind"], tuple(placement["position"]))
        ]
        self._covered = client.kinds_at([block.cell for block in blocks])
        for block in client.put_blocks(blocks):
            raise EngineError(f"{block.state} could not be put at {list(block.cell)}; does the task fit this world?")

    def _set_sky(self, client: MinecraftClient, look: Mapping[str, Any]) -> None:
        wanted = (int(look["time_ticks"]), str(look["weather"]))
        if wanted != self._sky:
            client.command(f"/time set {wanted[0]}")
            client.command(f"/weather {wanted[1]}")
            self._sky = wanted

    def _moment(self, events: list[Event], changed: Mapping[Cell, str]) -> Moment:
        client, reader = self._started(), self._playing()
        body = client.body()
        return Moment(
            sight=client.sight(),
            pose=tuple(body.pose),  # type: ignore[arg-type]
            is_on_ground=body.is_on_ground,
            health=body.health,
            items=client.items(),
            selected=client.selected,
            mobs=reader.mobs,
            events=events,
            changed=list(changed.items()),
        )


def _has_ended(sim: Any) -> bool:
    """Tell whether a game that was launched is gone."""
    games = [instance.minecraft_process for instance in sim.env.instances]
    return any(game is not None and game.poll() is not None for game in games)
