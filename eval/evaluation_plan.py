"""plan.json: what a folder of an evaluation is being filled with, so that only the same evaluation goes on in it."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eval.records import SCHEMA_VERSION
from eval.suite_row import SuiteRow
from eval.unit import MAX_ENVS, MAX_ENVS_LARGE_WORLDS, TASKS_PER_ENV, UNIT_TASKS, Unit, cut_tasks
from eval.unit_files import write_whole
from task_synthesis.task import TaskSpec
from worlds.spec import GENERATOR_VERSION

_FILE_NAME = "plan.json"


@dataclass(frozen=True, kw_only=True, slots=True)
class EvaluationPlan:
    """Rows and tasks: everything that decides the table."""

    rows: tuple[SuiteRow, ...]
    tasks: tuple[TaskSpec, ...]
    partner_of: dict[str, str]
    """Whose goal a task is shown with in rows of shuffled goals, by task id."""
    suite: str
    """Name and version of the suite, "" for tasks chosen otherwise."""
    seed: int
    """Of every draw of the agents."""
    unit_tasks: int = UNIT_TASKS
    """Tasks a unit, at most."""

    def units(self) -> list[Unit]:
        """Return the units, row by row, each row's in the order of the tasks."""
        task_of = {task.task_id: task for task in self.tasks}
        return [
            Unit(
                row=row,
                suite=self.suite,
                index=index,
                tasks=tasks,
                partners=tuple(task_of[self.partner_of[task.task_id]] for task in tasks)
                if row.goals == "shuffled"
                else (),
                seed=self.seed,
            )
            for row in self.rows
            for index, tasks in enumerate(cut_tasks(self.tasks, self.unit_tasks))
        ]

    def common(self) -> dict[str, Any]:
        """Return what all rows share, as values for JSON."""
        return {
            "suite": self.suite,
            "num_tasks": len(self.tasks),
            "tasks_sha256": tasks_sha256(self.tasks),
            "seed": self.seed,
            "unit_tasks": self.unit_tasks,
            "envs": [MAX_ENVS, MAX_ENVS_LARGE_WORLDS, TASKS_PER_ENV],
            "generator_version": GENERATOR_VERSION,
            "schema": SCHEMA_VERSION,
        }


def tasks_sha256(tasks: Sequence[TaskSpec]) -> str:
    """Return the SHA-256 of the tasks in their order; an id is itself a hash of its task."""
    return hashlib.sha256("".join(task.task_id for task in tasks).encode("ascii")).hexdigest()


def claim_folder(plan: EvaluationPlan, out_dir: Path) -> None:
    """Note the plan in the folder, or check that the folder was begun for it. Rows may be added later.

    Raises:
        ValueError: the folder holds another evaluation; nothing in it is touched.
    """
    path = out_dir / _FILE_NAME
    common, rows = plan.common(), {row.name: row.identity() for row in plan.rows}
    if path.exists():
        known = _read(path)
        for name, value in common.items():
            if known["common"].get(name) != value:
                raise ValueError(
                    f"{out_dir}: was begun with {name} {known['common'].get(name)}, now it is {value}; choose another "
                    "--out, or delete that folder"
                )
        for row, identity in rows.items():
            if row in known["rows"] and known["rows"][row] != identity:
                different = sorted(name for name in identity if known["rows"][row].get(name) != identity[name])
                raise ValueError(
                    f"{out_dir}: row {row!r} was begun with another {', '.join(different)}; choose another --out, or "
                    "another name for the row"
                )
        rows = known["rows"] | rows
    write_whole(path, (json.dumps({"common": common, "rows": rows}, indent=2) + "\n").encode("ascii"))


def _read(path: Path) -> dict[str, dict[str, Any]]:
    try:
        plan = json.loads(path.read_text(encoding="ascii"))
        if not all(isinstance(plan[name], dict) for name in ("common", "rows")):
            raise ValueError("not a plan")
    except (ValueError, KeyError, TypeError):
        raise ValueError(
            f"{path}: not the plan of an evaluation; choose another --out, or delete that folder"
        ) from None
    return plan  # type: ignore[no-any-return]
