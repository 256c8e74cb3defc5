"""Checkpoints: a folder of two safetensors files and one JSON file, written whole or not at all.

Those that a run goes on from hold its environments besides, as play.json and play.safetensors.
"""

import hashlib
import json
import os
import re
import shutil
import stat
from dataclasses import dataclass, field
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from mcrl.state_file import read_state, write_state
from mcrl.whole_folder import written_whole
from task_synthesis.json_reader import reader_of
from task_synthesis.json_text import parse_json
from task_synthesis.playing.saved_state import SavedState

FORMAT_VERSION = 1
FINAL = "final"
NUM_KEPT = 2
_NUMBERED = "iteration_"
_OS_ERROR = re.compile(r"\(os error (\d+)\)")

_MODEL, _OPTIMIZER, _STATE, _PLAY = "model.safetensors", "optimizer.safetensors", "state.json", "play"


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckpointState:
    """What a run needs besides tensors to go on."""

    stage: str
    """"imitation", "dagger" or "ppo"."""
    iteration: int
    """Done: iterations of PPO, updates of DAgger, 0 after imitation."""
    version: int
    """Of the weights; never falls, also across restarts."""
    preset: str
    """Policy size, a name in policies.presets."""
    image_px: int
    """Side of the views the policy was built for."""
    config: dict[str, object]
    """The run's resolved config."""
    learner: dict[str, float] = field(default_factory=dict)
    """Numbers of the learner that change with the iterations."""
    rng_state: str = ""
    """State of the learner's generator, as hexadecimal bytes; "" when there is none."""
    high_water_marks: tuple[tuple[int, int, int], ...] = ()
    """(worker, env, last sequence number consumed)."""
    task_statistics: dict[str, object] = field(default_factory=dict)
    """What the TaskSampler learned, see task_synthesis.playing.curriculum; empty when it learns nothing."""
    sha256: dict[str, str] = field(default_factory=dict, compare=False)
    """Of the files of tensors, by name, as `save` wrote them; empty in what is older."""
    format_version: int = FORMAT_VERSION

    def __post_init__(self) -> None:
        for name, least in (("iteration", 0), ("version", 0), ("image_px", 1)):
            if getattr(self, name) < least:
                raise ValueError(f"{name} must be at least {least}, got {getattr(self, name)}")
        for mark in self.high_water_marks:
            if min(mark) < 0:
                raise ValueError(f"high_water_marks must not be negative, got {list(mark)}")


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Checkpoint:
    """A checkpoint in memory."""

    model: dict[str, Tensor]
    optimizer: dict[str, Tensor]
    state: CheckpointState
    play: SavedState | None = None
    """Present of the fragment source; `load` leaves it out, `load_play` reads it."""


def save(folder: Path, checkpoint: Checkpoint) -> None:
    """Write a checkpoint to `folder`, replacing what was there. A crash leaves the old one or the new one."""
    with written_whole(folder) as partial:
        write(partial, checkpoint)


def write(folder: Path, checkpoint: Checkpoint) -> None:
    """Write the files of a checkpoint into a folder that takes its place when all that belongs there is written."""
    _write_tensors(folder / _MODEL, checkpoint.model)
    _write_tensors(folder / _OPTIMIZER, checkpoint.optimizer)
    state = {name: getattr(checkpoint.state, name) for name in checkpoint.state.__dataclass_fields__}
    state["sha256"] = {name: sha256_of(folder / name) for name in (_MODEL, _OPTIMIZER)}
    (folder / _STATE).write_text(json.dumps(state, indent=2) + "\n", encoding="ascii")
    if checkpoint.play is not None:
        write_state(folder, _PLAY, checkpoint.play)
    for name in (_MODEL, _OPTIMIZER):  # safetensors writes for the owner alone, whatever the user's umask says
        (folder / name).chmod(stat.S_IMODE((folder / _STATE).stat().st_mode))


def load(folder: Path) -> Checkpoint:
    """Read a checkpoint. Raise ValueError, naming the file and the fix, for a truncated or foreign one."""
    if not folder.is_dir():
        raise ValueError(f"{folder}: no such checkpoint folder; `ls {folder.parent}` shows those there are")
    model, optimizer = _read_tensors(folder / _MODEL), _read_tensors(folder / _OPTIMIZER)
    state = load_state(folder)
    for name in (_MODEL, _OPTIMIZER):
        if name in state.sha256 and sha256_of(folder / name) != state.sha256[name]:
            raise ValueError(
                f"{folder / name}: not what was written there, by its checksum in {_STATE}; copy the checkpoint again, "
                "or use another one of the run"
            )
    return Checkpoint(model=model, optimizer=optimizer, state=state)


def load_play(folder: Path) -> SavedState | None:
    """Read the present of a run's fragment source; None where the checkpoint holds none. ValueError as `load`."""
    fix = f"delete {_PLAY}.json there to go on with fresh episodes, or go on from an earlier checkpoint"
    return read_state(folder, _PLAY, fix=fix)


def load_state(folder: Path) -> CheckpointState:
    """Read only the JSON part of a checkpoint. ValueError as `load`."""
    path = folder / _STATE
    try:
        fields = parse_json(path.read_text(encoding="ascii"))
    except (OSError, ValueError):
        raise ValueError(
            f"{path}: missing or not JSON; use another checkpoint of the run, or delete this one and resume, which "
            "learns it again"
        ) from None
    known = CheckpointState.__dataclass_fields__
    # Checkpoints older than the first have learned nothing about tasks, those older than the second have no checksums.
    if not isinstance(fields, dict) or fields.keys() | {"task_statistics", "sha256"} != known.keys():
        raise ValueError(f"{path}: not the state of an mcrl checkpoint; name a folder that `mcrl train` wrote")
    if fields["format_version"] != FORMAT_VERSION:
        raise ValueError(
            f"{path}: format {fields['format_version']}, this build reads {FORMAT_VERSION}; train again or use the "
            "mcrl version that wrote it"
        )
    try:
        state: CheckpointState = reader_of(CheckpointState)(fields)
    except ValueError as error:
        raise ValueError(f"{path}: {str(error).removeprefix('.')}; use another checkpoint of the run") from None
    return state


def load_into(module: nn.Module, tensors: dict[str, Tensor], *, where: Path) -> None:
    """Copy tensors into `module`: names and shapes must agree exactly, else ValueError names the first."""
    wanted = {name: tuple(tensor.shape) for name, tensor in module.state_dict().items()}
    got = {name: tuple(tensor.shape) for name, tensor in tensors.items()}
    for name in sorted(wanted.keys() | got.keys()):
        if wanted.get(name) != got.get(name):
            raise ValueError(
                f"{where}: tensor {name} is {got.get(name, 'absent')}, the policy wants {wanted.get(name, 'none')}; "
                "build the policy from the preset named in the checkpoint's state.json, or, if that is it, with the "
                "mcrl that made it: a preset may be another network in another version"
            )
    module.load_state_dict(tensors)


def prune(parent: Path) -> None:
    """Delete numbered checkpoints under `parent` but the newest NUM_KEPT; named ones stay."""
    for path in _all_numbered(parent)[:-NUM_KEPT]:
        shutil.rmtree(path)


def numbered(parent: Path, iteration: int) -> Path:
    """Return the folder of the checkpoint after `iteration` iterations."""
    return parent / f"{_NUMBERED}{iteration:06d}"


def newest(parent: Path) -> Path | None:
    """Return the folder of the newest checkpoint of a run: the final one, else the highest number, else None."""
    if (parent / FINAL).is_dir():
        return parent / FINAL
    candidates = _all_numbered(parent)
    return candidates[-1] if candidates else None


def _all_numbered(parent: Path) -> list[Path]:
    """Return the folders of the numbered checkpoints, by number: from a million on names do not sort so."""
    number_of = {path: path.name.removeprefix(_NUMBERED) for path in parent.glob(f"{_NUMBERED}*") if path.is_dir()}
    return sorted((path for path, number in number_of.items() if number.isdecimal()), key=lambda at: int(number_of[at]))


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file of a checkpoint. ValueError, naming it, where it cannot be read."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise ValueError(f"{path}: cannot be read ({error.strerror}); use another checkpoint of the run") from None


def _write_tensors(path: Path, tensors: dict[str, Tensor]) -> None:
    # clone: safetensors refuses tensors that share memory, which tied or viewed weights do.
    owned = {name: tensor.detach().cpu().contiguous().clone() for name, tensor in tensors.items()}
    try:
        save_file(owned, path)
    except SafetensorError as error:
        found = _OS_ERROR.search(str(error))  # a full disk is an error of the system's, which it hides in its own
        if found is None:
            raise
        raise OSError(int(found[1]), os.strerror(int(found[1])), str(path)) from None


def _read_tensors(path: Path) -> dict[str, Tensor]:
    try:
        path.open("rb").close()
        tensors = load_file(path)
    except PermissionError:
        raise ValueError(f"{path}: may not be read by this user; ask its owner to let others read it") from None
    except (OSError, SafetensorError):
        raise ValueError(
            f"{path}: missing, truncated or not a safetensors file; use another checkpoint of the run, or delete this "
            "one and resume, which learns it again"
        ) from None
    for name, tensor in tensors.items():
        if tensor.is_floating_point() and not torch.isfinite(tensor).all():
            raise ValueError(f"{path}: tensor {name} holds NaN or infinity; use an earlier checkpoint of the run")
    return tensors
