"""The contract every engine fulfils: E agents, each in a world of its own, stepped together."""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from worlds.spec import Episode, WorldSpec
from worlds.types import ActionBatch, TickBatch, ViewBatch


class EnvBackend(Protocol):
    """E envs in lockstep. Same episodes and same actions give the same bytes, on any number of threads.

    Life cycle: `reset` every env once, then `step` as often as wanted, resetting single envs in between. A reset
    touches no other env. Arrays in a TickBatch are reused by the next call; arrays in a ViewBatch are fresh.
    """

    num_envs: int
    image_px: tuple[int, int]  # height, width
    view_range_blocks: float

    def announce(self, worlds: Sequence[WorldSpec]) -> None:
        """Hear which worlds will soon be asked for, so that a reset need not wait for them. Only ever a hint."""
        ...

    def reset(self, env_index_N: Sequence[int], episodes: Sequence[Episode]) -> None:
        """Put episodes[n] into env env_index_N[n]: world restored, objects placed, agent at the start, full health."""
        ...

    def step(self, actions: ActionBatch, *, num_ticks: int = 1) -> TickBatch:
        """Repeat the actions for `num_ticks` ticks of 50 ms, keep the events, and render once at the end.

        Of more than MAX_EVENTS of an env those are kept that decide a task.
        """
        ...

    def observe(self) -> TickBatch:
        """Render the present state without letting time pass. Events are empty."""
        ...

    def observe_only(self, env_index_N: Sequence[int]) -> TickBatch:
        """Render only the given envs again; pictures of the others stay as the last step left them."""
        ...

    def render_views(self, env_index_V: Sequence[int], eye_V5: np.ndarray) -> ViewBatch:
        """Render views from anywhere: `eye_V5` float64 [V, 5] is the eye's x, y, z, then yaw, pitch in degrees."""
        ...

    def is_line_clear(self, env_index_V: Sequence[int], from_V3: np.ndarray, cell_V3: np.ndarray) -> np.ndarray:
        """Tell for each row whether the centre of block `cell` is the first thing a ray from `from` meets; bool [V]."""
        ...

    def snapshot(self, env_index_N: Sequence[int]) -> Any:
        """Return the whole present of some envs: blocks, mobs, agent, items, randomness. Opaque to the caller.

        The same actions after `restore` give the same bytes. An engine that cannot do it raises NotImplementedError.
        """
        ...

    def restore(self, env_index_N: Sequence[int], snapshot: Any) -> None:
        """Bring back a snapshot, one env for each that it holds; other envs are not touched."""
        ...

    def close(self) -> None:
        """Free what the engine holds."""
        ...
