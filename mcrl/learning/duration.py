"""Weights against learning more from work merely because it is done sooner. B fragments, T steps, S segments.

A segment is the steps of one fragment under one goal; its steps share one weight.

Fast work reaches the learner more often than slow work in some ways of collecting, and in others it does not. The right
weight is one over what the collection did to the sampling, and there is no single formula for it:

    how work is collected                                 share of a kind of work      right weight
    a worker acts, waits and acts again (the default)     pi(a): no bias               1                   none
    what is in flight at an update is cut or dropped      pi(a) * P(kept | kind)       1 / P(kept | kind)  ipw
    workers pinned to a task or an instance of an engine  1 / duration                 duration / mean     linear
                                                                                       target / observed   task_balanced

`linear` is the gradient of "RL for Machine Learning Engineering Agents" (arXiv 2509.01684), E[dt grad log pi A], over
a running mean of the durations: the mean of the batch is a ratio estimator, and with two pinned tasks of durations 1
and 8 that pull to -1 and +1 it settles at -0.07 where the running mean settles within 0.015 of the unbiased 0
(tests/mcrl/learning/test_duration_bias.py). Unlike there, the duration is the mean of the segment, since no single
action is slower here than another of the same task: the time of one step is mostly noise.

Off by default, because a weight where there is no bias is a bias: in the act-wait-act loop `linear` learns to prefer
what is slow and bad when advantages are not centred, and takes up to twice the updates when they are (same test).
Choose
  ipw            when the log shows fragments dropped or workers lost, on engines of unequal speed;
  task_balanced  when workers are pinned and every family should count alike, whatever the time it takes;
  linear         when workers are pinned and each should count by its time; in no other case.
With a good critic an uncorrected bias only slows learning: the sign of every advantage stays right. Where acting and
learning take turns in one process nobody can be faster: steps are not timed and `linear` weighs all alike, as `ipw`
does unless an engine fails.

Weights multiply normalised advantages in the policy term alone (before the normalisation they would shift its mean);
values, entropy and KL are not weighted: a weighted critic would double the harm above (same test). What never arrives
no weight brings back: look at acceptance/* in the log before trusting any of them.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mcrl.config import DurationWeighting
from mcrl.rollout.fragment import Fragment
from mcrl.work import WorkKind, work_kind

MAX_WEIGHT = 10.0  # and its inverse: one segment cannot be a batch
MIN_ACCEPTANCE = 0.02
MEMORY_BATCHES = 100  # horizon of every running mean here
# Steps of average acceptance that every kind of work starts with, so that the first few prove nothing.
PRIOR_STEPS = 32.0


def inverse_acceptance(accepted_K: np.ndarray, started_K: np.ndarray) -> np.ndarray:
    """Return 1 / P(kept) of K kinds of work, float64 [K] in [1, 1 / MIN_ACCEPTANCE], from steps kept and begun."""
    overall = accepted_K.sum() / max(started_K.sum(), 1e-12)
    acceptance_K = (accepted_K + PRIOR_STEPS * overall) / (started_K + PRIOR_STEPS)
    return 1 / np.clip(acceptance_K, MIN_ACCEPTANCE, 1)


def balancing_weights(num_steps_F: np.ndarray) -> np.ndarray:
    """Return the equal share of each of F families over its observed share, float64 [F]; 0 for a family never seen."""
    is_seen_F = num_steps_F > 0
    observed_F = num_steps_F / max(num_steps_F.sum(), 1e-12)
    return np.divide(1 / max(is_seen_F.sum(), 1), observed_F, out=np.zeros(len(observed_F)), where=is_seen_F)


def normalised(raw_S: np.ndarray, mean: float) -> np.ndarray:
    """Return raw weights over their running mean within [1 / MAX_WEIGHT, MAX_WEIGHT], 1 where a raw weight is NaN."""
    return np.clip(np.where(np.isnan(raw_S), 1.0, raw_S / mean), 1 / MAX_WEIGHT, MAX_WEIGHT)


def effective_sample_size(weight_S: np.ndarray, num_steps_S: np.ndarray) -> float:
    """Return (sum w)^2 / sum w^2 over all steps (Kish 1965), in (0, N]: how many equally weighted steps are as good."""
    return float((num_steps_S @ weight_S) ** 2 / (num_steps_S @ weight_S**2)) if num_steps_S.any() else 0.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Segments:
    """The segments of one batch."""

    families: tuple[str, ...]  # S
    step_s_S: np.ndarray  # float64 [S], wall seconds a step, NaN where not timed
    num_steps_S: np.ndarray  # int64 [S], begun
    num_valid_S: np.ndarray  # int64 [S], that the engine did not fail


def segments_of(fragments: Sequence[Fragment]) -> Segments:
    """Return the segments of the fragments, in order: all goals of the first, then all of the second."""
    step_s, num_steps, num_valid = [], [], []
    for fragment in fragments:
        num_goals = len(fragment.families)
        step_s.append(np.full(num_goals, np.nan) if fragment.step_s_G is None else fragment.step_s_G)
        num_steps.append(np.bincount(fragment.goal_index_T, minlength=num_goals))
        num_valid.append(np.bincount(fragment.goal_index_T[fragment.is_valid_T], minlength=num_goals))
    return Segments(
        families=tuple(family for fragment in fragments for family in fragment.families),
        step_s_S=np.concatenate(step_s).astype(np.float64),
        num_steps_S=np.concatenate(num_steps),
        num_valid_S=np.concatenate(num_valid),
    )


class DurationWeighter:
    """Weighs the steps of batch after batch and keeps the books that this takes."""

    def __init__(self, mode: DurationWeighting) -> None:
        """Weigh as `mode` says; "none" weighs all alike and still keeps the books."""
        self.mode = mode
        self._raw_sum = 0.0  # of the running mean: raw weight times valid steps, and valid steps
        self._raw_steps = 0.0
        self._started: defaultdict[WorkKind, float] = defaultdict(float)  # steps
        self._accepted: defaultdict[WorkKind, float] = defaultdict(float)

    def weigh(
        self, fragments: Sequence[Fragment], refused: Mapping[WorkKind, int]
    ) -> tuple[np.ndarray, dict[str, float]]:
        """Return the weight of every step, float32 [B, T], and what to log; arguments as in `weigh_segments`.

        duration/effective_steps, _share    how many equally weighted steps are as good, and what share that is
        duration/weight_min, _max, step_s   the weights of this batch, and the seconds of a step where timed
        duration/refused_steps              begun since the last batch and in none
        acceptance/FAMILY                   share of begun steps that reached a batch, running mean
        step_share/FAMILY, weighted_share/  share of the batch before and after weighting
        """
        segments = segments_of(fragments)
        weight_S = self.weigh_segments(segments, refused).astype(np.float32)
        metrics = self._metrics(segments, weight_S) | {"duration/refused_steps": float(sum(refused.values()))}
        first_B = np.cumsum([0, *(len(fragment.families) for fragment in fragments[:-1])])
        goal_index_BT = np.stack([fragment.goal_index_T for fragment in fragments])
        return weight_S[goal_index_BT + first_B[:, None]], metrics

    def weigh_segments(self, segments: Segments, refused: Mapping[WorkKind, int]) -> np.ndarray:
        """Return the weight of every segment, float64 [S], after taking note of the batch.

        `refused` holds the steps that were begun since the last batch and reach none: dropped, or lost with a worker.
        """
        kinds = [work_kind(*row) for row in zip(segments.families, segments.step_s_S.tolist(), strict=True)]
        self._note(kinds, segments, refused)
        if self.mode == "none":
            return np.ones(len(kinds))
        raw_S = self._raw(kinds, segments)
        is_counted_S = ~np.isnan(raw_S)
        decay, num_valid_S = 1 - 1 / MEMORY_BATCHES, segments.num_valid_S[is_counted_S]
        self._raw_sum = decay * self._raw_sum + float(num_valid_S @ raw_S[is_counted_S])
        self._raw_steps = decay * self._raw_steps + float(num_valid_S.sum())
        return normalised(raw_S, self._raw_sum / self._raw_steps if self._raw_sum > 0 else 1.0)

    def numbers(self) -> dict[str, float]:
        """Return the books by name, for a checkpoint."""
        named = {"duration/raw_sum": self._raw_sum, "duration/raw_steps": self._raw_steps}
        for book, steps in (("started", self._started), ("accepted", self._accepted)):
            # The family comes last: its name has a slash of its own.
            named |= {f"duration/{book}/{kind.duration_bin}/{kind.family}": n for kind, n in steps.items()}
        return named

    def restore(self, numbers: Mapping[str, float], *, where: Path) -> None:
        """Know what a checkpoint knew; numbers of others are passed over. Raise ValueError for books that are none."""
        self._raw_sum = numbers.get("duration/raw_sum", 0.0)
        self._raw_steps = numbers.get("duration/raw_steps", 0.0)
        for book, steps in (("started", self._started), ("accepted", self._accepted)):
            steps.clear()
            prefix = f"duration/{book}/"
            for name, value in numbers.items():
                if name.startswith(prefix):
                    duration_bin, _, family = name.removeprefix(prefix).partition("/")
                    try:
                        kind = WorkKind(family, None if duration_bin == "None" else int(duration_bin))
                    except ValueError:
                        raise ValueError(
                            f"{where}: {name} in state.json names no duration; use another checkpoint of the run"
                        ) from None
                    steps[kind] = value

    def acceptance(self) -> dict[str, float]:
        """Return the share of begun steps that reached a batch, by family."""
        started, accepted = _by_family(self._started), _by_family(self._accepted)
        return {family: accepted[family] / started[family] for family in sorted(started)}

    def _note(self, kinds: list[WorkKind], segments: Segments, refused: Mapping[WorkKind, int]) -> None:
        """Let the books forget a little and take in a batch."""
        for book in (self._started, self._accepted):
            for kind in book:
                book[kind] *= 1 - 1 / MEMORY_BATCHES
        for kind, num_steps, num_valid in zip(
            kinds, segments.num_steps_S.tolist(), segments.num_valid_S.tolist(), strict=True
        ):
            self._started[kind] += num_steps
            self._accepted[kind] += num_valid
        for kind, num_steps in refused.items():
            self._started[kind] += num_steps

    def _raw(self, kinds: list[WorkKind], segments: Segments) -> np.ndarray:
        """Return the weight of every segment before the normalisation, float64 [S], NaN where nothing is known."""
        if self.mode == "linear":
            # A clock too coarse for a whole segment has not timed it.
            return np.where(segments.step_s_S > 0, segments.step_s_S, np.nan)
        if self.mode == "ipw":
            known = sorted(self._started, key=str)
            accepted_K = np.array([self._accepted[kind] for kind in known], np.float64)
            started_K = np.array([self._started[kind] for kind in known], np.float64)
            weight_of = dict(zip(known, inverse_acceptance(accepted_K, started_K), strict=True))
            return np.array([weight_of[kind] for kind in kinds])
        steps = _by_family(self._accepted)
        balance = dict(zip(steps, balancing_weights(np.array(list(steps.values()), np.float64)), strict=True))
        return np.array([balance[family] for family in segments.families])

    def _metrics(self, segments: Segments, weight_S: np.ndarray) -> dict[str, float]:
        """Return what a batch and its weights say of themselves."""
        num_valid_S = segments.num_valid_S
        if not num_valid_S.any():
            return {}
        effective_steps = effective_sample_size(weight_S, num_valid_S)
        named = {
            "duration/effective_steps": effective_steps,
            "duration/effective_share": effective_steps / float(num_valid_S.sum()),
            "duration/weight_min": float(weight_S.min()),
            "duration/weight_max": float(weight_S.max()),
        }
        is_timed_S = ~np.isnan(segments.step_s_S) & (num_valid_S > 0)
        if is_timed_S.any():
            named["duration/step_s"] = float(np.average(segments.step_s_S[is_timed_S], weights=num_valid_S[is_timed_S]))
        named |= {f"acceptance/{family}": share for family, share in self.acceptance().items()}
        named |= _shares("step_share", segments.families, num_valid_S)
        return named | _shares("weighted_share", segments.families, num_valid_S * weight_S)


def _by_family(steps: Mapping[WorkKind, float]) -> defaultdict[str, float]:
    total: defaultdict[str, float] = defaultdict(float)
    for kind, num_steps in steps.items():
        total[kind.family] += num_steps
    return total


def _shares(name: str, families: tuple[str, ...], amount_S: np.ndarray) -> dict[str, float]:
    """Return the share of every family in the batch's amounts."""
    share: dict[str, float] = dict.fromkeys(sorted(set(families)), 0.0)
    for family, amount in zip(families, amount_S.tolist(), strict=True):
        share[family] += amount / float(amount_S.sum())
    return {f"{name}/{family}": value for family, value in share.items()}
