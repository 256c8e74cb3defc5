"""Play a plan into a folder: the units that are missing, in as many processes as asked for, then the table's lines.

OUT/plan.json              what the folder is for
OUT/tasks.jsonl            the tasks, in order
OUT/parts/ROW.UNIT.jsonl   finished units, for going on after an interruption
OUT/actions/ROW.UNIT.npz   what was done in them, see eval.episodes.action_archive
OUT/episodes.jsonl         every row's episodes, once all units are there
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from eval.episodes.records import JudgedEpisode, write_jsonl
from eval.judging.evaluation_plan import EvaluationPlan, claim_folder
from eval.judging.judged_folder import EPISODES_FILE, TASKS_FILE
from eval.judging.unit import PlayedUnit, Unit, play_unit
from eval.judging.unit_files import UnitPart, read_unit_part, write_unit
from task_synthesis.libraries.library import write_whole
from task_synthesis.libraries.processes import WorkerDiedError, results_by_processes
from task_synthesis.playing.curriculum import check_split
from task_synthesis.task import to_json_line
from worlds.spec import Split


@dataclass(frozen=True, kw_only=True, slots=True)
class JudgedRow:
    """What came of one row."""

    episodes: list[JudgedEpisode]  # in the order of the tasks
    wall_s: float
    """Time that playing took, added up over processes, whenever it was spent."""
    num_decisions: int
    commits: tuple[str, ...]
    """Of the code that played it, in the order of the tasks; several where it was continued with another one, and ""
    for what is older than the note of it."""


def run_suite(
    plan: EvaluationPlan,
    out_dir: Path,
    *,
    split: Split,
    num_workers: int,
    on_progress: Callable[[int], None] | None = None,
) -> dict[str, JudgedRow]:
    """Let every row play every task once; return the results by row name.

    The result does not depend on `num_workers` nor on how often it was interrupted. Tasks in worlds of another split
    are refused: nothing may be judged where it was trained. `on_progress` hears how many episodes of all rows are
    over.

    Raises:
        ValueError: tasks or rows that do not go together, or a folder that was begun for another plan.
    """
    _check(plan, split, num_workers)
    claim_folder(plan, out_dir)
    write_whole(out_dir / TASKS_FILE, "".join(to_json_line(task) + "\n" for task in plan.tasks))
    units = plan.units()
    parts = {(unit.row.name, unit.index): read_unit_part(out_dir, unit) for unit in units}
    missing = [unit for unit in units if parts[unit.row.name, unit.index] is None]
    num_kept = sum(len(part.episodes) for part in parts.values() if part is not None)

    def tell(num_episodes: int) -> None:
        if on_progress:
            on_progress(num_kept + num_episodes)

    tell(0)
    for unit, played in _play(missing, num_workers, tell):
        parts[unit.row.name, unit.index] = write_unit(out_dir, unit, played)
    tell(sum(len(unit.tasks) for unit in missing))
    judged = {row.name: _row([parts[row.name, unit.index] for unit in units if unit.row == row]) for row in plan.rows}
    write_jsonl((episode for row in judged.values() for episode in row.episodes), out_dir / EPISODES_FILE)
    return judged


def _check(plan: EvaluationPlan, split: Split, num_workers: int) -> None:
    if not plan.tasks or not plan.rows:
        raise ValueError("evaluation: needs at least one task and one row")
    check_split(plan.tasks, split, where="evaluation")
    if len({task.task_id for task in plan.tasks}) != len(plan.tasks):
        raise ValueError("evaluation: a task occurs more than once, so its episodes cannot be told apart; remove it")
    sizes = sorted({task.world.size_blocks for task in plan.tasks})
    if len(sizes) > 1:
        raise ValueError(f"evaluation: worlds of sizes {sizes}; judge tasks of one world size at a time")
    stems = [row.file_stem for row in plan.rows]
    for row in plan.rows:
        if stems.count(row.file_stem) > 1:
            raise ValueError(f"evaluation: two rows have the name {row.name!r} or one like it; rename one")
    if num_workers < 1:
        raise ValueError(f"the number of workers must be at least 1, got {num_workers}")


def _play(units: Sequence[Unit], num_workers: int, tell: Callable[[int], None]) -> Iterator[tuple[Unit, PlayedUnit]]:
    """Play the units and yield each as it is finished, in any order; `tell` hears how many episodes are over."""
    if num_workers == 1 or len(units) < 2:
        num_before = 0

        def tell_all(num_episodes: int) -> None:
            tell(num_before + num_episodes)

        for unit in units:
            yield unit, play_unit(unit, tell_all)
            num_before += len(unit.tasks)
        return
    unit_of = {(unit.row.name, unit.index): unit for unit in units}
    try:
        for played in results_by_processes(play_unit, units, num_workers=num_workers, on_progress=tell):
            yield unit_of[played.row, played.index], played
    except WorkerDiedError:
        raise ValueError(
            "evaluation: a process died (out of memory?); the finished parts are kept: run the same command again to "
            "go on, with fewer --num-workers"
        ) from None


def _row(parts: Sequence[UnitPart | None]) -> JudgedRow:
    found = [part for part in parts if part is not None]
    assert len(found) == len(parts)
    return JudgedRow(
        episodes=[episode for part in found for episode in part.episodes],
        wall_s=sum(part.wall_s for part in found),
        num_decisions=sum(part.num_decisions for part in found),
        commits=tuple(dict.fromkeys(part.commit for part in found)),
    )
