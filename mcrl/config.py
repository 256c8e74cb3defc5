"""The configuration of a training run: frozen dataclasses, checked once, written to config.json and read back."""

import dataclasses
import json
import typing
from dataclasses import dataclass
from typing import Literal

from mcrl.config_checks import require, require_at_least
from mcrl.task_config import CurriculumConfig, TaskConfig
from task_synthesis.goal_forms import GoalForm, check_goal_form
from task_synthesis.milestones import RewardConfig

__all__ = [
    "CurriculumConfig",
    "EnvConfig",
    "GoalForm",
    "ImitationConfig",
    "PPOConfig",
    "RewardConfig",
    "RolloutConfig",
    "TaskConfig",
    "TrainConfig",
    "from_json",
    "to_json",
]

Placement = Literal["inline", "ray"]
WandbMode = Literal["auto", "online", "offline", "disabled"]
Precision = Literal["auto", "bf16", "fp32"]

_Config = typing.TypeVar("_Config")
_YOUNGER_SETTINGS = {"curriculum", "goal_form", "initial_policy", "pretrained_weights", "rewards"}


@dataclass(frozen=True, kw_only=True)
class EnvConfig:
    """How the environment is shown to the policy and stepped."""

    image_px: int = 64
    """Side of the square agent view and goal view."""
    action_repeat_ticks: int = 4
    """Ticks of 50 ms that one decision lasts."""
    goal_form: GoalForm = "cross_view"
    """How the goal is shown, see task_synthesis.goal_forms; all but "cross_view" are baselines for ablations."""
    rewards: RewardConfig = RewardConfig()
    """What is paid besides the 1 of a success: nothing by default."""

    def __post_init__(self) -> None:
        require(
            self.image_px >= 16 and self.image_px % 8 == 0,
            f"env.image_px must be a multiple of 8 and at least 16, got {self.image_px}",
        )
        require_at_least(1, "env.", self, "action_repeat_ticks")
        check_goal_form(self.goal_form, where="env.goal_form")


@dataclass(frozen=True, kw_only=True)
class ImitationConfig:
    """Behaviour cloning of the expert, the first stage of a run."""

    num_demo_steps: int = 80_000
    """Decisions of the expert in train worlds."""
    num_val_demo_steps: int = 4_096
    """Decisions of the expert in val worlds, for early stopping."""
    num_envs: int = 64
    """Environments the expert plays side by side."""
    fragment_steps: int = 32
    """Decisions a training sequence; each starts with an empty memory."""
    noise: float = 0.2
    """Share of decisions replaced by random moves while recording; the labels stay the expert's."""
    sequences_per_batch: int = 4
    """Sequences an update. Small on purpose: minutes-long cloning needs many updates."""
    num_updates: int = 2_000
    """Upper limit of optimizer steps; the learning rate decays over all of them. 0 leaves the stage out: PPO then
    starts from random weights, so that there is nothing to stay close to and ppo.kl_to_reference must be None."""
    learning_rate: float = 1e-3
    """At the start; falls linearly."""
    final_learning_rate_share: float = 0.05
    """Share of `learning_rate` left at the last update."""
    auxiliary_coef: float = 0.3
    """Weight of the auxiliary losses (target visible? where?)."""
    max_grad_norm: float = 1.0
    """Gradients are scaled down to this norm."""
    control_updates: int = 0
    """After PPO, go on cloning from the clone for this many updates, on fresh demonstrations and at half the learning
    rate, as checkpoints/imitation-long: what the time given to PPO is worth without it. 0 leaves the stage out."""
    val_every_updates: int = 200
    """Updates between two validations."""
    patience: int = 5
    """Validations without improvement after which training stops; the best weights are kept."""

    def __post_init__(self) -> None:
        counts = "num_demo_steps num_val_demo_steps num_envs fragment_steps sequences_per_batch"
        require_at_least(1, "imitation.", self, counts + " val_every_updates patience")
        require_at_least(0, "imitation.", self, "num_updates auxiliary_coef control_updates")
        require(0 <= self.noise < 1, f"imitation.noise must be in [0, 1), got {self.noise}")
        require(self.learning_rate > 0, f"imitation.learning_rate must be positive, got {self.learning_rate}")
        require(
            0 < self.final_learning_rate_share <= 1,
            f"imitation.final_learning_rate_share must be in (0, 1], got {self.final_learning_rate_share}",
        )
        require(self.max_grad_norm > 0, f"imitation.max_grad_norm must be positive, got {self.max_grad_norm}")


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
    """Ends an update early when the policy moved this far (nats) from the one that acted; None never does."""

    def __post_init__(self) -> None:
        require_at_least(1, "ppo.", self, "fragment_steps fragments_per_batch minibatch_sequences num_epochs")
        coefficients = "value_coef entropy_coef auxiliary_coef"
        require_at_least(0, "ppo.", self, f"num_iterations value_warmup_iterations {coefficients}")
        require(0 < self.clip_eps < 1, f"ppo.clip_eps must be in (0, 1), got {self.clip_eps}")
        require(0 < self.discount <= 1, f"ppo.discount must be in (0, 1], got {self.discount}")
        require(0 <= self.gae_lambda <= 1, f"ppo.gae_lambda must be in [0, 1], got {self.gae_lambda}")
        require(self.learning_rate > 0, f"ppo.learning_rate must be positive, got {self.learning_rate}")
        require(
            0 < self.final_learning_rate_share <= 1,
            f"ppo.final_learning_rate_share must be in (0, 1], got {self.final_learning_rate_share}",
        )
        beta, target_kl = self.kl_to_reference, self.target_kl
        require(beta is None or beta > 0, f"ppo.kl_to_reference must be positive, or None for none, got {beta}")
        require(target_kl is None or target_kl > 0, f"ppo.target_kl must be positive, or None, got {target_kl}")
        require(0 < self.kl_decay <= 1, f"ppo.kl_decay must be in (0, 1], got {self.kl_decay}")
        require(self.max_grad_norm > 0, f"ppo.max_grad_norm must be positive, got {self.max_grad_norm}")


@dataclass(frozen=True, kw_only=True)
class RolloutConfig:
    """Where fragments are made."""

    placement: Placement = "inline"
    """"inline" acts in the learner's process, "ray" in processes of their own beside it."""
    num_workers: int = 1
    """Rollout workers."""
    envs_per_worker: int = 64
    """Environments a worker steps in lockstep."""
    max_staleness: int = 0
    """Updates by which the weights that acted may be behind those that learn; 0 is synchronous."""
    worker_threads: int = 1
    """Threads of a Ray worker; inline workers use the learner's."""
    learner_threads: int | None = None
    """Threads of the learner during PPO, to leave cores to Ray workers; None keeps `num_threads` of the run."""

    def __post_init__(self) -> None:
        require_at_least(1, "rollout.", self, "num_workers envs_per_worker worker_threads")
        require_at_least(0, "rollout.", self, "max_staleness")
        require(
            self.learner_threads is None or self.learner_threads > 0,
            f"rollout.learner_threads must be positive, or None for num_threads, got {self.learner_threads}",
        )


@dataclass(frozen=True, kw_only=True)
class TrainConfig:
    """One training run, from task synthesis to the final checkpoint."""

    recipe: str
    """Name of the recipe this came from, for the record."""
    run_dir: str = "runs/latest"
    """Folder of config, metrics and checkpoints."""
    seed: int = 0
    """Root of every random number of the run."""
    preset: str = "small"
    """Policy size, a name in policies.presets."""
    initial_policy: str | None = None
    """Folder of a checkpoint of the same preset to start PPO from; its weights are the reference too. None clones the
    expert first."""
    pretrained_weights: str | None = None
    """File of public ROCKET-2 or ROCKET-3 weights (.safetensors, .ckpt) that presets rocket and rocket_xl are built
    with; every process of the run reads it. None draws the first weights from the seed."""
    tasks: TaskConfig = TaskConfig()
    """Which tasks are synthesised."""
    env: EnvConfig = EnvConfig()
    """How they are shown and stepped."""
    imitation: ImitationConfig = ImitationConfig()
    """First stage."""
    ppo: PPOConfig = PPOConfig()
    """Second stage."""
    rollout: RolloutConfig = RolloutConfig()
    """Where the second stage's fragments are made."""
    precision: Precision = "auto"
    """Arithmetic of acting, reference and learning alike; "auto" is bf16 where the CPU multiplies it natively."""
    num_threads: int = 2
    """Threads of this process for torch and the engine."""
    checkpoint_every: int = 25
    """Iterations between two checkpoints."""
    val_every: int = 0
    """Iterations between two success checks on val tasks; 0 checks only after each stage."""
    wandb: WandbMode = "auto"
    """"auto" is online when logged in, else offline; metrics.jsonl is written in any case."""

    def __post_init__(self) -> None:
        require_at_least(0, "", self, "seed val_every")
        require_at_least(1, "", self, "num_threads checkpoint_every")
        per_worker, batch = self.rollout.envs_per_worker, self.ppo.fragments_per_batch
        require(
            batch % per_worker == 0,
            f"ppo.fragments_per_batch {batch} must be a multiple of rollout.envs_per_worker {per_worker}: "
            "a worker hands over one fragment an environment",
        )
        require(
            self.rollout.placement == "ray" or self.rollout.max_staleness == 0,
            f"rollout.max_staleness {self.rollout.max_staleness} does nothing inline, where acting and learning "
            'alternate; set it to 0 or rollout.placement to "ray"',
        )
        self._check_stages()

    def _check_stages(self) -> None:
        """Refuse stages that have nothing to start from or nothing to do."""
        has_clone = self.initial_policy is not None or self.imitation.num_updates > 0
        has_start = has_clone or self.pretrained_weights is not None
        require(
            (has_start or self.ppo.kl_to_reference is None) and (has_clone or not self.imitation.control_updates),
            "imitation.num_updates 0 leaves PPO without a clone; set ppo.kl_to_reference to None (not needed with "
            "pretrained_weights) and imitation.control_updates to 0, or name an initial_policy",
        )
        require(
            self.ppo.num_iterations > 0 or (has_start and self.initial_policy is None),
            "ppo.num_iterations 0 leaves nothing to do where the first stage is left out as well; set it above 0",
        )


def to_json(config: TrainConfig) -> str:
    """Return the config as indented JSON."""
    return json.dumps(dataclasses.asdict(config), indent=2) + "\n"


def from_json(text: str, *, where: str) -> TrainConfig:
    """Read a config back. Raise ValueError, naming `where` and the field, for anything but a full valid config."""
    try:
        fields = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"{where} is not JSON ({error.msg} at line {error.lineno}); restore it from a copy") from None
    return _read(TrainConfig, fields, path=where)


def _read(kind: type[_Config], fields: object, *, path: str) -> _Config:
    if not isinstance(fields, dict):
        raise ValueError(f"{path} must be an object, got {type(fields).__name__}")
    known = {f.name: f for f in dataclasses.fields(kind)}  # type: ignore[arg-type]  # all configs are dataclasses
    # Settings younger than the file take their defaults, which are chosen to leave a run as it was.
    needed = known.keys() - _YOUNGER_SETTINGS
    if not needed <= fields.keys() <= known.keys():
        missing, extra = sorted(needed - fields.keys()), sorted(fields.keys() - known.keys())
        raise ValueError(
            f"{path}: missing fields {missing}, unknown fields {extra}; was it written by another version?"
        )
    hints = typing.get_type_hints(kind)
    values: dict[str, typing.Any] = {}
    for name, value in fields.items():
        hint = hints[name]
        if dataclasses.is_dataclass(hint) and isinstance(hint, type):
            values[name] = _read(hint, value, path=f"{path}: {name}")
        else:
            values[name] = tuple(value) if typing.get_origin(hint) is tuple else value
    try:
        return kind(**values)
    except TypeError as error:
        raise ValueError(f"{path}: {error}") from None
