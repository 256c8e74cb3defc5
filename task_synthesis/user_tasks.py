"""Hand-made tasks: a JSON file that says where things are; how hard that is, is measured.

    {"tasks": [{
        "name": "the gold block beyond the trees",                for messages only; optional
        "skill": "break",                                         a key of task_synthesis.skills.SKILLS
        "world": {"seed": 7, "biome": "forest", "size_blocks": [64, 64, 64], "detail": "plain"},
        "placements": [{"kind": "gold_block", "position": [20, "ground", 30]},
                       {"kind": "pumpkin", "position": [28, "ground", 33]}],
        "target": 0,                                              index into placements
        "start": {"position": [12.5, "ground", 30.5], "yaw_deg": -90, "pitch_deg": 10},
        "goal_view": {"position": [24.5, "ground+2.5", 33.5]},    where the eye of the goal camera is
        "inventory": [["diamond_pickaxe", 1]],                    optional: what the skill needs
        "max_ticks": 400                                          optional: by skill and distance
    }]}

`world` takes the fields of worlds.spec.WorldSpec; instead of a seed it may name a real save by `"save": "path"`, beside
`origin_blocks`. Positions are x, y, z in blocks, +x east, +z south; y is a number, "ground" (where feet stand on the
terrain of that column) or "ground+2.5". Yaw 0 looks to +z and grows clockwise. A start without yaw looks to +z, level;
a goal view without yaw and pitch looks at the target. `look` (fields of worlds.spec.Look) and `episode_seed` are
optional. Examples: task_synthesis/examples/. `mcrl synth --from FILE.json --out DIR` makes a library of such a file.
"""

import dataclasses
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from task_synthesis.prerequisites import draw_inventory, max_ticks
from task_synthesis.skills import SKILLS, base_kind, type_of
from task_synthesis.survey import Survey, band_of
from task_synthesis.targets import torus_delta
from task_synthesis.task import TaskSpec
from worlds.anvil.save import Save, open_save
from worlds.generate.biomes import BIOMES
from worlds.spec import Episode, Look, Placement, WorldSpec
from worlds.types import Pose
from worlds.voxel.backend import VoxelBackend

_IMAGE_PX = 128  # of the pictures in which a target's share is measured
_GROUND = "ground"


def read_user_tasks(path: Path, backend: VoxelBackend | None = None) -> list[TaskSpec]:
    """Return the tasks of a JSON file, in its order, with their difficulty measured.

    `backend` is where they are measured: made with_depth=True, of the tasks' world size, and its env 0 is overwritten.
    Without one, a backend for each world size is made here, which also opens the saves that the file names. The tasks
    may be of different splits; `save_library` and `check_split` refuse those that do not belong.

    Raises:
        ValueError: one sentence that names the file, the task and the field, and what to do.
    """
    try:
        whole = json.loads(path.read_text(encoding="utf-8"))
    except OSError:
        raise ValueError(f"{path}: no such file; name a JSON file of tasks") from None
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        where = f"line {error.lineno}: {error.msg}" if isinstance(error, json.JSONDecodeError) else "not UTF-8"
        raise ValueError(f"{path}: not JSON ({where}); see task_synthesis/user_tasks.py for the format") from None
    fields = _Fields(whole, str(path))
    entries = fields.take("tasks", list)
    fields.end()
    if not entries:
        raise ValueError(f"{path}: tasks is empty; write at least one task")
    saves: dict[Path, Save] = {}
    laid_out = []
    for number, entry in enumerate(entries):
        fields = _Fields(entry, f"{path}: tasks[{number}]")
        world_fields = _Fields(fields.take("world", dict), f"{fields.where}.world")
        laid_out.append((fields, _world(world_fields, path.parent, saves)))
    surveys: dict[tuple[int, int, int], Survey] = {}
    tasks = []
    for fields, world in laid_out:
        if backend is not None and world.size_blocks != backend.size_blocks:
            raise ValueError(
                f"{fields.where}.world.size_blocks is {list(world.size_blocks)}, the backend's worlds are "
                f"{list(backend.size_blocks)}; make them equal"
            )
        if world.size_blocks not in surveys:
            made = backend or VoxelBackend(
                1,
                size_blocks=world.size_blocks,
                image_px=(_IMAGE_PX, _IMAGE_PX),
                with_depth=True,
                saves=list(saves.values()),
            )
            surveys[world.size_blocks] = Survey(made)
        tasks.append(_task(fields, world, surveys[world.size_blocks]))
    return tasks


class _Fields:
    """An object of the file that is read field by field and must be used up."""

    def __init__(self, value: object, where: str) -> None:
        if not isinstance(value, dict):
            raise ValueError(f"{where} must be an object in braces, got {type(value).__name__}")
        self.where = where
        self._left: dict[str, Any] = dict(value)
        self._known: list[str] = []

    def take(self, name: str, kind: type | tuple[type, ...], default: Any = None) -> Any:
        """Return a field of the type `kind`; without a default it must be there."""
        self._known.append(name)
        if name not in self._left:
            if default is None:
                raise ValueError(f"{self.where}.{name} is missing; add it")
            return default
        value = self._left.pop(name)
        kinds = kind if isinstance(kind, tuple) else (kind,)
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            words = " or ".join(_WORDS[one] for one in kinds)
            raise ValueError(f"{self.where}.{name} must be {words}, got {value!r}")
        return value

    def has(self, name: str) -> bool:
        return name in self._left

    def rest(self) -> Mapping[str, Any]:
        """Return the fields not taken, as taken."""
        left, self._left = self._left, {}
        return left

    def end(self) -> None:
        """Refuse fields that nobody asked for."""
        for name in self._left:
            raise ValueError(f"{self.where}.{name} is not a field; the fields are {', '.join(sorted(self._known))}")


_WORDS: dict[type, str] = {
    int: "an integer",
    float: "a number",
    str: "a text",
    list: "a list in brackets",
    dict: "an object in braces",
}


def _build(kind: type, values: Mapping[str, Any], where: str) -> Any:
    """Make a dataclass of the engine from JSON values; its own sentences say what is wrong."""
    known = [field.name for field in dataclasses.fields(kind)]
    for name in values:
        if name not in known:
            raise ValueError(f"{where}.{name} is not a field; the fields are {', '.join(known)}")
    try:
        return kind(**{name: tuple(value) if isinstance(value, list) else value for name, value in values.items()})
    except (ValueError, TypeError) as error:
        raise ValueError(f"{where}: {error}") from None


def _world(fields: _Fields, folder: Path, saves: dict[Path, Save]) -> WorldSpec:
    values: dict[str, Any] = {}
    if fields.has("save"):
        place = folder / fields.take("save", str)
        if place not in saves:
            saves[place] = open_save(place)
        values |= {"source": saves[place].source, "seed": fields.take("seed", int, 0)}
    else:
        values["seed"] = fields.take("seed", int)
    values |= fields.rest()
    world: WorldSpec = _build(WorldSpec, values, fields.where)
    if world.biome not in BIOMES:
        raise ValueError(f"{fields.where}.biome: {world.biome!r} is unknown; choose one of {', '.join(sorted(BIOMES))}")
    return world


def _task(fields: _Fields, world: WorldSpec, survey: Survey) -> TaskSpec:
    name = fields.take("name", str, "")
    where = f"{fields.where} ({name})" if name else fields.where
    skill_name = fields.take("skill", str)
    if skill_name not in SKILLS:
        raise ValueError(f"{where}.skill: {skill_name!r} is unknown; choose one of {', '.join(SKILLS)}")
    skill = SKILLS[skill_name]
    survey.enter(world)
    placements = tuple(
        _placement(_Fields(entry, f"{where}.placements[{index}]"), world, survey)
        for index, entry in enumerate(fields.take("placements", list))
    )
    target_index = fields.take("target", int)
    if not 0 <= target_index < len(placements):
        raise ValueError(f"{where}.target is {target_index}, placements are 0 .. {len(placements) - 1}; name one")
    target = placements[target_index]
    if type_of(target.kind) != skill.target:
        raise ValueError(
            f"{where}.target: {skill_name} asks for a {skill.target}, {target.kind!r} is a {type_of(target.kind)}; "
            "choose another target or skill"
        )
    start = _pose(_Fields(fields.take("start", dict), f"{where}.start"), survey, None)
    goal_view = _pose(_Fields(fields.take("goal_view", dict), f"{where}.goal_view"), survey, (target, world))
    look = _build(Look, fields.take("look", dict, {}), f"{where}.look")
    episode_seed = fields.take("episode_seed", int, 0)
    kind = base_kind(target.kind)
    # Nothing here is random: the inventory of a hand-made task without one is that of seed 0.
    inventory = _inventory(fields, where) or draw_inventory(np.random.default_rng(0), skill, kind)
    try:
        episode = Episode(
            world=world,
            placements=placements,
            start=start,
            target_index=target_index,
            inventory=inventory,
            look=look,
            seed=episode_seed,
        )
        difficulty = survey.measure(episode, goal_view)
        band = band_of(difficulty.distance_blocks)
        limit = fields.take("max_ticks", int, max_ticks(skill, kind, band))
        fields.end()
        return TaskSpec(
            family=f"{skill_name}/{kind}",
            band=band,
            world=world,
            placements=placements,
            target_index=target_index,
            start=start,
            goal_view=goal_view,
            inventory=inventory,
            max_ticks=limit,
            difficulty=difficulty,
            look=look,
            episode_seed=episode_seed,
        )
    except ValueError as error:
        raise ValueError(str(error) if str(error).startswith(fields.where) else f"{where}: {error}") from None


def _placement(fields: _Fields, world: WorldSpec, survey: Survey) -> Placement:
    kind = fields.take("kind", str)
    try:
        type_of(kind)
    except ValueError as error:
        raise ValueError(f"{fields.where}.kind: {error}") from None
    x, y, z = _position(fields, survey)
    fields.end()
    cell = math.floor(x) % world.size_blocks[0], math.floor(y), math.floor(z) % world.size_blocks[2]
    if not 1 <= cell[1] < world.size_blocks[1] - 1:
        raise ValueError(f"{fields.where}.position: y must be in [1, {world.size_blocks[1] - 2}], got {cell[1]}")
    return Placement(kind=kind, position=cell)


def _pose(fields: _Fields, survey: Survey, target: tuple[Placement, WorldSpec] | None) -> Pose:
    """Read a place and a direction; without a direction it is level to +z, or to the middle of the target."""
    x, y, z = _position(fields, survey)
    yaw_deg = pitch_deg = 0.0
    if target is not None:
        placement, world = target
        dx = float(torus_delta(placement.position[0] + 0.5 - x, world.size_blocks[0]))
        dz = float(torus_delta(placement.position[2] + 0.5 - z, world.size_blocks[2]))
        yaw_deg = round(math.degrees(math.atan2(-dx, dz)), 2)
        pitch_deg = round(math.degrees(math.atan2(y - placement.position[1] - 0.5, math.hypot(dx, dz))), 2)
    yaw_deg = float(fields.take("yaw_deg", (int, float), yaw_deg))
    pitch_deg = float(fields.take("pitch_deg", (int, float), pitch_deg))
    fields.end()
    if not -90 <= pitch_deg <= 90:
        raise ValueError(f"{fields.where}.pitch_deg must be in [-90, 90], got {pitch_deg:g}; +90 looks straight down")
    return Pose(x, y, z, yaw_deg, pitch_deg)


def _position(fields: _Fields, survey: Survey) -> tuple[float, float, float]:
    value: Sequence[Any] = fields.take("position", list)
    where = f"{fields.where}.position"
    if len(value) != 3 or not (_is_number(value[0]) and _is_number(value[2])):
        raise ValueError(f'{where} must be [x, y, z], numbers but for a y of "ground", got {value}')
    x, y, z = value
    if _is_number(y):
        return float(x), float(y), float(z)
    head, plus, above = y.partition("+") if isinstance(y, str) else ("", "", "")
    try:
        rise = float(above) if plus else 0.0
    except ValueError:
        rise = math.nan
    if head != _GROUND or not math.isfinite(rise):
        raise ValueError(f'{where}: y must be a number, "ground" or "ground+2.5", got {y!r}')
    ground_y = survey.ground_y(x, z)
    if ground_y is None:
        raise ValueError(f"{where}: nobody can stand on the column {x:g}, {z:g} (water?); choose another, or give y")
    return float(x), ground_y + rise, float(z)


def _inventory(fields: _Fields, where: str) -> tuple[tuple[str, int], ...]:
    stacks = fields.take("inventory", list, [])
    for slot, stack in enumerate(stacks):
        if not (isinstance(stack, list) and len(stack) == 2 and type(stack[0]) is str and type(stack[1]) is int):
            raise ValueError(f'{where}.inventory[{slot}] must be ["item", count], got {stack!r}')
    return tuple((item, count) for item, count in stacks)


def _is_number(value: object) -> bool:
    return type(value) in (int, float) and math.isfinite(value)  # type: ignore[arg-type]  # a number by then
