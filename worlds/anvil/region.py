"""Region files (r.X.Z.mca): 32 x 32 chunks, each compressed NBT, read from untrusted bytes."""

import re
import zlib
from pathlib import Path
from typing import NamedTuple

import numpy as np

SECTOR_BYTES = 4096
HEADER_BYTES = 2 * SECTOR_BYTES
REGION_CHUNKS = 32  # along x and along z
MAX_CHUNK_BYTES = 8 * 2**20  # uncompressed; the largest chunks of played worlds are about a quarter of it
_MAX_STORED_BYTES = 4 * 2**20  # compressed, in a file of its own
_STEP_BYTES = 2**20

_NAME = re.compile(r"r\.(-?\d{1,5})\.(-?\d{1,5})\.mca")
_GZIP, _ZLIB, _PLAIN, _LZ4 = 1, 2, 3, 4
_FIX = "restore it from a backup, or choose another part of the save"
_IS_EXTERNAL = 0x80  # the chunk is too big for the region and lies in c.X.Z.mcc beside it


class Region(NamedTuple):
    """A region file and where its chunks lie."""

    path: Path
    x: int  # in regions of 512 blocks
    z: int
    size_bytes: int
    location_ZX: np.ndarray  # uint32 [32, 32], sector << 8 | number of sectors, 0 no chunk


def region_position(path: Path) -> tuple[int, int] | None:
    """Return (x, z) in regions that a file's name states, None where it is no region file."""
    match = _NAME.fullmatch(path.name)
    return (int(match[1]), int(match[2])) if match else None


def open_region(path: Path) -> Region:
    """Read the header of a region file. An empty file is a region without chunks: Minecraft leaves such."""
    position = region_position(path)
    if position is None:
        raise ValueError(f"{path}: a region file is named r.X.Z.mca")
    size_bytes = path.stat().st_size
    if size_bytes == 0:
        return Region(path, *position, 0, np.zeros((REGION_CHUNKS, REGION_CHUNKS), np.uint32))
    with path.open("rb") as file:
        header = file.read(SECTOR_BYTES)
    if size_bytes < HEADER_BYTES or len(header) < SECTOR_BYTES:
        raise ValueError(f"{path}: truncated, a region file has at least {HEADER_BYTES} bytes, this one {size_bytes}")
    location_ZX = np.frombuffer(header, ">u4").astype(np.uint32).reshape(REGION_CHUNKS, REGION_CHUNKS)
    return Region(path, *position, size_bytes, location_ZX)


def read_chunk_bytes(region: Region, chunk_x: int, chunk_z: int) -> bytes | None:
    """Return the NBT of the chunk at (chunk_x, chunk_z), counted in chunks from the origin; None without one."""
    location = int(region.location_ZX[chunk_z % REGION_CHUNKS, chunk_x % REGION_CHUNKS])
    if location == 0:
        return None
    where = f"{region.path}: chunk ({chunk_x}, {chunk_z})"
    offset, room = (location >> 8) * SECTOR_BYTES, (location & 0xFF) * SECTOR_BYTES
    if offset < HEADER_BYTES or offset + 5 > region.size_bytes:
        raise ValueError(
            f"{where} should begin at byte {offset} of {region.size_bytes}; the file is truncated or broken, {_FIX}"
        )
    with region.path.open("rb") as file:
        file.seek(offset)
        head = file.read(5)
        length = int.from_bytes(head[:4], "big", signed=True) - 1  # without the byte that names the compression
        if len(head) < 5 or not 0 <= length <= room - 5 or offset + 5 + length > region.size_bytes:
            raise ValueError(
                f"{where} claims {length} bytes where {max(0, min(room, region.size_bytes - offset) - 5)} have room; "
                f"the file is truncated or broken, {_FIX}"
            )
        stored = file.read(length)
    compression = head[4]
    if compression & _IS_EXTERNAL:
        stored = _external_bytes(region.path.with_name(f"c.{chunk_x}.{chunk_z}.mcc"), where)
    return _decompress(stored, compression & ~_IS_EXTERNAL, where)


def _external_bytes(path: Path, where: str) -> bytes:
    if not path.is_file():
        raise ValueError(f"{where} lies in {path.name}, which is missing; {_FIX}")
    if path.stat().st_size > _MAX_STORED_BYTES:
        raise ValueError(f"{path}: holds more than {_MAX_STORED_BYTES} bytes, no chunk needs that")
    return path.read_bytes()


def _decompress(stored: bytes, compression: int, where: str) -> bytes:
    """Return the uncompressed bytes, never more than MAX_CHUNK_BYTES of them."""
    if compression == _PLAIN:
        if len(stored) > MAX_CHUNK_BYTES:
            raise ValueError(f"{where} holds more than {MAX_CHUNK_BYTES} bytes, no chunk needs that")
        return stored
    if compression == _LZ4:
        raise ValueError(
            f"{where} is compressed with LZ4, which is not supported; set region-file-compression=deflate in "
            "server.properties and let the server save the world once"
        )
    if compression not in (_GZIP, _ZLIB):
        raise ValueError(f"{where} names compression {compression}; known are 1 gzip, 2 zlib and 3 none")
    inflater = zlib.decompressobj(wbits=31 if compression == _GZIP else 15)
    pieces, size_bytes, rest = [], 0, stored
    while not inflater.eof:
        try:
            piece = inflater.decompress(rest, _STEP_BYTES)
        except zlib.error as error:
            raise ValueError(f"{where} cannot be decompressed ({error}); the file is broken, {_FIX}") from None
        rest = inflater.unconsumed_tail
        if not piece and not rest and not inflater.eof:
            raise ValueError(f"{where}: its compressed bytes end too early; the file is truncated or broken, {_FIX}")
        pieces.append(piece)
        size_bytes += len(piece)
        if size_bytes > MAX_CHUNK_BYTES:
            raise ValueError(f"{where} decompresses to more than {MAX_CHUNK_BYTES} bytes, no chunk needs that")
    return b"".join(pieces)
