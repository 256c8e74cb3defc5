"""Making the tasks of a suite from its definition, and freezing them in its file."""

import dataclasses
import gzip
import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable

from eval.suites.suite import Cell, Suite
from eval.suites.suite_index import enter
from task_synthesis.libraries.library import write_whole
from task_synthesis.synthesize import Synthesizer
from task_synthesis.task import TaskSpec, to_json_line

_REVISION = 0  # of the draws: another one gives a suite other tasks of the same kind
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

    Each skill and band has worlds and draws of its own, so that a part of the suite costs a part of the work.
    """
    order = suite.order()[:num_tasks]
    num_wanted = Counter(order)
    made: dict[Cell, list[TaskSpec]] = {}
    for skill, band in dict.fromkeys((cell.skill, cell.band) for cell in order):
        made |= _make_group(
            suite, {cell: num for cell, num in num_wanted.items() if cell[:2] == (skill, band)}, num_threads
        )
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
    write_whole(suite.path, gzip.compress(text, compresslevel=9, mtime=0))
    sha256 = hashlib.sha256(text).hexdigest()
    enter(suite.label, sha256)
    return sha256


def _make_group(suite: Suite, num_wanted: dict[Cell, int], num_threads: int) -> dict[Cell, list[TaskSpec]]:
    """Return as many tasks as wanted of each cell; the cells are the parts of one skill and band."""
    skill, band, _ = next(iter(num_wanted))
    synthesizer = Synthesizer(
        dataclasses.replace(suite.synthesis, skills={skill: 1.0}, bands={band: 1.0}, exact_shares=False),
        split="held_out",
        seed=_seed(suite, skill, band),
        num_parallel=_NUM_PARALLEL,
        num_threads=num_threads,
    )
    made: dict[Cell, list[TaskSpec]] = {cell: [] for cell in num_wanted}
    num_missing = sum(num_wanted.values())
    for task in synthesizer.stream():
        part = suite.part_of(task) if suite.part_of else 0
        cell = Cell(skill, band, part) if part is not None else None
        if cell in made and len(made[cell]) < num_wanted[cell]:
            made[cell].append(task)
            num_missing -= 1
        if not num_missing:
            break
    return made


def _seed(suite: Suite, skill: str, band: str) -> int:
    """Return the seed of a skill's and band's worlds and draws, 0 .. 2**63 - 1."""
    name = f"suite {suite.label} {skill} {band} {_REVISION}"
    return int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest(), "little") >> 1
