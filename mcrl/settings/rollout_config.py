"""Settings of where the second stage's fragments are made, and how."""

import typing
from dataclasses import dataclass
from typing import Literal

from mcrl.dataflow.queue.samplers import SamplerName
from mcrl.dataflow.weights.weight_format import WeightFormat
from mcrl.settings.config_checks import require, require_at_least, require_at_most, require_positive_finite

Placement = Literal["inline", "ray", "colocated", "split"]
# Where acting and learning take turns; in the others workers act beside the learner.
IN_TURN: tuple[Placement, ...] = ("inline", "colocated")
Inference = Literal["inline", "remote"]
WeightSync = Literal["fragment", "tick"]
EngineDevice = Literal["cpu", "auto", "cuda"]
# More workers, or envs of one, are a slip of the finger: a worker is a process of some 300 MB.
MAX_WORKERS = 16_384


@dataclass(frozen=True, kw_only=True)
class RolloutConfig:
    """Where fragments are made, and what becomes of them when a run is interrupted.

    "inline": a run that is resumed gives the metrics (times aside) and the weights of an unbroken one, to the last
    bit, on the same machine with the same build, for checkpoints hold the environments too; see `exact_resume`. They
    do not where those are of another engine, of a GPU, of a ring or acted with a lag, and the run says so. A stop by
    Ctrl-C or SIGTERM loses nothing, a crash the iterations since the last checkpoint, which come out the same again.

    "ray": learner, curriculum and optimizer go on exactly, environments start fresh episodes with other draws, and
    sequence numbers see to it that no fragment is learned from twice. Which fragments meet in a batch depends on which
    worker is faster, so that no two runs are alike in any case.

    The stages before PPO end in the same weights in either placement, however often they are interrupted.
    """

    placement: Placement = "inline"
    """"inline" acts in the learner's process, "ray" in processes of their own beside it. "split" is another word for
    "ray"; "colocated" has such processes as well, which take turns with the learner on the same cores."""
    num_workers: int = 1
    """Rollout workers."""
    envs_per_worker: int = 64
    """Environments a worker steps in lockstep."""
    ring_groups: int = 1
    """Engines of a worker, which share its environments and step at their own pace: slow steps, resets and engines
    that start again hold up only themselves. For engines that make one wait, for instance real Minecraft with one
    environment each; 1 keeps all in lockstep."""
    step_limit_s: float = 300.0
    """Time after which an engine of a ring that has not answered is given up and started again, its start included."""
    inference: Inference = "inline"
    """"inline" computes the policy in each worker, "remote" in processes that the workers of placement "ray" share: one
    batch for all that wait, and the policy's weights and memory once. For policies that are large beside the engine."""
    inference_replicas: int = 1
    """Processes of remote inference; a group of environments always asks the same one."""
    engine_device: EngineDevice = "cpu"
    """Where the built-in engine of an "inline" worker without rings plays and draws. On a GPU, pictures are learned
    from where they were drawn, and no other placement can have that. "auto" is the GPU of the policy where the extra
    `cuda` is installed, else the CPU. Checkpoints hold no environments of a GPU; checks and reports play on the CPU."""
    max_staleness: int = 0
    """Updates by which the weights that acted may be behind those that learn; 0 is synchronous. "inline" needs
    ring_groups above 1 for more: acting then goes on in a thread while the learner learns."""
    exact_staleness: bool = False
    """Whether every batch lags by exactly `max_staleness` updates, from that update on: placement "inline" then acts as
    far ahead as it may and takes turns with the learner all the same. For asking what a lag costs, alike in every run;
    nothing is faster for it, and a run that is resumed with a lag begins without one."""
    worker_threads: int = 1
    """Threads of a Ray worker; inline workers use the learner's."""
    learner_threads: int | None = None
    """Threads of the learner during PPO, to leave cores to Ray workers; None keeps `num_threads` of the run."""
    exact_resume: bool = True
    """Whether checkpoints of an "inline" run hold its environments, samplers and memories. Per environment that is 4
    KiB of engine, and twice the policy's encoded goal and memory, which is much for the preset rocket: False leaves
    them out, and a resume starts fresh episodes. "ray" never keeps them."""
    num_evaluators: int = 0
    """Processes that play the val tasks beside the run every `val_every` iterations, while learning goes on; 0 lets the
    learner's process play them, and learning wait."""
    sampler: SamplerName = "fifo"
    """Which of the waiting fragments make the next batch, see mcrl.dataflow.queue.samplers; with `max_staleness` 0
    there are never more than a batch to choose from."""
    collect_limit_s: float = 600.0
    """Wall time that a Ray worker may take for one fragment an env; one that takes longer hangs, is killed and
    replaced, and what it had in the making is counted lost. To start it may take as long, three minutes at least."""

    weight_sync: WeightSync = "fragment"
    """When workers of placement "ray" take new weights in. "fragment": with the order for the next fragment. "tick":
    they arrive while the worker acts and are swapped in between two of its ticks: a long fragment ends with newer ones
    than it began with, and acting does not wait for a transfer. It takes the memory of one more policy a worker."""
    weight_format: WeightFormat = "whole"
    """With weight_sync "tick": "delta" sends the difference to the version before, exact and about half the bytes, at
    some processor time at both ends: for workers behind a network."""

    def __post_init__(self) -> None:
        require_at_least(
            1, "rollout.", self, "num_workers envs_per_worker worker_threads ring_groups inference_replicas"
        )
        require_at_most(MAX_WORKERS, "rollout.", self, "num_workers envs_per_worker inference_replicas")
        require_at_most(1024, "rollout.", self, "worker_threads ring_groups num_evaluators")
        require_at_least(0, "rollout.", self, "max_staleness num_evaluators")
        require(
            not self.num_evaluators or self.placement != "inline",
            f"rollout.num_evaluators {self.num_evaluators} are processes of Ray, which placement inline does not use; "
            'set it to 0 or rollout.placement to "ray"',
        )
        require(
            self.inference == "inline" or self.placement not in IN_TURN,
            'rollout.inference "remote" needs processes to be remote from; set rollout.placement to "ray"',
        )
        require(
            self.inference == "remote" or self.inference_replicas == 1,
            f"rollout.inference_replicas {self.inference_replicas} does nothing where inference is inline; set it to 1 "
            'or rollout.inference to "remote"',
        )
        known = typing.get_args(SamplerName)
        require(self.sampler in known, f"rollout.sampler must be one of {', '.join(known)}, got {self.sampler!r}")
        require(
            self.sampler == "fifo" or self.max_staleness > 0,
            f"rollout.sampler {self.sampler!r} does nothing with rollout.max_staleness 0, where a batch is all there "
            'is; raise it, or set the sampler to "fifo"',
        )
        require_positive_finite("rollout.", self, "collect_limit_s step_limit_s")
        known = typing.get_args(EngineDevice)
        require(
            self.engine_device in known,
            f"rollout.engine_device must be one of {', '.join(known)}, got {self.engine_device!r}",
        )
        require(
            self.engine_device != "cuda" or (self.placement == "inline" and self.ring_groups == 1),
            'rollout.engine_device "cuda" is for placement "inline" without rings, where the learner reads what the '
            'engine draws; set rollout.placement to "inline" and rollout.ring_groups to 1, or engine_device to "cpu"',
        )
        default_limit_s = type(self).__dataclass_fields__["collect_limit_s"].default
        require(
            self.placement != "inline" or self.collect_limit_s == default_limit_s,
            f"rollout.collect_limit_s {self.collect_limit_s} does nothing inline, where nobody could end a worker that "
            f'hangs; leave it at {default_limit_s} or set rollout.placement to "ray"',
        )
        self._check_weight_sync()
        require(
            not self.exact_staleness
            or (self.placement == "inline" and self.ring_groups == 1 and self.inference == "inline"),
            "rollout.exact_staleness is for workers that take turns with the learner; set rollout.placement and "
            'rollout.inference to "inline" and rollout.ring_groups to 1, or leave it out',
        )
        require(
            self.learner_threads is None or self.learner_threads > 0,
            f"rollout.learner_threads must be positive, or None for num_threads, got {self.learner_threads}",
        )
        require(
            self.envs_per_worker % self.ring_groups == 0,
            f"rollout.envs_per_worker {self.envs_per_worker} must be a multiple of rollout.ring_groups "
            f"{self.ring_groups}: every engine of a ring has equally many",
        )
        require(
            self.placement != "inline" or self.max_staleness == 0 or self.ring_groups == 1 or self.num_workers == 1,
            f"rollout.num_workers {self.num_workers}: a ring that acts beside the learner is one worker; set it to 1 "
            "and rollout.ring_groups to the number of engines",
        )

    def _check_weight_sync(self) -> None:
        """Refuse ways of the weights that nothing would travel on."""
        require(
            self.weight_sync == "fragment" or self.max_staleness > 0,
            f"rollout.weight_sync {self.weight_sync!r} does nothing with rollout.max_staleness 0, where no worker acts "
            'while there are new weights; raise it, or set weight_sync to "fragment"',
        )
        require(
            self.weight_sync == "fragment" or self.placement not in IN_TURN,
            f"rollout.weight_sync {self.weight_sync!r} is for workers in processes of their own, placement is "
            f'{self.placement!r}; set it to "fragment" or rollout.placement to "ray"',
        )
        require(
            self.weight_sync == "fragment" or self.inference == "inline",
            f"rollout.weight_sync {self.weight_sync!r} is for workers that have a policy; with rollout.inference "
            f'"{self.inference}" replicas act with the newest that any worker was sent; set it to "fragment"',
        )
        require(
            self.weight_format == "whole" or self.weight_sync == "tick",
            f'rollout.weight_format {self.weight_format!r} needs rollout.weight_sync "tick"; set that, or the format '
            'to "whole"',
        )
