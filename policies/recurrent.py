"""A policy in three parts: it reads views, remembers, decides. E envs, B sequences, T steps, X views, A factors."""

from functools import partial
from typing import Any

import torch
from torch import Tensor

from policies import action_codec
from policies.interface import EncodedGoals, Evaluation, Memory, Policy, PolicyStep
from policies.recompute import read_by_chunks


class RecurrentPolicy(Policy):
    """Acts, evaluates and values by the same three parts, so that acting over T steps is evaluating them.

    A subclass says what the parts are. What lies between them, `step` and `hidden`, has the shape that it likes after
    the leading dimensions: [X, ...] and [B, T, ...].
    """

    def _read(
        self,
        view_X: Tensor,
        goals: EncodedGoals,
        goal_index_X: Tensor,
        first_X: Tensor,
        previous_action_XA: Tensor,
    ) -> tuple[Tensor, ...]:
        """Return what is to be remembered of each view, then whatever else `_predicted` wants to know of it."""
        raise NotImplementedError

    def _remember(self, step_BT: Tensor, first_BT: Tensor, memory: Memory) -> tuple[Tensor, Memory]:
        """Return the hidden state after each step, and the memory after the last one."""
        raise NotImplementedError

    def _decided(self, hidden_X: Tensor) -> tuple[Tensor, Tensor]:
        """Return logits and values, float32 [..., L] and [...]."""
        raise NotImplementedError

    def _predicted(self, hidden_BT: Tensor, *read_BT: Tensor) -> dict[str, Any]:
        """Return the fields of an Evaluation beside logits and values; `read_BT` is what else `_read` returned."""
        raise NotImplementedError

    @torch.no_grad()
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
        """Choose actions; see Policy.act. Without gradients."""
        step_E = self._read(image_EHWC, goals, goal_index_E, first_E, previous_action_EA)[0]
        hidden_E1, memory = self._remember(step_E.unsqueeze(1), first_E.unsqueeze(1), memory)
        logits_EL, value_E = self._decided(hidden_E1.squeeze(1))
        action_EA, log_prob_E = action_codec.sample_with_log_prob(logits_EL, generator, temperature)
        return PolicyStep(action_EA, log_prob_E, value_E, logits_EL, memory)

    def evaluate(
        self,
        image_BTHWC: Tensor,
        goals: EncodedGoals,
        goal_index_BT: Tensor,
        first_BT: Tensor,
        previous_action_BTA: Tensor,
        memory: Memory,
    ) -> Evaluation:
        """Give logits, values and auxiliary predictions along B sequences of T steps, with gradients."""
        read = partial(read_by_chunks, self._read) if self.recomputes_views and torch.is_grad_enabled() else self._read
        read_X = read(
            image_BTHWC.flatten(0, 1),
            goals,
            goal_index_BT.flatten(),
            first_BT.flatten(),
            previous_action_BTA.flatten(0, 1),
        )
        if not isinstance(read_X, tuple):
            raise TypeError(f"{type(self).__name__}._read must return a tuple, see policies/README.md")
        step_X, *rest_X = read_X
        hidden_BT, _ = self._remember(step_X.unflatten(0, first_BT.shape), first_BT, memory)
        logits_BTL, value_BT = self._decided(hidden_BT)
        predicted = self._predicted(hidden_BT, *(part_X.unflatten(0, first_BT.shape) for part_X in rest_X))
        return Evaluation(logits_BTL=logits_BTL, value_BT=value_BT, **predicted)

    @torch.no_grad()
    def value(
        self,
        image_EHWC: Tensor,
        goals: EncodedGoals,
        goal_index_E: Tensor,
        first_E: Tensor,
        previous_action_EA: Tensor,
        memory: Memory,
    ) -> Tensor:
        """Return float32 [E], the value of these views, without changing any memory. Without gradients."""
        step_E = self._read(image_EHWC, goals, goal_index_E, first_E, previous_action_EA)[0]
        hidden_E1, _ = self._remember(step_E.unsqueeze(1), first_E.unsqueeze(1), memory)
        return self._decided(hidden_E1.squeeze(1))[1]
