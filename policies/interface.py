"""What a policy and an agent are. E envs, B sequences, T steps, G goals, A action factors, L logits, H W C image."""

from dataclasses import dataclass, field
from typing import Protocol

import torch
from torch import Tensor, nn

from policies.action_codec import NUM_LOGITS
from task_synthesis.playing.task_env import Observation
from worlds.types import ActionBatch

# Memory of a recurrent policy: named tensors whose first dimension is the env (or the sequence).
Memory = dict[str, Tensor]


@dataclass(slots=True)
class EncodedGoals:
    """Goals as the policy needs them every step: encoded once an episode, then looked up by index."""

    token_GKD: Tensor  # goal view tokens, image and mask
    vector_GD: Tensor  # summary of the marked object, its surroundings and the interaction
    color_GN3: Tensor  # colours to look for, red green blue in 0 .. 1: the mean under the mask, typical ones, around it
    look_GE: Tensor = field(default_factory=lambda: torch.empty(0))  # a close look at the target; E is 0 without one

    def __post_init__(self) -> None:
        if self.look_GE.dim() == 1:
            self.look_GE = self.vector_GD.new_empty(len(self.vector_GD), 0)

    def put(self, index_N: Tensor, goals: "EncodedGoals") -> None:
        """Overwrite rows index_N (int64 [N]) with `goals`, in place."""
        self.token_GKD[index_N] = goals.token_GKD
        self.vector_GD[index_N] = goals.vector_GD
        self.color_GN3[index_N] = goals.color_GN3
        self.look_GE[index_N] = goals.look_GE

    def rows(self, index_N: Tensor) -> "EncodedGoals":
        """Return the goals of rows index_N."""
        return EncodedGoals(
            self.token_GKD[index_N], self.vector_GD[index_N], self.color_GN3[index_N], self.look_GE[index_N]
        )


@dataclass(slots=True)
class PolicyStep:
    """What `act` decided, one row an env."""

    action_EA: Tensor  # int64 [E, A], one class a factor, see policies.action_codec
    log_prob_E: Tensor  # float32 [E], of the whole action
    value_E: Tensor  # float32 [E]
    logits_EL: Tensor  # float32 [E, L], all factors side by side
    memory: Memory


@dataclass(slots=True)
class Evaluation:
    """What `evaluate` says about T steps that were taken."""

    logits_BTL: Tensor  # float32 [B, T, L]
    value_BT: Tensor  # float32 [B, T]
    auxiliary_BT7: Tensor  # float32 [B, T, 7]: visibility logit, centroid x y, box left top right bottom in 0 .. 1
    cell_logit_BTK: Tensor | None = None  # float32 [B, T, K], that the target is in cell k of a square grid
    told_BTK3: Tensor | None = None  # float32 [B, T, K, 3], where what cell k shows is, see policies.closer_look


class Policy(nn.Module):
    """A goal-conditioned policy with memory.

    Contract, tested on every policy: `act` over T steps gives what `evaluate` gives over the same T steps
    (|dlogp| < 1e-4 in fp32, across episode ends and fragment borders); memory never crosses a step where `first` is
    true; `value` leaves the memory as it was. Callers put the module in eval mode while acting.
    """

    image_px: int  # side of the square agent view and goal view
    num_logits = NUM_LOGITS  # L, of `act` and `evaluate`
    says_where = False  # `evaluate` gives cell logits: which parts of the view show the target
    looks_closely = False  # has a `policies.closer_look.CloserLook`, as `closer_look`, which pairs of pictures teach
    recomputes_views = False  # `evaluate` keeps no activations of views for its gradient and computes them again

    def initial_memory(self, num_envs: int) -> Memory:
        """Return the memory of `num_envs` agents that have seen nothing."""
        raise NotImplementedError

    def look(self, image_XHWC: Tensor) -> Tensor:
        """Return what a frozen part of the policy makes of uint8 [X, H, W, 3] views; here the views themselves.

        `act`, `evaluate` and `value` take it in place of the views, with the same result. So what never changes is
        computed once a frame, and acting, reference and every pass of the learner share it.
        """
        return image_XHWC

    def encode_goals(self, image_GHWC: Tensor, mask_GHW: Tensor, interaction_G: Tensor) -> EncodedGoals:
        """Encode goals: uint8 [G, H, W, 3], bool [G, H, W], int64 [G] interaction ids (-1 .. 8)."""
        raise NotImplementedError

    def act(
        self,
        image_EHWC: Tensor,
        goals: EncodedGoals,
        goal_index_E: Tensor,
        first_E: Tensor,
        previous_action_EA: Tensor,
        memory: Memory,
        *,
        generator: torch.Generator | None = None,
        temperature: float = 1.0,
    ) -> PolicyStep:
        """Choose actions for uint8 [E, H, W, 3] views; `temperature` 0 takes the most likely class of every factor.

        `previous_action_EA` is ignored where `first_E` is true. `log_prob_E` is that of the untempered policy.
        """
        raise NotImplementedError

    def evaluate(
        self,
        image_BTHWC: Tensor,
        goals: EncodedGoals,
        goal_index_BT: Tensor,
        first_BT: Tensor,
        previous_action_BTA: Tensor,
        memory: Memory,
    ) -> Evaluation:
        """Give the policy's logits, values and auxiliary predictions along B sequences of T steps."""
        raise NotImplementedError

    def value(
        self,
        image_EHWC: Tensor,
        goals: EncodedGoals,
        goal_index_E: Tensor,
        first_E: Tensor,
        previous_action_EA: Tensor,
        memory: Memory,
    ) -> Tensor:
        """Return float32 [E], the value of these views, without changing any memory (for bootstrapping)."""
        raise NotImplementedError


class Agent(Protocol):
    """Anything that plays: a policy, the expert, chance."""

    def act(self, observation: Observation) -> ActionBatch:
        """Choose one action for every env. `observation.first_E` says where a new episode began."""
        ...
