"""A task: one line of JSON that regenerates start frame, goal image, mask and episode, bit for bit."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from task_synthesis.interaction import Interaction
from task_synthesis.json_reader import MisfitError, reader_of
from task_synthesis.json_text import parse_json
from task_synthesis.skills import SKILLS, base_kind, type_of
from worlds.adapters.thing_worlds import NUM_SEEDS
from worlds.generate.biomes import BIOMES
from worlds.items import ITEM_ID, ITEMS
from worlds.spec import MAX_SEED, Episode, Look, Placement, Split, WorldSpec, split_of
from worlds.types import Pose

__all__ = ["BANDS", "SKILLS", "Difficulty", "TaskSpec", "from_json_line", "to_json_line"]

# Horizontal Euclidean distance from start to target on the torus, in blocks.
BANDS: dict[str, tuple[float, float]] = {
    "near": (5.0, 12.0),
    "easy": (12.0, 20.0),
    "medium": (20.0, 40.0),
    "hard": (40.0, 60.0),
}
# Of a place, and in degrees of a direction: only a slip of the pen can mean more, and an engine would fall or turn for
# ever to reach it.
FARTHEST_BLOCKS = 4096.0
_MOST_TICKS = 24 * 60 * 60 * 20  # a day of play


@dataclass(frozen=True, kw_only=True, slots=True)
class Difficulty:
    """What makes a task hard, measured at synthesis."""

    distance_blocks: float
    """Horizontal Euclidean distance from the start to the target's centre."""
    path_blocks: float
    """Length of the shortest walk to a place where the target can be reached."""
    target_yaw_deg: float
    """Angle between the start's view and the target, horizontally, -180 .. 180."""
    height_blocks: float
    """Target's height above the start's feet."""
    in_sight: bool
    """Whether the start's eye has a clear line to the target's centre: it can be seen by turning round."""
    visible_at_start: bool
    """Whether any pixel of the first frame shows the target."""
    goal_area: float
    """Share of the goal view's pixels that show the target."""
    view_overlap: float
    """Share of the surface in the goal view that the start's eye sees too once it has turned to the target."""
    num_same_kind: int
    """Other objects of the target's kind near it; touching one fails the episode."""
    num_other_kind: int
    """Objects of other kinds near the target."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TaskSpec:
    """One task. `task_id` is the hash of everything else, so two tasks with one id are the same task."""

    family: str
    """"skill/kind", for instance "break/gold_block"."""
    band: str
    """A key of BANDS."""
    world: WorldSpec
    placements: tuple[Placement, ...]
    """Objects put into the world; the target is one of them."""
    target_index: int
    """Index of the target in `placements`."""
    start: Pose
    """Feet of the agent at the start."""
    goal_view: Pose
    """Eye of the goal camera."""
    inventory: tuple[tuple[str, int], ...]
    """(item, count) by slot; slot 0 is in hand at the start. Empty is the bare hand."""
    max_ticks: int
    """Time limit; reaching it truncates the episode."""
    difficulty: Difficulty
    look: Look = field(default_factory=Look)
    episode_seed: int = 0
    """Of everything random in the episode: mobs, drops."""
    task_id: str = ""
    """Filled in from the rest; a given id must agree with it."""

    def __post_init__(self) -> None:
        # Whole numbers given for them are another line than what that line is read as.
        for name in ("start", "goal_view"):
            object.__setattr__(self, name, Pose(*map(float, getattr(self, name))))
        for name in ("difficulty", "look"):
            object.__setattr__(self, name, _with_floats(getattr(self, name)))
        skill, _, kind = self.family.partition("/")
        if skill not in SKILLS:
            raise ValueError(f"task.family: skill {skill!r} is unknown; choose one of {sorted(SKILLS)}")
        if self.band not in BANDS:
            raise ValueError(f"task.band: {self.band!r} is unknown; choose one of {sorted(BANDS)}")
        if self.world.biome not in BIOMES:
            raise ValueError(f"task.world.biome: {self.world.biome!r} is unknown; choose one of {sorted(BIOMES)}")
        num_seeds = NUM_SEEDS.get(self.world.source, MAX_SEED + 1)
        if self.world.seed >= num_seeds:  # its split may be another than that of the same world's own name
            raise ValueError(
                f"task.world.seed: the worlds of {self.world.source} have seeds below {num_seeds}, {self.world.seed} "
                "is another name of one of them; choose a seed below"
            )
        for index, placement in enumerate(self.placements):
            try:
                type_of(placement.kind)
            except ValueError as error:
                raise ValueError(f"task.placements[{index}]: {error}") from None
            is_inside = all(0 <= at < side for at, side in zip(placement.position, self.world.size_blocks, strict=True))
            if self.world.source == "generated" and not is_inside:
                raise ValueError(
                    f"task.placements[{index}]: {list(placement.position)} is not in its world; correct it"
                )
        if not 0 <= self.target_index < len(self.placements):
            raise ValueError(f"task.target_index {self.target_index} names none of {len(self.placements)} placements")
        target_kind = self.placements[self.target_index].kind
        if base_kind(target_kind) != kind:
            raise ValueError(f"task.family says {kind!r}, the target is {target_kind!r}; make them agree")
        if type_of(target_kind) != SKILLS[skill].target:
            raise ValueError(
                f"task.family: the target of {skill!r} is a {SKILLS[skill].target}, {target_kind!r} is a "
                f"{type_of(target_kind)}; choose another skill or target"
            )
        for slot, (item, count) in enumerate(self.inventory):
            if item and item not in ITEM_ID:
                raise ValueError(f"task.inventory[{slot}]: {item!r} is no item; worlds.items.ITEMS are all there are")
            if item and not 1 <= count <= ITEMS[ITEM_ID[item]].max_stack:
                most = ITEMS[ITEM_ID[item]].max_stack
                raise ValueError(f"task.inventory[{slot}]: {count} {item} are no stack, {most} at most; correct it")
        self.episode()  # refuses more objects or slots than there can be
        for name, pose in (("start", self.start), ("goal_view", self.goal_view)):
            if max(map(abs, pose)) > FARTHEST_BLOCKS:
                raise ValueError(f"task.{name}: {max(pose, key=abs):g} is far outside of any world; correct it")
        height = self.world.size_blocks[1]
        if self.world.source == "generated" and not 0 <= self.start.y <= height:
            raise ValueError(f"task.start: y {self.start.y:g} is not in its world, 0 to {height}; correct it")
        if not 0 < self.max_ticks <= _MOST_TICKS:
            raise ValueError(f"task.max_ticks must be positive and at most a day, {_MOST_TICKS}; got {self.max_ticks}")
        digest = _content_id(self)
        if self.task_id and self.task_id != digest:
            raise ValueError(
                f"task.task_id {self.task_id} does not match its content ({digest}): the line was edited; "
                "remove the task_id field to accept the new content"
            )
        object.__setattr__(self, "task_id", digest)

    @property
    def skill(self) -> str:
        """Return the part of the family before the slash."""
        return self.family.partition("/")[0]

    @property
    def interaction(self) -> Interaction:
        """Return what the goal asks for."""
        return SKILLS[self.skill].interaction

    @property
    def split(self) -> Split:
        """Return the split of the task's world."""
        return split_of(self.world.source, self.world.seed)

    def episode(self) -> Episode:
        """Return what a backend needs to play this task."""
        return Episode(
            world=self.world,
            placements=self.placements,
            start=self.start,
            target_index=self.target_index,
            inventory=self.inventory,
            look=self.look,
            seed=self.episode_seed,
        )


_FLOATS = {
    kind: tuple(field.name for field in fields(kind) if field.type in (float, tuple[float, float, float]))
    for kind in (Difficulty, Look)
}


def _with_floats(value: Difficulty | Look) -> Difficulty | Look:
    """Return the same with floats where whole numbers were given for them."""
    changed: dict[str, Any] = {}
    for name in _FLOATS[type(value)]:
        given = getattr(value, name)
        if isinstance(given, Sequence):
            if any(type(part) is not float for part in given):
                changed[name] = tuple(map(float, given))
        elif type(given) is not float:
            changed[name] = float(given)
    return replace(value, **changed) if changed else value


def _fields(value: Any) -> dict[str, Any]:
    """Return the fields of a dataclass in order: half the time of dataclasses.asdict, which copies every number."""
    return {name: getattr(value, name) for name in value.__dataclass_fields__}


_TO_LINE = json.JSONEncoder(separators=(",", ":"), default=_fields)
_TO_HASH = json.JSONEncoder(sort_keys=True, default=_fields)


def _content_id(task: TaskSpec) -> str:
    content = _fields(task)
    del content["task_id"]
    return hashlib.sha256(_TO_HASH.encode(content).encode()).hexdigest()[:16]


def to_json_line(task: TaskSpec) -> str:
    """Return the task as one line of JSON, without a line break."""
    return _TO_LINE.encode(task)


def from_json_line(line: str, *, where: str = "task") -> TaskSpec:
    """Read a task back. Raise ValueError, naming `where` and the field, for anything but a valid task."""
    try:
        content = parse_json(line)
    except ValueError as error:
        raise ValueError(f"{where}: not a line of JSON ({error}); if it was cut short, make the file again") from None
    try:
        task: TaskSpec = reader_of(TaskSpec)(content)
    except MisfitError as misfit:
        raise ValueError(f"{where}: task{misfit}") from None
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None
    return task
