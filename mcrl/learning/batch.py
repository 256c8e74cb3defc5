"""Fragments side by side as tensors. B fragments, T steps, A action factors, L logits, G goals, H W C image."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import torch
from torch import Tensor

from mcrl.rollout.fragment import Fragment
from policies.device import send
from policies.interface import Memory
from task_synthesis.goal import CrossViewGoal

# Prefixes of names in `FragmentBatch.tensors`.
_GOALS, _MEMORY = "goals.", "memory."


@dataclass(slots=True)
class GoalBatch:
    """Goals as `Policy.encode_goals` takes them."""

    image_GHWC: Tensor  # uint8 [G, H, W, 3]
    mask_GHW: Tensor  # bool [G, H, W]
    interaction_G: Tensor  # int64 [G], interaction ids -1 .. 8


def stack_goals(goals: Sequence[CrossViewGoal]) -> GoalBatch:
    """Return the goals as tensors, in order."""
    return GoalBatch(
        image_GHWC=torch.from_numpy(np.stack([goal.image_HWC for goal in goals])),
        mask_GHW=torch.from_numpy(np.stack([goal.mask_HW for goal in goals])),
        interaction_G=torch.tensor([int(goal.interaction) for goal in goals]),
    )


@dataclass(slots=True)
class FragmentBatch:
    """B fragments of equal length."""

    image_BTHWC: Tensor  # uint8 [B, T, H, W, 3], or float16 [B, T, ...] of a policy with a frozen part
    goals: GoalBatch  # of all fragments
    goal_index_BT: Tensor  # int64 [B, T], index into goals
    first_BT: Tensor  # bool [B, T]
    previous_action_BTA: Tensor  # int64 [B, T, A]
    action_BTA: Tensor  # int64 [B, T, A]
    expert_action_BTA: Tensor | None  # int64 [B, T, A]
    log_prob_BT: Tensor  # float32 [B, T]
    value_BT: Tensor  # float32 [B, T]
    reference_logits_BTL: Tensor | None  # float32 [B, T, L]
    reward_BT: Tensor  # float32 [B, T]
    terminated_BT: Tensor  # bool [B, T]
    truncated_BT: Tensor  # bool [B, T]
    bootstrap_value_BT: Tensor  # float32 [B, T]
    is_valid_BT: Tensor  # bool [B, T]
    target_BT7: Tensor  # float32 [B, T, 7]
    memory: Memory  # before step 0, first dimension B

    @property
    def num_sequences(self) -> int:
        """Return B."""
        return self.action_BTA.shape[0]

    def select(self, row_N: Tensor) -> "FragmentBatch":
        """Return the batch of rows row_N (int64 [N]) with only the goals that occur in them."""
        used_G, goal_index_NT = torch.unique(self.goal_index_BT[row_N], return_inverse=True)
        selected: dict[str, Any] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            selected[field.name] = _rows(value, row_N) if isinstance(value, Tensor) else value
        selected["goals"] = GoalBatch(
            image_GHWC=self.goals.image_GHWC[used_G],
            mask_GHW=self.goals.mask_GHW[used_G],
            interaction_G=self.goals.interaction_G[used_G],
        )
        selected["goal_index_BT"] = goal_index_NT
        selected["memory"] = {name: _rows(tensor, row_N) for name, tensor in self.memory.items()}
        return FragmentBatch(**selected)

    def tensors(self) -> dict[str, Tensor]:
        """Return everything by name: "action_BTA", "goals.mask_GHW", "memory.NAME" ..."""
        named = {f.name: value for f in fields(self) if isinstance(value := getattr(self, f.name), Tensor)}
        named |= {f"{_GOALS}{field.name}": getattr(self.goals, field.name) for field in fields(self.goals)}
        return named | {f"{_MEMORY}{name}": tensor for name, tensor in self.memory.items()}

    @classmethod
    def from_tensors(cls, named: Mapping[str, Tensor]) -> "FragmentBatch":
        """Return the batch whose `tensors` these are; what is absent is None."""
        goals = GoalBatch(**{field.name: named[f"{_GOALS}{field.name}"] for field in fields(GoalBatch)})
        memory = {name.removeprefix(_MEMORY): tensor for name, tensor in named.items() if name.startswith(_MEMORY)}
        plain: dict[str, Any] = {f.name: named.get(f.name) for f in fields(cls) if f.name not in ("goals", "memory")}
        return cls(goals=goals, memory=memory, **plain)

    def to(self, device: torch.device) -> "FragmentBatch":
        """Return the batch on `device`."""
        return FragmentBatch.from_tensors({name: send(tensor, device) for name, tensor in self.tensors().items()})

    def arrays(self) -> dict[str, np.ndarray]:
        """Return everything as named arrays, for writing a batch to disk; numpy has no bf16, so memory is float32."""
        return {
            name: (tensor.float() if name.startswith(_MEMORY) else tensor).cpu().numpy()
            for name, tensor in self.tensors().items()
        }


def collate(fragments: Sequence[Fragment]) -> FragmentBatch:
    """Put fragments of equal length side by side. Goals are joined once, and their indices shifted."""
    first_goal_B = np.cumsum([0, *(len(fragment.goals) for fragment in fragments[:-1])])

    def stack(name: str) -> Tensor:
        return stacked([getattr(fragment, name) for fragment in fragments])

    def stack_if_present(name: str) -> Tensor | None:
        return stack(name) if all(getattr(fragment, name) is not None for fragment in fragments) else None

    expert_action_BTA = stack_if_present("expert_action_TA")
    return FragmentBatch(
        image_BTHWC=stack("image_THWC"),
        goals=stack_goals([goal for fragment in fragments for goal in fragment.goals]),
        goal_index_BT=stack("goal_index_T") + torch.from_numpy(first_goal_B)[:, None],
        first_BT=stack("first_T"),
        previous_action_BTA=stack("previous_action_TA").long(),
        action_BTA=stack("action_TA").long(),
        expert_action_BTA=None if expert_action_BTA is None else expert_action_BTA.long(),
        log_prob_BT=stack("log_prob_T"),
        value_BT=stack("value_T"),
        reference_logits_BTL=stack_if_present("reference_logits_TL"),
        reward_BT=stack("reward_T"),
        terminated_BT=stack("terminated_T"),
        truncated_BT=stack("truncated_T"),
        bootstrap_value_BT=stack("bootstrap_value_T"),
        is_valid_BT=stack("is_valid_T"),
        target_BT7=stack("target_T7"),
        memory=join_memories([fragment.memory for fragment in fragments]),
    )


def successors(fragments: Sequence[Fragment]) -> list[int | None]:
    """Return for each fragment the index of the one that continues it in the same env, None where there is none.

    A number alone says no more than that a fragment comes next: a worker or an engine that took over for one that died
    begins with a fresh episode under the number of what was lost. Nothing continues into such a fragment, nor into one
    after a gap or whose first step is invalid: no advantage may flow out of it. Nor does anything where an episode has
    just ended, which is the same for advantages.
    """
    index_of = {
        (f.worker_id, f.env_index, f.sequence): index
        for index, f in enumerate(fragments)
        if f.is_valid_T[0] and not f.first_T[0] and not f.has_gap
    }
    return [index_of.get((f.worker_id, f.env_index, f.sequence + 1)) for f in fragments]


def split_memory(memory: Mapping[str, Any], num_envs: int) -> list[dict[str, Any]]:
    """Return one memory an env, arrays [...], from the memory of all of them, arrays [E, ...]; no copies."""
    kept = {name: array if isinstance(array, Tensor) else np.asarray(array) for name, array in memory.items()}
    return [{name: array[env, ...] for name, array in kept.items()} for env in range(num_envs)]


def join_memories(memories: Sequence[Mapping[str, Any]]) -> Memory:
    """Return the memory of B sequences, tensors [B, ...], from one memory a sequence, arrays [...]."""
    return {name: stacked([memory[name] for memory in memories]) for name in memories[0]}


def stacked(arrays: Sequence[np.ndarray] | Sequence[Tensor]) -> Tensor:
    """Return arrays side by side as one tensor, on the CPU; tensors where they are."""
    if isinstance(arrays[0], Tensor):
        return torch.stack(list(arrays))  # type: ignore[arg-type]  # all are, where one is
    return torch.from_numpy(np.stack(arrays))  # type: ignore[arg-type]


def _rows(tensor: Tensor, row_N: Tensor) -> Tensor:
    # Not by indexing: that takes three times as long for rows like images (3.2 ms, not 1.1, for 256 of 84 px).
    return tensor.index_select(0, send(row_N, tensor.device))
