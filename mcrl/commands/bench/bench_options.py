"""Options of `mcrl bench`: how long and how wide a bench is, and beside whom."""

from dataclasses import dataclass
from pathlib import Path

from mcrl.commands.options import nearest

PEERS = {"sim": ("vizdoom",), "learner": ("sb3", "sample_factory")}


@dataclass(frozen=True, kw_only=True)
class BenchOptions:
    """How long and how wide a bench is."""

    json: Path | None = None
    """Write the result as one JSON object to this file; "-" is stdout, and nothing else is printed there."""
    repeats: int | None = None
    """Measurements; the median is reported, with the smallest and the largest. None is 5, and 3 of the system bench."""
    num_frames: int = 1600
    """Frames a repeat of the sim and cuda benches, at least."""
    num_tasks: int = 500
    """Tasks a repeat of the synth bench."""
    num_threads: int = 1
    """Threads of torch and the engine."""
    recipe: str = "laptop"
    """Recipe whose policy, batch and task settings the synth, rollout, learner and eval benches use."""
    presets: str = "tiny,small,base"
    """Presets the policy bench measures, with commas between."""
    seed: int = 0
    """Of worlds, actions and weights."""
    against: str | None = None
    """Peers to measure in the same run, with commas between: of the sim bench vizdoom, at its own 160 x 120 pixels with
    labels; of the learner bench sb3 and sample_factory, whole training loops at one small setting (recipe unused)."""
    model: str | None = None
    """Latency model of the system bench, for instance resets; None measures all, and the scale curve."""
    time_scale: float = 1.0
    """The system bench's simulated seconds last this long."""

    def __post_init__(self) -> None:
        for name in ("repeats", "num_frames", "num_tasks", "num_threads"):
            if getattr(self, name) is not None and getattr(self, name) < 1:
                raise ValueError(f"--{name.replace('_', '-')} must be at least 1, got {getattr(self, name)}")
        if self.seed < 0:
            raise ValueError(f"--seed must not be negative, got {self.seed}")

    @property
    def num_repeats(self) -> int:
        """Return how many measurements are made."""
        return self.repeats or 5

    def peers(self, bench: str) -> list[str]:
        """Return the peers that `--against` names. Raise ValueError for one that this bench has no driver for."""
        if self.against is None:
            return []
        known = PEERS.get(bench, ())
        names = [name.strip() for name in self.against.split(",") if name.strip()]
        if not known:
            raise ValueError(f"--against: bench {bench} has no peers, only {' and '.join(PEERS)} have; leave it out")
        for name in names:
            if name not in known:
                raise ValueError(f"--against {name}: no such peer of bench {bench}; {nearest(name, known)}")
        return list(dict.fromkeys(names))
