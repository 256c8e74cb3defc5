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
    GOAL,
    GOAL_MASK,
    INFO_FILE,
    INTERACTION,
    SCALARS,
    TARGET,
    TASK_ID,
    TASKS_FILE,
    VECTORS,
    VIEW,
)
from mcrl.demos.lerobot_tables import About, check_count, data_files, read_about, read_families, read_rows
from policies import action_codec
from task_synthesis.goal import CrossViewGoal
from task_synthesis.interaction import Interaction
from task_synthesis.playing.task_env import Outcome

_PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Dataset:
    """Demonstrations and what they were made in."""

    about: About
    episodes: list[Episode]


def read_dataset(folder: Path) -> Dataset:
    """Read a dataset whole; ValueError names the file, the row or column, and what was wanted there."""
    about = read_about(folder)
    families = read_families(folder)
    episodes: list[Episode] = []
    next_index = 0
    for path in data_files(folder):
        table = read_rows(path)
        ends_N = np.flatnonzero(np.diff(table.column("episode_index").to_numpy())) + 1
        bounds = [0, *ends_N.tolist(), table.num_rows]
        for start, stop in zip(bounds, bounds[1:], strict=False):
            rows = table.slice(start, stop - start)
            where = f"{path}: episode {len(episodes)}"
            _check_indices(rows, len(episodes), next_index, where)
            episodes.append(_episode(rows, families, about, where))
            next_index += stop - start
    check_count(folder, "total_episodes", about.num_episodes, len(episodes))
    check_count(folder, "total_frames", about.num_steps, next_index)
    if not any(episode.is_valid_T.any() for episode in episodes):
        raise ValueError(f"{folder}: is_valid is false in every row, so nothing could be learned; say which are valid")
    return Dataset(about=about, episodes=episodes)


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


def _episode(rows: Any, families: dict[int, str], about: About, where: str) -> Episode:
    image_px = about.image_px
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
    if ((arrays["target_T7"] < 0) | (arrays["target_T7"] > 1)).any():
        raise ValueError(f"{where}: {TARGET} is not of shares, 0 to 1; divide pixels by the side of the picture")
    _check_outcomes(arrays, where)
    task_index, interaction = rows.column("task_index")[0].as_py(), rows.column(INTERACTION)[0].as_py()
    if task_index not in families:
        raise ValueError(f"{where}: task_index {task_index} is not in {TASKS_FILE}")
    if interaction not in set(Interaction):
        raise ValueError(f"{where}: {INTERACTION} is {interaction}, wanted one of {[int(i) for i in Interaction]}")
    goal_HWC, mask_HWC = _constant_picture(rows, GOAL, where), _constant_picture(rows, GOAL_MASK, where)
    if not (np.isin(mask_HWC, (0, 255)).all() and (mask_HWC == mask_HWC[..., :1]).all()):
        raise ValueError(f"{where}: {GOAL_MASK} has colours or greys; paint the target white and the rest black")
    if about.goal_form == "cross_view" and not mask_HWC.any():
        raise ValueError(f"{where}: {GOAL_MASK} is black, nothing is marked; paint the target white")
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
        is_png = content is not None and content.startswith(_PNG_SIGNATURE)
        image_HWC = cv2.imdecode(np.frombuffer(content or b"", np.uint8), cv2.IMREAD_COLOR) if is_png else None
    except cv2.error:  # its head tells of a picture that nobody's memory holds
        image_HWC = None
    if image_HWC is None:
        raise ValueError(f"{where}: {column} holds something that is no PNG file; write those into the table")
    return cv2.cvtColor(image_HWC, cv2.COLOR_BGR2RGB)
