"""The env of benches of training systems, as ours are stepped: frames out of a pool, so that the system is measured."""

import numpy as np

from eval.benches.unplayed_task import unplayed_task
from eval.peers.turns import EPISODE_STEPS, IMAGE_PX, NUM_ACTIONS, FramePool
from mcrl.dataflow.contracts import LockstepEnv
from task_synthesis.goal import CrossViewGoal
from task_synthesis.interaction import Interaction
from task_synthesis.playing.task_env import Observation, Outcome, Transition
from worlds.types import BUTTON_INDEX, ActionBatch

_HOTBAR_1 = BUTTON_INDEX["hotbar.1"]


class FramePoolEnv(LockstepEnv):
    """E frame pools in lockstep; choosing hotbar slot k counts as the peers' action k."""

    def __init__(
        self, num_envs: int, seed: int, *, image_px: int = IMAGE_PX, episode_steps: int = EPISODE_STEPS
    ) -> None:
        """Draw the frames of every env."""
        self.num_envs = num_envs
        self._pools = [
            FramePool(seed + index, image_px=image_px, episode_steps=episode_steps) for index in range(num_envs)
        ]
        self._image_EHWC = np.empty((num_envs, image_px, image_px, 3), np.uint8)
        self._first_E = np.ones(num_envs, bool)
        self._target_E7 = np.zeros((num_envs, 7), np.float32)
        mask_HW = np.zeros((image_px, image_px), bool)
        mask_HW[: image_px // 8, : image_px // 8] = True
        self._goals = [CrossViewGoal(pool.pool_NHWC[-1], mask_HW, Interaction.APPROACH) for pool in self._pools]
        self._tasks = [unplayed_task("redstone_block", max_ticks=EPISODE_STEPS)] * num_envs

    def reset(self) -> Observation:
        """Begin an episode in every env."""
        for index, pool in enumerate(self._pools):
            self._image_EHWC[index] = pool.reset()
        self._first_E[:] = True
        return self._observation()

    def step(self, actions: ActionBatch) -> Transition:
        """Let every env take one decision; an env whose episode ends begins the next one."""
        hotbar_EK = actions.buttons_EB[:, _HOTBAR_1 : _HOTBAR_1 + NUM_ACTIONS]
        action_E = np.where(hotbar_EK.any(1), hotbar_EK.argmax(1), -1)
        reward_E = np.zeros(self.num_envs, np.float32)
        age_E = np.zeros(self.num_envs, np.int64)
        self._first_E[:] = False
        for index, (pool, action) in enumerate(zip(self._pools, action_E.tolist(), strict=True)):
            self._image_EHWC[index], reward_E[index], self._first_E[index] = pool.step(action)
            age_E[index] = pool.age_steps
        final_image_EHWC = self._image_EHWC
        if self._first_E.any():
            final_image_EHWC = self._image_EHWC.copy()
            for index in np.flatnonzero(self._first_E).tolist():
                self._image_EHWC[index] = self._pools[index].reset()
        truncated_E = self._first_E.copy()
        return Transition(
            observation=self._observation(),
            reward_E=reward_E,
            terminated_E=np.zeros(self.num_envs, bool),
            truncated_E=truncated_E,
            outcome_E=np.where(truncated_E, int(Outcome.TIME_LIMIT), int(Outcome.RUNNING)),
            episode_ticks_E=age_E,
            final_image_EHWC=final_image_EHWC,
            is_valid_E=np.ones(self.num_envs, bool),
        )

    def close(self) -> None:
        """Do nothing: there is no engine."""

    def _observation(self) -> Observation:
        return Observation(
            image_EHWC=self._image_EHWC,
            first_E=self._first_E.copy(),
            goals=list(self._goals),
            tasks=list(self._tasks),
            target_E7=self._target_E7,
        )
