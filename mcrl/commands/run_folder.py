"""Which checkpoints lie in a run's folder, and which row of a report each is."""

import json
from collections.abc import Sequence
from pathlib import Path

from mcrl import checkpoint
from mcrl.config import TrainConfig, from_json

_CHECKPOINTS = "checkpoints"
_STATE_FILE = "state.json"
_IMITATION = "imitation"
_ROW_OF_STAGE = {_IMITATION: "imitation", "ppo": "rl"}
# Checkpoints beside the judged one that get a row of their own when they exist.
_SIBLING_ROWS = (_IMITATION, "dagger", "imitation-long")


def checkpoint_of(path: Path) -> Path:
    """Return the checkpoint that `path` names: itself, or the newest of a run folder. ValueError when there is none."""
    if not path.is_dir():
        raise ValueError(f"{path}: no such checkpoint or run folder; `mcrl train laptop` makes runs/laptop")
    if (path / _STATE_FILE).is_file():
        return path.resolve()
    parent = path / _CHECKPOINTS if (path / _CHECKPOINTS).is_dir() else path
    newest = checkpoint.newest(parent)
    if newest is None and (parent / _IMITATION).is_dir():
        newest = parent / _IMITATION
    if newest is None:
        raise ValueError(f"{path}: holds no checkpoint; name a folder that `mcrl train` wrote")
    return newest.resolve()


def run_dir_of(folder: Path) -> Path:
    """Return the run folder of a checkpoint; its parent when it was moved out of one."""
    return folder.parents[1] if folder.parent.name == _CHECKPOINTS else folder.parent


def config_of(folder: Path) -> TrainConfig:
    """Return the config of the run that made a checkpoint."""
    return from_json(json.dumps(checkpoint.load_state(folder).config), where=f"{folder}: config")


def sibling_rows(folder: Path, stage: str) -> dict[str, Path]:
    """Return the rows to judge with a checkpoint: those it came from, then itself; row name to folder."""
    row = _ROW_OF_STAGE.get(stage, stage)
    rows = {name: folder.with_name(name) for name in _SIBLING_ROWS if name != row and folder.with_name(name).is_dir()}
    return rows | {row: folder}


def named_checkpoints(arguments: Sequence[str]) -> dict[str, Path]:
    """Read rows given as NAME=CHECKPOINT."""
    rows = {}
    for argument in arguments:
        name, equals, path = argument.partition("=")
        if not (name and equals and path):
            raise ValueError(
                f"--also {argument}: wanted NAME=CHECKPOINT, for instance long=runs/long/checkpoints/final"
            )
        rows[name] = checkpoint_of(Path(path))
    return rows
