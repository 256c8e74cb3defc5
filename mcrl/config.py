"""The configuration of a training run: frozen dataclasses, checked once, written to config.json and read back."""

import dataclasses
import json
import typing
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from mcrl.settings.config_checks import require, require_at_least, require_at_most, require_finite
from mcrl.settings.imitation_config import ImitationConfig
from mcrl.settings.learner_config import LearnerConfig
from mcrl.settings.ppo_config import DurationWeighting, PPOConfig
from mcrl.settings.rollout_config import IN_TURN, RolloutConfig
from mcrl.settings.task_config import CurriculumConfig, TaskConfig
from mcrl.settings.unknown_settings import without_unused_skills
from mcrl.settings.younger_settings import YOUNGER_SETTINGS
from policies.device_name import DeviceName, check_device_name
from task_synthesis.json_reader import MisfitError, reader_of
from task_synthesis.json_text import parse_json
from task_synthesis.playing.milestones import RewardConfig
from task_synthesis.views.goal_forms import GoalForm, check_goal_form
from worlds.adapters.catalogue import BUILT_IN, options_of

__all__ = [
    "CurriculumConfig",
    "DurationWeighting",
    "EnvConfig",
    "GoalForm",
    "ImitationConfig",
    "LearnerConfig",
    "PPOConfig",
    "RewardConfig",
    "RolloutConfig",
    "TaskConfig",
    "TrainConfig",
    "from_json",
    "to_json",
]

WandbMode = Literal["auto", "online", "offline", "disabled"]
Precision = Literal["auto", "bf16", "fp32"]

# What weighs no duration that a clock has told.
_WITHOUT_A_CLOCK: tuple[DurationWeighting, ...] = ("none", "task_balanced")

_Config = typing.TypeVar("_Config")


@dataclass(frozen=True, kw_only=True)
class EnvConfig:
    """How the environment is shown to the policy and stepped."""

    image_px: int = 64
    """Side of the square agent view and goal view."""
    action_repeat_ticks: int = 4
    """Ticks of 50 ms that one decision lasts."""
    goal_form: GoalForm = "cross_view"
    """How the goal is shown, see task_synthesis.views.goal_forms; all but "cross_view" are baselines for ablations."""
    rewards: RewardConfig = RewardConfig()
    """What is paid besides the 1 of a success: nothing by default."""
    backend: str = BUILT_IN
    """"voxel" is the built-in engine; others by a name of `mcrl doctor --engines`, or by the path of a .py file with an
    Engine or of a program that speaks the protocol of worlds/adapters/README.md. They run in processes of their own,
    one an environment, and play tasks of their own worlds."""
    engine_python: str | None = None
    """Python interpreter that another engine runs in; None takes the one that `mcrl doctor ENGINE --install` has made,
    or else ours."""
    engine_options: tuple[str, ...] = ()
    """Options of another engine as NAME=VALUE, see its module's docstring; a VALUE of JSON is read as such."""

    def __post_init__(self) -> None:
        require(bool(self.backend), 'env.backend is empty; the built-in engine is "voxel"')
        require(
            self.backend != BUILT_IN or not (self.engine_python or self.engine_options),
            "env.engine_python and env.engine_options are for other engines, env.backend is voxel; leave them out",
        )
        options_of(self.engine_options, where="env.engine_options")
        require(
            self.image_px >= 16 and self.image_px % 8 == 0,
            f"env.image_px must be a multiple of 8 and at least 16, got {self.image_px}",
        )
        require_at_most(1024, "env.", self, "image_px")
        require_at_least(1, "env.", self, "action_repeat_ticks")
        check_goal_form(self.goal_form, where="env.goal_form")


@dataclass(frozen=True, kw_only=True)
class TrainConfig:
    """One training run, from task synthesis to the final checkpoint."""

    recipe: str
    """The recipe that this came from, for the record; `mcrl ablate NAME --recipe RECIPE` begins with another one."""
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
    learner: LearnerConfig = LearnerConfig()
    """How its updates are computed."""
    rollout: RolloutConfig = RolloutConfig()
    """Where the second stage's fragments are made."""
    precision: Precision = "auto"
    """Arithmetic of acting, reference and learning alike; "auto" is bf16 where all that take part multiply it natively:
    the device, and the CPU where Ray's workers act on it."""
    device: DeviceName = "auto"
    """Where imitation, DAgger, learning and checks compute, and acting in placement "inline"; processes of Ray act on
    the CPU. "auto" is a CUDA GPU where torch finds one. Where the engine is, rollout.engine_device says. A run can be
    resumed on another device, with other rounding."""
    deterministic: bool = False
    """Two runs with one seed on one machine end in the same bytes: torch refuses what is not reproducible."""
    num_threads: int = 2
    """Threads of this process for torch and the engine, where it may use as many cores."""
    checkpoint_every: int = 25
    """Iterations between two checkpoints."""
    report: bool = True
    """Judge the result in held-out worlds at the end and write report.html."""
    report_suite: str = "laptop"
    """Frozen suite that the report at the end plays, `tasks.num_eval_tasks` of it; `mcrl suites` lists them."""
    val_every: int = 0
    """Iterations between two success checks on val tasks; 0 checks only after each stage."""
    wandb: WandbMode = "auto"
    """"auto" is as WANDB_MODE says, else online when logged in, else offline; metrics.jsonl is written in any case."""

    def __post_init__(self) -> None:
        # A run whose settings cannot be read back would be lost at its end.
        require_finite("", self)
        require_at_least(0, "", self, "seed val_every")
        check_device_name(self.device, where="device")
        require_at_least(1, "", self, "num_threads checkpoint_every")
        require_at_most(1024, "", self, "num_threads")
        require(bool(self.report_suite), "report_suite is empty; name one of `mcrl suites`, or leave the report out")
        per_worker, batch = self.rollout.envs_per_worker, self.ppo.fragments_per_batch
        require(
            batch % per_worker == 0,
            f"ppo.fragments_per_batch {batch} must be a multiple of rollout.envs_per_worker {per_worker}: "
            "a worker hands over one fragment an environment",
        )
        require(
            self.rollout.placement not in IN_TURN
            or self.rollout.max_staleness == 0
            or self.rollout.exact_staleness
            or (self.rollout.placement == "inline" and self.rollout.ring_groups > 1),
            f"rollout.max_staleness {self.rollout.max_staleness} does nothing in placement {self.rollout.placement}, "
            'where acting and learning alternate; set it to 0 or rollout.placement to "ray"',
        )
        require(
            not self.rollout.num_evaluators or self.val_every > 0,
            f"rollout.num_evaluators {self.rollout.num_evaluators} have no work without val_every; set it above 0",
        )
        self._check_learner()
        self._check_stages()

    def _check_learner(self) -> None:
        """Refuse processes and passes that would have nothing to do, and a promise that collecting cannot keep."""
        learner, minibatch, rollout = self.learner, self.ppo.minibatch_sequences, self.rollout
        require(
            self.device != "cuda" or learner.num_processes == 1,
            f"learner.num_processes {learner.num_processes} share gradients of the CPU, and device is cuda; set one to "
            "1 or the other to cpu",
        )
        require(
            learner.num_processes <= minibatch,
            f"learner.num_processes {learner.num_processes} must be at most ppo.minibatch_sequences {minibatch}, the "
            "fragments that a step shares out; lower the one or raise the other",
        )
        require(
            learner.pass_sequences is None or learner.pass_sequences < minibatch,
            f"learner.pass_sequences {learner.pass_sequences} does nothing with ppo.minibatch_sequences {minibatch}; "
            "set it below that, or to None",
        )
        num_envs, batch = rollout.num_workers * rollout.envs_per_worker, self.ppo.fragments_per_batch
        staleness = rollout.max_staleness
        is_fixed = rollout.exact_staleness or (staleness == 0 and (rollout.placement == "inline" or num_envs == batch))
        in_one_step = rollout.ring_groups == 1 and rollout.inference == "inline"
        require(
            in_one_step or not self.deterministic,
            "deterministic: whichever engine of a ring, or asker of a shared policy, is ready first draws first; set "
            'rollout.ring_groups to 1 and rollout.inference to "inline"',
        )
        require(
            rollout.placement == "inline" or self.ppo.duration_weighting in _WITHOUT_A_CLOCK or not self.deterministic,
            f"deterministic: ppo.duration_weighting {self.ppo.duration_weighting} reads the clock of workers; set "
            f"rollout.placement to inline, or the weighting to one of {', '.join(_WITHOUT_A_CLOCK)}",
        )
        require(
            is_fixed or not self.deterministic,
            f"deterministic: with rollout.max_staleness {staleness} and {num_envs} environments for batches of "
            f"{batch}, the speed of each worker decides what is learned from; set rollout.max_staleness to 0 and "
            "ppo.fragments_per_batch to the number of environments",
        )

    def _check_stages(self) -> None:
        """Refuse stages that have nothing to start from or nothing to do."""
        has_clone = self.initial_policy is not None or self.imitation.num_updates > 0
        has_start = has_clone or self.pretrained_weights is not None
        wanting = []
        if not has_start and self.ppo.num_iterations and self.ppo.kl_to_reference is not None:
            wanting.append("ppo.kl_to_reference to None (not needed with pretrained_weights)")
        if not has_clone and self.imitation.control_updates:
            wanting.append("imitation.control_updates to 0")
        require(
            not wanting,
            f"imitation.num_updates 0 leaves PPO without a clone; set {' and '.join(wanting)}, or name an "
            "initial_policy",
        )
        require(
            has_clone or not self.imitation.dagger_rounds,
            f"imitation.dagger_rounds {self.imitation.dagger_rounds} has no clone to correct; set "
            "imitation.num_updates above 0, or name an initial_policy",
        )
        require(
            not self.imitation.dagger_rounds or self.imitation.dagger_steps is not None or self.ppo.num_iterations > 0,
            "imitation.dagger_steps None takes as many decisions as PPO, and ppo.num_iterations is 0; set it to the "
            "decisions of a round",
        )
        if self.initial_policy is None:
            remedy = "imitation.num_updates above 0"
        else:
            remedy = "imitation.dagger_rounds above 0"
            if self.imitation.dagger_steps is None:  # it would be refused next
                remedy += " and imitation.dagger_steps to the decisions of a round"
        require(
            self.ppo.num_iterations > 0
            or (has_clone and (self.initial_policy is None or self.imitation.dagger_rounds > 0)),
            f"ppo.num_iterations 0 leaves nothing to do without imitation; set {remedy}, or train with PPO",
        )


def to_json(config: TrainConfig) -> str:
    """Return the config as indented JSON."""
    return json.dumps(dataclasses.asdict(config), indent=2) + "\n"


def read_config(path: Path) -> TrainConfig:
    """Read a run's config.json. Raise ValueError, naming the file and the field, for anything but a full valid one."""
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise ValueError(f"{path}: is no text in UTF-8; restore it from a copy") from None
    return from_json(text, where=str(path))


def from_json(text: str, *, where: str) -> TrainConfig:
    """Read a config back. Raise ValueError, naming `where` and the field, for anything but a full valid config."""
    try:
        fields = parse_json(text)
    except ValueError as error:
        raise ValueError(f"{where} is not JSON ({error}); restore it from a copy") from None
    return _read(TrainConfig, without_unused_skills(fields), path=where, where=where)


def _read(kind: type[_Config], fields: object, *, path: str, where: str) -> _Config:
    if not isinstance(fields, dict):
        raise ValueError(f"{path} must be an object, got {type(fields).__name__}")
    known = {f.name: f for f in dataclasses.fields(kind)}  # type: ignore[arg-type]  # all configs are dataclasses
    # Settings younger than the file take their defaults, which are chosen to leave a run as it was.
    needed = known.keys() - YOUNGER_SETTINGS
    if not needed <= fields.keys() <= known.keys():
        missing, extra = sorted(needed - fields.keys()), sorted(fields.keys() - known.keys())
        found = [f"missing fields {', '.join(missing)}"] if missing else []
        found += [f"unknown fields {', '.join(extra)}"] if extra else []
        raise ValueError(f"{path}: {' and '.join(found)}; another version wrote it, and that one goes on with it")
    hints = typing.get_type_hints(kind)
    values: dict[str, typing.Any] = {}
    for name, value in fields.items():
        hint = hints[name]
        if dataclasses.is_dataclass(hint) and isinstance(hint, type):
            values[name] = _read(hint, value, path=f"{path}: {name}", where=where)
        else:
            try:
                values[name] = reader_of(hint)(value)
            except MisfitError as misfit:
                raise ValueError(f"{path}: {name}{misfit.path} {misfit.what}; mend it, or restore a copy") from None
    try:
        return kind(**values)
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None
