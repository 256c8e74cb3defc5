"""One shard of a library: some thousand lines of JSON, gzipped, a pure function of plan and shard index.

Gzipped lines and not Parquet: a task is a nested record that is read whole or not at all, so columns bring nothing,
the standard library reads it everywhere, and `zcat` shows it.
"""

import gzip
import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass

from task_synthesis.libraries.library_plan import LibraryPlan
from task_synthesis.synthesize import Synthesizer
from task_synthesis.task import to_json_line


@dataclass(frozen=True, kw_only=True, slots=True)
class Receipt:
    """What is known of a finished shard; its file is written after the shard's, so its presence means "done"."""

    num_tasks: int
    sha256: str
    """Of the text before compression: it does not depend on the version of zlib."""
    rejections: dict[str, int]


@dataclass(frozen=True, kw_only=True, slots=True)
class Shard:
    """A shard as a worker hands it over."""

    index: int
    packed: bytes
    """The lines, gzipped."""
    receipt: Receipt


def make_shard(
    plan: LibraryPlan, shard_index: int, *, num_threads: int = 1, on_progress: Callable[[int], None] | None = None
) -> Shard:
    """Make the tasks of one shard. `num_threads` threads make worlds; they do not change what is made."""
    synthesizer = Synthesizer(
        plan.config,
        split=plan.split,
        seed=plan.seed_of_shard(shard_index),
        num_parallel=plan.num_parallel,
        num_threads=num_threads,
    )
    tasks = synthesizer.run(plan.tasks_of_shard(shard_index), on_progress=on_progress)
    text = "".join(to_json_line(task) + "\n" for task in tasks).encode()
    receipt = Receipt(
        num_tasks=len(tasks),
        sha256=hashlib.sha256(text).hexdigest(),
        rejections=dict(sorted(synthesizer.rejections.items())),
    )
    # Without the time of day: the same shard is the same file.
    return Shard(index=shard_index, packed=gzip.compress(text, compresslevel=6, mtime=0), receipt=receipt)


def receipt_to_json(receipt: Receipt) -> str:
    """Return the text of a receipt's file."""
    return json.dumps(asdict(receipt)) + "\n"


def receipt_from_json(text: str, *, where: str) -> Receipt:
    """Read a receipt; raise ValueError for anything else."""
    try:
        fields = json.loads(text)
        return Receipt(
            num_tasks=int(fields["num_tasks"]),
            sha256=str(fields["sha256"]),
            rejections={str(name): int(count) for name, count in fields["rejections"].items()},
        )
    except (ValueError, TypeError, KeyError, AttributeError):
        raise ValueError(f"{where}: not a shard's receipt; remove the file and run `mcrl synth` again") from None
