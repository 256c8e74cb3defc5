"""plan.json: what a folder of an evaluation is being filled with, so that only the same evaluation goes on in it."""

import hashlib
import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eval.episodes.action_archive import FOLDER as ACTIONS_FOLDER
from eval.episodes.records import SCHEMA_VERSION
from eval.judging.judged_folder import PARTS_FOLDER, PLAN_FILE
from eval.judging.plan_file import read_plan
from eval.judging.suite_row import SuiteRow
from eval.judging.unit import MAX_ENVS, MAX_ENVS_LARGE_WORLDS, TASKS_PER_ENV, UNIT_TASKS, Unit, cut_tasks
from eval.numbers.flat_settings import flat_settings
from task_synthesis.libraries.library import write_whole
from task_synthesis.task import TaskSpec
from worlds.spec import GENERATOR_VERSION


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
    save: Path | None = None
    """Folder of the real Minecraft world that the tasks are in. Tasks name it by its content, so it may move."""

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
                save=self.save,
            )
            for row in self.rows
            for index, tasks in enumerate(cut_tasks(self.tasks, self.unit_tasks))
        ]

    def common(self) -> dict[str, Any]:
        """Return what all rows share, as values for JSON."""
        return {
            "suite": self.suite,
            "num_tasks": len(self.tasks),
            "seed": self.seed,  # decides fresh tasks as well, so it is named before them
            "tasks_sha256": tasks_sha256(self.tasks),
            "unit_tasks": self.unit_tasks,
            "envs": [MAX_ENVS, MAX_ENVS_LARGE_WORLDS, TASKS_PER_ENV],
            "generator_version": GENERATOR_VERSION,
            "schema": SCHEMA_VERSION,
        }


def tasks_sha256(tasks: Sequence[TaskSpec]) -> str:
    """Return the SHA-256 of the tasks in their order; an id is itself a hash of its task."""
    return hashlib.sha256("".join(task.task_id for task in tasks).encode("ascii")).hexdigest()


def make_way(plan: EvaluationPlan, out_dir: Path) -> None:
    """Remove what another evaluation left to go on with in the folder; its report stays until the next is written."""
    try:
        _check(plan, out_dir)
    except ValueError:
        for folder in (PARTS_FOLDER, ACTIONS_FOLDER):
            shutil.rmtree(out_dir / folder, ignore_errors=True)
        (out_dir / PLAN_FILE).unlink()


def claim_folder(plan: EvaluationPlan, out_dir: Path) -> None:
    """Note the plan in the folder, or check that the folder was begun for it. Rows may be added later.

    Raises:
        ValueError: the folder holds another evaluation; nothing in it is touched.
    """
    known = _check(plan, out_dir)
    rows = known | {row.name: row.identity() for row in plan.rows}
    write_whole(out_dir / PLAN_FILE, json.dumps({"common": plan.common(), "rows": rows}, indent=2) + "\n")


def _check(plan: EvaluationPlan, out_dir: Path) -> dict[str, Any]:
    """Return the rows that the folder was begun with; ValueError where they or the rest are not those of the plan."""
    if not (out_dir / PLAN_FILE).exists():
        return {}
    known = read_plan(out_dir)
    for name, value in plan.common().items():
        if known["common"].get(name) != value:
            before, now = ("none" if one == "" else one for one in (known["common"].get(name), value))
            before = f"{name} {before}, now it is {now}"
            if name == "tasks_sha256":
                before = "other tasks" + (", of another save or of this one before it changed" if plan.save else "")
            raise ValueError(f"{out_dir}: was begun with {before}; choose another --out, or delete that folder")
    changes = [
        (row.name, before, identity)
        for row, identity in ((row, row.identity()) for row in plan.rows)
        if (before := known["rows"].get(row.name)) not in (None, identity)
    ]
    if changes:
        # Another policy has views of another size, in the rows of chance and expert as well: it says it best.
        name, before, now = max(changes, key=lambda change: _is_of_other_weights(*change[1:]))
        rename = ", or another name for the row if it is one of --also" if now["agent"] == "policy" else ""
        what = _difference(before, now)
        raise ValueError(f"{out_dir}: row {name!r} was begun with {what}; choose another --out{rename}")
    return known["rows"]


def _is_of_other_weights(before: Mapping[str, Any], now: Mapping[str, Any]) -> bool:
    return bool(before.get("weights_sha256") and before["weights_sha256"] != now["weights_sha256"])


def _difference(before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """Return what a row was begun with, and what it would be now."""
    if _is_of_other_weights(before, now) and before.get("agent") == now["agent"]:
        if before.get("preset") != now["preset"]:
            return f"another policy, of preset {before.get('preset')}, now it is {now['preset']}"
        return "other weights, of another checkpoint or of this one before it changed"
    was, is_now = flat_settings(before), flat_settings(now)
    return ", ".join(
        f"{name} {was.get(name, 'none')}, now it is {is_now.get(name, 'none')}"
        for name in sorted(was | is_now)
        if was.get(name) != is_now.get(name)
    )
