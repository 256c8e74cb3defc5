"""One optimizer step on a minibatch: in one pass or several, by one process or several. N sequences, T steps."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from mcrl.config import PPOConfig
from mcrl.learning.forward import Forward, perception_loss
from mcrl.learning.group import LearnerGroup
from mcrl.learning.lesson import Lesson, Share
from mcrl.learning.losses import masked_mean, safe_ratio, value_loss
from mcrl.learning.optimizer import make_adam, set_learning_rate
from mcrl.learning.policy_loss import policy_loss
from mcrl.settings.learner_config import LearnerConfig
from policies import action_codec
from policies.interface import Policy
from policies.precision import Precision

# What a step says of itself, each a mean over the valid steps of the minibatch, so that shares of it add up.
_MEANS = (
    *("policy_loss", "value_loss", "entropy", "auxiliary_loss", "clip_fraction", "approx_kl", "kl_to_reference"),
    "loss",
)


class NonFiniteStepError(RuntimeError):
    """Loss or gradient became NaN or infinite; no step was taken."""


# What the modules of the value head are called in every policy.
_VALUE_HEAD = frozenset(("value", "value_hidden"))


@dataclass(frozen=True, kw_only=True, slots=True)
class UpdateTerms:
    """What stays the same through an update."""

    learning_rate: float
    kl_coef: float
    is_warmup: bool  # only the value head learns


class GradientStep:
    """A policy and its optimizer. Processes that take the same steps on their shares hold the same weights.

    Lessons go pass by pass to where the policy is. A group computes on the CPU.
    """

    def __init__(self, policy: Policy, config: PPOConfig, learner: LearnerConfig, *, precision: Precision) -> None:
        # eval mode also while learning: dropout would make the ratio at lag 0 differ from 1.
        self.policy = policy.eval()
        self.optimizer = make_adam(policy, config.learning_rate)
        self.forward = Forward(policy, precision, recomputes_views=learner.recomputes_views)
        self._config = config
        self.pass_sequences = learner.pass_sequences or config.minibatch_sequences
        self._trunk_parameters = [
            parameter
            for name, parameter in policy.named_parameters()
            if parameter.requires_grad and _VALUE_HEAD.isdisjoint(name.split("."))
        ]

    def begin_update(self, terms: UpdateTerms) -> None:
        """Take what follows under these terms."""
        self._terms = terms
        set_learning_rate(self.optimizer, terms.learning_rate)
        for parameter in self._trunk_parameters:
            parameter.requires_grad_(not terms.is_warmup)

    def end_update(self) -> None:
        """Let every trainable parameter be trainable again."""
        for parameter in self._trunk_parameters:
            parameter.requires_grad_(True)

    def take(self, share: Share, group: LearnerGroup | None = None) -> tuple[dict[str, float], Tensor]:
        """Take one step and return its metrics and the log ratios before it, float32 [N, T] of the whole minibatch.

        With a group, all its processes must take the step, each with its share of one minibatch; all return the same.
        Nothing is changed when another process is lost (LearnerLostError): the step can be taken again.

        Raises:
            NonFiniteStepError: loss or gradient is not finite; in all processes of a group alike.
        """
        self.optimizer.zero_grad(set_to_none=True)
        metrics, log_ratio_NT = self._accumulate(share)
        if group is not None:
            metrics, log_ratio_NT = self._add_up(share, metrics, log_ratio_NT, group)
        grad_norm = torch.nn.utils.clip_grad_norm_(self.policy.parameters(), self._config.max_grad_norm)
        metrics |= {"grad_norm": grad_norm}
        # Read together: a device is waited for once a step.
        numbers = dict(zip(metrics, torch.stack(list(metrics.values())).tolist(), strict=True))
        if not (math.isfinite(numbers["loss"]) and math.isfinite(numbers["grad_norm"])):
            raise NonFiniteStepError(f"loss {numbers['loss']}, gradient norm {numbers['grad_norm']}")
        if share.num_valid:  # else the optimizer would go on by its momentum
            self.optimizer.step()
        return numbers, log_ratio_NT.cpu()

    def _accumulate(self, share: Share) -> tuple[dict[str, Tensor], Tensor]:
        """Leave the share's part of the gradient in the parameters; return its part of every mean, and log ratios."""
        sums: dict[str, Tensor] = {}
        log_ratios = [torch.zeros(0, share.lesson.advantage_NT.shape[1], device=self.forward.device)]
        for start in range(0, share.lesson.num_sequences, self.pass_sequences):
            rows = torch.arange(start, min(start + self.pass_sequences, share.lesson.num_sequences))
            is_all = len(rows) == share.num_sequences
            lesson = share.lesson if len(rows) == share.lesson.num_sequences else share.lesson.rows(rows)
            metrics, log_ratio_NT = self._means(lesson.to(self.forward.device))
            if not is_all:
                weight = lesson.num_valid / max(1, share.num_valid)
                metrics = {name: weight * value for name, value in metrics.items()}
            metrics["loss"].backward()
            for name, value in metrics.items():
                sums[name] = sums[name] + value.detach() if name in sums else value.detach()
            log_ratios.append(log_ratio_NT)
        return sums, torch.cat(log_ratios)

    def _means(self, lesson: Lesson) -> tuple[dict[str, Tensor], Tensor]:
        """Return the loss and what it is made of, means over the lesson's valid steps, and the log ratios."""
        config, terms, part = self._config, self._terms, lesson.part
        is_valid_NT = part.is_valid_BT
        evaluation = self.forward(part)
        log_prob_NT, entropy_NT = action_codec.log_prob_and_entropy(evaluation.logits_BTL, part.action_BTA)
        log_ratio_NT = log_prob_NT - part.log_prob_BT
        actions_loss, clip_fraction = policy_loss(
            config,
            log_prob_NT,
            part.log_prob_BT,
            lesson.advantage_NT,
            is_valid_NT,
            proximal_log_prob_BT=lesson.proximal_log_prob_NT,
        )
        values_loss = value_loss(evaluation.value_BT, lesson.head_target_NT, is_valid_NT)
        entropy = masked_mean(entropy_NT, is_valid_NT)
        seen_loss = perception_loss(evaluation, part)
        metrics = {
            "policy_loss": actions_loss,
            "value_loss": values_loss,
            "entropy": entropy,
            "auxiliary_loss": seen_loss,
            "clip_fraction": clip_fraction,
            # Schulman's estimator of KL(mu || pi): never negative, little variance.
            "approx_kl": masked_mean(safe_ratio(log_ratio_NT, is_valid_NT) - 1 - log_ratio_NT, is_valid_NT),
        }
        loss = config.value_coef * values_loss
        if not terms.is_warmup:
            loss = loss + actions_loss - config.entropy_coef * entropy + config.auxiliary_coef * seen_loss
        if config.kl_to_reference is not None and part.reference_logits_BTL is not None:
            kl = masked_mean(action_codec.kl(evaluation.logits_BTL, part.reference_logits_BTL), is_valid_NT)
            metrics["kl_to_reference"] = kl
            if not terms.is_warmup:
                loss = loss + terms.kl_coef * kl
        return metrics | {"loss": loss}, log_ratio_NT.detach()

    def _add_up(
        self, share: Share, metrics: dict[str, Tensor], log_ratio_NT: Tensor, group: LearnerGroup
    ) -> tuple[dict[str, Tensor], Tensor]:
        """Give every process the gradient of the whole minibatch, its means and its log ratios, in one all-reduce."""
        learning = [parameter for parameter in self.policy.parameters() if parameter.requires_grad]
        # A parameter that no process used keeps no gradient, as with one process: Adam then leaves it alone.
        is_used = torch.tensor([float(parameter.grad is not None) for parameter in learning])
        gradients = [torch.zeros_like(p) if p.grad is None else p.grad for p in learning]
        has_mean = torch.tensor([float(name in metrics) for name in _MEANS])
        means = torch.stack([metrics.get(name, torch.zeros(())) for name in _MEANS])
        ratios_NT = torch.zeros(share.num_sequences, share.lesson.advantage_NT.shape[1])
        ratios_NT[share.first_row : share.first_row + share.lesson.num_sequences] = log_ratio_NT
        pieces = [*gradients, is_used, has_mean, means, ratios_NT]
        flat_P = torch.cat([piece.reshape(-1) for piece in pieces])
        group.add_up(flat_P)
        sums = flat_P.split([piece.numel() for piece in pieces])
        views = [total.view(piece.shape) for total, piece in zip(sums, pieces, strict=True)]
        *gradients, is_used, has_mean, means, ratios_NT = views
        for parameter, gradient, used in zip(learning, gradients, is_used.tolist(), strict=True):
            parameter.grad = gradient if used else None
        present = zip(_MEANS, means, has_mean.tolist(), strict=True)
        return {name: mean for name, mean, has in present if has}, ratios_NT
