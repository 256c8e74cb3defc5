"""Proximal policy optimization on batches of fragments. B fragments, T steps."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from mcrl.config import PPOConfig
from mcrl.fragment import Fragment
from mcrl.learning.batch import FragmentBatch, collate
from mcrl.learning.duration import DurationWeighter
from mcrl.learning.forward import evaluate, perception_loss
from mcrl.learning.kl_coefficient import KLCoefficient
from mcrl.learning.losses import explained_variance, masked_mean, safe_ratio, value_loss
from mcrl.learning.optimizer import make_adam, read_adam, set_learning_rate, write_adam
from mcrl.learning.policy_loss import needs_snapshot, policy_loss
from mcrl.learning.targets import Snapshot, find_targets
from mcrl.learning.value_scale import ValueScale
from mcrl.seeding import derive_seed
from mcrl.work import WorkKind
from policies import action_codec
from policies.interface import Policy
from policies.precision import Precision


class NonFiniteLossError(RuntimeError):
    """The loss or its gradient became NaN or infinite; the batch that did it was saved."""


class Learner:
    """Improves a policy in place. `iteration` counts updates and is the version of the weights."""

    def __init__(
        self, policy: Policy, config: PPOConfig, *, precision: Precision, seed: int, crash_dir: Path | None = None
    ) -> None:
        """`crash_dir` is where the batch of a NaN loss is saved; None saves none."""
        # eval mode also while learning: dropout would make the ratio at lag 0 differ from 1.
        self.policy = policy.eval()
        self.config = config
        self.iteration = 0
        self._precision = precision
        self._crash_dir = crash_dir
        self._weighter = None if config.duration_weighting == "none" else DurationWeighter(config.duration_weighting)
        self._optimizer = make_adam(policy, config.learning_rate)
        self._generator = torch.Generator().manual_seed(derive_seed(seed, "learner"))
        self._kl_coef = KLCoefficient(config)
        self._value_scale = ValueScale() if config.value_normalisation else None
        # All but the value head, which is the module named "value" in every policy.
        self._trunk_parameters = [
            parameter
            for name, parameter in policy.named_parameters()
            if parameter.requires_grad and "value" not in name.split(".")
        ]

    def update(self, fragments: Sequence[Fragment], refused: Mapping[WorkKind, int] | None = None) -> dict[str, float]:
        """Learn from one batch and return metrics: loss parts, movement of the policy, quality of the values.

        `refused` is the work that was begun since the last batch and reaches none, see FragmentSource.take_refused.
        """
        config = self.config
        batch = collate(fragments)
        snapshot = self._snapshot(batch) if needs_snapshot(config) else None
        targets = find_targets(batch, fragments, config, snapshot=snapshot, scale=self._value_scale)
        advantage_BT = targets.advantage_BT
        weighting_metrics: dict[str, float] = {}
        if self._weighter is not None:
            weight_BT, weighting_metrics = self._weighter.weigh(fragments, refused or {})
            # A positive factor on the advantage is one on the policy term, whatever the loss and its clipping.
            advantage_BT = advantage_BT * torch.from_numpy(weight_BT)
        is_fresh_B = torch.tensor([f.min_version == f.max_version == self.iteration for f in fragments])
        is_warmup = self.iteration < config.value_warmup_iterations
        progress = self.iteration / max(1, config.num_iterations)
        learning_rate = config.learning_rate * max(config.final_learning_rate_share, 1 - progress)
        set_learning_rate(self._optimizer, learning_rate)
        for parameter in self._trunk_parameters:
            parameter.requires_grad_(not is_warmup)
        sums: dict[str, float] = defaultdict(float)
        num_minibatches = 0
        ratio_spread: float | None = None
        for _ in range(config.num_epochs):
            order_B = torch.randperm(batch.num_sequences, generator=self._generator)
            for row_N in order_B.split(config.minibatch_sequences):
                part = batch.select(row_N)
                metrics, log_ratio_NT = self._step(
                    part,
                    advantage_BT[row_N],
                    targets.head_BT[row_N],
                    None if snapshot is None else snapshot.log_prob_BT[row_N],
                    is_warmup=is_warmup,
                )
                if num_minibatches == 0:
                    ratio_spread = _spread(log_ratio_NT, part.is_valid_BT & is_fresh_B[row_N, None])
                for name, value in metrics.items():
                    sums[name] += value
                num_minibatches += 1
            if config.target_kl is not None and metrics["approx_kl"] > config.target_kl:
                break
        for parameter in self._trunk_parameters:
            parameter.requires_grad_(True)
        staleness = float(np.mean([self.iteration - f.min_version for f in fragments]))
        result = {name: value / num_minibatches for name, value in sums.items()}
        if config.kl_target is not None:
            result["kl_coef"] = self._kl_coef.at(self.iteration)
            # In the warm-up the policy stands still: its distance says nothing about the coefficient.
            if not is_warmup and "kl_to_reference" in result:
                self._kl_coef.hear(result["kl_to_reference"])
        self.iteration += 1
        result |= {
            "learning_rate": learning_rate,
            "explained_variance": explained_variance(targets.value_BT, targets.return_BT, batch.is_valid_BT),
            "return": float(masked_mean(targets.return_BT, batch.is_valid_BT)),
            "staleness": staleness,
            "num_steps": float(batch.is_valid_BT.sum()),
            "is_value_warmup": float(is_warmup),
        }
        result |= weighting_metrics
        return result if ratio_spread is None else result | {"ratio_spread_lag0": ratio_spread}

    def state_tensors(self) -> dict[str, Tensor]:
        """Return the optimizer's state under names that go with the policy's parameters."""
        return read_adam(self._optimizer, self.policy)

    def numbers(self) -> dict[str, float]:
        """Return the numbers that change with the iterations, for a checkpoint."""
        scale = {} if self._value_scale is None else self._value_scale.numbers()
        durations = {} if self._weighter is None else self._weighter.numbers()
        return self._kl_coef.numbers() | scale | durations

    def generator_state(self) -> str:
        """Return the state of the generator that shuffles, as hexadecimal bytes."""
        return self._generator.get_state().numpy().tobytes().hex()

    def restore(
        self,
        iteration: int,
        tensors: dict[str, Tensor],
        generator_state: str,
        *,
        where: Path,
        numbers: Mapping[str, float] | None = None,
    ) -> None:
        """Go on where another learner stopped. Raise ValueError when the tensors are of another policy.

        `numbers` are what `numbers()` returned; None starts them afresh.
        """
        numbers = numbers or {}
        write_adam(self._optimizer, self.policy, tensors, where=where)
        self._generator.set_state(torch.frombuffer(bytearray.fromhex(generator_state), dtype=torch.uint8))
        self._kl_coef.restore(numbers, where=where)
        if self._value_scale is not None:
            self._value_scale.restore(numbers, where=where)
        if self._weighter is not None:
            self._weighter.restore(numbers)
        self.iteration = iteration

    @torch.no_grad()
    def _snapshot(self, batch: FragmentBatch) -> Snapshot:
        """Return what the present weights say of the batch, computed in minibatches as the learning steps are."""
        log_probs, values = [], []
        for row_N in torch.arange(batch.num_sequences).split(self.config.minibatch_sequences):
            part = batch.select(row_N)
            evaluation = evaluate(self.policy, part, self._precision)
            log_probs.append(action_codec.log_prob(evaluation.logits_BTL, part.action_BTA))
            values.append(evaluation.value_BT)
        return Snapshot(log_prob_BT=torch.cat(log_probs), value_BT=torch.cat(values))

    def _step(
        self,
        part: FragmentBatch,
        advantage_NT: Tensor,
        head_target_NT: Tensor,
        proximal_log_prob_NT: Tensor | None,
        *,
        is_warmup: bool,
    ) -> tuple[dict[str, float], Tensor]:
        """Take one optimizer step and return its metrics and the log ratios before it."""
        config = self.config
        is_valid_NT = part.is_valid_BT
        evaluation = evaluate(self.policy, part, self._precision)
        log_prob_NT = action_codec.log_prob(evaluation.logits_BTL, part.action_BTA)
        log_ratio_NT = log_prob_NT - part.log_prob_BT
        actions_loss, clip_fraction = policy_loss(
            config,
            log_prob_NT,
            part.log_prob_BT,
            advantage_NT,
            is_valid_NT,
            proximal_log_prob_BT=proximal_log_prob_NT,
        )
        values_loss = value_loss(evaluation.value_BT, head_target_NT, is_valid_NT)
        entropy = masked_mean(action_codec.entropy(evaluation.logits_BTL), is_valid_NT)
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
        if not is_warmup:
            loss = loss + actions_loss - config.entropy_coef * entropy + config.auxiliary_coef * seen_loss
        if config.kl_to_reference is not None and part.reference_logits_BTL is not None:
            kl = masked_mean(action_codec.kl(evaluation.logits_BTL, part.reference_logits_BTL), is_valid_NT)
            metrics["kl_to_reference"] = kl
            if not is_warmup:
                loss = loss + self._kl_coef.at(self.iteration) * kl
        self._optimizer.zero_grad(set_to_none=True)
        loss.backward()
        grad_norm = torch.nn.utils.clip_grad_norm_(self.policy.parameters(), config.max_grad_norm)
        if not (torch.isfinite(loss) and torch.isfinite(grad_norm)):
            raise NonFiniteLossError(self._describe_crash(part, loss.item(), grad_norm.item()))
        self._optimizer.step()
        metrics |= {"loss": loss, "grad_norm": grad_norm}
        return {name: float(value.detach()) for name, value in metrics.items()}, log_ratio_NT.detach()

    def _describe_crash(self, part: FragmentBatch, loss: float, grad_norm: float) -> str:
        what = f"loss {loss}, gradient norm {grad_norm} in iteration {self.iteration}"
        if self._crash_dir is None:
            return f"{what}; no step was taken"
        path = self._crash_dir / f"nan_batch_{self.iteration:06d}.npz"
        np.savez_compressed(path, **part.arrays())  # type: ignore[arg-type]
        return f"{what}; no step was taken and the batch is in {path}: lower ppo.learning_rate or look at the batch"


def _spread(log_ratio_NT: Tensor, mask_NT: Tensor) -> float | None:
    """Return the standard deviation of the log ratios where the mask holds; None where it holds nowhere.

    Before the first step on fragments of the present weights it should be rounding only: more than 0.02 means that
    acting and learning do not compute the same policy.
    """
    chosen = log_ratio_NT[mask_NT]
    return float(chosen.std(unbiased=False)) if chosen.numel() else None
