"""Another engine's present in our own: what reads our state, as the expert does, can then act there. E envs."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from worlds.backend import EnvBackend
from worlds.blocks import AIR
from worlds.spec import Episode, WorldSpec
from worlds.types import EVENT_BLOCK_BROKEN, EVENT_BLOCK_PLACED, ActionBatch, TickBatch, ViewBatch
from worlds.voxel.backend import VoxelBackend
from worlds.voxel.kernels import narrow_boxes
from worlds.voxel.world_cache import WorldCache


class ShadowedBackend:
    """An engine of somebody else, and beside it `shadow`, ours, which is never stepped: it is told after every step.

    The shadow knows the blocks as they were scanned, what the agent has broken or placed since, where it stands and
    what it carries. It does not know mobs, arrows or drops, nor what else the engine changes.
    """

    def __init__(self, engine: EnvBackend, worlds: WorldCache, *, size_blocks: tuple[int, int, int]) -> None:
        """Follow `engine`; `worlds` has the worlds of its episodes, for instance ScannedWorlds."""
        self.engine = engine
        self.num_envs = engine.num_envs
        self.image_px = engine.image_px
        self.view_range_blocks = engine.view_range_blocks
        self.shadow = VoxelBackend(engine.num_envs, size_blocks=size_blocks, image_px=(8, 8), world_cache=worlds)

    def announce(self, worlds: Sequence[WorldSpec]) -> None:
        """Pass it on."""
        self.engine.announce(worlds)

    def reset(self, env_index_N: Sequence[int], episodes: Sequence[Episode]) -> None:
        """Begin episodes in both."""
        self.shadow.reset(env_index_N, episodes)
        self.engine.reset(env_index_N, episodes)

    def step(self, actions: ActionBatch, *, num_ticks: int = 1) -> TickBatch:
        """Act in the engine, and let the shadow follow."""
        tick = self.engine.step(actions, num_ticks=num_ticks)
        self._follow(tick, range(self.num_envs), num_ticks)
        return tick

    def observe(self) -> TickBatch:
        """Look at the engine's present."""
        tick = self.engine.observe()
        self._follow(tick, range(self.num_envs), 0)
        return tick

    def observe_only(self, env_index_N: Sequence[int]) -> TickBatch:
        """Look at the engine's present in some envs."""
        tick = self.engine.observe_only(env_index_N)
        self._follow(tick, env_index_N, 0)
        return tick

    def render_views(self, env_index_V: Sequence[int], eye_V5: np.ndarray) -> ViewBatch:
        """Return the engine's own views."""
        return self.engine.render_views(env_index_V, eye_V5)

    def is_line_clear(self, env_index_V: Sequence[int], from_V3: np.ndarray, cell_V3: np.ndarray) -> np.ndarray:
        """Return what the engine says, bool [V]; see EnvBackend.is_line_clear."""
        return self.engine.is_line_clear(env_index_V, from_V3, cell_V3)

    def snapshot(self, env_index_N: Sequence[int]) -> Any:
        """Ask the engine, which will refuse."""
        return self.engine.snapshot(env_index_N)

    def restore(self, env_index_N: Sequence[int], snapshot: Any) -> None:
        """Ask the engine, which will refuse."""
        self.engine.restore(env_index_N, snapshot)

    def close(self) -> None:
        """End both."""
        self.engine.close()
        self.shadow.close()

    def _follow(self, tick: TickBatch, env_index_N: Sequence[int], num_ticks: int) -> None:
        """Take over agents, what they carry, and the blocks that events name."""
        state = self.shadow.state
        bodies, hands, terrain = state.bodies, state.hands, state.terrain
        size_x, size_y, size_z = self.shadow.size_blocks
        for e in env_index_N:
            if num_ticks:
                bodies.velocity_E3[e] = (tick.pose_E5[e, :3] - bodies.position_E3[e]) / num_ticks
            bodies.position_E3[e] = tick.pose_E5[e, :3]
            bodies.yaw_deg_E[e], bodies.pitch_deg_E[e] = tick.pose_E5[e, 3:]
            bodies.is_on_ground_E[e], bodies.health_E[e] = tick.is_on_ground_E[e], tick.health_E[e]
            hands.selected_E[e] = tick.selected_E[e]
            hands.item_ES[e], hands.count_ES[e] = tick.item_ES[e], tick.count_ES[e]
            if not num_ticks:
                continue
            for kind, subject, _, cell in tick.event_EN4[e].tolist():
                if kind not in (EVENT_BLOCK_BROKEN, EVENT_BLOCK_PLACED):
                    continue
                column, y = divmod(cell, size_y)
                x, z = divmod(column, size_z)
                terrain.block_EXZY[e, x, z, y] = AIR if kind == EVENT_BLOCK_BROKEN else subject
                if kind == EVENT_BLOCK_PLACED:
                    narrow_boxes(terrain.field_EXZY[e], x, y, z)
