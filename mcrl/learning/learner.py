"""Proximal policy optimization on batches of fragments. B fragments, T steps."""

import logging
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from mcrl.config import PPOConfig
from mcrl.learning.average import WeightAverage, without_average
from mcrl.learning.batch import FragmentBatch, collate
from mcrl.learning.duration import DurationWeighter
from mcrl.learning.gradient_step import GradientStep, NonFiniteStepError, UpdateTerms
from mcrl.learning.group import LearnerGroup, LearnerLostError
from mcrl.learning.kl_coefficient import KLCoefficient
from mcrl.learning.lead import Lead
from mcrl.learning.lesson import Lesson, Share
from mcrl.learning.losses import explained_variance, masked_mean
from mcrl.learning.optimizer import read_moments, write_moments
from mcrl.learning.policy_loss import needs_snapshot
from mcrl.learning.privileged_critic import PrivilegedCritic, without_critic
from mcrl.learning.snapshot import take_snapshot
from mcrl.learning.targets import Snapshot, find_targets
from mcrl.learning.value_scale import ValueScale
from mcrl.rollout.fragment import Fragment
from mcrl.seeding import derive_seed
from mcrl.settings.learner_config import LearnerConfig
from mcrl.work import WorkKind
from policies.interface import Policy
from policies.precision import Precision

_LOG = logging.getLogger(__name__)


class NonFiniteLossError(RuntimeError):
    """The loss or its gradient became NaN or infinite; the batch that did it was saved."""


class Learner:
    """Improves a policy in place. `iteration` counts updates and is the version of the weights.

    Alone, or as the leader of other processes (see `lead`). What a batch teaches, in which order it is taken and when
    an update ends is found here, once; the others are sent their shares of it and hold weights and optimizer alone.
    So whatever has a mean over the batch, or a memory of batches before, is the same for any number of processes.
    """

    def __init__(
        self,
        policy: Policy,
        config: PPOConfig,
        *,
        precision: Precision,
        seed: int,
        crash_dir: Path | None = None,
        learner: LearnerConfig | None = None,
    ) -> None:
        """`crash_dir` is where the batch of a NaN loss is saved; None saves none."""
        learner = learner or LearnerConfig()
        self.policy = policy
        self.config = config
        self.iteration = 0
        self.average = None if learner.ema_decay is None else WeightAverage(policy, learner.ema_decay)
        self._step = GradientStep(policy, config, learner, precision=precision)
        self._lead: Lead | None = None
        self._crash_dir = crash_dir
        self._weighter = None if config.duration_weighting == "none" else DurationWeighter(config.duration_weighting)
        self._generator = torch.Generator().manual_seed(derive_seed(seed, "learner"))
        self._kl_coef = KLCoefficient(config)
        self._value_scale = ValueScale() if config.value_normalisation else None
        self._critic = PrivilegedCritic(seed) if config.privileged_critic else None

    @property
    def num_processes(self) -> int:
        """Return how many processes learn now: 1 again after another one was lost."""
        return 1 if self._lead is None else self._lead.group.size

    @property
    def is_stop_wished(self) -> bool:
        """Return whether some process of the group was asked to stop."""
        return self._lead is not None and self._lead.group.is_stop_wished

    def lead(self, group: LearnerGroup) -> None:
        """Share the updates from now on with the helpers of `group`, which first get weights and optimizer.

        When one is lost (it died, or was silent for longer than the group's time-out) this process finishes the update
        alone, with the same result: no step is taken before every process gave its share of the gradient.
        """
        self._lead = Lead(group)
        self._lead.send_state(self.policy, self._step.optimizer)

    def update(self, fragments: Sequence[Fragment], refused: Mapping[WorkKind, int] | None = None) -> dict[str, float]:
        """Learn from one batch and return metrics: loss parts, movement of the policy, quality of the values.

        `refused` is the work that was begun since the last batch and reaches none, see FragmentSource.take_refused.
        """
        config = self.config
        batch = collate(fragments)
        snapshot = self._snapshot(batch) if needs_snapshot(config) else None
        judged = None if self._critic is None else self._critic.judge(fragments, batch)
        targets = find_targets(batch, fragments, config, snapshot=snapshot, scale=self._value_scale, judged=judged)
        advantage_BT = targets.advantage_BT
        weighting_metrics: dict[str, float] = {}
        if self._weighter is not None:
            weight_BT, weighting_metrics = self._weighter.weigh(fragments, refused or {})
            # A positive factor on the advantage is one on the policy term, whatever the loss and its clipping.
            advantage_BT = advantage_BT * torch.from_numpy(weight_BT)
        is_fresh_B = torch.tensor([f.min_version == f.max_version == self.iteration for f in fragments])
        terms = self._terms()
        lesson = Lesson(
            part=batch,
            advantage_NT=advantage_BT,
            head_target_NT=targets.head_BT,
            proximal_log_prob_NT=None if snapshot is None else snapshot.log_prob_BT,
        )
        self._step.begin_update(terms)
        result, ratio_spread = self._learn(lesson, terms, is_fresh_B)
        self._step.end_update()
        if self._critic is not None and judged is not None:
            # Last: a batch whose numbers are none has been refused by now.
            result["critic_loss"] = self._critic.learn(judged, targets.return_BT, batch.is_valid_BT, self.iteration)
        staleness = float(np.mean([self.iteration - f.min_version for f in fragments]))
        if config.kl_target is not None:
            result["kl_coef"] = self._kl_coef.at(self.iteration)
            # In the warm-up the policy stands still: its distance says nothing about the coefficient.
            if not terms.is_warmup and "kl_to_reference" in result:
                self._kl_coef.hear(result["kl_to_reference"])
        self.iteration += 1
        result |= {
            "learning_rate": terms.learning_rate,
            "explained_variance": explained_variance(targets.value_BT, targets.return_BT, batch.is_valid_BT),
            "return": float(masked_mean(targets.return_BT, batch.is_valid_BT)),
            "staleness": staleness,
            "num_steps": float(batch.is_valid_BT.sum()),
            "is_value_warmup": float(terms.is_warmup),
        }
        result |= weighting_metrics
        return result if ratio_spread is None else result | {"ratio_spread_lag0": ratio_spread}

    def _terms(self) -> UpdateTerms:
        """Return what holds for the whole of the present update."""
        config = self.config
        progress = self.iteration / max(1, config.num_iterations)
        return UpdateTerms(
            learning_rate=config.learning_rate * max(config.final_learning_rate_share, 1 - progress),
            kl_coef=self._kl_coef.at(self.iteration),
            is_warmup=self.iteration < config.value_warmup_iterations,
        )

    def _learn(self, lesson: Lesson, terms: UpdateTerms, is_fresh_B: Tensor) -> tuple[dict[str, float], float | None]:
        """Take the steps of all epochs, fewer where `target_kl` ends them; return mean metrics and the ratio spread.

        The spread is that of the first minibatch: only there the weights are those that the fresh sequences acted with.
        None where it has no fresh one.
        """
        config, batch = self.config, lesson.part
        sums: dict[str, float] = defaultdict(float)
        num_minibatches = 0
        ratio_spread: float | None = None
        for _ in range(config.num_epochs):
            order_B = torch.randperm(batch.num_sequences, generator=self._generator)
            minibatches = order_B.split(config.minibatch_sequences)
            self._send_epoch(lesson, minibatches, terms)
            for row_N in minibatches:
                metrics, log_ratio_NT = self._take(lesson, row_N)
                if num_minibatches == 0:
                    ratio_spread = _spread(log_ratio_NT, batch.is_valid_BT[row_N] & is_fresh_B[row_N, None])
                for name, value in metrics.items():
                    sums[name] += value
                num_minibatches += 1
            if config.target_kl is not None and metrics["approx_kl"] > config.target_kl:
                break
        return {name: value / num_minibatches for name, value in sums.items()}, ratio_spread

    def state_tensors(self) -> dict[str, Tensor]:
        """Return the state of the optimizer, of the average and of the critic if there are any, by name."""
        moments = read_moments(self._step.optimizer, self.policy)
        average = {} if self.average is None else self.average.tensors()
        return moments | average | ({} if self._critic is None else self._critic.tensors())

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
        """Go on where another learner stopped. `numbers` are what `numbers()` returned; None starts them afresh.

        Raises:
            ValueError: the tensors are of another policy, or the state of the generator or a number is none.
        """
        numbers = numbers or {}
        own = without_critic(without_average(tensors))
        write_moments(self._step.optimizer, self.policy, own, where=where)
        if self.average is not None:
            self.average.restore(tensors, where=where)
        if self._critic is not None:
            self._critic.restore(tensors, where=where)
        try:
            self._generator.set_state(torch.frombuffer(bytearray.fromhex(generator_state), dtype=torch.uint8))
        except (ValueError, RuntimeError):
            raise ValueError(
                f"{where}: rng_state in state.json is not the state of a generator; use another checkpoint of the run"
            ) from None
        self._kl_coef.restore(numbers, where=where)
        if self._value_scale is not None:
            self._value_scale.restore(numbers, where=where)
        if self._weighter is not None:
            self._weighter.restore(numbers, where=where)
        self.iteration = iteration

    def _snapshot(self, batch: FragmentBatch) -> Snapshot:
        """Return what the present weights say of the batch."""
        if self._lead is not None:
            try:
                return self._lead.snapshot(self._step.forward, batch, self._step.pass_sequences)
            except LearnerLostError as error:
                self._lose(error)
        return take_snapshot(self._step.forward, batch, self._step.pass_sequences)

    def _send_epoch(self, lesson: Lesson, minibatches: Sequence[Tensor], terms: UpdateTerms) -> None:
        if self._lead is not None:
            try:
                self._lead.send_epoch(lesson, minibatches, terms)
            except LearnerLostError as error:
                self._lose(error)

    def _take(self, lesson: Lesson, row_N: Tensor) -> tuple[dict[str, float], Tensor]:
        """Take one optimizer step on rows row_N and return its metrics and the log ratios before it."""
        try:
            taken = self._take_together(lesson, row_N) or self._step.take(Share.whole(lesson.rows(row_N)))
        except NonFiniteStepError as error:
            raise NonFiniteLossError(self._describe_crash(lesson.part.select(row_N), str(error))) from None
        if self.average is not None:
            self.average.hear()
        return taken

    def _take_together(self, lesson: Lesson, row_N: Tensor) -> tuple[dict[str, float], Tensor] | None:
        """Take the step with all helpers; None, and nothing is changed, where there are none or one was lost."""
        if self._lead is None:
            return None
        try:
            return self._step.take(self._lead.share(lesson, row_N), self._lead.group)
        except LearnerLostError as error:
            self._lose(error)
            return None

    def _lose(self, error: LearnerLostError) -> None:
        """Go on alone."""
        _LOG.warning("%s; the update goes on in one process", error)
        self._lead = None

    def _describe_crash(self, part: FragmentBatch, numbers: str) -> str:
        number = self.iteration + 1  # counted as metrics and progress count them
        what = f"{numbers} in iteration {number}"
        if self._crash_dir is None:
            return f"{what}; no step was taken"
        path = self._crash_dir / f"nan_batch_{number:06d}.npz"
        np.savez_compressed(path, **part.arrays())  # type: ignore[arg-type]
        return f"{what}; no step was taken and the batch is in {path}: lower ppo.learning_rate or look at the batch"


def _spread(log_ratio_NT: Tensor, mask_NT: Tensor) -> float | None:
    """Return the standard deviation of the log ratios where the mask holds; None where it holds nowhere.

    Before the first step on fragments of the present weights it should be rounding only: more than 0.02 means that
    acting and learning do not compute the same policy.
    """
    chosen = log_ratio_NT[mask_NT]
    return float(chosen.std(unbiased=False)) if chosen.numel() else None
