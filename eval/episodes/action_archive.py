"""The actions of judged episodes, so that each can be played again tick by tick: one .npz a unit of tasks.

An engine that is deterministic makes the same episode of the same task and actions; pictures need not be kept.
"""

import io
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from worlds.npz_file import read_arrays
from worlds.types import BUTTONS

FOLDER = "actions"
_ARRAYS = ("num_decisions_N", "buttons", "camera_deg", "task_id_N", "ticks_per_decision")


@dataclass(frozen=True, kw_only=True, slots=True)
class EpisodeActions:
    """What an agent did in one episode of D decisions."""

    buttons_DB: np.ndarray  # bool [D, 20], in the order of worlds.types.BUTTONS
    camera_deg_D2: np.ndarray  # float32 [D, 2], change of (pitch, yaw) a tick
    ticks_per_decision: int


def unit_file(out_dir: Path, row: str, unit: int) -> Path:
    """Return where the actions of a row's unit of tasks are kept."""
    return out_dir / FOLDER / f"{row.replace(' ', '_').replace('/', '_')}.{unit:04d}.npz"


def pack(actions_of: Mapping[str, EpisodeActions]) -> bytes:
    """Return a unit's episodes, by task id, as the bytes of a .npz file."""
    task_ids = list(actions_of)
    episodes = list(actions_of.values())
    ticks = {episode.ticks_per_decision for episode in episodes}
    if len(ticks) != 1:
        raise ValueError(f"action archive: decisions of {sorted(ticks)} ticks in one unit; they must last equally long")
    file = io.BytesIO()
    np.savez_compressed(
        file,
        task_id_N=np.array(task_ids, "U16"),
        num_decisions_N=np.array([len(episode.buttons_DB) for episode in episodes], np.int32),
        buttons=np.packbits(np.concatenate([episode.buttons_DB for episode in episodes]), axis=1),
        camera_deg=np.concatenate([episode.camera_deg_D2 for episode in episodes]).astype(np.float32),
        ticks_per_decision=np.int32(ticks.pop()),
    )
    return file.getvalue()


def read_unit(path: Path) -> dict[str, EpisodeActions]:
    """Read a unit's episodes back, by task id. Raise ValueError, naming the file, for anything else."""
    try:
        num_decisions_N, packed, camera, ids, ticks_per_decision = read_arrays(path, _ARRAYS)
        ends = np.cumsum(num_decisions_N)
        buttons = np.unpackbits(packed, axis=1, count=len(BUTTONS)).astype(bool)
        ticks = int(ticks_per_decision)
    except (OSError, ValueError, TypeError) as error:
        raise ValueError(f"{path}: no archive of actions ({error}); judge the checkpoint again") from None
    if len(ids) != len(ends) or len(buttons) != len(camera) or len(buttons) != (ends[-1] if len(ends) else 0):
        raise ValueError(f"{path}: the arrays do not fit together; judge the checkpoint again")
    starts = np.concatenate([[0], ends[:-1]]).astype(int)
    return {
        str(task_id): EpisodeActions(
            buttons_DB=buttons[start:end], camera_deg_D2=camera[start:end], ticks_per_decision=ticks
        )
        for task_id, start, end in zip(ids, starts, ends, strict=True)
    }
