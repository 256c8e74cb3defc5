"""The placed objects of the tasks at play, as judge and critic need them. E envs, N objects, M mobs."""

import numpy as np

from task_synthesis.placement.targets import circle_of, torus_delta
from task_synthesis.skills import SKILLS, base_kind
from task_synthesis.task import TaskSpec
from worlds.spec import MAX_OBJECTS
from worlds.types import TickBatch

_SKILL_INDEX: dict[str, int] = {name: index for index, name in enumerate(SKILLS)}


class TaskObjects:
    """Which objects the task of every env placed, and where they lie from the agent."""

    def __init__(self, num_envs: int) -> None:
        """Know of no task yet."""
        self.position_EN3 = np.zeros((num_envs, MAX_OBJECTS, 3), np.int64)
        """Cells in which the objects were placed."""
        self.is_same_kind_EN = np.zeros((num_envs, MAX_OBJECTS), bool)
        """Objects of the target's kind, the target included."""
        self.target_index_E = np.zeros(num_envs, np.int64)
        self.skill_E = np.zeros(num_envs, np.int64)
        """Index into SKILLS."""
        self._circle_E2 = np.ones((num_envs, 2), np.int64)  # after how many blocks along x and z one is back
        # Judge and critic ask about the same tick.
        self._followed: tuple[TickBatch, np.ndarray] | None = None

    def begin(self, env_index: int, task: TaskSpec) -> None:
        """Know the objects of `task`, which env `env_index` plays from now on."""
        self._followed = None
        kind = base_kind(task.placements[task.target_index].kind)
        self.position_EN3[env_index] = 0
        self.is_same_kind_EN[env_index] = False
        for index, placement in enumerate(task.placements):
            self.position_EN3[env_index, index] = placement.position
            self.is_same_kind_EN[env_index, index] = base_kind(placement.kind) == kind
        self.target_index_E[env_index] = task.target_index
        self.skill_E[env_index] = _SKILL_INDEX[task.skill]
        self._circle_E2[env_index] = circle_of(task.world)

    def forget_tick(self) -> None:
        """Forget where the objects of the last tick were: a backend may write the next one over it."""
        self._followed = None

    def of(self, env_index_N: np.ndarray) -> "TaskObjects":
        """Return the objects of some envs."""
        some = TaskObjects(0)
        for name, array in vars(self).items():
            if isinstance(array, np.ndarray):
                setattr(some, name, array[env_index_N])
        return some

    def from_feet(self, tick: TickBatch, *, follows_mobs: bool = False) -> np.ndarray:
        """Return float64 [E, N, 3]: from the agent's feet to the middle of each object's floor, the shortest way.

        Objects lie where they were placed; with `follows_mobs` those that are mobs lie where these are now.
        """
        if follows_mobs and self._followed is not None and self._followed[0] is tick:
            return self._followed[1].copy()
        floor_EN3 = self.position_EN3 + np.array([0.5, 0.0, 0.5])
        if follows_mobs:
            env_M, slot_M, feet_M3 = _placed_mobs(tick)
            floor_EN3[env_M, slot_M] = feet_M3
        delta_EN3 = floor_EN3 - tick.pose_E5[:, None, :3]
        delta_EN3[:, :, 0] = torus_delta(delta_EN3[:, :, 0], self._circle_E2[:, :1])
        delta_EN3[:, :, 2] = torus_delta(delta_EN3[:, :, 2], self._circle_E2[:, 1:])
        if follows_mobs:
            self._followed = tick, delta_EN3.copy()
        return delta_EN3

    def cells(self, tick: TickBatch) -> np.ndarray:
        """Return int64 [E, N, 3]: the cell of each object; of a mob, the one where its feet are now."""
        cell_EN3 = self.position_EN3.copy()
        env_M, slot_M, feet_M3 = _placed_mobs(tick)
        cell_EN3[env_M, slot_M] = np.floor(feet_M3).astype(np.int64)
        return cell_EN3


def _placed_mobs(tick: TickBatch) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return env, object index (int64 [M]) and feet (float64 [M, 3]) of all living mobs that tasks placed."""
    env_M, mob_M = np.nonzero((tick.mob_EM6[:, :, 0] >= 0) & (tick.mob_EM6[:, :, 1] >= 1))
    return env_M, tick.mob_EM6[env_M, mob_M, 1].astype(np.int64) - 1, tick.mob_EM6[env_M, mob_M, 2:5]
