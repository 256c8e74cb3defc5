"""What a library of tasks shall hold, and how it is divided into shards."""

import hashlib
import json
from dataclasses import asdict, dataclass

from task_synthesis.synthesis_config import SynthesisConfig
from worlds.spec import GENERATOR_VERSION, SPLITS, Split

TASKS_PER_SHARD = 2_500  # some 12 seconds of work: what a killed run loses a process


@dataclass(frozen=True, kw_only=True)
class LibraryPlan:
    """Everything that decides the tasks of a library; machines and processes are no part of it."""

    num_tasks: int
    split: Split
    seed: int
    config: SynthesisConfig
    tasks_per_shard: int = TASKS_PER_SHARD

    def __post_init__(self) -> None:
        if self.num_tasks < 1:
            raise ValueError(f"library.num_tasks must be at least 1, got {self.num_tasks}")
        if self.tasks_per_shard < 1:
            raise ValueError(f"library.tasks_per_shard must be at least 1, got {self.tasks_per_shard}")
        if self.seed < 0:
            raise ValueError(f"library.seed must not be negative, got {self.seed}")
        if self.split not in SPLITS:
            raise ValueError(f"split {self.split!r} is unknown; choose one of {', '.join(SPLITS)}")
        self.config.check_split(self.split)  # before anything of it is written

    @property
    def num_shards(self) -> int:
        """Return how many shards the tasks take."""
        return -(-self.num_tasks // self.tasks_per_shard)

    def tasks_of_shard(self, shard_index: int) -> int:
        """Return how many tasks a shard holds: all are full but the last."""
        return min(self.tasks_per_shard, self.num_tasks - shard_index * self.tasks_per_shard)

    def seed_of_shard(self, shard_index: int) -> int:
        """Return the seed of a shard's own stream of worlds and draws, 0 .. 2**63 - 1.

        A library of one piece is drawn from the seed itself: `Synthesizer(config, split, seed).run(num_tasks)`.
        """
        if self.num_shards == 1:
            return self.seed
        digest = hashlib.blake2b(f"library {self.seed} shard {shard_index}".encode(), digest_size=8).digest()
        return int.from_bytes(digest, "little") >> 1

    @property
    def num_parallel(self) -> int:
        """Return how many worlds a shard is drawn from at a time, so that a process stays below some 600 MB.

        It decides the order of the tasks, and so it follows from the config and not from the machine.
        """
        return max(8, min(64, 64 * 64 * 64 // self.config.side_blocks**2))

    def header(self) -> dict[str, object]:
        """Return the plan as it stands in the manifest: plain JSON values."""
        config = asdict(self.config)
        if not self.config.companions:
            del config["companions"]  # libraries from before there were any can be gone on with
        fields = {
            "split": self.split,
            "seed": self.seed,
            "tasks_per_shard": self.tasks_per_shard,
            "generator_version": GENERATOR_VERSION,
            "config": config,
        }
        plain: dict[str, object] = json.loads(json.dumps(fields))
        return plain


def difference(known: dict[str, object], wanted: dict[str, object], *, prefix: str = "") -> str:
    """Return the first field in which two headers differ, with both values; "" when there is none.

    Shares that are of other things, of skills say, differ by their names.
    """
    if prefix and known.keys() != wanted.keys():
        return f"{prefix.rstrip('.')} {', '.join(known)}, not {', '.join(wanted)}"
    for name in sorted({*known, *wanted}):
        ours, theirs = known.get(name), wanted.get(name)
        if isinstance(ours, dict) and isinstance(theirs, dict):
            nested = difference(ours, theirs, prefix="" if name == "config" else f"{prefix}{name}.")
            if nested:
                return nested
        elif (ours, theirs) == (True, None):  # such as companions, which a header has or has not
            return f"{name}, not without"
        elif (ours, theirs) == (None, True):
            return f"no {name}"
        elif ours != theirs:
            return f"{prefix}{name} {ours!r}, not {theirs!r}"
    return ""
