"""Reading demonstrations from a LeRobot dataset; see mcrl.demos.lerobot_columns for what has to be in it.

Nothing is guessed: a dataset is read whole and as documented, or refused in one sentence.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from mcrl.demos.episode import Episode
from mcrl.demos.lerobot_columns import (
    ACTION,
    EXPERT_ACTION,
    FORMAT_VERSION,
    GOAL,
    GOAL_MASK,
    IMAGES,
    INFO_FILE,
    INTERACTION,
    MCRL_FILE,
    SCALARS,
    TASK_ID,
    TASKS_FILE,
    VECTORS,
    VIEW,
)
from mcrl.demos.pyarrow_import import import_pyarrow
from policies import action_codec
from task_synthesis.goal import CrossViewGoal
from task_synthesis.interaction import Interaction
from task_synthesis.json_text import parse_json
from task_synthesis.playing.task_env import Outcome
from worlds.spec import SPLITS, Split

_INDICES = ("frame_index", "episode_index", "index", "task_index")


@dataclass(frozen=True, kw_only=True, slots=True)
class About:
    """What a dataset says of itself."""

    split: Split
    """Of the worlds."""
    action_repeat_ticks: int
    """Ticks of 50 ms that one decision lasted."""
    image_px: int
    """Side of the square pictures."""
    num_episodes: int
    num_steps: int


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Dataset:
    """Demonstrations and what they were made in."""

    about: About
    episodes: list[Episode]


def read_dataset(folder: Path) -> Dataset:
    """Read a dataset whole; ValueError names the file, the row or column, and what was wanted there."""
    pa, pq = import_pyarrow()
    about = read_about(folder)
    families = _families(pa, pq, folder / TASKS_FILE)
    episodes: list[Episode] = []
    next_index = 0
    for path in sorted((folder / "data").glob("chunk-*/file-*.parquet")):
        table = _read_table(pa, pq, path)
        _check_columns(table, path)
        if not table.num_rows:
            raise ValueError(f"{path}: holds no rows; copy the dataset again, or take the file out")
        ends_N = np.flatnonzero(np.diff(table.column("episode_index").to_numpy())) + 1
        bounds = [0, *ends_N.tolist(), table.num_rows]
        for start, stop in zip(bounds, bounds[1:], strict=False):
            rows = table.slice(start, stop - start)
            where = f"{path}: episode {len(episodes)}"
            _check_indices(rows, len(episodes), next_index, where)
            episodes.append(_episode(rows, families, about.image_px, where))
            next_index += stop - start
    for name, said, count in (
        ("total_episodes", about.num_episodes, len(episodes)),
        ("total_frames", about.num_steps, next_index),
    ):
        if said != count:
            raise ValueError(
                f"{folder}: {INFO_FILE} says {name} {said}, the data files hold {count}; copy the dataset again"
            )
    return Dataset(about=about, episodes=episodes)


def read_about(folder: Path) -> About:
    """Read what a dataset says of itself; ValueError for anything that is not as documented."""
    path = folder / INFO_FILE
    info = _read_json(path)
    version = info.get("codebase_version")
    if not (isinstance(version, str) and version.startswith("v3.")):
        raise ValueError(f"{path}: codebase_version is {version!r}, wanted v3.x; convert it with LeRobot's own script")
    image_px = _side(info, path)
    num_episodes, num_steps = (_at_least_1(info, name, path) for name in ("total_episodes", "total_frames"))
    path = folder / MCRL_FILE
    about = _read_json(path)
    version, split = about.get("format_version"), about.get("split")
    if version != FORMAT_VERSION:
        raise ValueError(f"{path}: format_version is {version!r}, this build reads {FORMAT_VERSION}")
    if split not in SPLITS:
        raise ValueError(f"{path}: split is {split!r}, wanted one of {', '.join(SPLITS)}")
    return About(
        split=split,
        action_repeat_ticks=_at_least_1(about, "action_repeat_ticks", path),
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


def _read_table(pa: Any, pq: Any, path: Path) -> Any:
    try:
        return pq.ParquetFile(path).read()
    except (OSError, pa.ArrowException):
        raise ValueError(f"{path}: missing, truncated or not a parquet file; copy the dataset again") from None


def _families(pa: Any, pq: Any, path: Path) -> dict[int, str]:
    table = _read_table(pa, pq, path)
    for column, kind in (("task_index", "int64"), ("task", "string")):
        if table.column_names.count(column) != 1 or _kind(table.schema.field(column).type) != kind:
            raise ValueError(f"{path}: columns are {table.schema.names}, wanted task_index of int64, task of string")
    families = dict(zip(table.column("task_index").to_pylist(), table.column("task").to_pylist(), strict=True))
    for family in families.values():
        if not isinstance(family, str) or not all(family.partition("/")):
            raise ValueError(f"{path}: task {family!r} is not a family; write skill/kind, such as approach/gold_block")
    return families


def _check_columns(table: Any, path: Path) -> None:
    """Refuse missing columns, gaps and wrong types."""
    wanted = dict.fromkeys((INTERACTION, *_INDICES), "int64") | dict.fromkeys(IMAGES, "struct") | {TASK_ID: "string"}
    wanted |= {column: kind for column, _, kind in SCALARS}
    wanted |= {column: f"{kind}[{size}]" for column, _, kind, size in VECTORS}
    missing = sorted(set(wanted) - set(table.column_names))
    if missing:
        raise ValueError(f"{path}: column {missing[0]} is missing; mcrl.demos.lerobot_columns lists what is needed")
    twins = [column for column in wanted if table.column_names.count(column) > 1]
    if twins:
        raise ValueError(f"{path}: column {twins[0]} is there twice; keep one")
    for column, kind in wanted.items():
        got = _kind(table.schema.field(column).type)
        if got != kind:
            raise ValueError(f"{path}: column {column} is of type {got}, wanted {kind}")
        if table.column(column).null_count:
            raise ValueError(f"{path}: column {column} has gaps; fill every row")
    for column in IMAGES:
        struct = table.schema.field(column).type
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


def _check_indices(rows: Any, episode_index: int, first_index: int, where: str) -> None:
    wanted = {"episode_index": np.full(rows.num_rows, episode_index), "frame_index": np.arange(rows.num_rows)}
    wanted["index"] = first_index + np.arange(rows.num_rows)
    for column, wanted_T in wanted.items():
        got_T = rows.column(column).to_numpy()
        wrong = np.flatnonzero(got_T != wanted_T)
        if len(wrong):
            row = int(wrong[0])
            raise ValueError(f"{where}: {column} is {got_T[row]} in its row {row}, wanted {wanted_T[row]}")
    for column in (TASK_ID, INTERACTION, "task_index"):
        if len(rows.column(column).unique()) > 1:
            raise ValueError(f"{where}: {column} changes within the episode; an episode has one task")


def _episode(rows: Any, families: dict[int, str], image_px: int, where: str) -> Episode:
    arrays = {array: rows.column(column).to_numpy() for column, array, _ in SCALARS}
    for column, array, kind, size in VECTORS:
        values = rows.column(column).combine_chunks().flatten()
        if values.null_count:
            raise ValueError(f"{where}: {column} has gaps; fill every row")
        values_TX = values.to_numpy().reshape(-1, size)
        arrays[array] = values_TX.astype(np.uint8 if kind == "int64" else np.float32)
        if kind == "int64":
            _check_actions(values_TX, column, where)
    for name in ("reward_T", "target_T7"):
        if not np.isfinite(arrays[name]).all():
            raise ValueError(f"{where}: {name.partition('_')[0]} holds NaN or infinity; write finite numbers")
    _check_outcomes(arrays, where)
    task_index, interaction = rows.column("task_index")[0].as_py(), rows.column(INTERACTION)[0].as_py()
    if task_index not in families:
        raise ValueError(f"{where}: task_index {task_index} is not in {TASKS_FILE}")
    if interaction not in set(Interaction):
        raise ValueError(f"{where}: {INTERACTION} is {interaction}, wanted one of {[int(i) for i in Interaction]}")
    goal_HWC, mask_HWC = _constant_picture(rows, GOAL, where), _constant_picture(rows, GOAL_MASK, where)
    if not (np.isin(mask_HWC, (0, 255)).all() and (mask_HWC == mask_HWC[..., :1]).all()):
        raise ValueError(f"{where}: {GOAL_MASK} has colours or greys; paint the target white and the rest black")
    views = [_decode_png(picture, VIEW, where) for picture in _pictures(rows, VIEW)]
    for picture in (goal_HWC, mask_HWC, *views):
        if picture.shape != (image_px, image_px, 3):
            raise ValueError(f"{where}: a picture is {picture.shape[:2]}, {INFO_FILE} says {image_px} x {image_px}")
    return Episode(
        task_id=rows.column(TASK_ID)[0].as_py(),
        family=families[task_index],
        goal=CrossViewGoal(goal_HWC, mask_HWC[..., 0] == 255, Interaction(interaction)),
        image_THWC=np.stack(views),
        **arrays,
    )


def _check_actions(action_TA: np.ndarray, column: str, where: str) -> None:
    assert column in (ACTION, EXPERT_ACTION)
    for factor, (name, size) in enumerate(action_codec.FACTORS):
        wrong = np.flatnonzero((action_TA[:, factor] < 0) | (action_TA[:, factor] >= size))
        if len(wrong):
            row = int(wrong[0])
            raise ValueError(
                f"{where}: {column} has {name} {action_TA[row, factor]} in its row {row}, wanted 0 .. {size - 1}"
            )


def _check_outcomes(arrays: dict[str, np.ndarray], where: str) -> None:
    """Refuse outcomes that do not exist and ends before the last row."""
    if not np.isin(arrays["outcome_T"], [int(outcome) for outcome in Outcome]).all():
        raise ValueError(f"{where}: next.outcome is not one of {[int(outcome) for outcome in Outcome]}")
    if (arrays["terminated_T"] | arrays["truncated_T"])[:-1].any():
        raise ValueError(f"{where}: it ends before its last row; begin an episode after each end")


def _pictures(rows: Any, column: str) -> list[bytes | None]:
    return rows.column(column).combine_chunks().field("bytes").to_pylist()


def _constant_picture(rows: Any, column: str, where: str) -> np.ndarray:
    pictures = _pictures(rows, column)
    if any(picture != pictures[0] for picture in pictures):
        raise ValueError(f"{where}: {column} changes within the episode; an episode has one goal")
    return _decode_png(pictures[0], column, where)


def _decode_png(content: bytes | None, column: str, where: str) -> np.ndarray:
    """Return the picture, uint8 [H, W, 3] RGB."""
    try:
        image_HWC = cv2.imdecode(np.frombuffer(content, np.uint8), cv2.IMREAD_COLOR) if content else None
    except cv2.error:  # its head tells of a picture that nobody's memory holds
        image_HWC = None
    if image_HWC is None:
        raise ValueError(f"{where}: {column} holds something that is no picture; write PNG files into the table")
    return cv2.cvtColor(image_HWC, cv2.COLOR_BGR2RGB)
