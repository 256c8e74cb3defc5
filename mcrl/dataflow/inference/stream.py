"""The seam between those who step environments and the policy that acts in them. E envs, A factors, L logits.

A group is the E environments of one backend, which act together. Its policy memory lives where inference happens, so a
group stays with one host; what it sends is what it sees.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

from task_synthesis.goal import CrossViewGoal
from worlds.types import ActionBatch

if TYPE_CHECKING:  # a sleeping worker imports no torch
    from mcrl.dataflow.weights.delayed_update import DelayedUpdate
    from mcrl.dataflow.weights.param_store import ParamReader
    from mcrl.dataflow.weights.snapshot import ParamHeader, ParamSnapshot

# A group's address: (worker id, group index).
GroupKey = tuple[int, int]


class HostStateLostError(LookupError):
    """A host began afresh and does not know what an answer needs: the goals of a group, or new enough weights."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ActRequest:
    """What a group sees, and so asks what to do."""

    group: GroupKey
    request_id: int  # 0, 1, 2 ... for each group; 0 begins with an empty memory
    image_EHWC: np.ndarray  # uint8 [E, H, W, 3] RGB
    first_E: np.ndarray  # bool [E], the view is the first of an episode
    goals: Sequence[CrossViewGoal | None]  # E; None where first_E is false and the host knows the goal
    previous_action_EA: np.ndarray | None  # int64 [E, A], what was last done; None: nothing yet
    wants_memory: bool  # the reply is to hold the memory before this step, for a fragment that begins
    session: int = 0  # who asks: a worker that was started again is another client, and its groups begin afresh


@dataclass(frozen=True, kw_only=True, slots=True)
class ActReply:
    """What to do, and what the policy thought."""

    request_id: int
    version: int  # of the weights that acted
    actions: ActionBatch
    action_EA: np.ndarray  # int64 [E, A], the same as factors
    previous_action_EA: np.ndarray  # int64 [E, A], what the policy took as last done
    view_E: np.ndarray | None  # what the policy's frozen part made of the views, first dimension E; None: no such part
    log_prob_E: np.ndarray  # float32 [E]
    value_E: np.ndarray  # float32 [E]
    reference_logits_EL: np.ndarray | None  # float32 [E, L]; None without a reference
    memories: Sequence[dict[str, np.ndarray]] | None  # one an env, before this step; None unless asked for or lost
    is_memory_lost: bool = False  # the host had died: this step was the first of an empty memory


@dataclass(frozen=True, kw_only=True, slots=True)
class ValueRequest:
    """What envs `env_N` see where their world goes on unseen; asked between two acts, and changes nothing."""

    group: GroupKey
    image_NHWC: np.ndarray  # uint8 [N, H, W, 3]
    env_N: np.ndarray  # int64 [N], some of the E


class InferenceStream(Protocol):
    """Acts for groups. Every stream passes the same tests (tests/mcrl/dataflow/inference/test_inference.py).

    A request that is sent twice is answered twice alike, and the memory has seen it once.
    """

    def act(self, requests: Sequence[ActRequest]) -> list[ActReply]:
        """Choose the actions of these groups, in one batch as far as the host can, and wait for them."""
        ...

    def values(self, requests: Sequence[ValueRequest]) -> Sequence[np.ndarray | None]:
        """Return float32 [N] for each request: the values of views that end a fragment or an episode.

        None says that the host that knew the group is gone, and its memory with it.
        """
        ...

    def load(self, snapshot: "ParamSnapshot") -> None:
        """Act with these weights from the next request on."""
        ...

    def close(self) -> None:
        """Let go of the host. Closing twice is fine."""
        ...


@runtime_checkable
class FollowingInference(InferenceStream, Protocol):
    """A stream whose host can take new weights in between two requests."""

    def follow(self, reader: "ParamReader", on_swap: "Callable[[ParamHeader], None]") -> "DelayedUpdate":
        """Take weights from `reader` instead of by `load`; `on_swap` hears of each version before it acts."""
        ...
