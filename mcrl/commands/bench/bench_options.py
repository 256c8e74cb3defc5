"""Options of `mcrl bench`: how long and how wide a bench is, and beside whom."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from mcrl.commands.options import nearest

_ENGINES, _LOOPS = ("vizdoom", "miniworld", "craftax"), ("sb3", "sample_factory", "rllib")
PEERS = {"sim": _ENGINES, "learner": _LOOPS, "peers": (*_ENGINES, *_LOOPS)}
# Which benches read an option; with any other it has to stay as it is. Those that are not here hold for most.
READ_BY: Mapping[str, tuple[str, ...]] = {
    "num_frames": ("sim", "cuda"),
    "num_tasks": ("synth",),
    "num_envs": ("iteration",),
    "recipe": ("synth", "rollout", "learner", "iteration", "eval"),
    "presets": ("policy",),
    "install_limit_s": ("sim", "learner", "peers"),
    "answer_limit_s": ("sim", "learner", "peers"),
    "model": ("system",),
    "time_scale": ("system",),
}


@dataclass(frozen=True, kw_only=True)
class BenchOptions:
    """How long and how wide a bench is."""

    json: Path | None = None
    """Write the result as one JSON object to this file; "-" is stdout, and nothing else is printed there."""
    repeats: int | None = None
    """Measurements; the median is reported, with the smallest and the largest. None is 5, and 3 of the benches system
    and peers."""
    num_frames: int = 1600
    """Frames a repeat of the sim and cuda benches, at least."""
    num_tasks: int = 500
    """Tasks a repeat of the synth bench."""
    num_threads: int = 1
    """Threads of torch and the engine."""
    num_envs: int | None = None
    """Environments of the iteration bench, whose batch is one fragment of each in eight minibatches; None takes the
    recipe's batch."""
    recipe: str = "laptop"
    """Recipe whose policy, batch and task settings the synth, rollout, learner, iteration and eval benches use."""
    presets: str = "tiny,small,base"
    """Presets the policy bench measures, with commas between."""
    seed: int = 0
    """Of worlds, actions and weights."""
    against: str | None = None
    """Peers to measure in the same run, with commas between: of the sim bench vizdoom, miniworld and craftax, each at
    its own size of pictures; of the learner bench sb3, sample_factory and rllib, whole training loops at one small
    setting (recipe unused)."""
    peers: str | None = None
    """Peers of the peers bench, with commas between; None takes all: those of sim and of learner."""
    install_limit_s: int = 1800
    """Seconds that the side environment of a peer may take to build, once; else the peer is left out."""
    answer_limit_s: int = 600
    """Seconds that a peer may take to start, or for a turn; else it is left out."""
    model: str | None = None
    """Latency model of the system bench, for instance resets; None measures all, and the scale curve."""
    time_scale: float = 1.0
    """The system bench's simulated seconds last this long."""

    def __post_init__(self) -> None:
        for name in (
            "repeats",
            "num_frames",
            "num_tasks",
            "num_threads",
            "num_envs",
            "install_limit_s",
            "answer_limit_s",
        ):
            if getattr(self, name) is not None and getattr(self, name) < 1:
                raise ValueError(f"--{name.replace('_', '-')} must be at least 1, got {getattr(self, name)}")
        if self.seed < 0:
            raise ValueError(f"--seed must not be negative, got {self.seed}")

    @property
    def num_repeats(self) -> int:
        """Return how many measurements are made."""
        return self.repeats or 5

    def check_read_by(self, bench: str) -> None:
        """Raise ValueError for an option that this bench does not read."""
        for name, benches in READ_BY.items():
            if bench not in benches and getattr(self, name) != getattr(type(self)(), name):
                which = f"the bench {benches[0]}" if len(benches) == 1 else f"the benches {', '.join(benches)}"
                option = f"--{name.replace('_', '-')}"
                raise ValueError(f"mcrl bench {bench}: {option} belongs to {which}; leave it out")

    def opponents(self, bench: str) -> list[str]:
        """Return the peers to measure beside: those of `--against`, or of `--peers` for the peers bench.

        Raises:
            ValueError: this bench has no driver for one, or does not take the option.
        """
        option, chosen, other = "--against", self.against, self.peers
        if bench == "peers":
            option, chosen, other = "--peers", self.peers or ",".join(PEERS[bench]), self.against
        if other is not None:
            raise ValueError(
                "--against: the peers bench takes --peers instead"
                if bench == "peers"
                else f"--peers: belongs to the peers bench; bench {bench} takes --against where it has peers"
            )
        if chosen is None:
            return []
        known = PEERS.get(bench, ())
        if not known:
            raise ValueError(f"--against: bench {bench} has no peers, only sim and learner have; leave it out")
        names = [name.strip() for name in chosen.split(",") if name.strip()]
        for name in names:
            if name not in known:
                raise ValueError(f"{option} {name}: no such peer of bench {bench}; {nearest(name, known)}")
        if not names:
            raise ValueError(f"{option} names nobody; there are {', '.join(known)}")
        return list(dict.fromkeys(names))
