"""Filling in what engines do not draw of agents' views, from a mirror that keeps step with their worlds. N envs."""

from collections.abc import Mapping, Sequence

import numpy as np

from worlds.adapters.engine import Sight
from worlds.adapters.engine_pool import EnginePool
from worlds.adapters.event_rows import Cell
from worlds.adapters.foreign_env import ForeignEnv
from worlds.adapters.mirror import Mirror
from worlds.adapters.process import EngineProcess
from worlds.adapters.target_label import target_label
from worlds.types import TickBatch

_RESCAN_STEPS = 32  # without an event: sand falls and leaves decay without anybody's doing
_RESCAN_BLOCKS = 6  # around the agent: a little more than its reach


class ViewFiller:
    """Masks and depth for ticks of engines that have none."""

    def __init__(self, mirror: Mirror, pool: EnginePool, env_of: Mapping[int, ForeignEnv]) -> None:
        """Work on the envs of `env_of`, which the caller keeps; each has had a moment before it is named here."""
        self._mirror, self._pool, self._env_of = mirror, pool, env_of

    def rescan(self, tick: TickBatch, env_index_N: Sequence[int]) -> None:
        """Bring the mirror up to date around the agents of those envs in which something may have changed."""
        size = (2 * _RESCAN_BLOCKS + 1,) * 3
        lowest_of: dict[int, Cell] = {}

        def ask(process: EngineProcess, e: int) -> None:
            x, y, z = (int(part) - _RESCAN_BLOCKS for part in np.floor(tick.pose_E5[e, :3]))
            lowest_of[e] = (x, y, z)
            process.ask("scan", {"lowest": np.add(lowest_of[e], self._env_of[e].origin).tolist(), "size": size})

        due = [e for e in env_index_N if self._is_scan_due(e)]
        self._pool.ask(due, ask)
        for e, scan in self._pool.answers(due, lambda process, e: process.scanned(size)):
            self._mirror.patch(e, lowest_of[e], scan)
            self._env_of[e].num_steps = 0

    def _is_scan_due(self, e: int) -> bool:
        env = self._env_of[e]
        if self._pool.is_lost_E[e] or env.moment is None or not self._pool.process(e).can_rescan:
            return False
        return env.num_steps >= _RESCAN_STEPS or any(event.cell is not None for event in env.moment.events)

    def fill(self, tick: TickBatch, env_index_N: Sequence[int]) -> None:
        """Write masks, depth and target labels into the rows of `tick` that lack them; a lost env keeps its last ones.

        One call of the mirror draws all rows.
        """
        lacking = [
            (e, sight)
            for e in env_index_N
            if not self._pool.is_lost_E[e] and _lacks_part(sight := self._sight(e), tick)
        ]
        if not lacking:
            return
        rows = [e for e, _ in lacking]
        is_sneaking_N = np.array([self._env_of[e].is_sneaking for e in rows])
        views = self._mirror.own_views(rows, tick.pose_E5[rows], is_sneaking_N)
        for row, (e, sight) in enumerate(lacking):
            if sight.instance_HW is None:
                tick.instance_EHW[e] = views.instance_VHW[row]
            if tick.depth_EHW is not None and sight.depth_HW is None and views.depth_VHW is not None:
                tick.depth_EHW[e] = views.depth_VHW[row]
            tick.target_E7[e] = target_label(tick.instance_EHW[e], self._env_of[e].target_instance)

    def _sight(self, e: int) -> Sight:
        moment = self._env_of[e].moment
        assert moment is not None
        return moment.sight


def _lacks_part(sight: Sight, tick: TickBatch) -> bool:
    return sight.instance_HW is None or (tick.depth_EHW is not None and sight.depth_HW is None)
