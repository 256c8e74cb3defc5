"""Finished units on disk: parts/ROW.UNIT.jsonl and actions/ROW.UNIT.npz, each whole or not there.

The first line of a part says how long it took and what the rest must hash to, so that a part that was cut short or
changed is found out and played again.
"""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eval.episodes.action_archive import unit_file
from eval.episodes.records import JudgedEpisode, from_line, to_line
from eval.judging.judged_folder import PARTS_FOLDER
from eval.judging.unit import PlayedUnit, Unit
from mcrl.provenance import commit
from task_synthesis.json_text import parse_json
from task_synthesis.libraries.library import write_whole


@dataclass(frozen=True, kw_only=True, slots=True)
class UnitPart:
    """A finished unit, as far as the table needs it."""

    episodes: tuple[JudgedEpisode, ...]  # in the order of the tasks
    wall_s: float
    num_decisions: int
    commit: str
    """Of the code that played it; "" in parts that are older than this field."""


def part_file(out_dir: Path, file_stem: str, unit_index: int) -> Path:
    """Return where a row's unit is kept."""
    return out_dir / PARTS_FOLDER / f"{file_stem}.{unit_index:04d}.jsonl"


def write_unit(out_dir: Path, unit: Unit, played: PlayedUnit) -> UnitPart:
    """Keep a finished unit: its actions first, so that where there is a part there are its actions."""
    lines = "".join(to_line(episode) + "\n" for episode in played.episodes)
    wall_s = round(played.wall_s, 3)
    head: dict[str, Any] = {
        "wall_s": wall_s,
        "num_decisions": played.num_decisions,
        "commit": commit(),
        "sha256": hashlib.sha256(lines.encode("ascii")).hexdigest(),
        "actions_sha256": hashlib.sha256(played.actions).hexdigest(),
    }
    write_whole(unit_file(out_dir, unit.row.name, unit.index), played.actions)
    write_whole(part_file(out_dir, unit.row.file_stem, unit.index), json.dumps(head) + "\n" + lines)
    return UnitPart(episodes=played.episodes, wall_s=wall_s, num_decisions=played.num_decisions, commit=head["commit"])


def read_unit_part(out_dir: Path, unit: Unit) -> UnitPart | None:
    """Return a unit played before; None when its files are not there, damaged, or of other tasks."""
    try:
        text = part_file(out_dir, unit.row.file_stem, unit.index).read_bytes().decode("ascii")
        actions = unit_file(out_dir, unit.row.name, unit.index).read_bytes()
        first_line, _, lines = text.partition("\n")
        head = parse_json(first_line)
        is_whole = (
            hashlib.sha256(lines.encode("ascii")).hexdigest() == head["sha256"]
            and hashlib.sha256(actions).hexdigest() == head["actions_sha256"]
        )
        if not is_whole:
            return None
        episodes = tuple(from_line(line) for line in lines.splitlines())
        part = UnitPart(
            episodes=episodes,
            wall_s=float(head["wall_s"]),
            num_decisions=int(head["num_decisions"]),
            commit=str(head.get("commit", "")),
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None
    wanted = [(unit.row.name, unit.suite, unit.index, task.task_id) for task in unit.tasks]
    found = [(episode.row, episode.suite, episode.unit, episode.task_id) for episode in episodes]
    return part if found == wanted else None
