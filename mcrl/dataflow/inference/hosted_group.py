"""What a policy host keeps of one group between two requests, and the reference's share in a step. N rows of groups."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from torch import Tensor

from mcrl.dataflow.inference.stream import ActReply
from mcrl.dataflow.rings.group_rows import join_goals, join_memory, split_rows
from policies.interface import EncodedGoals, Memory, Policy
from task_synthesis.goal import CrossViewGoal

_ValueT = TypeVar("_ValueT")


@dataclass(slots=True)
class HostedGroup:
    """One group; what belongs to the reference is None where there is none."""

    session: int
    goals: list[CrossViewGoal]
    encoded: EncodedGoals | None  # None: not encoded with the weights of now
    memory: Memory
    reference_memory: Memory | None
    reference_encoded: EncodedGoals | None
    last_action_EA: Tensor  # int64 [E, A]
    reply: ActReply | None  # the last, for a request that is sent again

    @property
    def num_envs(self) -> int:
        """How many envs step together in it."""
        return len(self.goals)


def reference_logits(
    reference: Policy,
    groups: Sequence[HostedGroup],
    view_N: Tensor,
    row_N: Tensor,
    first_N: Tensor,
    previous_NA: Tensor,
) -> tuple[Tensor, list[Memory]]:
    """Return the reference's logits, float32 [N, L], for the step that the policy takes, and its memories after it.

    Args:
        reference: frozen; every group has a memory of it and its encoded goals.
        groups: in the order of their rows.
        view_N: what `reference.look` gave, N rows.
        row_N: int64, the goal's row in the joined goals.
        first_N: bool, an episode begins.
        previous_NA: int64 [N, A], the action before.
    """
    reference.eval()
    # Temperature 0, so that its action, which nobody heeds, draws no numbers.
    step = reference.act(
        view_N,
        join_goals([present(group.reference_encoded) for group in groups]),
        row_N,
        first_N,
        previous_NA,
        join_memory([present(group.reference_memory) for group in groups]),
        temperature=0.0,
    )
    return step.logits_EL, split_rows(step.memory, [group.num_envs for group in groups])


def present(value: _ValueT | None) -> _ValueT:
    """Return a value of which it is certain that it is not None."""
    assert value is not None
    return value
