"""One shard of a library: some thousand lines of JSON, gzipped, a pure function of plan and shard index.

Gzipped lines and not Parquet: a task is a nested record that is read whole or not at all, so columns bring nothing,
the standard library reads it everywhere, and `zcat` shows it.
"""

import gzip
import hashlib
from collections.abc import Callable
from dataclasses import dataclass

from task_synthesis.libraries.library_plan import LibraryPlan
from task_synthesis.libraries.library_receipt import Receipt
from task_synthesis.synthesize import Synthesizer
from task_synthesis.task import to_json_line


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
