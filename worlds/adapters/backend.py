"""Engines in child processes behind the EnvBackend contract. E envs, V views, N some of the envs."""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from worlds.adapters.engine import Moment
from worlds.adapters.engine_choice import EngineChoice, Limits
from worlds.adapters.engine_pool import EnginePool
from worlds.adapters.foreign_env import ForeignEnv
from worlds.adapters.foreign_episode import episode_fields
from worlds.adapters.mirror import Mirror
from worlds.adapters.pool_scanner import PoolScanner
from worlds.adapters.process import EngineProcess
from worlds.adapters.scanned_worlds import ScannedWorlds, scan_folder
from worlds.adapters.target_label import target_label
from worlds.adapters.tick_rows import empty_tick, empty_views, write_moment, write_sight
from worlds.adapters.view_filler import ViewFiller
from worlds.spec import Episode, World, WorldSpec
from worlds.types import BUTTON_INDEX, BUTTONS, ActionBatch, TickBatch, ViewBatch


class ProcessBackend:
    """E engines in lockstep, each in a process of its own. See worlds.backend.EnvBackend.

    A fault of an engine (it ended, hung, or said what cannot be) ends the episode there: `is_fault_E` from then on,
    the last picture stays, and the next reset of that env starts the engine again. Faults of one env that follow each
    other without a step between them end in EngineFaultError.

    What an engine does not show (masks, depth, lines of sight, views from elsewhere) is taken from a mirror of its
    blocks where it can be scanned; else there are no masks, and no line is clear.
    """

    def __init__(
        self,
        num_envs: int,
        choice: EngineChoice,
        *,
        size_blocks: tuple[int, int, int] = (128, 64, 128),
        image_px: tuple[int, int] = (128, 128),
        with_depth: bool = False,
        limits: Limits | None = None,
        max_faults_in_row: int = 5,
        worlds: ScannedWorlds | None = None,
    ) -> None:
        """Start `num_envs` engines; every episode's world must be of `size_blocks`.

        `worlds` are scans to be shared with others that work in them; by default they are this backend's own, and kept
        in a cache folder.

        Raises:
            EngineFaultError: an engine does not start at all.
            ValueError: a number is out of range.
        """
        if num_envs < 1:
            raise ValueError(f"num_envs must be at least 1, got {num_envs}")
        self.num_envs = num_envs
        self.size_blocks = size_blocks
        self.image_px = image_px
        self.choice = choice
        self._with_depth = with_depth
        self._env_of: dict[int, ForeignEnv] = {}
        self._tick = empty_tick(num_envs, image_px, with_depth=with_depth)
        options = dict(choice.options) | ({"with_depth": True} if with_depth else {})
        self._pool = EnginePool(
            num_envs,
            dataclasses.replace(choice, options=options),
            image_px,
            limits or Limits(),
            max_faults_in_row=max_faults_in_row,
        )
        first = self._pool.process(0)
        self.is_realtime = first.is_realtime
        self.view_range_blocks = first.view_range_blocks
        self._methods = first.methods
        self._scanner = PoolScanner(self._pool, worlds, scan_folder(choice))
        self._mirror: Mirror | None = None
        self._filler: ViewFiller | None = None
        shows_all = first.has_masks and {"lines_clear", "look_from"} <= first.methods
        if "scan" in first.methods and not (shows_all and (first.has_depth or not with_depth)):
            try:
                self._mirror = Mirror(num_envs, self._scanner.worlds, size_blocks=size_blocks, image_px=image_px)
            except BaseException:
                self._pool.close()
                raise
            self._filler = ViewFiller(self._mirror, self._pool, self._env_of)
            self.view_range_blocks = min(self.view_range_blocks, self._mirror.view_range_blocks)

    def announce(self, worlds: Sequence[WorldSpec]) -> None:
        """Do nothing: an engine makes its worlds when they are asked for."""

    def reset(self, env_index_N: Sequence[int], episodes: Sequence[Episode]) -> None:
        """Put episodes[n] into env env_index_N[n]; see EnvBackend.reset. An env that fails shows it in the next step.

        Raises:
            EngineFaultError: an env failed too often in a row.
            ValueError: a world has another size than the backend was made for.
        """
        for episode in episodes:
            if episode.world.size_blocks != self.size_blocks:
                raise ValueError(
                    f"backend: the episode's world is {episode.world.size_blocks} blocks, this backend was made for "
                    f"{self.size_blocks}; make a backend of that size"
                )
        for e, episode in zip(env_index_N, episodes, strict=True):
            self._env_of[e] = ForeignEnv(episode)
            self._tick.is_fault_E[e] = False
            self._pool.revive(e)
            if self._mirror is not None and not self._pool.is_lost_E[e]:
                self._scanner.scan_unseen(e, episode.world)
            if self._mirror is not None and not self._pool.is_lost_E[e]:
                # Now: a world that no folder keeps may have left the memory when the next env's was scanned.
                self._mirror.begin(e, episode)
        self._pool.ask(env_index_N, lambda process, e: process.ask_reset(episode_fields(self._env_of[e].episode)))
        for e, moment in self._pool.answers(env_index_N, lambda process, e: process.moment()):
            self._write(e, moment)
        if self._filler is not None:
            self._filler.fill(self._tick, env_index_N)

    def scanned_world(self, spec: WorldSpec) -> World | None:
        """Return a world as env 0 finds it, scanned now where it was not before; None for engines without blocks.

        What is played there is over: reset the env before it is stepped on. EngineFaultError: the engine fails.
        """
        if "scan" not in self._methods:
            return None
        return self._scanner.world(spec)

    def step(self, actions: ActionBatch, *, num_ticks: int = 1) -> TickBatch:
        """Play `num_ticks` ticks in every env; see EnvBackend.step."""
        expected = (self.num_envs, len(BUTTONS))
        if actions.buttons_EB.shape != expected or actions.camera_deg_E2.shape != (self.num_envs, 2):
            raise ValueError(
                f"backend: buttons must be {expected} and camera {(self.num_envs, 2)}, got "
                f"{actions.buttons_EB.shape} and {actions.camera_deg_E2.shape}"
            )
        if num_ticks < 1:
            raise ValueError(f"num_ticks must be at least 1, got {num_ticks}")
        self._check_started()
        for e, env in self._env_of.items():
            env.is_sneaking = bool(actions.buttons_EB[e, BUTTON_INDEX["sneak"]])
            env.num_steps += 1

        def act(process: EngineProcess, e: int) -> None:
            buttons, camera_deg = actions.buttons_EB[e].tolist(), actions.camera_deg_E2[e].tolist()
            process.ask("step", {"buttons": buttons, "camera_deg": camera_deg, "num_ticks": num_ticks})

        self._look(range(self.num_envs), act)
        self._pool.note_steps()
        return self._tick

    def observe(self) -> TickBatch:
        """Look without letting time pass, as far as the engine can; see EnvBackend.observe."""
        return self.observe_only(range(self.num_envs))

    def observe_only(self, env_index_N: Sequence[int]) -> TickBatch:
        """Look into the given envs; rows of the others stay as the last step left them."""
        self._check_started()
        self._look(env_index_N, lambda process, e: process.ask("observe"))
        return self._tick

    def _look(self, env_index_N: Sequence[int], ask: Callable[[EngineProcess, int], None]) -> None:
        """Ask envs for a moment and write it down; a lost env has no events, and says that it is lost."""
        index_N = list(env_index_N)
        self._tick.event_EN4[index_N] = 0
        self._pool.ask(index_N, ask)
        for e, moment in self._pool.answers(index_N, lambda process, e: process.moment()):
            self._write(e, moment)
        if self._filler is not None:
            self._filler.rescan(self._tick, index_N)
            self._filler.fill(self._tick, index_N)
        self._tick.is_fault_E[index_N] = self._pool.is_lost_E[index_N]

    def render_views(self, env_index_V: Sequence[int], eye_V5: np.ndarray) -> ViewBatch:
        """Render views from anywhere; see EnvBackend.render_views. A lost env shows nothing, in black.

        An engine that has no camera but the agent's shows the mirror's picture.
        """
        views = empty_views(len(env_index_V), self.image_px, with_depth=self._with_depth)
        eye_V5 = np.asarray(eye_V5, np.float64)
        rows_of = self._rows_by_env(env_index_V)
        if self._mirror is not None:
            rows = [row for rows in rows_of.values() for row in rows]
            mirrored = self._mirror.views([env_index_V[row] for row in rows], eye_V5[rows])
            for source in dataclasses.fields(ViewBatch):
                whole, part = getattr(views, source.name), getattr(mirrored, source.name)
                if whole is not None:
                    whole[rows] = part
        if "look_from" in self._methods:

            def ask(process: EngineProcess, e: int) -> None:
                eye_R5 = eye_V5[rows_of[e]] + np.array([*self._env_of[e].origin, 0.0, 0.0])
                process.ask("look_from", {"eyes": eye_R5.tolist()})

            self._pool.ask(rows_of, ask)
            for e, sights in self._pool.answers(rows_of, lambda process, e: process.sights(len(rows_of[e]))):
                for row, sight in zip(rows_of[e], sights, strict=True):
                    depth_HW = None if views.depth_VHW is None else views.depth_VHW[row]
                    write_sight(views.image_VHWC[row], views.instance_VHW[row], depth_HW, sight)
        for row, e in enumerate(env_index_V):
            views.target_V7[row] = target_label(views.instance_VHW[row], self._env_of[e].target_instance)
        return views

    def is_line_clear(self, env_index_V: Sequence[int], from_V3: np.ndarray, cell_V3: np.ndarray) -> np.ndarray:
        """Tell whether a ray from each point meets its cell first; see EnvBackend.is_line_clear."""
        clear_V = np.zeros(len(env_index_V), bool)
        from_V3, cell_V3 = np.asarray(from_V3, np.float64), np.asarray(cell_V3)
        rows_of = self._rows_by_env(env_index_V)
        if "lines_clear" not in self._methods:
            rows = [row for rows in rows_of.values() for row in rows]
            if self._mirror is not None and rows:
                index_V = [env_index_V[row] for row in rows]
                clear_V[rows] = self._mirror.is_line_clear(index_V, from_V3[rows], cell_V3[rows])
            return clear_V

        def ask(process: EngineProcess, e: int) -> None:
            origin_3 = np.array(self._env_of[e].origin)
            froms, cells = from_V3[rows_of[e]] + origin_3, cell_V3[rows_of[e]] + origin_3
            process.ask("lines_clear", {"froms": froms.tolist(), "cells": cells.tolist()})

        self._pool.ask(rows_of, ask)
        for e, clear in self._pool.answers(rows_of, lambda process, e: process.lines(len(rows_of[e]))):
            clear_V[rows_of[e]] = clear
        return clear_V

    def snapshot(self, env_index_N: Sequence[int]) -> Any:
        """Refuse: the present of a foreign engine is out of reach."""
        raise NotImplementedError(f"{self.choice.name}: cannot be saved; only the built-in engine can")

    def restore(self, env_index_N: Sequence[int], snapshot: Any) -> None:
        """Refuse, see snapshot."""
        raise NotImplementedError(f"{self.choice.name}: cannot be set back; only the built-in engine can")

    def close(self) -> None:
        """End all engines."""
        self._pool.close()
        if self._mirror is not None:
            self._mirror.close()

    def _rows_by_env(self, env_index_V: Sequence[int]) -> dict[int, list[int]]:
        """Return which rows belong to each env that is not lost."""
        rows_of: dict[int, list[int]] = {}
        for row, e in enumerate(env_index_V):
            if not self._pool.is_lost_E[int(e)]:
                rows_of.setdefault(int(e), []).append(row)
        return rows_of

    def _check_started(self) -> None:
        missing = [e for e in range(self.num_envs) if e not in self._env_of]
        if missing:
            raise ValueError(f"backend: env {missing[0]} has no episode yet; call reset for every env first")

    def _write(self, e: int, moment: Moment) -> None:
        """Put what the engine says into row e of the tick, and into the mirror."""
        tick, env = self._tick, self._env_of[e]
        env.moment = moment
        if moment.sight.instance_HW is None:
            tick.instance_EHW[e] = 0
        depth_HW = None if tick.depth_EHW is None else tick.depth_EHW[e]
        write_sight(tick.image_EHWC[e], tick.instance_EHW[e], depth_HW, moment.sight)
        tick.target_E7[e] = target_label(tick.instance_EHW[e], env.target_instance)
        object_at = {placement.position: index for index, placement in enumerate(env.episode.placements)}
        write_moment(tick, e, moment, origin=env.origin, size_blocks=self.size_blocks, object_at=object_at)
        if self._mirror is not None:
            self._mirror.follow(e, moment, env.origin)
