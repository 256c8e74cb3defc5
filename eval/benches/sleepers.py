"""Worlds in which nothing happens and a policy that rests: what is left of a run is its waiting. E envs."""

from collections.abc import Sequence

import numpy as np

from eval.benches.unplayed_task import unplayed_task
from mcrl.dataflow.inference.stream import ActReply, ActRequest, ValueRequest
from mcrl.dataflow.weights.snapshot import ParamSnapshot
from task_synthesis.goal import CrossViewGoal
from task_synthesis.interaction import Interaction
from task_synthesis.playing.task_env import Observation, Transition
from worlds.types import ActionBatch

_IMAGE_PX = 8  # small, so that moving pictures about does not count
_NUM_FACTORS = 12


class RestingEnv:
    """A LockstepEnv whose episodes neither end nor cost any time; mcrl.dataflow.rings.latency lets it take some."""

    def __init__(self, num_envs: int) -> None:
        self.num_envs = num_envs
        self._task = unplayed_task(max_ticks=1)
        mask_HW = np.zeros((_IMAGE_PX, _IMAGE_PX), bool)
        image_HWC = np.zeros((_IMAGE_PX, _IMAGE_PX, 3), np.uint8)
        self._goal = CrossViewGoal(image_HWC=image_HWC, mask_HW=mask_HW, interaction=Interaction.APPROACH)
        self._image_EHWC = np.zeros((num_envs, _IMAGE_PX, _IMAGE_PX, 3), np.uint8)
        # The same answers every time: what the bench measures is not how fast they are made.
        self._first = self._observe(is_first=True)
        self._transition = Transition(
            observation=self._observe(is_first=False),
            reward_E=np.zeros(num_envs, np.float32),
            terminated_E=np.zeros(num_envs, bool),
            truncated_E=np.zeros(num_envs, bool),
            outcome_E=np.zeros(num_envs, np.int64),
            episode_ticks_E=np.zeros(num_envs, np.int64),
            final_image_EHWC=self._image_EHWC,
            is_valid_E=np.ones(num_envs, bool),
        )

    def reset(self) -> Observation:
        """Begin an episode in every env."""
        return self._first

    def step(self, actions: ActionBatch) -> Transition:
        """Let nothing happen."""
        return self._transition

    def close(self) -> None:
        """Do nothing: there is no engine."""

    def _observe(self, *, is_first: bool) -> Observation:
        return Observation(
            image_EHWC=self._image_EHWC,
            first_E=np.full(self.num_envs, is_first),
            goals=[self._goal] * self.num_envs,
            tasks=[self._task] * self.num_envs,
            target_E7=np.zeros((self.num_envs, 7), np.float32),
        )


class RestingInference:
    """An InferenceStream that presses nothing, at once, in groups of `num_envs`."""

    def __init__(self, num_envs: int) -> None:
        self._version = 0
        self._actions = ActionBatch.noop(num_envs)
        self._action_EA = np.zeros((num_envs, _NUM_FACTORS), np.int64)
        self._zero_E = np.zeros(num_envs, np.float32)
        self._memories: list[dict[str, np.ndarray]] = [{} for _ in range(num_envs)]

    def act(self, requests: Sequence[ActRequest]) -> list[ActReply]:
        """Return rest for every env."""
        return [self._rest(request) for request in requests]

    def values(self, requests: Sequence[ValueRequest]) -> list[np.ndarray]:
        """Return zeros."""
        return [np.zeros(len(request.env_N), np.float32) for request in requests]

    def load(self, snapshot: ParamSnapshot) -> None:
        """Take note of the version."""
        self._version = snapshot.version

    def close(self) -> None:
        """Do nothing: there is no host."""

    def _rest(self, request: ActRequest) -> ActReply:
        return ActReply(
            request_id=request.request_id,
            version=self._version,
            actions=self._actions,
            action_EA=self._action_EA,
            previous_action_EA=self._action_EA,
            view_E=None,
            log_prob_E=self._zero_E,
            value_E=self._zero_E,
            reference_logits_EL=None,
            memories=self._memories if request.wants_memory else None,
        )
