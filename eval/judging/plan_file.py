"""plan.json of a folder as it is read back: without policies and engines, which whoever only compares does not need."""

from pathlib import Path
from typing import Any

from eval.judging.judged_folder import PLAN_FILE
from task_synthesis.json_text import parse_json


def read_plan(out_dir: Path) -> dict[str, dict[str, Any]]:
    """Return what a folder was begun with, "common" and "rows"; ValueError for what is no plan."""
    path = out_dir / PLAN_FILE
    try:
        plan: dict[str, dict[str, Any]] = parse_json(path.read_text(encoding="ascii"))
        if not all(isinstance(fields, dict) for fields in (*plan.values(), plan["common"], *plan["rows"].values())):
            raise ValueError("not a plan")
    except (ValueError, KeyError, TypeError, AttributeError):
        raise ValueError(
            f"{path}: not the plan of an evaluation; choose another --out, or delete that folder"
        ) from None
    return plan


def weights_of(out_dir: Path, row: str) -> str:
    """Return the SHA-256 of the weights that a row of the folder plays with; "" where none are noted."""
    if not (out_dir / PLAN_FILE).exists():
        return ""
    weights: str = read_plan(out_dir)["rows"].get(row, {}).get("weights_sha256", "")
    return weights
