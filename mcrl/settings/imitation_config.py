"""How the expert is imitated: settings of the first stage of a run."""

from dataclasses import dataclass
from typing import Literal, get_args

from mcrl.settings.config_checks import require, require_at_least, require_positive_finite

OptimizerName = Literal["adam", "muon"]
OPTIMIZERS: tuple[OptimizerName, ...] = get_args(OptimizerName)


@dataclass(frozen=True, kw_only=True)
class ImitationConfig:
    """Behaviour cloning of the expert, the first stage of a run."""

    demos: str | None = None
    """Folder of demonstrations to clone in train worlds, all of them, instead of `num_demo_steps` of the expert: a
    LeRobot dataset as `mcrl demos export` writes it, or of your own play with the same columns. Val worlds and
    corrections by DAgger stay the expert's. None lets the expert play."""
    num_demo_steps: int = 80_000
    """Decisions of the expert in train worlds."""
    num_val_demo_steps: int = 4_096
    """Decisions of the expert in val worlds, for early stopping."""
    num_envs: int = 64
    """Environments the expert plays side by side, and a policy in success checks."""
    fragment_steps: int = 32
    """Decisions a training sequence; each starts with an empty memory."""
    mirrors: bool = False
    """Show every other sequence, drawn anew each time, with left and right exchanged: twice the demonstrations for
    those recorded, where those are short; the laptop recipe gains nothing (eval/LOG.md)."""
    noise: float = 0.2
    """Share of decisions replaced by random moves while recording; the labels stay the expert's."""
    sequences_per_batch: int = 4
    """Sequences an update. Small on purpose: minutes-long cloning needs many updates."""
    num_updates: int = 2_000
    """Upper limit of optimizer steps; the learning rate decays over all of them. 0 leaves the stage out: PPO then
    starts from pretrained_weights, or else from random ones: then there is nothing to stay close to and
    ppo.kl_to_reference must be None."""
    learning_rate: float = 1e-3
    """At the start; falls linearly."""
    optimizer: OptimizerName = "adam"
    """"adam", or "muon": Muon for the weights of hidden layers and Adam for the rest, which learns about twice as much
    an update for half as much again of its time."""
    final_learning_rate_share: float = 0.05
    """Share of `learning_rate` left at the last update."""
    auxiliary_coef: float = 0.3
    """Weight of the auxiliary losses (target visible? where?)."""
    pair_goals: int = 0
    """Goal pictures an update, besides the demonstrations: each is to be found in four views of its scene from all
    around, among others of its kind (mcrl.learning.pairs). Scenes are those of the train tasks in the built-in engine's
    worlds; left out for a policy that does not say where in its view the target is. A policy that takes glimpses learns
    from as many pairs of a goal and an object in a view from near instead, half of them the goal's own
    (mcrl.learning.glimpse_pairs), and from nothing else to tell what it looks at closely; the weights of the best
    validation, which are kept, are of these too. 0 leaves them out."""
    pair_coef: float = 1.0
    """Weight of the loss of these pairs."""
    max_grad_norm: float = 1.0
    """Gradients are scaled down to this norm."""
    control_updates: int = 0
    """After PPO, go on cloning from the clone for this many updates, on fresh demonstrations and at half the learning
    rate, as checkpoints/imitation-long: what the time given to PPO is worth without it. 0 leaves the stage out."""
    dagger_rounds: int = 0
    """Rounds of DAgger (Ross et al. 2011) after cloning, from the clone, as checkpoints/dagger: in each the learner
    plays, the expert says at every decision what it would do, and cloning goes on with all that was labelled so far.
    PPO starts from the clone all the same, unless `ppo_from_dagger`. 0 leaves the stage out, and PPO starts from the
    clone."""
    ppo_from_dagger: bool = False
    """Where there are rounds of DAgger, start PPO from its policy, and keep it close to that one, instead of the
    clone."""
    dagger_steps: int | None = None
    """Decisions a round in train worlds. None spreads over the rounds as many as PPO takes (num_iterations x
    fragments_per_batch x fragment_steps): the row "dagger" then is the baseline of PPO at equal frames. All of them
    stay in memory beside `num_demo_steps`, 12 KiB a decision at 64 pixels: laptop's 368,640 would need 4.2 GiB."""
    dagger_keep_steps: int | None = None
    """Decisions that a round learns from, and so what stays in memory: the newest round whole, with all of its last
    recordings, and of the older ones and the demonstrations as many as there is room for beside `dagger_steps`, drawn
    anew every round. None keeps all."""
    dagger_updates: int = 800
    """Upper limit of optimizer steps a round, at half the learning rate, falling anew in every round."""
    dagger_beta: float = 0.5
    """The expert itself takes a share of dagger_beta ** round of the decisions of rounds 1, 2, ...; 0 leaves all to
    the learner, the choice without a parameter of Ross et al."""
    val_every_updates: int = 200
    """Updates between two validations."""
    patience: int = 5
    """Validations without improvement after which training stops; the best weights are kept."""

    def __post_init__(self) -> None:
        counts = "num_demo_steps num_val_demo_steps num_envs fragment_steps sequences_per_batch"
        require_at_least(1, "imitation.", self, counts + " val_every_updates patience dagger_updates")
        counts = "num_updates auxiliary_coef control_updates dagger_rounds pair_goals pair_coef"
        require_at_least(0, "imitation.", self, counts)
        require(
            self.dagger_steps is None or self.dagger_steps >= 1,
            f"imitation.dagger_steps must be at least 1, or None for as many as PPO takes, got {self.dagger_steps}",
        )
        require(
            self.dagger_keep_steps is None or self.dagger_keep_steps >= 1,
            f"imitation.dagger_keep_steps must be at least 1, or None to keep all, got {self.dagger_keep_steps}",
        )
        require(0 <= self.dagger_beta <= 1, f"imitation.dagger_beta must be in [0, 1], got {self.dagger_beta}")
        require(0 <= self.noise < 1, f"imitation.noise must be in [0, 1), got {self.noise}")
        require(
            self.optimizer in OPTIMIZERS,
            f"imitation.optimizer must be one of {', '.join(OPTIMIZERS)}, got {self.optimizer!r}",
        )
        require_positive_finite("imitation.", self, "learning_rate")
        require(
            0 < self.final_learning_rate_share <= 1,
            f"imitation.final_learning_rate_share must be in (0, 1], got {self.final_learning_rate_share}",
        )
        require(self.max_grad_norm > 0, f"imitation.max_grad_norm must be positive, got {self.max_grad_norm}")

    @property
    def does_ppo_follow_dagger(self) -> bool:
        """Whether PPO starts from the policy of DAgger and not from the clone."""
        return self.ppo_from_dagger and self.dagger_rounds > 0
