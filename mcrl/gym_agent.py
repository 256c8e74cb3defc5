"""A trained policy in the Gymnasium environments of tasks, for programs of your own. E envs, or one without E."""

from pathlib import Path

import numpy as np

from mcrl.run_folder import checkpoint_of, config_of
from mcrl.trained import load_policy
from policies.agent import PolicyAgent
from policies.decoding import AS_TRAINED, Decoding
from policies.device import find_device
from policies.device_name import DeviceName
from task_synthesis.goal import CrossViewGoal
from task_synthesis.interaction import Interaction
from task_synthesis.playing.gym_env import ObservationDict
from task_synthesis.playing.task_env import Observation
from worlds.types import TARGET_LABELS

_BATCHED = {"image": 4, "goal_image": 4, "goal_mask": 3, "interaction": 1}


class GymAgent:
    """A trained policy that acts in a CrossViewVectorEnv, or with `num_envs` None in a CrossViewEnv.

    Make the environments as the policy was trained: `image_px`, `action_repeat` and `goal_form` are its own.
    """

    def __init__(
        self,
        checkpoint: str | Path,
        *,
        num_envs: int | None = None,
        seed: int = 0,
        decoding: Decoding = AS_TRAINED,
        device: DeviceName = "cpu",
    ) -> None:
        """Load `checkpoint`: a checkpoint's or run's folder, or the name of a shipped policy ("small", "keen").

        The seed decides its draws. ValueError says what is wrong with the checkpoint, and which there are.
        """
        folder = checkpoint_of(Path(checkpoint))
        self.config = config_of(folder)
        """The settings of the run that trained it."""
        self.policy = load_policy(folder, self.config, device=find_device(device, where="device"))
        self.image_px = self.config.env.image_px
        self.action_repeat = self.config.env.action_repeat_ticks
        self.goal_form = self.config.env.goal_form
        self._is_single = num_envs is None
        self._agent = PolicyAgent(
            self.policy,
            1 if num_envs is None else num_envs,
            seed=seed,
            decoding=decoding,
            precision=self.config.precision,
        )

    def act(self, observation: ObservationDict, begins: bool | np.ndarray) -> dict[str, np.ndarray]:
        """Return an action of the env for what it shows; call it once for every observation, in order.

        `begins`, bool [E]: the observation is the first of an episode, after `reset` or where the step before ended
        one. Memory and goal start anew there.
        """
        if self._is_single:
            observation = {name: np.asarray(value)[None] for name, value in observation.items()}
        num_envs = self._agent.num_envs
        for name, num_axes in _BATCHED.items():
            shape = observation[name].shape
            if len(shape) != num_axes or shape[0] != num_envs:
                kind = "one CrossViewEnv, since num_envs is None" if self._is_single else f"{num_envs} envs (num_envs)"
                raise ValueError(f"GymAgent: acts in {kind}, got {name} of shape {shape[int(self._is_single) :]}")
        first_E = np.broadcast_to(np.asarray(begins, bool), (num_envs,)).copy()
        actions = self._agent.act(
            Observation(
                image_EHWC=observation["image"],
                first_E=first_E,
                goals=[
                    CrossViewGoal(image_HWC=image_HWC, mask_HW=mask_HW.astype(bool), interaction=Interaction(row - 1))
                    for image_HWC, mask_HW, row in zip(
                        observation["goal_image"], observation["goal_mask"], observation["interaction"], strict=True
                    )
                ],
                tasks=[],
                target_E7=np.zeros((num_envs, len(TARGET_LABELS)), np.float32),
            )
        )
        button_EB, camera_deg_E2 = actions.buttons_EB.astype(np.int8), actions.camera_deg_E2.astype(np.float32)
        if self._is_single:
            return {"buttons": button_EB[0], "camera": camera_deg_E2[0]}
        return {"buttons": button_EB, "camera": camera_deg_E2}
