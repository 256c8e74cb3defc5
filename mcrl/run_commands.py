"""The commands that a run was begun and continued by, and the code that they ran: what made its weights."""

import json
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from mcrl.provenance import commit
from task_synthesis.json_text import parse_json
from task_synthesis.libraries.library import write_whole

FILE_NAME = "commands.jsonl"


@dataclass(frozen=True, kw_only=True, slots=True)
class RunCommand:
    """One process that trained."""

    command: str
    commit: str
    date: str


def note_command(run_dir: Path, command: str) -> None:
    """Add the command of this process to those of the run; "" is none, as of a program that calls `train` itself."""
    if not command:
        return
    noted = RunCommand(command=command, commit=commit(), date=time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()))
    path = run_dir / FILE_NAME
    before = path.read_text(encoding="ascii", errors="replace") if path.exists() else ""
    write_whole(path, before + json.dumps(asdict(noted)) + "\n")


def read_commands(run_dir: Path) -> list[RunCommand]:
    """Return what trained, the first first; [] for a run of an older mcrl. A line that is none of ours is left out."""
    try:
        lines = (run_dir / FILE_NAME).read_text(encoding="ascii", errors="replace").splitlines()
    except FileNotFoundError:
        return []
    found = []
    for line in lines:
        try:
            found.append(RunCommand(**{name: str(value) for name, value in parse_json(line).items()}))
        except (ValueError, TypeError, AttributeError):
            continue
    return found


def commands_text(run_dir: Path) -> str:
    """Return the commands as one would type them, each once; "" where none is known."""
    return "; ".join(dict.fromkeys(noted.command for noted in read_commands(run_dir)))
