"""Writing demonstrations as a LeRobot dataset; see mcrl.demos.lerobot_columns for what is in it."""

import json
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from mcrl.demos.episode import Episode
from mcrl.demos.lerobot_columns import (
    CODEBASE_VERSION,
    DATA_PATH,
    EPISODES_PATH,
    FILE_MB,
    FILES_PER_CHUNK,
    FORMAT_VERSION,
    GOAL,
    GOAL_MASK,
    INFO_FILE,
    INTERACTION,
    MCRL_FILE,
    SCALARS,
    TASK_ID,
    TASKS_FILE,
    TICKS_PER_S,
    VECTORS,
    VIEW,
    features,
    info_fps,
)
from mcrl.demos.pyarrow_import import import_pyarrow
from task_synthesis.libraries.library import write_whole
from task_synthesis.views.goal_forms import GoalForm
from worlds.spec import Split


def write_dataset(
    folder: Path,
    episodes: Iterable[Episode],
    *,
    split: Split,
    action_repeat_ticks: int,
    goal_form: GoalForm = "cross_view",
    file_mb: int = FILE_MB,
) -> tuple[int, int]:
    """Write the episodes into a new folder and return how many there were, and how many decisions.

    meta/info.json comes last: a folder without it is unfinished. After an error it is empty as it was.

    Raises:
        ValueError: the folder holds something, there is no episode, or pyarrow is not installed.
    """
    pa, pq = import_pyarrow()
    if folder.exists() and any(folder.iterdir()):
        raise ValueError(f"{folder} is not empty, and nothing is overwritten; choose another folder")
    about = {
        "format_version": FORMAT_VERSION,
        "split": split,
        "action_repeat_ticks": action_repeat_ticks,
        "goal_form": goal_form,
    }
    try:
        return _write(pa, pq, folder, episodes, action_repeat_ticks, file_mb, about)
    except BaseException:
        # In place: the folder may be the one we are in.
        for path in (folder / Path(DATA_PATH).parts[0], folder / Path(INFO_FILE).parts[0]):
            shutil.rmtree(path, ignore_errors=True)
        raise


def _write(
    pa: Any,
    pq: Any,
    folder: Path,
    episodes: Iterable[Episode],
    action_repeat_ticks: int,
    file_mb: int,
    about: Mapping[str, object],
) -> tuple[int, int]:
    tasks: dict[str, int] = {}
    rows: list[dict[str, Any]] = []
    num_steps = image_px = 0
    files = _DataFiles(pq, folder, file_mb)
    try:
        for episode_index, episode in enumerate(episodes):
            task_index = tasks.setdefault(episode.family, len(tasks))
            image_px = episode.image_THWC.shape[1]
            table = _table(pa, episode, episode_index, num_steps, task_index, TICKS_PER_S / action_repeat_ticks)
            place = files.add(table)
            rows.append(
                {
                    "episode_index": episode_index,
                    "tasks": [episode.family],
                    "length": episode.num_steps,
                    "dataset_from_index": num_steps,
                    "dataset_to_index": num_steps + episode.num_steps,
                    "data/chunk_index": place["chunk_index"],
                    "data/file_index": place["file_index"],
                    "meta/episodes/chunk_index": 0,
                    "meta/episodes/file_index": 0,
                }
            )
            num_steps += episode.num_steps
    finally:
        files.close()
    if not rows:
        raise ValueError(f"{folder}: there is no episode to write; record at least one decision")
    path = folder / EPISODES_PATH.format(chunk_index=0, file_index=0)
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows), path)
    pq.write_table(_task_table(pa, tasks), folder / TASKS_FILE)
    write_whole(folder / MCRL_FILE, json.dumps(about, indent=2) + "\n")
    info = _info(len(rows), num_steps, len(tasks), image_px, action_repeat_ticks, file_mb)
    write_whole(folder / INFO_FILE, json.dumps(info, indent=4) + "\n")
    return len(rows), num_steps


class _DataFiles:
    """The Parquet files that episodes go into, one after the other: the next one begins when one is full."""

    def __init__(self, pq: Any, folder: Path, file_mb: int) -> None:
        self._pq, self._folder, self._most_bytes = pq, folder, file_mb * 2**20
        self._writer: Any = None
        self._index = -1
        self._num_bytes = 0  # of pictures in the present file

    def add(self, table: Any) -> dict[str, int]:
        """Write an episode whole and return its file's place."""
        if self._writer is None or self._num_bytes > self._most_bytes:
            self.close()
            self._index, self._num_bytes = self._index + 1, 0
            path = self._folder / DATA_PATH.format(**_place(self._index))
            path.parent.mkdir(parents=True, exist_ok=True)
            # Goals repeat in every row: a dictionary that has room for them keeps each once.
            self._writer = self._pq.ParquetWriter(path, table.schema, dictionary_pagesize_limit=2**26)
        self._writer.write_table(table)
        self._num_bytes += _image_bytes(table)
        return _place(self._index)

    def close(self) -> None:
        """End the present file, if there is one."""
        if self._writer is not None:
            self._writer.close()


def encode_png(image_HWC: np.ndarray) -> bytes:
    """Return uint8 [H, W, 3] RGB as the bytes of a PNG file, without loss."""
    is_done, png = cv2.imencode(".png", cv2.cvtColor(image_HWC, cv2.COLOR_RGB2BGR))
    assert is_done, "a picture in memory can be written as PNG"
    return png.tobytes()


def _table(pa: Any, episode: Episode, episode_index: int, first_index: int, task_index: int, fps: float) -> Any:
    num_steps = episode.num_steps
    mask_HWC = np.repeat(episode.goal.mask_HW[..., None].astype(np.uint8) * 255, 3, axis=2)
    pictures = {
        VIEW: [encode_png(image_HWC) for image_HWC in episode.image_THWC],
        GOAL: [encode_png(episode.goal.image_HWC)] * num_steps,
        GOAL_MASK: [encode_png(mask_HWC)] * num_steps,
    }
    columns = {name: _image_column(pa, files) for name, files in pictures.items()}
    for name, array, kind, size in VECTORS:
        values = getattr(episode, array).astype(kind)
        columns[name] = pa.FixedSizeListArray.from_arrays(pa.array(values.reshape(-1)), size)
    for name, array, kind in SCALARS:
        columns[name] = pa.array(getattr(episode, array).astype(kind))
    step_T = np.arange(num_steps)
    columns[INTERACTION] = pa.array(np.full(num_steps, int(episode.goal.interaction)))
    columns[TASK_ID] = pa.array([episode.task_id] * num_steps)
    columns["timestamp"] = pa.array((step_T / fps).astype(np.float32))
    columns["frame_index"] = pa.array(step_T)
    columns["episode_index"] = pa.array(np.full(num_steps, episode_index))
    columns["index"] = pa.array(first_index + step_T)
    columns["task_index"] = pa.array(np.full(num_steps, task_index))
    return pa.table(columns)


def _image_column(pa: Any, files: list[bytes]) -> Any:
    """Return pictures as Hugging Face's Image feature keeps them: the file's bytes, and no path."""
    paths = pa.nulls(len(files), pa.string())
    return pa.StructArray.from_arrays([pa.array(files, pa.binary()), paths], ["bytes", "path"])


def _image_bytes(table: Any) -> int:
    return sum(len(picture["bytes"]) for picture in table.column(VIEW).to_pylist())


def _task_table(pa: Any, tasks: dict[str, int]) -> Any:
    """Return the tasks as pandas writes a frame whose index is their names: LeRobot reads them by it."""
    table = pa.table({"task_index": list(tasks.values()), "task": list(tasks)})
    columns = [
        {"name": name, "field_name": name, "pandas_type": kind, "numpy_type": numpy_type, "metadata": None}
        for name, kind, numpy_type in (("task_index", "int64", "int64"), ("task", "unicode", "object"))
    ]
    about = {"index_columns": ["task"], "column_indexes": [], "columns": columns, "pandas_version": "2.0.0"}
    return table.replace_schema_metadata({"pandas": json.dumps(about)})


def _place(file_index: int) -> dict[str, int]:
    return {"chunk_index": file_index // FILES_PER_CHUNK, "file_index": file_index % FILES_PER_CHUNK}


def _info(
    num_episodes: int, num_steps: int, num_tasks: int, image_px: int, action_repeat_ticks: int, file_mb: int
) -> dict[str, Any]:
    return {
        "codebase_version": CODEBASE_VERSION,
        "robot_type": "mcrl",
        "total_episodes": num_episodes,
        "total_frames": num_steps,
        "total_tasks": num_tasks,
        "chunks_size": FILES_PER_CHUNK,
        "data_files_size_in_mb": file_mb,
        "video_files_size_in_mb": file_mb,
        "fps": info_fps(action_repeat_ticks),
        "splits": {"train": f"0:{num_episodes}"},
        "data_path": DATA_PATH,
        "video_path": None,
        "features": features(image_px),
    }
