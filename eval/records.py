"""One judged episode as one line of JSON: the schema of every episodes.jsonl."""

import dataclasses
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

# Grows when a field changes its meaning or goes; readers refuse another version.
SCHEMA_VERSION = 1

OUTCOMES = ("success", "wrong_object", "death", "time_limit", "fault")


@dataclass(frozen=True, kw_only=True, slots=True)
class JudgedEpisode:
    """What one row of the suite did on one task."""

    row: str
    """Who played: "random", "shuffled goal", "imitation", "rl", "expert" or a name given on the command line."""
    task_id: str
    """Hash of the whole task: equal ids are equal tasks."""
    goal_task_id: str
    """Task whose goal was shown; `task_id` itself except in a shuffled-goal row."""
    family: str
    """"skill/kind"."""
    skill: str
    band: str
    biome: str
    world_seed: int
    split: str
    outcome: str
    """One of OUTCOMES."""
    success: bool
    ticks: int
    """Length of the episode, 50 ms each."""
    max_ticks: int
    """The task's time limit."""
    distance_blocks: float
    """Start to target, horizontally."""
    path_blocks: float
    """Shortest walk."""
    num_same_kind: int
    """Objects of the target's kind that are not the target; touching one ends the episode as a failure."""
    num_other_kind: int
    visible_at_start: bool
    """Whether the first frame shows the target."""
    schema: int = SCHEMA_VERSION

    def __post_init__(self) -> None:
        if self.schema != SCHEMA_VERSION:
            raise ValueError(f"episode record has schema {self.schema}, this build reads {SCHEMA_VERSION}")
        if self.outcome not in OUTCOMES:
            raise ValueError(f"episode record has outcome {self.outcome!r}; the outcomes are {', '.join(OUTCOMES)}")


def write_jsonl(episodes: Iterable[JudgedEpisode], path: Path) -> None:
    """Write one line an episode; the file appears whole or not at all."""
    partial = path.with_suffix(".partial")
    with partial.open("w", encoding="ascii") as file:
        for episode in episodes:
            file.write(json.dumps(dataclasses.asdict(episode), separators=(",", ":")) + "\n")
    partial.replace(path)


def read_jsonl(path: Path) -> list[JudgedEpisode]:
    """Read episodes back; a line that is none raises ValueError with its number."""
    known = {field.name for field in dataclasses.fields(JudgedEpisode)}
    episodes = []
    for number, line in enumerate(path.read_text(encoding="ascii").splitlines(), start=1):
        try:
            fields = json.loads(line)
        except json.JSONDecodeError as error:
            raise ValueError(f"{path}:{number}: not a line of JSON ({error.msg})") from None
        if not isinstance(fields, dict) or set(fields) != known:
            different = sorted(known ^ set(fields)) if isinstance(fields, dict) else ["not an object"]
            raise ValueError(f"{path}:{number}: not an episode record, see {', '.join(different)}")
        try:
            episodes.append(JudgedEpisode(**fields))
        except ValueError as error:
            raise ValueError(f"{path}:{number}: {error}") from None
    return episodes
