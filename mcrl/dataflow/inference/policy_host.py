"""A policy that acts for many groups: their memories, goals and last actions. E envs, N rows of several groups.

Each group is one sequence of requests. Whoever sends several at once has them computed as one batch; a group alone is
computed exactly as mcrl.rollout.rollout_worker.RolloutWorker does it, to the bit.
"""

from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor

from mcrl.dataflow.inference.hosted_group import HostedGroup, present, reference_logits
from mcrl.dataflow.inference.stream import ActReply, ActRequest, GroupKey, HostStateLostError, ValueRequest
from mcrl.dataflow.rings.group_rows import join_goals, join_memory, memory_rows, split_goals, split_rows
from mcrl.dataflow.weights.delayed_update import DelayedUpdate
from mcrl.dataflow.weights.param_store import ParamReader
from mcrl.dataflow.weights.params import ParamLayout
from mcrl.dataflow.weights.snapshot import ParamHeader, ParamSnapshot
from mcrl.learning.batch import split_memory, stack_goals
from policies import action_codec
from policies.device import copied_memory, device_of, send_array
from policies.interface import EncodedGoals, Memory, Policy
from policies.precision import Precision, autocast
from task_synthesis.goal import CrossViewGoal


class PolicyHost:
    """An InferenceStream in the process of the caller, for one thread.

    The frozen reference, where there is one, watches the same steps with a memory of its own that never restarts at
    a fragment, so that its logits are those of a policy that saw the whole episode.
    """

    def __init__(
        self,
        policy: Policy,
        reference: Policy | None = None,
        *,
        seed: int,
        precision: Precision = "auto",
    ) -> None:
        """Act with `policy`, whose weights `load` overwrites, where they are; actions are drawn with `seed`."""
        self.version = 0
        self._policy, self._reference = policy, reference
        self._layout = ParamLayout(policy)
        self._precision: Precision = precision
        self._device = device_of(policy)
        self._generator = torch.Generator().manual_seed(seed)
        self._groups: dict[GroupKey, HostedGroup] = {}
        self._update: DelayedUpdate | None = None

    def load(self, snapshot: ParamSnapshot) -> None:
        """Act with these weights from the next request on."""
        self._layout.load(self._policy, snapshot)
        self._note(snapshot.header)

    def follow(self, reader: ParamReader, on_swap: Callable[[ParamHeader], None]) -> DelayedUpdate:
        """Take weights from `reader` instead of by `load`; `on_swap` hears of each version before it acts."""

        def note(header: ParamHeader) -> None:
            self._note(header)
            on_swap(header)

        self._update = DelayedUpdate(self._policy, reader, on_swap=note)
        return self._update

    @torch.inference_mode()
    def act(self, requests: Sequence[ActRequest]) -> list[ActReply]:
        """Choose the actions of these groups in one batch.

        Raises:
            HostStateLostError: a group is new here and a goal of it is None; nothing has changed.
            ValueError: a request is neither the next of its group nor the last one again.
        """
        for request in requests:
            self._check(request)
        fresh = [request for request in requests if not self._is_answered(request)]
        if fresh:
            if self._update is not None:
                self._update.swap()
            self._policy.eval()
            self._compute(fresh)
        replies = [self._groups[request.group].reply for request in requests]
        return [reply for reply in replies if reply is not None]

    @torch.inference_mode()
    def values(self, requests: Sequence[ValueRequest]) -> list[np.ndarray]:
        """Return float32 [N] for each request. Raise HostStateLostError for a group that is not known here."""
        for request in requests:
            if request.group not in self._groups:
                raise HostStateLostError(f"group {request.group} is not known to this host")
        asked = [request for request in requests if len(request.env_N)]
        if not asked:
            return [np.zeros(0, np.float32) for _ in requests]
        self._policy.eval()
        groups = [self._groups[request.group] for request in asked]
        rows = [self._to_device(np.asarray(request.env_N, np.int64)) for request in asked]
        image_NHWC = self._to_device(np.concatenate([request.image_NHWC for request in asked]))
        with autocast(self._precision, self._device):
            value_N = self._policy.value(
                image_NHWC,
                join_goals([self._encoded(group).rows(row_N) for group, row_N in zip(groups, rows, strict=True)]),
                torch.arange(len(image_NHWC), device=self._device),
                torch.zeros(len(image_NHWC), dtype=torch.bool, device=self._device),
                torch.cat([group.last_action_EA[row_N] for group, row_N in zip(groups, rows, strict=True)]),
                join_memory([memory_rows(group.memory, row_N) for group, row_N in zip(groups, rows, strict=True)]),
            )
        parts = iter(value_N.float().cpu().split([len(row_N) for row_N in rows]))
        return [next(parts).numpy() if len(request.env_N) else np.zeros(0, np.float32) for request in requests]

    def close(self) -> None:
        """Forget every group and receive no more weights."""
        self._groups = {}
        if self._update is not None:
            self._update.close()

    def _note(self, header: ParamHeader) -> None:
        """Take note of the weights that act from now on."""
        self.version = header.version
        for group in self._groups.values():
            group.encoded = None

    def _check(self, request: ActRequest) -> None:
        group = self._known(request)
        if group is None:
            if any(goal is None for goal in request.goals):
                raise HostStateLostError(f"group {request.group} is not known to this host")
        elif group.reply is not None and request.request_id - group.reply.request_id not in (0, 1):
            raise ValueError(
                f"inference: group {request.group} sent request {request.request_id} after {group.reply.request_id}; "
                "number the requests of a group 0, 1, 2 ..."
            )

    def _known(self, request: ActRequest) -> HostedGroup | None:
        """Return the group of a request, unless it is not known here or another client's."""
        group = self._groups.get(request.group)
        return None if group is None or group.session != request.session else group

    def _is_answered(self, request: ActRequest) -> bool:
        group = self._known(request)
        return group is not None and group.reply is not None and group.reply.request_id == request.request_id

    def _compute(self, requests: Sequence[ActRequest]) -> None:
        """Let every group of `requests` take its step. Where that fails none has taken it: they may be asked again."""
        known = [self._known(request) for request in requests]
        # One without a reply met an error in its first step: it still begins.
        is_new = [group is None or group.reply is None for group in known]
        for request, is_fresh in zip(requests, is_new, strict=True):
            if is_fresh:
                self._groups[request.group] = self._begin(request)
        groups = [self._groups[request.group] for request in requests]
        self._encode_first(requests, groups, is_new)
        sizes = [group.num_envs for group in groups]
        memories = [
            split_memory(copied_memory(group.memory), group.num_envs) if request.wants_memory or is_fresh else None
            for request, group, is_fresh in zip(requests, groups, is_new, strict=True)
        ]
        previous_NA = torch.cat([self._previous(r, g) for r, g in zip(requests, groups, strict=True)])
        first_N = self._to_device(np.concatenate([request.first_E for request in requests]))
        image_NHWC = self._to_device(np.concatenate([request.image_EHWC for request in requests]))
        row_N = torch.arange(len(image_NHWC), device=self._device)
        with autocast(self._precision, self._device):
            # Looked at once: the reference has the same frozen weights, or `ParamLayout.load` had refused them.
            view_N = self._policy.look(image_NHWC)
            goals = join_goals([self._encoded(group) for group in groups])
            memory = join_memory([group.memory for group in groups])
            step = self._policy.act(view_N, goals, row_N, first_N, previous_NA, memory, generator=self._generator)
            reference_logits_NL: Tensor | None = None
            reference_memories: Sequence[Memory | None] = [None] * len(groups)
            if self._reference is not None:
                reference_logits_NL, reference_memories = reference_logits(
                    self._reference, groups, view_N, row_N, first_N, previous_NA
                )
        starts = np.cumsum([0, *sizes])
        replies = []
        for index, request in enumerate(requests):
            rows = slice(int(starts[index]), int(starts[index + 1]))
            action_EA = step.action_EA[rows].cpu().numpy()
            reply = ActReply(
                request_id=request.request_id,
                version=self.version,
                actions=action_codec.decode(action_EA),
                action_EA=action_EA,
                previous_action_EA=previous_NA[rows].cpu().numpy(),
                view_E=None if view_N is image_NHWC else view_N[rows].cpu().numpy(),
                log_prob_E=step.log_prob_E[rows].cpu().numpy(),
                value_E=step.value_E[rows].cpu().numpy(),
                reference_logits_EL=None if reference_logits_NL is None else reference_logits_NL[rows].cpu().numpy(),
                memories=memories[index],
                is_memory_lost=is_new[index] and request.request_id > 0,
            )
            replies.append(reply)
        actions = step.action_EA.split(sizes)
        after = zip(split_rows(step.memory, sizes), reference_memories, actions, replies, strict=True)
        for group, (memory, reference_memory, action_EA, reply) in zip(groups, after, strict=True):
            group.memory, group.reference_memory = memory, reference_memory
            group.last_action_EA, group.reply = action_EA, reply

    def _begin(self, request: ActRequest) -> HostedGroup:
        goals = [goal for goal in request.goals if goal is not None]
        assert len(goals) == len(request.goals), "the first request of a group holds all its goals"
        num_envs = len(goals)
        reference = self._reference
        rest_A = torch.tensor(action_codec.REST_ACTION, device=self._device)
        return HostedGroup(
            session=request.session,
            goals=goals,
            encoded=None,
            memory=self._policy.initial_memory(num_envs),
            reference_memory=None if reference is None else reference.initial_memory(num_envs),
            reference_encoded=None if reference is None else self._encode(reference, goals),
            last_action_EA=rest_A.repeat(num_envs, 1),
            reply=None,
        )

    def _previous(self, request: ActRequest, group: HostedGroup) -> Tensor:
        """Return int64 [E, A], what was last done: what the caller says, or rest where nothing was."""
        if request.previous_action_EA is None:
            rest_A = torch.tensor(action_codec.REST_ACTION, device=self._device)
            return rest_A.repeat(group.num_envs, 1)
        return self._to_device(np.asarray(request.previous_action_EA, np.int64))

    def _encode_first(
        self, requests: Sequence[ActRequest], groups: Sequence[HostedGroup], is_new: Sequence[bool]
    ) -> None:
        """Encode the goals of the episodes that begin, those of all groups in one batch."""
        begun: list[tuple[HostedGroup, np.ndarray]] = []
        for request, group, is_fresh in zip(requests, groups, is_new, strict=True):
            if is_fresh:
                continue  # all its goals are encoded below
            index_N = np.flatnonzero(request.first_E)
            for index in index_N.tolist():
                group.goals[index] = present(request.goals[index])
            if len(index_N):
                begun.append((group, index_N))
        for group in groups:
            self._encoded(group)
        if not begun:
            return
        goals = [group.goals[index] for group, index_N in begun for index in index_N]
        sizes = [len(index_N) for _, index_N in begun]
        encoded = split_goals(self._encode(self._policy, goals), sizes)
        reference_encoded = None
        if self._reference is not None:
            reference_encoded = split_goals(self._encode(self._reference, goals), sizes)
        for place, (group, index_N) in enumerate(begun):
            row_N = self._to_device(index_N)
            self._encoded(group).put(row_N, encoded[place])
            if reference_encoded is not None:
                present(group.reference_encoded).put(row_N, reference_encoded[place])

    def _encoded(self, group: HostedGroup) -> EncodedGoals:
        if group.encoded is None:
            group.encoded = self._encode(self._policy, group.goals)
        return group.encoded

    def _encode(self, policy: Policy, goals: Sequence[CrossViewGoal]) -> EncodedGoals:
        policy.eval()
        batch = stack_goals(goals)
        with autocast(self._precision, self._device):
            return policy.encode_goals(
                batch.image_GHWC.to(self._device),
                batch.mask_GHW.to(self._device),
                batch.interaction_G.to(self._device),
            )

    def _to_device(self, array: np.ndarray) -> Tensor:
        return send_array(array, self._device)
