"""Arrays of .npz files that may be damaged: on disks that fill up, and in folders that people copy about."""

import io
import lzma
import struct
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

# What zipfile raises on damaged, encrypted and exotic archives; a header cut short is a struct.error.
_DAMAGES = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    RuntimeError,
    EOFError,
    KeyError,
    OSError,
    ValueError,
)


def read_arrays(path: Path, names: Sequence[str]) -> list[np.ndarray]:
    """Return the named arrays of an .npz file, in the order of the names.

    Raises:
        OSError: the file cannot be read.
        ValueError: it is damaged, lacks an array or is no .npz file; says which, the caller names file and fix.
    """
    content = path.read_bytes()
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            # Whole, before numpy parses any of it: only at the end of an entry is its checksum compared.
            entries = [archive.read(f"{name}.npy") for name in names]
        return [np.lib.format.read_array(io.BytesIO(entry), allow_pickle=False) for entry in entries]
    except _DAMAGES as error:
        raise ValueError(f"not a whole .npz file: {error}") from None
