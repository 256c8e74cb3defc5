"""What every stage of a training run shares: config, folder, log, progress and the wish to stop."""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import torch

from mcrl.assembly import Parts
from mcrl.checkpoint import CheckpointState
from mcrl.config import TrainConfig
from mcrl.interrupt import StopRequest
from mcrl.rollout.episodes import EpisodeRecord, PlayedStep, success_rate
from mcrl.seeding import derive_seed
from mcrl.stages.evaluator import play_val_tasks
from mcrl.telemetry.metrics import MetricsLog
from mcrl.telemetry.progress import ProgressDisplay
from mcrl.telemetry.run_status import StatusFile
from mcrl.telemetry.wandb_log import WandbLog
from policies.device import CPU, find_device
from policies.interface import Policy
from policies.precision import Precision, uses_bf16
from task_synthesis.task import TaskSpec


class StoppedError(Exception):
    """Raised where a stage notices the wish to stop before it has a result."""


class Telemetry(Protocol):
    """Who passes the metrics of PPO on to a monitoring system."""

    def write(self, metrics: Mapping[str, float]) -> None:
        """Take the metrics of one update."""
        ...


@dataclass(kw_only=True, slots=True)
class Run:
    """One run in one process."""

    config: TrainConfig
    run_dir: Path
    parts: Parts
    stop: StopRequest
    progress: ProgressDisplay
    metrics: MetricsLog
    wandb: WandbLog
    status: StatusFile
    device: torch.device = CPU
    """Where this process computes policies."""
    telemetry: Telemetry | None = None
    asked_precision: Precision | None = None
    """What the run was asked for, where `config` has what that means on its machines; checkpoints say this one."""

    @property
    def checkpoint_dir(self) -> Path:
        """Return the folder of the run's checkpoints."""
        return self.run_dir / "checkpoints"

    def log(self, stage: str, step: int, metrics: dict[str, float]) -> None:
        """Record one update."""
        self.metrics.write(stage, step, metrics)
        self.wandb.write(stage, step, metrics)
        self.status.hear(stage, metrics)
        if self.telemetry is not None and stage == "ppo":
            self.telemetry.write(metrics)

    def check_stop(self) -> None:
        """Raise StoppedError when the run was asked to stop."""
        if self.stop.is_set:
            raise StoppedError

    def state(
        self,
        stage: str,
        *,
        iteration: int,
        learner: dict[str, float] | None = None,
        rng_state: str = "",
        marks: tuple[tuple[int, int, int], ...] = (),
        task_statistics: dict[str, object] | None = None,
    ) -> CheckpointState:
        """Return what a checkpoint says about the run."""
        return CheckpointState(
            stage=stage,
            iteration=iteration,
            version=iteration,
            preset=self.config.preset,
            image_px=self.config.env.image_px,
            config=dataclasses.asdict(
                dataclasses.replace(self.config, precision=self.asked_precision or self.config.precision)
            ),
            learner=learner or {},
            rng_state=rng_state,
            high_water_marks=marks,
            task_statistics=task_statistics or {},
        )

    def validate(self, policy: Policy, tasks: list[TaskSpec], stage: str, step: int) -> float:
        """Play every val task once with drawn actions; log and return the success rate.

        Raises StoppedError, and logs nothing, when the run is asked to stop meanwhile: it would take minutes.
        """
        seed = derive_seed(self.config.seed, "validation")
        num_done = 0
        what = "success check"
        with self.status.aside(what, len(tasks)) as show, self.progress.aside(what, len(tasks)) as bar:

            def watch(step: PlayedStep) -> None:
                nonlocal num_done
                self.check_stop()
                has_ended_E = step.transition.terminated_E | step.transition.truncated_E
                num_done += int((has_ended_E & (step.task_index_E >= 0)).sum())
                show(num_done)
                bar.show(num_done)

            records = play_val_tasks(self.config, self.parts, policy, tasks, seed=seed, on_step=watch)
        return self.report_check(records, stage, step)

    def report_check(self, records: Sequence[EpisodeRecord], stage: str, step: int) -> float:
        """Log the episodes of a success check and return its success rate."""
        success = success_rate(records)
        self.log("val", step, {f"{stage}_success": success, "episodes": float(len(records))})
        is_start = stage == "imitation" and self.config.initial_policy is not None
        after = "of the initial policy" if is_start else f"after {stage}"
        self.progress.say(f"val success {after}: {success:.3f} ({len(records)} episodes in val worlds)")
        return success


def training_device(config: TrainConfig) -> torch.device:
    """Return where this machine is to compute the run's policy. ValueError where it lacks what the config asks for."""
    if config.device == "auto" and config.learner.num_processes > 1:
        return CPU  # learner processes share gradients of the CPU
    return find_device(config.device, where="device")


def with_one_precision(config: TrainConfig, device: torch.device) -> TrainConfig:
    """Return the config with a precision that means the same on `device` and where the run's workers act.

    Else "auto" could be bf16 here and fp32 on the CPUs beside a GPU, or of another machine, and acting and learning
    two policies.
    """
    if config.precision != "auto" or config.rollout.placement == "inline":
        return config
    is_bf16 = uses_bf16("auto", device) and uses_bf16("auto", CPU)
    return dataclasses.replace(config, precision="bf16" if is_bf16 else "fp32")
