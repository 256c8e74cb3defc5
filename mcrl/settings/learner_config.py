"""Settings of the learner that change its speed and its memory, and not what is learned."""

from dataclasses import dataclass

from mcrl.settings.config_checks import require, require_at_least, require_positive_finite


@dataclass(frozen=True, kw_only=True)
class LearnerConfig:
    """How the second stage's updates are computed. But for `ema_decay` nothing here is a hyper-parameter."""

    num_processes: int = 1
    """Processes that share every optimizer step: each takes its part of the minibatch, gradients are summed."""
    timeout_s: float = 600.0
    """Longest wait for another learner process within an update; one that takes longer counts as lost."""
    pass_sequences: int | None = None
    """Fragments that go through the network at once: a minibatch of more is taken in passes whose gradients add up to
    its own, in less memory. None takes a minibatch at once."""
    recomputes_views: bool = False
    """Activation checkpointing: what was computed from the views is computed again in the backward pass rather than
    kept. An update of the small preset (16 fragments of 32 steps, 64 px, one core) then takes 218 MB, not 429, and no
    more time."""
    ema_decay: float | None = None
    """Also keep an exponential moving average of the weights, this share of it kept at every optimizer step; it ends
    in checkpoints/ema, which every command takes as a checkpoint. None keeps none."""

    def __post_init__(self) -> None:
        require_at_least(1, "learner.", self, "num_processes")
        require_positive_finite("learner.", self, "timeout_s")
        require(
            self.pass_sequences is None or self.pass_sequences >= 1,
            f"learner.pass_sequences must be at least 1, or None for whole minibatches, got {self.pass_sequences}",
        )
        require(
            self.ema_decay is None or 0 < self.ema_decay < 1,
            f"learner.ema_decay must be in (0, 1), or None for no average, got {self.ema_decay}",
        )
