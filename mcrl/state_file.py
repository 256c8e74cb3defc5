"""A SavedState as two files side by side: NAME.json and NAME.safetensors. Damage is noticed when they are read."""

import hashlib
import json
from pathlib import Path

import numpy as np
import safetensors.numpy
from safetensors import SafetensorError

from task_synthesis.json_text import parse_json
from task_synthesis.playing.saved_state import SavedState

FORMAT_VERSION = 1
_JSON, _TENSORS = ".json", ".safetensors"


def write_state(folder: Path, name: str, state: SavedState) -> None:
    """Write `state` into a folder that is there; see mcrl.whole_folder for one that survives a crash.

    The JSON file holds the hash of the other one: numbers that are wrong without a trace would go into compiled code.
    """
    # Contiguous: of a view, safetensors 0.8 writes the bytes behind its first element, whatever its strides.
    tensors = safetensors.numpy.save({name: np.asarray(array, order="C") for name, array in state.arrays.items()})
    fields = {
        "format_version": FORMAT_VERSION,
        "sha256": hashlib.sha256(tensors).hexdigest(),
        "values": state.values,
    }
    (folder / f"{name}{_JSON}").write_text(json.dumps(fields) + "\n", encoding="ascii")
    (folder / f"{name}{_TENSORS}").write_bytes(tensors)


def read_state(folder: Path, name: str, *, fix: str) -> SavedState | None:
    """Return what `write_state` wrote, None where it wrote nothing under this name.

    Args:
        folder: where the files are.
        name: theirs, without an ending.
        fix: what to do where they cannot be read or what they hold does not fit, for errors.

    Raises:
        ValueError: a file is missing, cut short, changed or of another version.
    """
    path = folder / f"{name}{_JSON}"
    if not path.exists():
        return None
    try:
        fields = parse_json(path.read_text(encoding="ascii"))
    except ValueError:
        raise ValueError(f"{path}: not JSON, or only a part of it; {fix}") from None
    is_state = isinstance(fields, dict) and fields.keys() == {"format_version", "sha256", "values"}
    if not is_state or not isinstance(fields["values"], dict):
        raise ValueError(f"{path}: not what mcrl writes under this name; {fix}")
    if fields["format_version"] != FORMAT_VERSION:
        raise ValueError(f"{path}: format {fields['format_version']}, this build reads {FORMAT_VERSION}; {fix}")
    tensor_path = path.with_suffix(_TENSORS)
    try:
        tensors = tensor_path.read_bytes()
        arrays = safetensors.numpy.load(tensors)
    except (OSError, SafetensorError):
        raise ValueError(f"{tensor_path}: missing, truncated or not a safetensors file; {fix}") from None
    if hashlib.sha256(tensors).hexdigest() != fields["sha256"]:
        raise ValueError(f"{tensor_path}: not the file that was written with {path.name}; {fix}")
    return SavedState(values=fields["values"], arrays=arrays, where=str(path), fix=fix)
