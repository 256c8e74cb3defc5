"""Settings of the second stage of a run: how the policy learns from the fragments it is given."""

import typing
from dataclasses import dataclass
from typing import Literal

from mcrl.settings.config_checks import require, require_at_least, require_positive_finite

Loss = Literal["ppo_clip", "aipo", "vtrace", "decoupled_ppo"]
DurationWeighting = Literal["none", "linear", "ipw", "task_balanced"]

# Which losses read a setting; with any other it does nothing, and the command line refuses it.
LOSS_SETTINGS: dict[str, tuple[Loss, ...]] = {
    "clip_eps": ("ppo_clip", "decoupled_ppo"),
    "dual_clip": ("ppo_clip", "decoupled_ppo"),
    "aipo_rho": ("aipo",),
    "vtrace_rho_bar": ("vtrace",),
    "vtrace_c_bar": ("vtrace",),
    "behaviour_ratio_cap": ("decoupled_ppo",),
}


@dataclass(frozen=True, kw_only=True)
class PPOConfig:
    """Proximal policy optimization from the cloned policy, the second stage of a run."""

    num_iterations: int = 150
    """Learner updates; each consumes one batch of fragments. 0 leaves the stage out."""
    fragment_steps: int = 32
    """Decisions a fragment."""
    fragments_per_batch: int = 64
    """Fragments an update."""
    minibatch_sequences: int = 16
    """Fragments an optimizer step."""
    num_epochs: int = 1
    """Passes over a batch."""
    learning_rate: float = 3e-4
    """At the start; falls linearly."""
    final_learning_rate_share: float = 0.2
    """Share of `learning_rate` left at the last iteration."""
    clip_eps: float = 0.2
    """The joint probability ratio is clipped to [1 - clip_eps, 1 + clip_eps]."""
    discount: float = 0.98
    """Of rewards, a decision."""
    gae_lambda: float = 0.95
    """Of generalised advantage estimation."""
    value_coef: float = 0.5
    """Weight of the value loss."""
    entropy_coef: float = 0.002
    """Weight of the entropy bonus."""
    kl_to_reference: float | None = 0.05
    """Weight of KL(policy || cloned policy); None runs without a reference policy and frees its memory and time."""
    kl_decay: float = 0.995
    """Factor on `kl_to_reference` an iteration."""
    auxiliary_coef: float = 0.3
    """Weight of the auxiliary losses."""
    max_grad_norm: float = 0.5
    """Gradients are scaled down to this norm."""
    value_warmup_iterations: int = 4
    """Iterations at the start in which only the value head learns, so that random values cannot hurt the policy."""
    target_kl: float | None = None
    """Ends an update after an epoch whose last minibatch finds the policy this far (nats) from the one that acted; None
    never does."""
    duration_weighting: DurationWeighting = "none"
    """Weight of every step in the policy loss against learning more from what is done sooner; see
    mcrl.learning.duration for which mode fits which way of collecting, and why every mode but "none" can harm."""
    loss: Loss = "ppo_clip"
    """What makes the policy better. "ppo_clip" clips the ratio to the policy that acted. For fragments of older weights
    "aipo" is the plain policy gradient under a ratio cut at `aipo_rho`; "vtrace" is the same, cut at `vtrace_rho_bar`,
    with advantages and values corrected for the older weights as well; "decoupled_ppo" clips the ratio to the weights
    at the start of the update, and weighs by how they differ from those that acted."""
    dual_clip: float | None = None
    """For actions worse than expected, the surrogate of "ppo_clip" and "decoupled_ppo" stops at this many times the
    advantage, so that no ratio, however large, makes a gradient without bound; None sets no such limit."""
    aipo_rho: float = 2.0
    """Largest weight of a step under "aipo"; LlamaRL takes 2 to 10."""
    vtrace_rho_bar: float = 1.0
    """Largest weight of a step under "vtrace": what its values converge to lies between mu (0) and pi (infinity)."""
    vtrace_c_bar: float = 1.0
    """Largest factor by which "vtrace" passes a surprise on to the step before, besides `gae_lambda`."""
    behaviour_ratio_cap: float | None = 5.0
    """Largest weight of a step under "decoupled_ppo"; None sets no limit, as in the paper."""
    kl_target: float | None = None
    """KL(policy || cloned policy) to hold, in nats: the weight starts at `kl_to_reference`, rises while the KL is
    above and falls while it is below, in place of falling by `kl_decay`. None keeps to that schedule."""
    value_normalisation: bool = False
    """The value head learns returns in units of each task family's running mean and standard deviation, and so do
    advantages. What the policy calls a value then is in those units."""

    privileged_critic: bool = False
    """Advantages and returns come from a critic of the learner's own that knows, from simulator state, where the target
    is and what else would be mistaken for it (asymmetric actor-critic, Pinto et al. 2018); see
    mcrl.learning.privileged_critic. The policy sees nothing of it and plays without it."""

    def __post_init__(self) -> None:
        require_at_least(1, "ppo.", self, "fragment_steps fragments_per_batch minibatch_sequences num_epochs")
        coefficients = "value_coef entropy_coef auxiliary_coef"
        require_at_least(0, "ppo.", self, f"num_iterations value_warmup_iterations {coefficients}")
        require(0 < self.clip_eps < 1, f"ppo.clip_eps must be in (0, 1), got {self.clip_eps}")
        require(0 < self.discount <= 1, f"ppo.discount must be in (0, 1], got {self.discount}")
        require(0 <= self.gae_lambda <= 1, f"ppo.gae_lambda must be in [0, 1], got {self.gae_lambda}")
        require_positive_finite("ppo.", self, "learning_rate")
        require(
            0 < self.final_learning_rate_share <= 1,
            f"ppo.final_learning_rate_share must be in (0, 1], got {self.final_learning_rate_share}",
        )
        beta, target_kl = self.kl_to_reference, self.target_kl
        require(beta is None or beta > 0, f"ppo.kl_to_reference must be positive, or None for none, got {beta}")
        require(target_kl is None or target_kl > 0, f"ppo.target_kl must be positive, or None, got {target_kl}")
        require(
            target_kl is None or self.num_epochs > 1,
            f"ppo.target_kl {target_kl} is looked at between two epochs, and ppo.num_epochs is 1; set that above 1, or "
            "ppo.target_kl to None",
        )
        require(0 < self.kl_decay <= 1, f"ppo.kl_decay must be in (0, 1], got {self.kl_decay}")
        require(self.max_grad_norm > 0, f"ppo.max_grad_norm must be positive, got {self.max_grad_norm}")
        modes = typing.get_args(DurationWeighting)
        require(
            self.duration_weighting in modes,
            f"ppo.duration_weighting must be one of {', '.join(modes)}, got {self.duration_weighting!r}",
        )
        self._check_loss()

    def _check_loss(self) -> None:
        """Refuse losses there are none of, and caps that are none."""
        known = typing.get_args(Loss)
        require(self.loss in known, f"ppo.loss must be one of {', '.join(known)}, got {self.loss!r}")
        require_at_least(1, "ppo.", self, "aipo_rho")
        dual_clip, cap = self.dual_clip, self.behaviour_ratio_cap
        least = 1 + self.clip_eps
        require(
            dual_clip is None or dual_clip > least,
            f"ppo.dual_clip must be above 1 + ppo.clip_eps = {least:g}, or None for none, got {dual_clip}",
        )
        require(cap is None or cap >= 1, f"ppo.behaviour_ratio_cap must be at least 1, or None for none, got {cap}")
        require(
            0 < self.vtrace_c_bar <= self.vtrace_rho_bar,
            f"ppo.vtrace_c_bar must be in (0, ppo.vtrace_rho_bar {self.vtrace_rho_bar}], got {self.vtrace_c_bar}",
        )
        require(
            self.kl_target is None or self.kl_target > 0,
            f"ppo.kl_target must be positive, or None for a fixed schedule, got {self.kl_target}",
        )
        require(
            self.kl_target is None or self.kl_to_reference is not None,
            "ppo.kl_target needs a reference to measure the KL to; set ppo.kl_to_reference to the weight to start from",
        )
