"""Resource packs made for a test: pictures of every sort of PNG, in folders and zips."""

import struct
import zipfile
import zlib
from pathlib import Path

import numpy as np

from worlds.textures.resource_pack import ResourcePack, load_resource_pack

BLOCK = "assets/minecraft/textures/block/"
GREY, RGB, PALETTE, GREY_ALPHA, RGBA = 0, 2, 3, 4, 6
CHANNELS = {GREY: 1, RGB: 3, PALETTE: 1, GREY_ALPHA: 2, RGBA: 4}


def chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def png(pixels: np.ndarray, color_type: int, *, extra: bytes = b"", bits: int = 0) -> bytes:
    """Encode [H, W] or [H, W, C] as PNG; palette indices when the colour type says so."""
    depth = bits or pixels.dtype.itemsize * 8
    rows = pixels.astype(pixels.dtype.newbyteorder(">")).reshape(len(pixels), -1)
    width = rows.shape[1] // CHANNELS[color_type]
    packed = [np.packbits(row).tobytes() if bits == 1 else row.tobytes() for row in rows]
    header = struct.pack(">IIBBBBB", width, len(pixels), depth, color_type, 0, 0, 0)
    body = chunk(b"IDAT", zlib.compress(b"".join(b"\0" + row for row in packed)))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + extra + body + chunk(b"IEND", b"")


def filled(color: tuple[int, ...], px: int = 16, tall: int | None = None) -> np.ndarray:
    return np.full((tall or px, px, len(color)), color, np.uint8)


def folder(root: Path, files: dict[str, bytes]) -> Path:
    for name, content in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(content)
    return root


def zipped(path: Path, files: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def load(tmp_path: Path, files: dict[str, bytes]) -> ResourcePack:
    return load_resource_pack(folder(tmp_path / "pack", files))


STONE = {BLOCK + "stone.png": png(filled((10, 20, 30)), RGB)}
