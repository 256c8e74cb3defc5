"""Tasks as Gymnasium environments: one env, or a vector of them in lockstep.

Observation: a dict of `image` uint8 [H, W, 3], `goal_image` uint8 [H, W, 3], `goal_mask` int8 [H, W] of 0 and 1, and
`interaction`, the row 0 .. 9 of an interaction embedding. Action: a dict of `buttons` int8 [20] (see
worlds.types.BUTTONS) and `camera` float32 [2], degrees a tick of (pitch, yaw). Reward 1 on success, else 0.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from task_synthesis.goal import CrossViewGoal
from task_synthesis.interaction import NUM_INTERACTION_ROWS
from task_synthesis.playing.curriculum import check_split
from task_synthesis.playing.reseeded_tasks import ReseededTasks
from task_synthesis.playing.task_env import Observation, Outcome, TaskEnv, Transition
from task_synthesis.task import TaskSpec
from task_synthesis.views.goal_forms import GoalForm
from worlds.spec import Split
from worlds.types import BUTTONS, ActionBatch
from worlds.voxel.backend import VoxelBackend

MAX_CAMERA_DEG = 180.0
_TICKS_PER_S = 20

ObservationDict = dict[str, np.ndarray]


def observation_space(image_px: int) -> spaces.Dict:
    """Return the space of one observation with square pictures of `image_px`."""
    picture = (image_px, image_px, 3)
    return spaces.Dict(
        {
            "image": spaces.Box(0, 255, picture, np.uint8),
            "goal_image": spaces.Box(0, 255, picture, np.uint8),
            "goal_mask": spaces.Box(0, 1, (image_px, image_px), np.int8),
            "interaction": spaces.Discrete(NUM_INTERACTION_ROWS),
        }
    )


def action_space() -> spaces.Dict:
    """Return the space of one action."""
    return spaces.Dict(
        {
            "buttons": spaces.MultiBinary(len(BUTTONS)),
            "camera": spaces.Box(-MAX_CAMERA_DEG, MAX_CAMERA_DEG, (2,), np.float32),
        }
    )


def _backend(tasks: Sequence[TaskSpec], num_envs: int, image_px: int) -> VoxelBackend:
    sizes = {task.world.size_blocks for task in tasks}
    if len(sizes) != 1:
        raise ValueError(
            f"gym_env: all tasks must be in worlds of one size, got {sorted(sizes)}; split the list by size"
        )
    return VoxelBackend(num_envs, size_blocks=sizes.pop(), image_px=(image_px, image_px))


def _goal_fields(goals: list[CrossViewGoal]) -> ObservationDict:
    return {
        "goal_image": np.stack([goal.image_HWC for goal in goals]),
        "goal_mask": np.stack([goal.mask_HW for goal in goals]).astype(np.int8),
        "interaction": np.array([goal.interaction.row for goal in goals], np.int64),
    }


def _observation_dict(observation: Observation) -> ObservationDict:
    return {"image": observation.image_EHWC.copy(), **_goal_fields(observation.goals)}


def _copied(observation: ObservationDict) -> ObservationDict:
    """Return the observation in arrays of its own: users keep what they are given."""
    return {name: value.copy() for name, value in observation.items()}


class CrossViewEnv(gym.Env[ObservationDict, dict[str, np.ndarray]]):
    """One task at a time. `reset(options={"task": task})` plays a given TaskSpec of the split, else the next.

    Which comes next follows from the seed of `reset`, in an env that was never given one from chance. Several in
    processes: `AsyncVectorEnv(..., context="spawn")`, since the engine's threads survive no fork; CrossViewVectorEnv
    plays many in one process, faster.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": _TICKS_PER_S}  # gymnasium's own type

    def __init__(
        self,
        tasks: Sequence[TaskSpec],
        *,
        split: Split,
        image_px: int = 64,
        action_repeat: int = 4,
        goal_form: GoalForm = "cross_view",
        render_mode: str | None = None,
    ) -> None:
        """Play `tasks`, all of one split and one world size, in random order, goals shown in `goal_form`."""
        if render_mode not in (None, "rgb_array"):
            raise ValueError(f"gym_env: render_mode {render_mode!r} is unknown; choose rgb_array or None")
        self.render_mode = render_mode
        self.observation_space: spaces.Space = observation_space(image_px)
        self.action_space: spaces.Space = action_space()
        self._source, self._split = ReseededTasks(tasks, split), split
        self._task = tasks[0]
        self._env = TaskEnv(
            _backend(tasks, 1, image_px), self._next_task, action_repeat=action_repeat, goal_form=goal_form
        )
        self._given: TaskSpec | None = None
        self._observation: ObservationDict | None = None
        # The next episode, which the engine begins in the step that ends one, until reset() asks for it.
        self._begun: Observation | None = None
        self._is_closed = False
        self.metadata = self.metadata | {"render_fps": _TICKS_PER_S / action_repeat}

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[ObservationDict, dict]:
        """Begin the next task; `seed` restarts their order."""
        _check_open(is_closed=self._is_closed)
        super().reset(seed=seed)
        unknown = sorted((options or {}).keys() - {"task"})
        if unknown:
            raise ValueError(f"gym_env: options {unknown} are unknown; the only one is 'task', a TaskSpec")
        given = (options or {}).get("task")
        if given is not None and not isinstance(given, TaskSpec):
            raise ValueError(f'gym_env: options["task"] must be a TaskSpec, got {type(given).__name__}')
        if given is not None:
            check_split([given], self._split, where='gym_env: options["task"]')
        begun = self._begun
        if begun is None or given is not None or seed is not None:
            if begun is not None:
                self._source.keep(self._task)
            self._source.begin(seed, self.np_random)
            # Where the engine refuses the task, nothing is at play until the next reset().
            self._given, self._begun, self._observation = given, None, None
            begun = self._env.reset()
        self._given = self._begun = None
        self._observation = {name: value[0] for name, value in _observation_dict(begun).items()}
        return _copied(self._observation), {"task_id": self._task.task_id, "family": self._task.family}

    def step(self, action: dict[str, np.ndarray]) -> tuple[ObservationDict, float, bool, bool, dict]:
        """Act for `action_repeat` ticks."""
        _check_open(is_closed=self._is_closed)
        if self._observation is None or self._begun is not None:
            when = "before calling" if self._observation is None else "after the end of an episode without"
            raise gym.error.ResetNeeded(f"Cannot call env.step() {when} env.reset()")
        _check_action(action)
        transition = self._env.step(_action_batch({name: np.asarray(value)[None] for name, value in action.items()}))
        if transition.terminated_E[0] or transition.truncated_E[0]:
            self._begun = transition.observation
        # After an end the goal shown is still the old one: the next task begins with reset().
        self._observation = {**self._observation, "image": transition.final_image_EHWC[0].copy()}
        info = {"outcome": Outcome(transition.outcome_E[0]).name, "episode_ticks": int(transition.episode_ticks_E[0])}
        return (
            _copied(self._observation),
            float(transition.reward_E[0]),
            bool(transition.terminated_E[0]),
            bool(transition.truncated_E[0]),
            info,
        )

    def render(self) -> np.ndarray | None:
        """Return the agent view beside the goal view, uint8 [H, 2 W, 3]."""
        if self._observation is None or self.render_mode is None:
            return None
        return np.concatenate([self._observation["image"], self._observation["goal_image"]], axis=1)

    def close(self) -> None:
        """Free the engine."""
        self._is_closed = True
        self._env.backend.close()

    def _next_task(self, env_index: int) -> TaskSpec:
        self._task = self._given or self._source(env_index)
        return self._task


class CrossViewVectorEnv(VectorEnv[ObservationDict, dict[str, np.ndarray], np.ndarray]):
    """E tasks in lockstep. Ended episodes are replaced in the same step; `infos["final_obs"]` holds their last view.

    All of `infos` is of the tasks that were played in the step, also `task_id` where the observation is the next one's.
    `outcome` holds the numbers of task_synthesis.playing.task_env.Outcome, whose names CrossViewEnv gives.
    """

    metadata: dict[str, Any] = {"autoreset_mode": AutoresetMode.SAME_STEP, "render_modes": []}

    def __init__(
        self,
        tasks: Sequence[TaskSpec],
        *,
        num_envs: int,
        split: Split,
        image_px: int = 64,
        action_repeat: int = 4,
        goal_form: GoalForm = "cross_view",
    ) -> None:
        """Play `tasks`, all of one split and one world size, in random order in `num_envs` envs."""
        if num_envs < 1:
            raise ValueError(f"gym_env: num_envs must be at least 1, got {num_envs}")
        self.num_envs = num_envs
        self.render_mode = None
        self.single_observation_space = observation_space(image_px)
        self.single_action_space = action_space()
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._source = ReseededTasks(tasks, split)
        self._env = TaskEnv(
            _backend(tasks, num_envs, image_px), self._source, action_repeat=action_repeat, goal_form=goal_form
        )
        self._goals: list[CrossViewGoal] = []
        self._task_ids: list[str] = []

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[ObservationDict, dict]:
        """Begin a task in every env; `seed`, one for all, restarts their order."""
        _check_open(is_closed=self.closed)
        if seed is not None and not isinstance(seed, (int, np.integer)):
            raise ValueError(f"gym_env: all envs draw from one order of tasks, so seed is one number, got {seed!r}")
        if options:
            raise ValueError(f"gym_env: the vector env has no options, got {sorted(options)}")
        super().reset(seed=seed)
        self._source.begin(seed, self.np_random)
        observation = self._env.reset()
        self._goals = observation.goals
        self._task_ids = [task.task_id for task in observation.tasks]
        return _observation_dict(observation), {"task_id": np.array(self._task_ids)}

    def step(self, actions: dict[str, np.ndarray]) -> tuple[ObservationDict, np.ndarray, np.ndarray, np.ndarray, dict]:
        """Act for `action_repeat` ticks in every env; rewards are float64 [E], ends bool [E]."""
        _check_open(is_closed=self.closed)
        if not self._goals:
            raise gym.error.ResetNeeded("Cannot call env.step() before calling env.reset()")
        _check_action(actions)
        transition = self._env.step(_action_batch(actions))
        infos = self._infos(transition)
        self._goals = transition.observation.goals
        return (
            _observation_dict(transition.observation),
            transition.reward_E.astype(np.float64),
            transition.terminated_E,
            transition.truncated_E,
            infos,
        )

    def _infos(self, transition: Transition) -> dict[str, Any]:
        infos: dict[str, Any] = {
            "outcome": transition.outcome_E.copy(),
            "episode_ticks": transition.episode_ticks_E,
            "task_id": np.array(self._task_ids),
        }
        self._task_ids = [task.task_id for task in transition.observation.tasks]
        ended_E = transition.terminated_E | transition.truncated_E
        if ended_E.any():
            final = {"image": transition.final_image_EHWC.copy(), **_goal_fields(self._goals)}
            final_obs = np.full(self.num_envs, None, dtype=object)
            for e in np.flatnonzero(ended_E):
                final_obs[e] = {name: value[e] for name, value in final.items()}
            infos["final_obs"], infos["_final_obs"] = final_obs, ended_E
        return infos

    def close_extras(self, **kwargs: Any) -> None:
        """Free the engine."""
        self._env.backend.close()


def _check_open(*, is_closed: bool) -> None:
    if is_closed:
        raise gym.error.ClosedEnvironmentError("gym_env: the environment is closed; make another one")


def _check_action(action: object) -> None:
    if not isinstance(action, Mapping) or action.keys() != {"buttons", "camera"}:
        given = sorted(action) if isinstance(action, Mapping) else type(action).__name__
        raise ValueError(f"gym_env: an action is a dictionary of 'buttons' and 'camera', got {given}")


def _action_batch(actions: dict[str, np.ndarray]) -> ActionBatch:
    camera_deg_E2 = np.asarray(actions["camera"], np.float32)
    if not np.isfinite(camera_deg_E2).all():
        raise ValueError("gym_env: action['camera'] must be finite degrees a tick")
    return ActionBatch(buttons_EB=np.asarray(actions["buttons"]).astype(bool), camera_deg_E2=camera_deg_E2)
