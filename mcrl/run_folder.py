"""Which checkpoints lie in a run's folder, and which row of a report each is."""

import json
from collections.abc import Collection, Sequence
from difflib import get_close_matches
from pathlib import Path
from shlex import quote

from mcrl import checkpoint
from mcrl.config import TrainConfig, from_json
from mcrl.settings.unknown_settings import for_playing
from policies.presets import PRESETS
from policies.shipped import shipped_folder, shipped_name, shipped_names

_CHECKPOINTS = "checkpoints"
_STATE_FILE, _MODEL_FILE = "state.json", "model.safetensors"
# What torch.save writes.
_PICKLE_SUFFIXES = (".pt", ".pth", ".ckpt", ".bin", ".pkl")
_IMITATION = "imitation"
_START = "start"  # what an initial policy is called, which lies where the clone would
_ROW_OF_STAGE = {_IMITATION: "imitation", "ppo": "rl"}
# Checkpoints beside the judged one that get a row of their own when they exist.
_SIBLING_ROWS = (_IMITATION, "dagger", "imitation-long")
# Of those, what a checkpoint of an earlier stage came from: what came after it is no part of it.
_CAME_FROM = {_IMITATION: (), "dagger": (_IMITATION,), "imitation-long": (_IMITATION,)}


def checkpoint_of(path: Path, *, others: Sequence[str] = ()) -> Path:
    """Return the folder of the checkpoint that `path` names. ValueError when there is none.

    A folder is the checkpoint itself, or a run whose newest one is meant. What is no folder, or one with no weights
    in it, as `mcrl eval small --out small` leaves it, may be the name of a shipped policy. `others`: what else could
    have been meant by a name that is nowhere.
    """
    if not path.is_dir():
        shipped = None if path.exists() else shipped_folder(str(path))
        if shipped is None:
            raise ValueError(_unknown_sentence(path, others))
        return shipped
    if (path / _STATE_FILE).is_file():
        return path.resolve()
    if (path / _MODEL_FILE).is_file():
        raise ValueError(
            f"{path}: {_STATE_FILE} is missing, which says of which policy the weights are; copy all files"
        )
    parent = path / _CHECKPOINTS if (path / _CHECKPOINTS).is_dir() else path
    newest = checkpoint.newest(parent)
    if newest is None and (parent / _IMITATION).is_dir():
        newest = parent / _IMITATION
    if newest is None:
        pickles = sorted(child.name for child in path.iterdir() if child.suffix in _PICKLE_SUFFIXES)
        shipped = shipped_folder(str(path))
        if shipped is not None and not pickles:
            return shipped
        found = f" but {pickles[0]}, a pickle, which can run any code and so is never read" if pickles else ""
        if (path / "config.json").is_file():
            raise ValueError(
                f"{path}: this run has no checkpoint yet; `mcrl status {quote(str(path))}` says how far it is"
            )
        raise ValueError(f"{path}: holds no checkpoint{found}; name a folder that `mcrl train` wrote")
    return newest.resolve()


def _unknown_sentence(path: Path, others: Sequence[str]) -> str:
    """Return what to say where `path` is neither a folder nor the name of a shipped policy."""
    names = ", ".join(shipped_names()) or "none"
    others_words = f"; {' and '.join(others)} play as well" if others else ""
    fix = (
        "give a folder, for instance runs/laptop (`mcrl train laptop` makes it), or a shipped policy: "
        f"{names}{others_words}"
    )
    if not path.exists():
        close = get_close_matches(str(path), [*shipped_names(), *others], n=1, cutoff=0.6)
        hint = f"did you mean {close[0]}?" if close else fix
        return f"{path}: no such checkpoint or run folder; {hint}"
    kind = "a pickle, which can run any code and so is never read" if path.suffix in _PICKLE_SUFFIXES else "a file"
    return f"{path}: is {kind}; a checkpoint is a folder with {_MODEL_FILE} and {_STATE_FILE}: {fix}"


def run_dir_of(folder: Path) -> Path:
    """Return the folder into which what is made of a checkpoint goes by default.

    That is its run's; its parent when it was moved out of one; and a folder of its name under runs/ when it is shipped:
    a package is not written into.
    """
    if shipped_name(folder) is not None:
        return Path("runs") / folder.name
    return folder.parents[1] if folder.parent.name == _CHECKPOINTS else folder.parent


def config_of(folder: Path) -> TrainConfig:
    """Return the config of the run that made a checkpoint, as far as it is known here; its preset is.

    It is for playing: a loss or a skill that was taken back since does not keep the policy that it trained from that.
    """
    known = for_playing(TrainConfig, checkpoint.load_state(folder).config)
    config = from_json(json.dumps(known), where=f"{folder}: config")
    check_preset(config.preset, folder / _STATE_FILE)
    return config


def check_preset(preset: str, path: Path) -> None:
    """Raise ValueError where the preset that `path` names is of another checkout."""
    if preset not in PRESETS:
        raise ValueError(
            f"{path}: names preset {preset!r}, which this checkout does not have; use the one that it was "
            f"trained with (here are {', '.join(PRESETS)})"
        )


def check_is_start(folder: Path, config: TrainConfig) -> None:
    """Raise ValueError where a run of this config cannot begin with the policy of a checkpoint; says what would fit."""
    saved = checkpoint.load_state(folder)
    pairs = (("preset", saved.preset, config.preset), ("env.image_px", saved.image_px, config.env.image_px))
    check_preset(saved.preset, folder / _STATE_FILE)
    wrong = [(name, got, wanted) for name, got, wanted in pairs if got != wanted]
    if wrong:
        what = " and ".join(f"its {name} is {got}, that of this run {wanted}" for name, got, wanted in wrong)
        options = " ".join(f"--{name.replace('_', '-')} {got}" for name, got, _ in wrong)
        raise ValueError(f"initial_policy {folder}: {what}; give {options}")


def sibling_rows(folder: Path, stage: str) -> dict[str, Path]:
    """Return the rows to judge with a checkpoint: those it came from, then itself; row name to folder."""
    row = _ROW_OF_STAGE.get(stage, stage)
    others = _CAME_FROM.get(stage, _SIBLING_ROWS)
    rows = {name: folder.with_name(name) for name in others if folder.with_name(name).is_dir()}
    rows |= {row: folder}
    if _IMITATION in rows and config_of(folder).initial_policy is not None:
        return {_START if name == _IMITATION else name: path for name, path in rows.items()}
    return rows


def named_checkpoints(arguments: Sequence[str], *, taken: Collection[str]) -> dict[str, Path]:
    """Read rows given as NAME=CHECKPOINT; the names `taken` are those of other rows."""
    rows: dict[str, Path] = {}
    for argument in arguments:
        name, equals, path = argument.partition("=")
        if not (name and equals and path):
            raise ValueError(
                f"--also {argument}: wanted NAME=CHECKPOINT, for instance long=runs/long/checkpoints/final"
            )
        if name in rows or name in taken:
            raise ValueError(f"--also {argument}: there is a row {name!r} already; choose another name")
        rows[name] = checkpoint_of(Path(path))
    return rows
