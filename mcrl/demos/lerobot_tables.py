"""What a LeRobot dataset says of itself, and its tables; mcrl.demos.lerobot_columns says what is wanted.

All but the rows is read quickly, so that a dataset with a hole is refused before a run has made its tasks.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcrl.demos.lerobot_columns import (
    FORMAT_VERSION,
    IMAGES,
    INFO_FILE,
    INTERACTION,
    MCRL_FILE,
    SCALARS,
    TASK_ID,
    TASKS_FILE,
    VECTORS,
    VIEW,
    info_fps,
)
from mcrl.demos.pyarrow_import import import_pyarrow
from task_synthesis.json_text import parse_json
from task_synthesis.views.goal_forms import GoalForm, check_goal_form
from worlds.spec import SPLITS, Split

_INDICES = ("frame_index", "episode_index", "index", "task_index")
_ANY_EPISODES = "meta/episodes/chunk-*/file-*.parquet"


@dataclass(frozen=True, kw_only=True, slots=True)
class About:
    """What a dataset says of itself."""

    split: Split
    """Of the worlds."""
    action_repeat_ticks: int
    """Ticks of 50 ms that one decision lasted."""
    goal_form: GoalForm | None
    """How goals are shown; None where it does not say."""
    image_px: int
    """Side of the square pictures."""
    num_episodes: int
    num_steps: int


def check_tables(folder: Path, about: About) -> dict[int, str]:
    """Return the families that the rows name by number, having looked at no row.

    Raises:
        ValueError: the dataset lacks a table, a column or rows.
    """
    families = read_families(folder)
    num_rows = 0
    for path in data_files(folder):
        with _opened(path) as file:
            num_rows += _num_rows(file, path)
    check_count(folder, "total_frames", about.num_steps, num_rows)
    return families


def check_count(folder: Path, name: str, said: int, found: int) -> None:
    """Raise ValueError where the data files hold another number than info.json says."""
    if said != found:
        raise ValueError(
            f"{folder}: {INFO_FILE} says {name} {said}, the data files hold {found}; copy the dataset again"
        )


def data_files(folder: Path) -> list[Path]:
    """Return the files of rows in the order of their episodes."""
    return sorted((folder / "data").glob("chunk-*/file-*.parquet"))


def read_rows(path: Path) -> Any:
    """Return a file of rows, pyarrow's Table; ValueError for columns that are not as documented, gaps, and no row."""
    with _opened(path) as file:
        _num_rows(file, path)
        table = file.read()
    for column in _wanted():
        if table.column(column).null_count:
            raise ValueError(f"{path}: column {column} has gaps; fill every row")
    return table


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """Give pyarrow's ParquetFile while the block runs, which may read from it."""
    pa, pq = import_pyarrow()
    try:
        with pq.ParquetFile(path) as file:
            yield file
    except (OSError, pa.ArrowException):
        raise ValueError(f"{path}: missing, truncated or not a parquet file; copy the dataset again") from None


def _num_rows(file: Any, path: Path) -> int:
    """Return how many rows a file has; ValueError for none, and for columns that are not as documented."""
    _check_columns(file.schema_arrow, path)
    if not file.metadata.num_rows:
        raise ValueError(f"{path}: holds no rows; copy the dataset again, or take the file out")
    return int(file.metadata.num_rows)


def read_about(folder: Path) -> About:
    """Read what a dataset says of itself; ValueError for anything that is not as documented."""
    path = folder / INFO_FILE
    info = _read_json(path)
    version = info.get("codebase_version")
    if not (isinstance(version, str) and version.startswith("v3.")):
        raise ValueError(f"{path}: codebase_version is {version!r}, wanted v3.x; convert it with LeRobot's own script")
    image_px = _side(info, path)
    num_episodes, num_steps = (_at_least_1(info, name, path) for name in ("total_episodes", "total_frames"))
    fps = info.get("fps")
    path = folder / MCRL_FILE
    about = _read_json(path)
    version, split = about.get("format_version"), about.get("split")
    if version != FORMAT_VERSION:
        raise ValueError(f"{path}: format_version is {version!r}, this build reads {FORMAT_VERSION}")
    if split not in SPLITS:
        raise ValueError(f"{path}: split is {split!r}, wanted one of {', '.join(SPLITS)}")
    ticks = _at_least_1(about, "action_repeat_ticks", path)
    goal_form = about.get("goal_form")
    if goal_form is not None:
        check_goal_form(goal_form, where=f"{path}: goal_form")
    # Decisions of another length than was played would be cloned without a word.
    if fps != info_fps(ticks):
        raise ValueError(
            f"{folder / INFO_FILE}: fps is {fps!r}, action_repeat_ticks {ticks} in {MCRL_FILE} makes it "
            f"{info_fps(ticks)}; correct the one that is wrong"
        )
    if not any(folder.glob(_ANY_EPISODES)):
        raise ValueError(f"{folder}: {_ANY_EPISODES} is missing; copy the dataset again, or write the table of LeRobot")
    return About(
        split=split,
        action_repeat_ticks=ticks,
        goal_form=goal_form,
        image_px=image_px,
        num_episodes=num_episodes,
        num_steps=num_steps,
    )


def _side(info: dict[str, Any], path: Path) -> int:
    """Return the side of the pictures as info.json has it."""
    columns = info.get("features")
    view = columns.get(VIEW) if isinstance(columns, dict) else None
    shape = view.get("shape") if isinstance(view, dict) else None
    if not (
        isinstance(shape, list) and len(shape) == 3 and isinstance(shape[0], int) and shape == [shape[0]] * 2 + [3]
    ):
        raise ValueError(f"{path}: the shape of {VIEW} is {shape}, wanted [N, N, 3], a square picture in colour")
    return shape[0]


def _at_least_1(fields: dict[str, Any], name: str, path: Path) -> int:
    value = fields.get(name)
    if not isinstance(value, int) or value < 1:
        raise ValueError(f"{path}: {name} is {value!r}, wanted a whole number, at least 1")
    return value


def _read_json(path: Path) -> dict[str, Any]:
    try:
        content = parse_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        content = None
    if not isinstance(content, dict):
        raise ValueError(f"{path}: missing or not JSON; name the folder of a whole LeRobot dataset")
    return content


def read_families(folder: Path) -> dict[int, str]:
    """Return the families that the rows name by number; ValueError for a table that is not as documented."""
    path = folder / TASKS_FILE
    with _opened(path) as file:
        table = file.read()
    for column, kind in (("task_index", "int64"), ("task", "string")):
        if table.column_names.count(column) != 1 or _kind(table.schema.field(column).type) != kind:
            raise ValueError(f"{path}: columns are {table.schema.names}, wanted task_index of int64, task of string")
    families = dict(zip(table.column("task_index").to_pylist(), table.column("task").to_pylist(), strict=True))
    for family in families.values():
        if not isinstance(family, str) or not all(family.partition("/")):
            raise ValueError(f"{path}: task {family!r} is not a family; write skill/kind, such as approach/gold_block")
    return families


def _wanted() -> dict[str, str]:
    """Return the kind of every column that has to be there."""
    wanted = dict.fromkeys((INTERACTION, *_INDICES), "int64") | dict.fromkeys(IMAGES, "struct") | {TASK_ID: "string"}
    wanted["timestamp"] = "float32"
    wanted |= {column: kind for column, _, kind in SCALARS}
    wanted |= {column: f"{kind}[{size}]" for column, _, kind, size in VECTORS}
    return wanted


def _check_columns(schema: Any, path: Path) -> None:
    """Refuse missing columns and wrong types."""
    wanted = _wanted()
    missing = sorted(set(wanted) - set(schema.names))
    if missing:
        raise ValueError(f"{path}: column {missing[0]} is missing; mcrl.demos.lerobot_columns lists what is needed")
    twins = [column for column in wanted if schema.names.count(column) > 1]
    if twins:
        raise ValueError(f"{path}: column {twins[0]} is there twice; keep one")
    for column, kind in wanted.items():
        got = _kind(schema.field(column).type)
        if got != kind:
            raise ValueError(f"{path}: column {column} is of type {got}, wanted {kind}")
    for column in IMAGES:
        struct = schema.field(column).type
        index = struct.get_field_index("bytes")
        if index < 0 or str(struct.field(index).type) not in ("binary", "large_binary"):
            raise ValueError(
                f"{path}: column {column} is of type {struct}, wanted the field bytes: binary; write PNG files into "
                "the table"
            )


def _kind(kind: Any) -> str:
    """Return the name of a type: "int64", "float32[7]" for a list of fixed length, "struct"."""
    name = str(kind)
    if name.startswith("struct"):
        return "struct"
    if name.startswith("fixed_size_list"):
        return f"{_kind(kind.value_type)}[{kind.list_size}]"
    return {"float": "float32", "large_string": "string"}.get(name, name)
