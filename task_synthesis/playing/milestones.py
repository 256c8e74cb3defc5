"""Partial credit on the way to success, read from simulator state that no policy can write. E envs, M milestones.

Off by default: the reward is then success alone. Milestones pay once an episode; shaping is potential-based (Ng et al.
1999) and so leaves every ranking of policies as it is. Success is judged elsewhere and stays the headline.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from task_synthesis.placement.targets import circle_of, torus_delta
from task_synthesis.playing.saved_state import SavedState
from task_synthesis.playing.success import Outcome
from task_synthesis.skills import SKILLS
from task_synthesis.task import TaskSpec
from worlds.types import (
    BUTTON_INDEX,
    EYE_HEIGHT_BLOCKS,
    INSTANCE_FIRST_OBJECT,
    ActionBatch,
    TickBatch,
)

# Parts of a reward, the columns of reward_parts_EP; the reward is their sum.
REWARD_PARTS: tuple[str, ...] = ("success", "milestones", "shaping")
# In the order in which they usually come; the columns of everything [E, M].
MILESTONES: tuple[str, ...] = ("in_view", "centred", "within_reach", "first_hit")

_CENTRED_HALF_WIDTH = 0.15  # of the picture's width and height, from its middle


@dataclass(frozen=True, kw_only=True)
class RewardConfig:
    """What is paid besides the 1 of a success. Zeros pay nothing."""

    in_view: float = 0.0
    """For the first time the target is in the agent's picture."""
    centred: float = 0.0
    """For the first time it is in the middle 30 % of the picture."""
    within_reach: float = 0.0
    """For the first time it is in view and near enough to act on: 5 blocks, a mob 3.5, an item 2, with a bow 20."""
    first_hit: float = 0.0
    """For the first blow, shot or use on the target; approach and pick_up have none before they succeed."""
    shaping_per_block: float = 0.0
    """Potential a block of straight distance to the target; about 1 / distance makes it as large as a success."""

    def __post_init__(self) -> None:
        for field in fields(self):
            if not getattr(self, field.name) >= 0:
                raise ValueError(f"rewards.{field.name} must not be negative, got {getattr(self, field.name)}")
        total = sum(getattr(self, name) for name in MILESTONES)
        if total >= 1:
            raise ValueError(
                f"rewards: the milestones {', '.join(MILESTONES)} add up to {total:g}, which must stay below the 1 "
                "of a success; lower them"
            )

    @property
    def is_on(self) -> bool:
        """Return whether anything besides success is paid."""
        return any(getattr(self, field.name) > 0 for field in fields(self))


class PartialCredit:
    """Watches E episodes and says what each step earns besides success.

    What is true in an episode's first view is not paid: nobody did it. A success pays all milestones not paid yet, so
    that every success of a task is worth the same and no policy gains by collecting them on the way. A failure ends
    the episode with nothing beyond it, so starting over to be paid again gains nothing either.
    """

    def __init__(self, config: RewardConfig, num_envs: int, *, discount: float) -> None:
        """Pay by `config`; `discount` is the learner's, a decision, without which shaping would not be neutral."""
        if not 0 < discount <= 1:
            raise ValueError(f"rewards: discount must be in (0, 1], got {discount}")
        self.config = config
        self._discount = discount
        self._weight_M = np.array([getattr(config, name) for name in MILESTONES])
        self._is_open_EM = np.zeros((num_envs, len(MILESTONES)), bool)
        self._potential_E = np.zeros(num_envs)
        self._position_E3 = np.zeros((num_envs, 3))  # floor of the target
        self._side_E2 = np.ones((num_envs, 2))
        self._reach_E = np.zeros(num_envs)
        self._index_E = np.zeros(num_envs, np.int64)
        self._is_mob_E = np.zeros(num_envs, bool)
        self._hit_event_E = np.full(num_envs, -1, np.int64)
        self._hit_key_E = np.full(num_envs, -1, np.int64)

    def begin(self, env_index_N: Sequence[int], tasks: Sequence[TaskSpec], tick: TickBatch) -> None:
        """Watch tasks[n] in env env_index_N[n] from its first view on, the one in `tick`."""
        for env, task in zip(env_index_N, tasks, strict=True):
            skill, placement = SKILLS[task.skill], task.placements[task.target_index]
            self._position_E3[env] = np.array(placement.position) + (0.5, 0.0, 0.5)
            self._side_E2[env] = circle_of(task.world)
            self._reach_E[env] = skill.reach_from_eye_blocks
            self._index_E[env] = task.target_index
            self._is_mob_E[env] = skill.target == "mob"
            self._hit_event_E[env] = -1 if skill.first_hit is None else skill.first_hit
            self._hit_key_E[env] = -1 if skill.hit_key is None else BUTTON_INDEX[skill.hit_key]
        delta_E3 = self._delta_to_target(tick)
        begun = np.asarray(env_index_N, np.int64)
        self._is_open_EM[begun] = ~self._is_reached(tick, None, delta_E3)[begun]
        self._potential_E[begun] = self._potential(delta_E3)[begun]

    @property
    def is_reached_EM(self) -> np.ndarray:
        """Return bool [E, M]: which milestones have been reached, or held before anything was done."""
        return ~self._is_open_EM

    def saved(self) -> SavedState:
        """Return what the episodes so far have decided; the rest follows from the tasks."""
        return SavedState(arrays={name: array.copy() for name, array in self._progress().items()})

    def load_saved(self, state: SavedState) -> None:
        """Pay on; every env has just begun the task it had when one made alike said `saved`."""
        state.read_into(self._progress())

    def _progress(self) -> dict[str, np.ndarray]:
        return {"is_open": self._is_open_EM, "potential": self._potential_E, "position": self._position_E3}

    def pay(self, tick: TickBatch, actions: ActionBatch, outcome_E: np.ndarray) -> np.ndarray:
        """Return float32 [E, 2] for one step: its milestones and its shaping. A fault pays nothing."""
        delta_E3 = self._delta_to_target(tick)
        is_fault_E, is_success_E = outcome_E == Outcome.FAULT, outcome_E == Outcome.SUCCESS
        is_new_EM = (self._is_reached(tick, actions, delta_E3) | is_success_E[:, None]) & self._is_open_EM
        self._is_open_EM &= ~is_new_EM
        # Beyond a success or a failure there is nothing, also no potential; beyond a time limit the world goes on.
        is_over_E = is_success_E | (outcome_E == Outcome.WRONG_OBJECT) | (outcome_E == Outcome.DEATH)
        potential_E = np.where(is_over_E, 0.0, self._potential(delta_E3))
        paid_E2 = np.stack([is_new_EM @ self._weight_M, self._discount * potential_E - self._potential_E], 1)
        self._potential_E = potential_E
        paid_E2[is_fault_E] = 0.0
        return paid_E2.astype(np.float32)

    def _potential(self, delta_E3: np.ndarray) -> np.ndarray:
        return -self.config.shaping_per_block * np.linalg.norm(delta_E3, axis=1)

    def _delta_to_target(self, tick: TickBatch) -> np.ndarray:
        """Return float64 [E, 3] from the agent's feet to the target's floor; a dead mob stays where it was last."""
        if self._is_mob_E.any():
            is_target_EM = (tick.mob_EM6[:, :, 0] >= 0) & (tick.mob_EM6[:, :, 1] == self._index_E[:, None] + 1)
            is_target_EM &= self._is_mob_E[:, None]
            env_N, mob_N = np.nonzero(is_target_EM)
            self._position_E3[env_N] = tick.mob_EM6[env_N, mob_N, 2:5]
        delta_E3 = self._position_E3 - tick.pose_E5[:, :3]
        delta_E3[:, 0] = torus_delta(delta_E3[:, 0], self._side_E2[:, 0])
        delta_E3[:, 2] = torus_delta(delta_E3[:, 2], self._side_E2[:, 1])
        return delta_E3

    def _is_reached(self, tick: TickBatch, actions: ActionBatch | None, delta_E3: np.ndarray) -> np.ndarray:
        """Return bool [E, M], which milestones hold in this state."""
        area_E, center_E2 = tick.target_E7[:, 0], tick.target_E7[:, 1:3]
        is_in_view_E = area_E > 0
        is_centred_E = is_in_view_E & (np.abs(center_E2 - 0.5) <= _CENTRED_HALF_WIDTH).all(1)
        from_eye_E3 = delta_E3 + np.array([0.0, 0.5 - EYE_HEIGHT_BLOCKS, 0.0])
        is_near_E = is_in_view_E & (np.linalg.norm(from_eye_E3, axis=1) <= self._reach_E)
        is_hit_E = np.zeros(len(area_E), bool) if actions is None else self._is_hit(tick, actions, is_near_E)
        return np.stack([is_in_view_E, is_centred_E, is_near_E, is_hit_E], 1)

    def _is_hit(self, tick: TickBatch, actions: ActionBatch, is_near_E: np.ndarray) -> np.ndarray:
        """Return bool [E]: the agent's event on the target, or the key of its work held with the target ahead."""
        is_own_EN = tick.event_EN4[:, :, 2] == self._index_E[:, None] + 1
        is_event_E = ((tick.event_EN4[:, :, 0] == self._hit_event_E[:, None]) & is_own_EN).any(1)
        height, width = tick.instance_EHW.shape[1:]
        middle = np.s_[:, (height - 1) // 2 : height // 2 + 1, (width - 1) // 2 : width // 2 + 1]
        crosshair_EN = tick.instance_EHW[middle].reshape(len(is_event_E), -1)
        is_aimed_E = (crosshair_EN == (INSTANCE_FIRST_OBJECT + self._index_E)[:, None]).any(1)
        key_E = np.maximum(self._hit_key_E, 0)
        is_pressed_E = (self._hit_key_E >= 0) & actions.buttons_EB[np.arange(len(key_E)), key_E]
        # An event needs no reach of ours: a struck mob has been knocked back by the end of the step.
        return np.asarray(is_event_E | (is_pressed_E & is_aimed_E & is_near_E))
