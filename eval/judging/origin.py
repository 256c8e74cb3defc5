"""Where the numbers of a report come from: everything needed to make them again. Kept as origin.json beside them."""

import dataclasses
import json
from dataclasses import dataclass, field
from pathlib import Path

from task_synthesis.json_reader import MisfitError, reader_of
from task_synthesis.json_text import parse_json
from task_synthesis.libraries.library import write_whole

FILE_NAME = "origin.json"


@dataclass(frozen=True, kw_only=True, slots=True)
class SuiteOrigin:
    """One evaluation, as it was asked for and carried out."""

    command: str
    commit: str
    date: str
    hardware: dict[str, object]
    split: str
    suite_seed: int
    """Seed that the tasks were drawn with."""
    agent_seed: int
    """Seed of every random choice of the agents."""
    num_worlds: int
    row_sources: dict[str, str]
    """Checkpoint or description of each row."""
    row_wall_s: dict[str, float]
    """Wall time that playing each row took; with several processes the time they spent, added up."""
    training_wall_s: dict[str, float]
    """Wall time of the training, with that of all processes of a run that was resumed; empty when this command trained
    nothing."""
    suite: str = ""
    """Name and version of the frozen suite, "unseen_seeds.v1"; "" for tasks chosen otherwise."""
    suite_claim: str = ""
    """What the suite tests, in one sentence."""
    suite_sha256: str = ""
    """Of the suite's tasks."""
    config: dict[str, object] = field(default_factory=dict)
    """Of the run that made the judged checkpoint."""


def write_origin(origin: SuiteOrigin, out_dir: Path) -> None:
    """Write origin.json; it appears whole or not at all."""
    write_whole(out_dir / FILE_NAME, json.dumps(dataclasses.asdict(origin), indent=2) + "\n")


def read_origin(out_dir: Path) -> SuiteOrigin:
    """Read it back. Raise ValueError, naming the file and what is wrong, for anything but a full origin."""
    path = out_dir / FILE_NAME
    damaged, fix = f"{path}: damaged, not where an evaluation comes from", "repeat the command that wrote it"
    try:
        origin: SuiteOrigin = reader_of(SuiteOrigin)(parse_json(path.read_text(encoding="ascii")))
    except FileNotFoundError:
        raise ValueError(f"{path}: no such file; name a folder that `mcrl eval` has finished") from None
    except MisfitError as misfit:
        raise ValueError(f"{damaged}: {str(misfit).removeprefix('.').lstrip()}; {fix}") from None
    except ValueError:  # no JSON, or not even ASCII
        raise ValueError(f"{damaged}; {fix}") from None
    return origin
