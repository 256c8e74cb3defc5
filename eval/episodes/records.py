"""One judged episode as one line of JSON: the schema of every episodes.jsonl."""

import dataclasses
import json
import typing
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from task_synthesis.json_text import parse_json
from task_synthesis.libraries.library import write_whole

# Grows when a field changes its meaning or goes; readers refuse another version.
SCHEMA_VERSION = 2

OUTCOMES = ("success", "wrong_object", "death", "time_limit", "fault")

# Why an episode was no success, from what happened in the world. Those after "fault" split the time limit; the first
# that holds counts.
CAUSES = (
    "success",
    "wrong_object",  # touched another object of the target's kind
    "death",
    "fault",  # the engine failed; says nothing about the agent
    "stuck",  # hardly walked at all
    "not_done",  # was within reach of the target and did not do what was asked
    "never_seen",  # the target was never in view
    "lost",  # saw it, and had it out of view for the last half of the episode
    "not_reached",  # kept it in view and never came within reach
)


@dataclass(frozen=True, kw_only=True, slots=True)
class JudgedEpisode:
    """What one row of the suite did on one task."""

    row: str
    """Who played: "random", "noop", "shuffled goal", "blank goal", "imitation", "dagger", "rl", "expert" or another."""
    suite: str
    """Name and version of the frozen suite, "unseen_seeds.v1"; "" for tasks chosen otherwise."""
    unit: int
    """Tasks are played in units; (row, unit) names the file of their actions."""
    task_id: str
    """Hash of the whole task: equal ids are equal tasks."""
    goal_task_id: str
    """Task whose goal was shown; `task_id` itself except in a row of shuffled goals, "" where none was shown."""
    family: str
    """"skill/kind"."""
    skill: str
    """What is asked for, a row of SKILLS in task_synthesis/skills.py: approach, break ..."""
    band: str
    """How far the target is: near, easy, medium or hard."""
    biome: str
    """Of the world."""
    world_seed: int
    """Of the world."""
    split: str
    """Of the world: train, val or held_out."""
    outcome: str
    """One of OUTCOMES."""
    cause: str
    """One of CAUSES."""
    success: bool
    """Whether the outcome is success."""
    ticks: int
    """Length of the episode, 50 ms each."""
    max_ticks: int
    """The task's time limit; decisions last several ticks, and the last one may end beyond it."""
    distance_blocks: float
    """Start to target, horizontally."""
    path_blocks: float
    """Shortest walk to where the target is in reach."""
    height_blocks: float
    """Target's height above the start's feet."""
    target_yaw_deg: float
    """Angle between the start's view and the target, -180 .. 180."""
    view_overlap: float
    """Share of the goal view's surface that the start sees once turned to the target."""
    view_angle_deg: float
    """Angle at the target between the start and the goal camera, horizontally, 0 .. 180."""
    goal_area: float
    """Share of the goal view that shows the target."""
    num_same_kind: int
    """Objects of the target's kind that are not the target; touching one ends the episode as a failure."""
    num_other_kind: int
    """Objects of other kinds near the target."""
    in_sight: bool
    """Whether turning round at the start shows the target."""
    visible_at_start: bool
    """Whether the first frame shows the target in the picture the task was measured in; a smaller view may not."""
    walked_blocks: float
    """Length of the way that the agent went, horizontally."""
    closest_blocks: float
    """Smallest distance from the feet to the target's place."""
    first_seen_ticks: int | None
    """Age of the episode when the target first came into view; None when it never did."""
    last_seen_ticks: int | None
    """Age of the episode when the target was last in view."""
    schema: int = SCHEMA_VERSION
    """Number of this description."""

    def __post_init__(self) -> None:
        if self.schema != SCHEMA_VERSION:
            raise ValueError(f"episode record has schema {self.schema}, this build reads {SCHEMA_VERSION}")
        if self.outcome not in OUTCOMES:
            raise ValueError(f"episode record has outcome {self.outcome!r}; the outcomes are {', '.join(OUTCOMES)}")
        if self.cause not in CAUSES:
            raise ValueError(f"episode record has cause {self.cause!r}; the causes are {', '.join(CAUSES)}")


_FIELDS = {field.name for field in dataclasses.fields(JudgedEpisode)}
# What JSON may hold for each: a whole number is a float as well.
_KINDS: dict[str, tuple[type, ...]] = {
    name: (float, int) if hint is float else typing.get_args(hint) or (hint,)
    for name, hint in typing.get_type_hints(JudgedEpisode).items()
}


def to_line(episode: JudgedEpisode) -> str:
    """Return the episode as one line of JSON, without a line break."""
    return json.dumps(dataclasses.asdict(episode), separators=(",", ":"))


def from_line(line: str) -> JudgedEpisode:
    """Read an episode back; ValueError says what is wrong with anything else."""
    try:
        fields = parse_json(line)
    except ValueError as error:
        raise ValueError(f"not a line of JSON ({error})") from None
    if not isinstance(fields, dict) or fields.keys() != _FIELDS:
        different = sorted(_FIELDS ^ fields.keys()) if isinstance(fields, dict) else ["not an object"]
        raise ValueError(f"not an episode record, see {', '.join(different)}")
    for name, kinds in _KINDS.items():
        value = fields[name]
        # JSON knows true as a kind of its own, Python as an int.
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            raise ValueError(f"not an episode record, {name} is {value!r}")
    return JudgedEpisode(**fields)


def write_jsonl(episodes: Iterable[JudgedEpisode], path: Path) -> None:
    """Write one line an episode; the file appears whole or not at all."""
    write_whole(path, "".join(to_line(episode) + "\n" for episode in episodes))


def read_jsonl(path: Path) -> list[JudgedEpisode]:
    """Read episodes back; a line that is none raises ValueError with its number."""
    try:
        lines = path.read_text(encoding="ascii").splitlines()
    except UnicodeDecodeError:
        raise ValueError(f"{path}: not a text file; judge the checkpoint again") from None
    episodes = []
    for number, line in enumerate(lines, start=1):
        try:
            episodes.append(from_line(line))
        except ValueError as error:
            raise ValueError(f"{path}:{number}: {error}; repeat the command that wrote it") from None
    return episodes
