"""A fragment: T consecutive steps of one env, what rollout workers make and learners consume.

T steps, A action factors, L logits, G goals, H W C image.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from task_synthesis.goal import CrossViewGoal

if TYPE_CHECKING:  # who only passes fragments on needs no torch
    from torch import Tensor

FragmentStatus = Literal["ok", "timeout", "crashed"]


@dataclass(kw_only=True, slots=True)
class Fragment:
    """T steps of one env; may span several episodes and so several goals.

    Arrays are numpy's. Where engine, policy and learner share a GPU, views and memory are tensors there instead: such a
    fragment stays in the process that made it.
    """

    # uint8 [T, H, W, 3] RGB, the view before each action; of a policy with a frozen part float16 [T, ...], what that
    # part made of the view, see Policy.look.
    image_THWC: "np.ndarray | Tensor"
    goals: tuple[CrossViewGoal, ...]  # each once
    task_ids: tuple[str, ...]  # one a goal
    families: tuple[str, ...]  # one a goal
    goal_index_T: np.ndarray  # int64 [T], index into goals
    first_T: np.ndarray  # bool [T], the view is the first of an episode
    previous_action_TA: np.ndarray  # uint8 [T, A], ignored where first_T
    action_TA: np.ndarray  # uint8 [T, A], what was done
    expert_action_TA: np.ndarray | None  # uint8 [T, A], what the expert would have done
    log_prob_T: np.ndarray  # float32 [T], of action_TA under the policy that acted
    value_T: np.ndarray  # float32 [T], of the policy that acted
    reference_logits_TL: np.ndarray | None  # float32 [T, L], of the frozen reference with a memory of its own
    reward_T: np.ndarray  # float32 [T]
    terminated_T: np.ndarray  # bool [T]
    truncated_T: np.ndarray  # bool [T]
    bootstrap_value_T: np.ndarray  # float32 [T], value beyond a truncation or the last step, else 0
    is_valid_T: np.ndarray  # bool [T], false where the engine failed
    outcome_T: np.ndarray  # int64 [T], task_synthesis.playing.task_env.Outcome after the step
    target_T7: np.ndarray  # float32 [T, 7], see worlds.types.TARGET_LABELS
    memory: "dict[str, np.ndarray] | dict[str, Tensor]"  # the policy's memory before step 0, without the env dimension
    min_version: int  # oldest weight version that acted in here
    max_version: int  # newest
    worker_id: int
    env_index: int
    sequence: int  # 0, 1, 2 ... for each (worker, env), without gaps
    start_ns: int  # monotonic clock of the worker
    end_ns: int
    # float32 [T, P] each, before every action and after it, see task_synthesis.playing.situation; None: nobody asked.
    situation_TP: np.ndarray | None = None
    after_TP: np.ndarray | None = None
    reward_parts_TP: np.ndarray | None = None  # float32 [T, P], see milestones.REWARD_PARTS; None: success is all
    step_s_G: np.ndarray | None = None  # float32 [G], mean wall seconds of a step in the engine; None: not timed
    status: FragmentStatus = "ok"  # what last befell its engine: gave no answer in time, or died; the step is not valid
    has_gap: bool = False  # steps of its env between the fragment before and this one are in no fragment

    @property
    def num_steps(self) -> int:
        """Return T."""
        return len(self.action_TA)
