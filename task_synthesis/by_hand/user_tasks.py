"""Hand-made tasks: a JSON or YAML file that says where things are; how hard that is, is measured.

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
`origin_blocks`. A kind is a block, with properties or without ("oak_door[facing=east]"), a mob, or an item that lies
there ("item:apple"). Positions are x, y, z in blocks, +x east, +z south; y is a number, "ground" (where feet stand on
the terrain of that column) or "ground+2.5". Yaw 0 looks to +z and grows clockwise. A start without yaw looks to +z,
level; a goal view without yaw and pitch looks at the target. `look` (fields of worlds.spec.Look) and `episode_seed` are
optional. Success is the skill's own: what counts is the skill, done to the target. Examples:
task_synthesis/examples/.

`mcrl synth --from FILE --out DIR` makes a library of such a file, which every command takes that takes a library. Its
worlds are of one split, and those of train and val hold nothing that is held out of training. Training and judging want
worlds of one size; tasks in a save are for `mcrl play --task DIR:NUMBER --save FOLDER`.
"""

import math
import reprlib
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from task_synthesis.by_hand.user_fields import Fields, read_document
from task_synthesis.json_reader import MisfitError, reader_of
from task_synthesis.placement.aim import aimed_at
from task_synthesis.placement.survey import Survey, band_of
from task_synthesis.placement.targets import circle_of
from task_synthesis.prerequisites import draw_inventory, impossible_deed, max_ticks
from task_synthesis.skills import SKILLS, Skill, base_kind, type_of
from task_synthesis.task import FARTHEST_BLOCKS, TaskSpec
from worlds.anvil.save import Save, open_save
from worlds.generate.biomes import BIOMES
from worlds.spec import Episode, Look, Placement, WorldSpec
from worlds.types import Pose
from worlds.voxel.backend import VoxelBackend

IMAGE_PX = 128  # of the pictures in which a target's share is measured
_GROUND = "ground"


def read_user_tasks(
    path: Path, backend: VoxelBackend | None = None, *, on_warning: Callable[[str], None] | None = None
) -> list[TaskSpec]:
    """Return the tasks of a JSON or YAML file, in its order, with their difficulty measured.

    `backend` is where they are measured: made with_depth=True, of the tasks' world size, and its env 0 is overwritten.
    Without one, a backend for each world size is made here, which also opens the saves that the file names. The tasks
    may be of different splits; `write_user_library` refuses a mixture. `on_warning` hears of tasks whose target no walk
    leads to; without it they are refused.

    Raises:
        ValueError: one sentence that names the file, the task and the field, and what to do.
    """
    fields = read_document(path)
    entries = fields.take("tasks", list)
    fields.end()
    if not entries:
        raise ValueError(f"{path}: tasks is empty; write at least one task")
    saves: dict[Path, Save] = {}
    laid_out = []
    for number, entry in enumerate(entries):
        fields = Fields(entry, f"{path}: tasks[{number}]")
        world_fields = Fields(fields.take("world", dict), f"{fields.where}.world")
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
                image_px=(IMAGE_PX, IMAGE_PX),
                with_depth=True,
                saves=list(saves.values()),
            )
            surveys[world.size_blocks] = Survey(made)
        tasks.append(_task(fields, world, surveys[world.size_blocks], on_warning))
    return tasks


def save_folders(path: Path) -> list[Path | None]:
    """Return the folder of the save that each task is in, None without one; read_user_tasks takes the file."""
    worlds = [entry["world"] for entry in read_document(path).take("tasks", list)]
    return [path.parent / world["save"] if "save" in world else None for world in worlds]


def _build(kind: type, values: Mapping[str, Any], where: str) -> Any:
    """Make a dataclass of the engine from parsed values; its own sentences say what is wrong."""
    try:
        return reader_of(kind)(dict(values))
    except MisfitError as misfit:
        raise ValueError(f"{where}{misfit}") from None
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None


def _world(fields: Fields, folder: Path, saves: dict[Path, Save]) -> WorldSpec:
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


def _task(fields: Fields, world: WorldSpec, survey: Survey, on_warning: Callable[[str], None] | None) -> TaskSpec:
    name = fields.take("name", str, "")
    where = f"{fields.where} ({name})" if name else fields.where
    skill_name = fields.take("skill", str)
    if skill_name not in SKILLS:
        raise ValueError(f"{where}.skill: {skill_name!r} is unknown; choose one of {', '.join(SKILLS)}")
    skill = SKILLS[skill_name]
    try:
        survey.enter(world)
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None
    placements = tuple(
        _placement(Fields(entry, f"{where}.placements[{index}]"), world, survey)
        for index, entry in enumerate(fields.take("placements", list))
    )
    _check_apart(placements, where)
    target_index = _target_index(fields, placements, skill, where)
    target = placements[target_index]
    start = _pose(Fields(fields.take("start", dict), f"{where}.start"), survey, world)
    goal_view = _pose(Fields(fields.take("goal_view", dict), f"{where}.goal_view"), survey, world, looks_at=target)
    look = _build(Look, fields.take("look", dict, {}), f"{where}.look")
    episode_seed = fields.take("episode_seed", int, 0)
    kind = base_kind(target.kind)
    if impossible := impossible_deed(skill, kind):
        raise ValueError(f"{where}: {impossible}; choose another target, or another skill")
    # Nothing here is random: the inventory of a hand-made task without one is that of seed 0.
    has_inventory = fields.has("inventory")  # an empty one is the bare hand
    inventory = _inventory(fields, where)
    if not has_inventory:
        inventory = draw_inventory(np.random.default_rng(0), skill, kind)
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
        difficulty = survey.measure(
            episode,
            goal_view,
            on_unreachable=None if on_warning is None else lambda what: on_warning(f"{where}: {what}"),
        )
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


def _placement(fields: Fields, world: WorldSpec, survey: Survey) -> Placement:
    kind = fields.take("kind", str)
    try:
        type_of(kind)
    except ValueError as error:
        raise ValueError(f"{fields.where}.kind: {error}") from None
    x, y, z = _position(fields, survey, world)
    fields.end()
    cell = survey.cell_of(Pose(x, y, z, 0.0, 0.0))
    if not 1 <= cell[1] < world.size_blocks[1] - 1:
        raise ValueError(f"{fields.where}.position: y must be in [1, {world.size_blocks[1] - 2}], got {cell[1]}")
    placement = Placement(kind=kind, position=cell)
    fault = survey.object_fault(placement)
    if fault:
        raise ValueError(f"{fields.where}.position: {fault}")
    return placement


def _target_index(fields: Fields, placements: Sequence[Placement], skill: Skill, where: str) -> int:
    """Read which placement is the target; it must be of the sort that the skill is done to."""
    index: int = fields.take("target", int)
    if not placements:
        raise ValueError(f"{where}.placements is empty; place the target at least")
    if not 0 <= index < len(placements):
        raise ValueError(f"{where}.target is {index}, placements are 0 .. {len(placements) - 1}; name one")
    kind = placements[index].kind
    if type_of(kind) != skill.target:
        raise ValueError(
            f"{where}.target: {skill.name} has a target of type {skill.target}, {kind!r} is of type {type_of(kind)}; "
            "choose another target or skill"
        )
    return index


def _check_apart(placements: Sequence[Placement], where: str) -> None:
    """Refuse two objects in one cell: the later block would take the place of the earlier one."""
    seen: dict[tuple[int, int, int], int] = {}
    for index, placement in enumerate(placements):
        other = seen.setdefault(placement.position, index)
        if other != index:
            raise ValueError(
                f"{where}.placements[{index}].position is that of placements[{other}], {placement.position}; "
                "choose another cell"
            )


def _pose(fields: Fields, survey: Survey, world: WorldSpec, looks_at: Placement | None = None) -> Pose:
    """Read a place and a direction; without a direction it is level to +z, or to the middle of what it looks at."""
    x, y, z = _position(fields, survey, world)
    yaw_deg = pitch_deg = 0.0
    if looks_at is not None:
        turned = aimed_at(Pose(x, y, z, 0.0, 0.0), looks_at.position, circle_of(world))
        # Plus zero: a level pitch of -0.0 would be another line of JSON.
        yaw_deg, pitch_deg = round(turned.yaw_deg, 2), round(turned.pitch_deg, 2) + 0.0
    yaw_deg = fields.take("yaw_deg", (int, float), yaw_deg)
    pitch_deg = fields.take("pitch_deg", (int, float), pitch_deg)
    fields.end()
    if not _is_number(yaw_deg):
        raise ValueError(f"{fields.where}.yaw_deg must be a finite number of degrees, got {yaw_deg}")
    if not -90 <= pitch_deg <= 90:
        raise ValueError(f"{fields.where}.pitch_deg must be in [-90, 90], got {pitch_deg}; +90 looks straight down")
    return Pose(x, y, z, float(yaw_deg), float(pitch_deg))


def _position(fields: Fields, survey: Survey, world: WorldSpec) -> tuple[float, float, float]:
    value: Sequence[Any] = fields.take("position", list)
    where = f"{fields.where}.position"
    if len(value) != 3 or not (_is_number(value[0]) and _is_number(value[2])):
        raise ValueError(f'{where} must be [x, y, z], numbers but for a y of "ground", got {reprlib.repr(value)}')
    x, y, z = value
    for name, number, side in (("x", x, world.size_blocks[0]), ("z", z, world.size_blocks[2])):
        if not 0 <= number < side:
            raise ValueError(f"{where}: {name} must be in [0, {side}), got {number}; world.size_blocks makes it larger")
    if _is_number(y):
        if abs(y) > FARTHEST_BLOCKS:
            raise ValueError(f"{where}: y {y} is far outside of any world; correct it")
        return float(x), float(y), float(z)
    head, plus, above = y.partition("+") if isinstance(y, str) else ("", "", "")
    try:
        rise = float(above) if plus else 0.0
    except ValueError:
        rise = math.nan
    if head != _GROUND or not math.isfinite(rise):
        raise ValueError(f'{where}: y must be a number, "ground" or "ground+2.5", got {reprlib.repr(y)}')
    ground_y = survey.ground_y(x, z)
    if ground_y is None:
        raise ValueError(f"{where}: nobody can stand on the column {x:g}, {z:g} (water?); choose another, or give y")
    return float(x), ground_y + rise, float(z)


def _inventory(fields: Fields, where: str) -> tuple[tuple[str, int], ...]:
    stacks = fields.take("inventory", list, [])
    for slot, stack in enumerate(stacks):
        if not (isinstance(stack, list) and len(stack) == 2 and type(stack[0]) is str and type(stack[1]) is int):
            raise ValueError(f'{where}.inventory[{slot}] must be ["item", count], got {reprlib.repr(stack)}')
    return tuple((item, count) for item, count in stacks)


def _is_number(value: object) -> bool:
    # Of JSON's own types: True is an int to isinstance.
    return isinstance(value, int | float) and type(value) is not bool and abs(value) <= sys.float_info.max
