"""Engines in child processes behind the EnvBackend contract. E envs, V views, H W C image, M mobs, S slots."""

import dataclasses
import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np

from worlds.adapters.engine import Moment, Sight
from worlds.adapters.event_rows import Cell, event_rows
from worlds.adapters.names import NONE_ID, item_id, mob_id
from worlds.adapters.process import EngineChoice, EngineFaultError, EngineProcess, Limits
from worlds.adapters.target_label import target_label
from worlds.spec import Episode, WorldSpec
from worlds.types import BUTTONS, INSTANCE_FIRST_OBJECT, MAX_EVENTS, ActionBatch, TickBatch, ViewBatch
from worlds.voxel.state import MAX_MOBS, NUM_SLOTS

_LOG = logging.getLogger(__name__)
_Answer = TypeVar("_Answer")


@dataclasses.dataclass(slots=True)
class _Env:
    """One engine and what is known of its episode."""

    process: EngineProcess | None = None
    episode: Episode | None = None
    origin: Cell = (0, 0, 0)
    object_at: dict[Cell, int] = dataclasses.field(default_factory=dict)
    is_lost: bool = False  # a fault since the last reset: there is nothing more to see
    num_faults: int = 0  # in a row


class ProcessBackend:
    """E engines in lockstep, each in a process of its own. See worlds.backend.EnvBackend.

    A fault of an engine (it ended, hung, or said what cannot be) ends the episode there: `is_fault_E` from then on,
    the last picture stays, and the next reset of that env starts the engine again. Faults of one env that follow each
    other without a step between them end in EngineFaultError.
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
    ) -> None:
        """Start `num_envs` engines; every episode's world must be of `size_blocks`.

        Raises:
            EngineFaultError: an engine does not start at all.
            ValueError: a number is out of range.
        """
        if num_envs < 1:
            raise ValueError(f"num_envs must be at least 1, got {num_envs}")
        if max_faults_in_row < 1:
            raise ValueError(f"max_faults_in_row must be at least 1, got {max_faults_in_row}")
        self.num_envs = num_envs
        self.size_blocks = size_blocks
        self.image_px = image_px
        self.choice = choice
        self._limits = limits or Limits()
        self._max_faults_in_row = max_faults_in_row
        self._with_depth = with_depth
        self._envs = [_Env() for _ in range(num_envs)]
        self._tick = _empty_tick(num_envs, image_px, with_depth=with_depth)
        try:
            for env in self._envs:
                env.process = self._start()
            for env in self._envs:
                assert env.process is not None
                env.process.hello()
        except BaseException:
            self.close()
            raise
        first = self._envs[0].process
        assert first is not None
        self.view_range_blocks = first.view_range_blocks
        self.is_realtime = first.is_realtime

    def _start(self) -> EngineProcess:
        options = dict(self.choice.options) | ({"with_depth": True} if self._with_depth else {})
        return EngineProcess(dataclasses.replace(self.choice, options=options), self.image_px, self._limits)

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
            env = self._envs[e]
            env.episode, env.origin, env.is_lost = episode, episode.world.origin_blocks, False
            env.object_at = {placement.position: index for index, placement in enumerate(episode.placements)}
            self._tick.is_fault_E[e] = False
            if env.process is None:
                self._try(e, lambda e=e: self._begin_again(e))  # type: ignore[misc]
        self._ask(env_index_N, lambda process, e: process.ask_reset(_shifted(self._episode(e))))
        for e, moment in self._answers(env_index_N, lambda process, e: process.moment()):
            self._write(e, moment)

    def _begin_again(self, e: int) -> None:
        process = self._start()
        self._envs[e].process = process
        process.hello()

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

        def act(process: EngineProcess, e: int) -> None:
            buttons, camera_deg = actions.buttons_EB[e].tolist(), actions.camera_deg_E2[e].tolist()
            process.ask("step", {"buttons": buttons, "camera_deg": camera_deg, "num_ticks": num_ticks})

        self._look(range(self.num_envs), act)
        for env in self._envs:
            env.num_faults = env.num_faults if env.is_lost else 0
        return self._tick

    def observe(self) -> TickBatch:
        """Look without letting time pass, as far as the engine can; see EnvBackend.observe."""
        return self.observe_only(range(self.num_envs))

    def observe_only(self, env_index_N: Sequence[int]) -> TickBatch:
        """Look into the given envs; rows of the others stay as the last step left them."""
        self._check_started()
        self._look(env_index_N, lambda process, e: process.ask("observe"))
        return self._tick

    def _look(self, env_index_N: Iterable[int], ask: Callable[[EngineProcess, int], None]) -> None:
        """Ask envs for a moment and write it down; a lost env has no events, and says that it is lost."""
        index_N = list(env_index_N)
        self._tick.event_EN4[index_N] = 0
        self._ask(index_N, ask)
        for e, moment in self._answers(index_N, lambda process, e: process.moment()):
            self._write(e, moment)
        for e in index_N:
            self._tick.is_fault_E[e] = self._envs[e].is_lost

    def render_views(self, env_index_V: Sequence[int], eye_V5: np.ndarray) -> ViewBatch:
        """Render views from anywhere; see EnvBackend.render_views. A lost env shows nothing, in black."""
        views = _empty_views(len(env_index_V), self.image_px, with_depth=self._with_depth)
        rows_of = _rows_by_env(env_index_V)

        def ask(process: EngineProcess, e: int) -> None:
            eyes_R5 = np.asarray(eye_V5, np.float64)[rows_of[e]] + np.array([*self._envs[e].origin, 0.0, 0.0])
            process.ask("look_from", {"eyes": eyes_R5.tolist()})

        self._ask(rows_of, ask)
        for e, sights in self._answers(rows_of, lambda process, e: process.sights(len(rows_of[e]))):
            target = self._target_instance(e)
            for row, sight in zip(rows_of[e], sights, strict=True):
                _copy_sight(sight, views.image_VHWC[row], views.instance_VHW[row], views.depth_VHW, row)
                views.target_V7[row] = target_label(views.instance_VHW[row], target)
        return views

    def is_line_clear(self, env_index_V: Sequence[int], from_V3: np.ndarray, cell_V3: np.ndarray) -> np.ndarray:
        """Tell whether a ray from each point meets its cell first; see EnvBackend.is_line_clear."""
        clear_V = np.zeros(len(env_index_V), bool)
        rows_of = _rows_by_env(env_index_V)

        def ask(process: EngineProcess, e: int) -> None:
            origin_3 = np.array(self._envs[e].origin)
            froms = (np.asarray(from_V3, np.float64)[rows_of[e]] + origin_3).tolist()
            process.ask("lines_clear", {"froms": froms, "cells": (np.asarray(cell_V3)[rows_of[e]] + origin_3).tolist()})

        self._ask(rows_of, ask)
        for e, clear in self._answers(rows_of, lambda process, e: process.lines(len(rows_of[e]))):
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
        for env in self._envs:
            if env.process is not None:
                env.process.close()
                env.process = None

    def _ask(self, env_index_N: Iterable[int], ask: Callable[[EngineProcess, int], None]) -> None:
        """Send requests to the engines that are not lost, all before the first answer is waited for."""
        for e in env_index_N:
            process = self._envs[e].process
            if process is not None and not self._envs[e].is_lost:
                self._try(e, lambda process=process, e=e: ask(process, e))  # type: ignore[misc]

    def _answers(
        self, env_index_N: Iterable[int], answer: Callable[[EngineProcess, int], _Answer]
    ) -> Iterator[tuple[int, _Answer]]:
        """Yield the answers of the engines that were asked, with their envs."""
        for e in env_index_N:
            process = self._envs[e].process
            if process is None or self._envs[e].is_lost:
                continue
            found = self._try(e, lambda process=process, e=e: answer(process, e))  # type: ignore[misc]
            if found is not None:
                yield e, found

    def _try(self, e: int, deed: Callable[[], _Answer]) -> _Answer | None:
        """Return what `deed` does; where the engine of env e fails, note it and end the engine."""
        env = self._envs[e]
        try:
            return deed()
        except EngineFaultError as fault:
            env.is_lost = True
            env.num_faults += 1
            if env.process is not None:
                _LOG.warning("env %d: %s; its end so far: %s", e, fault, env.process.log[-500:])
                env.process.kill()
                env.process = None
            if env.num_faults >= self._max_faults_in_row:
                raise EngineFaultError(f"{fault}; that was fault {env.num_faults} in a row of env {e}") from None
            return None

    def _check_started(self) -> None:
        for e, env in enumerate(self._envs):
            if env.episode is None:
                raise ValueError(f"backend: env {e} has no episode yet; call reset for every env first")

    def _episode(self, e: int) -> Episode:
        episode = self._envs[e].episode
        assert episode is not None
        return episode

    def _target_instance(self, e: int) -> int:
        episode = self._episode(e)
        return INSTANCE_FIRST_OBJECT + episode.target_index if episode.target_index >= 0 else 0

    def _write(self, e: int, moment: Moment) -> None:
        """Put what the engine says into row e of the tick."""
        tick, env = self._tick, self._envs[e]
        _copy_sight(moment.sight, tick.image_EHWC[e], tick.instance_EHW[e], tick.depth_EHW, e)
        tick.target_E7[e] = target_label(tick.instance_EHW[e], self._target_instance(e))
        tick.pose_E5[e] = moment.pose
        tick.pose_E5[e, :3] -= env.origin
        tick.is_on_ground_E[e], tick.health_E[e] = moment.is_on_ground, moment.health
        tick.selected_E[e] = moment.selected
        tick.item_ES[e], tick.count_ES[e] = NONE_ID, 0
        for slot, (name, count) in enumerate(moment.items[:NUM_SLOTS]):
            number = item_id(name) if name else NONE_ID
            tick.item_ES[e, slot], tick.count_ES[e, slot] = number, count if number != NONE_ID else 0
        _write_mobs(tick.mob_EM6[e], moment, env.origin)
        tick.event_EN4[e] = event_rows(
            moment.events, origin=env.origin, size_blocks=self.size_blocks, object_at=env.object_at
        )


def _write_mobs(mob_M6: np.ndarray, moment: Moment, origin: Cell) -> None:
    """Write the mobs near the agent: placed ones first where there are more than rows, then the nearest."""
    mobs = moment.mobs
    if len(mobs) > MAX_MOBS:
        x, y, z = moment.pose[:3]
        mobs = sorted(
            mobs,
            key=lambda mob: (mob.object_index < 0, (mob.x - x) ** 2 + (mob.y - y) ** 2 + (mob.z - z) ** 2),
        )[:MAX_MOBS]
    mob_M6[:] = (NONE_ID, 0, 0, 0, 0, 0)
    for row, mob in enumerate(mobs):
        kind = mob_id(mob.kind) if mob.kind else NONE_ID
        mob_M6[row] = (
            kind, mob.object_index + 1, mob.x - origin[0], mob.y - origin[1], mob.z - origin[2], mob.health
        )  # fmt: skip


def _shifted(episode: Episode) -> dict[str, Any]:
    """Return the episode as the engine gets it: in its own coordinates."""
    fields = dataclasses.asdict(episode)
    origin_x, origin_y, origin_z = episode.world.origin_blocks
    start = episode.start
    fields["start"] = [
        start.x + origin_x, start.y + origin_y, start.z + origin_z, start.yaw_deg, start.pitch_deg
    ]  # fmt: skip
    for placement in fields["placements"]:
        x, y, z = placement["position"]
        placement["position"] = [x + origin_x, y + origin_y, z + origin_z]
    return fields


def _rows_by_env(env_index_V: Sequence[int]) -> dict[int, list[int]]:
    rows_of: dict[int, list[int]] = {}
    for row, e in enumerate(env_index_V):
        rows_of.setdefault(int(e), []).append(row)
    return rows_of


def _copy_sight(
    sight: Sight, image_HWC: np.ndarray, instance_HW: np.ndarray, depth_XHW: np.ndarray | None, row: int
) -> None:
    image_HWC[:] = sight.image_HWC
    instance_HW[:] = 0 if sight.instance_HW is None else sight.instance_HW
    if depth_XHW is not None and sight.depth_HW is not None:
        depth_XHW[row] = sight.depth_HW


def _empty_views(num_views: int, image_px: tuple[int, int], *, with_depth: bool) -> ViewBatch:
    return ViewBatch(
        image_VHWC=np.zeros((num_views, *image_px, 3), np.uint8),
        instance_VHW=np.zeros((num_views, *image_px), np.int32),
        depth_VHW=np.zeros((num_views, *image_px), np.float32) if with_depth else None,
        target_V7=np.zeros((num_views, 7), np.float32),
    )


def _empty_tick(num_envs: int, image_px: tuple[int, int], *, with_depth: bool) -> TickBatch:
    views = _empty_views(num_envs, image_px, with_depth=with_depth)
    return TickBatch(
        image_EHWC=views.image_VHWC,
        instance_EHW=views.instance_VHW,
        depth_EHW=views.depth_VHW,
        target_E7=views.target_V7,
        pose_E5=np.zeros((num_envs, 5)),
        is_on_ground_E=np.zeros(num_envs, bool),
        health_E=np.zeros(num_envs, np.float32),
        item_ES=np.full((num_envs, NUM_SLOTS), NONE_ID, np.int32),
        count_ES=np.zeros((num_envs, NUM_SLOTS), np.int32),
        selected_E=np.zeros(num_envs, np.int32),
        mob_EM6=np.full((num_envs, MAX_MOBS, 6), (NONE_ID, 0.0, 0.0, 0.0, 0.0, 0.0)),
        event_EN4=np.zeros((num_envs, MAX_EVENTS, 4), np.int32),
        is_fault_E=np.zeros(num_envs, bool),
    )
