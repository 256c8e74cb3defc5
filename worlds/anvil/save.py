"""A Minecraft save as a folder of region files: which chunks it has, and a hash that names it."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from worlds.anvil.chunk import SECTION_BLOCKS, Chunk
from worlds.anvil.region import (
    REGION_CHUNKS,
    SECTOR_BYTES,
    Region,
    open_region,
    read_chunk_bytes,
    region_position,
)

_STEP_BYTES = 2**20
# Where the overworld's region files lie in a save; the last is how the newest releases have it.
_REGION_FOLDERS = (".", "region", "dimensions/minecraft/overworld/region")


@dataclass(frozen=True, slots=True, eq=False)
class Save:
    """A save that was looked through but not read: its chunks are read when a world is cut out."""

    folder: Path
    """Of the region files."""
    sha256: str
    """Of names and bytes of all region files; WorldSpec.source is "anvil:" and this."""
    regions: dict[tuple[int, int], Region]
    """By position, in regions of 512 blocks."""
    min_chunk: tuple[int, int]
    """Smallest x and z of any chunk, in chunks of 16 blocks."""
    has_chunk_XZ: np.ndarray
    """bool [X, Z], from min_chunk on: whether the save has the chunk."""
    num_cut_off: int
    """Chunks that a region file names and that lie behind its end, since it was truncated; not among the above."""

    @property
    def source(self) -> str:
        """Return WorldSpec.source of worlds cut out of this save."""
        return f"anvil:{self.sha256}"

    @property
    def bounds_blocks(self) -> tuple[int, int, int, int]:
        """Return min x, min z, max x, max z (exclusive) of all chunks, in blocks."""
        (x, z), (size_x, size_z) = self.min_chunk, self.has_chunk_XZ.shape
        return x * SECTION_BLOCKS, z * SECTION_BLOCKS, (x + size_x) * SECTION_BLOCKS, (z + size_z) * SECTION_BLOCKS

    @property
    def num_chunks(self) -> int:
        """Return how many chunks the save has."""
        return int(self.has_chunk_XZ.sum())

    def read_chunk(self, x: int, z: int) -> tuple[Chunk, int] | None:
        """Return the chunk at (x, z), counted in chunks, and its uncompressed size in bytes; None without one."""
        region = self.regions.get((x // REGION_CHUNKS, z // REGION_CHUNKS))
        content = read_chunk_bytes(region, x, z) if region else None
        if region is None or content is None:
            return None
        return Chunk(content, f"{region.path}: chunk ({x}, {z})"), len(content)


def open_save(path: Path | str) -> Save:
    """Look through a save: the world's folder, or its folder of region files.

    Takes as long as reading all region files once, for the hash.

    Raises:
        ValueError: no save, no chunks in it, or a region file with a broken header.
    """
    path = Path(path)
    if not path.is_dir():
        found = "a file" if path.is_file() else "no such folder"
        raise ValueError(f"{path}: {found}; name a Minecraft world, the folder with level.dat in it")
    folder, files = _region_files(path)
    digest = hashlib.sha256()
    regions: dict[tuple[int, int], Region] = {}
    for file in files:
        region = open_region(file)
        regions[region.x, region.z] = region
        digest.update(f"{file.name}:{region.size_bytes}\n".encode())
        with file.open("rb") as stream:
            while step := stream.read(_STEP_BYTES):
                digest.update(step)
    if len(regions) < len(files):
        raise ValueError(f"{folder}: two region files name the same place, such as r.0.0.mca and r.-0.0.mca")
    chunk_N2 = np.concatenate([_chunks_of(region) for region in regions.values()])
    num_named = sum(int(np.count_nonzero(region.location_ZX)) for region in regions.values())
    if not len(chunk_N2):
        cut_off = f"; the {num_named} that they name lie behind the ends of the files" if num_named else ""
        raise ValueError(f"{folder}: its region files hold no chunks{cut_off}")
    low, high = chunk_N2.min(axis=0), chunk_N2.max(axis=0)
    shape = (high - low + 1).tolist()
    if shape[0] * shape[1] > _MAX_CHART_CHUNKS:
        raise ValueError(
            f"{folder}: its chunks lie up to {max(shape)} chunks apart; move the region files of the part that you "
            "want into a folder of their own"
        )
    has_chunk_XZ = np.zeros(shape, bool)
    has_chunk_XZ[tuple((chunk_N2 - low).T)] = True
    num_cut_off = num_named - len(chunk_N2)
    return Save(folder, digest.hexdigest(), regions, (int(low[0]), int(low[1])), has_chunk_XZ, num_cut_off)


# 4096 x 4096 chunks are 65,536 blocks a side, in 16 MB.
_MAX_CHART_CHUNKS = 2**24


def _region_files(path: Path) -> tuple[Path, list[Path]]:
    for name in _REGION_FOLDERS:
        folder = path / name
        if folder.is_dir():
            files = sorted(file for file in folder.iterdir() if file.is_file() and region_position(file) is not None)
            if files:
                return folder, files
    if any((path / name).is_dir() and any((path / name).glob("*.mcr")) for name in _REGION_FOLDERS):
        raise ValueError(f"{path}: a world from before Minecraft 1.2; open it once in 1.13 or later, which converts it")
    if others := sorted(place.name for place in path.glob("DIM*") if any(place.glob("region/r.*.mca"))):
        raise ValueError(
            f"{path}: its overworld has no region files (r.X.Z.mca); another dimension is named by its folder, "
            f"{path / others[0]}"
        )
    raise ValueError(
        f"{path}: holds no region files (r.X.Z.mca); name a Minecraft world, the folder with level.dat in it"
    )


def _chunks_of(region: Region) -> np.ndarray:
    """Return (x, z) of all chunks that begin within the file of a region, in chunks, int64 [N, 2]."""
    begins_within_ZX = (region.location_ZX >> 8).astype(np.int64) * SECTOR_BYTES < region.size_bytes
    z_N, x_N = np.nonzero((region.location_ZX != 0) & begins_within_ZX)
    return np.stack([x_N + region.x * REGION_CHUNKS, z_N + region.z * REGION_CHUNKS], axis=1)
