"""Making the tasks of a suite from its definition, and freezing them in its file."""

import dataclasses
import gzip
import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable

from eval.suite import Cell, Suite
from eval.suite_index import FOLDER, enter
from task_synthesis.library import write_whole
from task_synthesis.synthesize import Synthesizer
from task_synthesis.task import TaskSpec, to_json_line

# Worlds worked on at a time. It decides which tasks are made: a suite made with another number is another version.
_NUM_PARALLEL = 8


def make_suite(
    suite: Suite,
    num_tasks: int | None = None,
    *,
    num_threads: int = 1,
    on_progress: Callable[[int], None] | None = None,
) -> list[TaskSpec]:
    """Return the first `num_tasks` tasks of a suite, all by default, from its definition alone.

    Each cell has worlds and draws of its own, so that a part of the suite costs a part of the work.
    """
    order = suite.order()[:num_tasks]
    made: dict[Cell, list[TaskSpec]] = {}
    for cell, num_wanted in Counter(order).items():
        made[cell] = _make_cell(suite, cell, num_wanted, num_threads)
        if on_progress:
            on_progress(sum(map(len, made.values())))
    next_of: dict[Cell, int] = defaultdict(int)
    tasks = []
    for cell in order:
        tasks.append(made[cell][next_of[cell]])
        next_of[cell] += 1
    assert len({task.task_id for task in tasks}) == len(tasks), "a task was made twice"
    return tasks


def freeze(suite: Suite, *, num_threads: int = 1, on_progress: Callable[[int], None] | None = None) -> str:
    """Write the file of a suite and return the hash of its lines; the same definition gives the same bytes."""
    tasks = make_suite(suite, num_threads=num_threads, on_progress=on_progress)
    text = "".join(to_json_line(task) + "\n" for task in tasks).encode("ascii")
    FOLDER.mkdir(exist_ok=True)
    write_whole(suite.path, gzip.compress(text, compresslevel=9, mtime=0))
    sha256 = hashlib.sha256(text).hexdigest()
    enter(suite.label, sha256)
    return sha256


def _make_cell(suite: Suite, cell: Cell, num_tasks: int, num_threads: int) -> list[TaskSpec]:
    accept = suite.accept
    synthesizer = Synthesizer(
        dataclasses.replace(suite.synthesis, skills={cell.skill: 1.0}, bands={cell.band: 1.0}),
        split="held_out",
        seed=_seed(suite, cell),
        num_parallel=_NUM_PARALLEL,
        num_threads=num_threads,
        accept=None if accept is None else lambda task: accept(task, cell.part),
    )
    return synthesizer.run(num_tasks)


def _seed(suite: Suite, cell: Cell) -> int:
    """Return the seed of a cell's worlds and draws, 0 .. 2**63 - 1."""
    name = f"suite {suite.label} {cell.skill} {cell.band} {cell.part}"
    return int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest(), "little") >> 1
