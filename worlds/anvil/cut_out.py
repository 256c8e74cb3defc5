"""A cut-out of a save as a world of the engine."""

from collections import Counter
from typing import NamedTuple

import numpy as np

from worlds.anvil.chunk import SECTION_BLOCKS, Chunk, parse_state
from worlds.anvil.ground import highest_ground, is_ground_table
from worlds.anvil.mapping import Mapped, MappedRow, MappingReport, map_state
from worlds.anvil.save import Save
from worlds.blocks import STATE_ID
from worlds.spec import World, WorldSpec

# On average over a cut-out; chunks of played worlds have about a tenth of it.
_MAX_MEAN_CHUNK_BYTES = 2**20
_MAX_STATES = 2**16  # different ones in a cut-out; Minecraft 1.21 has 28,000 in all


class Palette:
    """All states met so far, numbered, with what they become."""

    def __init__(self) -> None:
        self.mapped: list[Mapped] = [Mapped("air", "same")]  # what a chunk does not store is air
        self.names: list[str] = ["minecraft:air"]
        self._number_of: dict[bytes, int] = {}

    def numbers(self, raw_states: list[bytes], where: str) -> np.ndarray:
        """Return the number of each state, int32 [N]."""
        return np.array([self._number(raw, where) for raw in raw_states], np.int32)

    def _number(self, raw: bytes, where: str) -> int:
        number = self._number_of.get(raw)
        if number is None:
            if len(self.names) >= _MAX_STATES:
                raise ValueError(f"{where}: more than {_MAX_STATES} different block states; the file is broken")
            saved = parse_state(raw, where)
            number = self._number_of[raw] = len(self.names)
            self.names.append(str(saved))
            self.mapped.append(map_state(saved))
        return number


class CutOut(NamedTuple):
    """A world and how its blocks came about."""

    world: World
    report: MappingReport


def read_world(save: Save, spec: WorldSpec) -> World:
    """Return the part of a save that a spec names; see `cut_out`."""
    return cut_out(save, spec).world


def cut_out(save: Save, spec: WorldSpec) -> CutOut:
    """Cut size_blocks at origin_blocks out of a save and map its blocks.

    The engine's worlds wrap around in x and z, real saves do not: the planes x = 0 and z = 0 are barrier, which the
    renderer shows as sky, and the level y = 0 is bedrock, so that nobody falls out of the world.

    Raises:
        ValueError: the spec is of another save, chunks are missing, or a file is broken.
    """
    if spec.source != save.source:
        raise ValueError(f"{save.folder}: is {save.source}, but the world is from {spec.source}; open that save")
    palette = Palette()
    number_XZY, versions = _read_numbers(save, spec, palette)
    counts = np.bincount(number_XZY.reshape(-1), minlength=len(palette.names))
    state_N = np.array([STATE_ID[mapped.state] for mapped in palette.mapped], np.uint16)
    block_XZY = state_N[number_XZY]
    block_XZY[:, :, 0] = STATE_ID["bedrock"]
    block_XZY[0] = block_XZY[:, 0] = STATE_ID["barrier"]
    block_XZY.setflags(write=False)
    ground_XZ = np.maximum(highest_ground(is_ground_table()[block_XZY]), 0)
    ground_XZ.setflags(write=False)
    report = MappingReport(_rows(palette, counts), min(versions), max(versions))
    return CutOut(World(spec, block_XZY, ground_XZ), report)


def _rows(palette: Palette, counts: np.ndarray) -> tuple[MappedRow, ...]:
    merged: Counter[tuple[str, Mapped]] = Counter()
    for name, mapped, count in zip(palette.names, palette.mapped, counts.tolist(), strict=True):
        if count:
            merged[name, mapped] += count
    return tuple(MappedRow(name, mapped.state, mapped.how, count) for (name, mapped), count in merged.most_common())


def _read_numbers(save: Save, spec: WorldSpec, palette: Palette) -> tuple[np.ndarray, list[int]]:
    """Return the number in `palette` of every cell, int32 [X, Z, Y], and the DataVersion of every chunk."""
    (x0, y0, z0), (size_x, size_y, size_z) = spec.origin_blocks, spec.size_blocks
    number_XZY = np.zeros((size_x, size_z, size_y), np.int32)
    versions, section_ys = [], set[int]()
    chunk_xs = range(x0 // SECTION_BLOCKS, (x0 + size_x - 1) // SECTION_BLOCKS + 1)
    chunk_zs = range(z0 // SECTION_BLOCKS, (z0 + size_z - 1) // SECTION_BLOCKS + 1)
    bytes_left = _MAX_MEAN_CHUNK_BYTES * len(chunk_xs) * len(chunk_zs)
    for chunk_x in chunk_xs:
        for chunk_z in chunk_zs:
            found = save.read_chunk(chunk_x, chunk_z)
            if found is None or not found[0].is_finished:
                raise ValueError(
                    f"{save.folder}: chunk ({chunk_x}, {chunk_z}) was never generated, but the cut-out of {size_x} x "
                    f"{size_z} blocks at ({x0}, {z0}) needs it; choose another origin inside {save.bounds_blocks}"
                )
            chunk, num_bytes = found
            bytes_left -= num_bytes
            if bytes_left < 0:
                raise ValueError(
                    f"{save.folder}: the chunks of the cut-out hold more than {_MAX_MEAN_CHUNK_BYTES} bytes each on "
                    "average; no played world does"
                )
            versions.append(chunk.data_version)
            section_ys.update(chunk.section_ys)
            for y in chunk.section_ys:
                corner = chunk_x * SECTION_BLOCKS - x0, chunk_z * SECTION_BLOCKS - z0, y * SECTION_BLOCKS - y0
                if -SECTION_BLOCKS < corner[2] < size_y:
                    _paste(number_XZY, section_numbers(chunk, y, palette), corner)
    # Without any section, as over the void, the cut-out is as empty as the save.
    if section_ys and not any(-SECTION_BLOCKS < y * SECTION_BLOCKS - y0 < size_y for y in section_ys):
        low, high = min(section_ys) * SECTION_BLOCKS, (max(section_ys) + 1) * SECTION_BLOCKS
        raise ValueError(
            f"{save.folder}: nothing lies at levels {y0} .. {y0 + size_y - 1} of the cut-out at {spec.origin_blocks}, "
            f"its blocks are at {low} .. {high - 1}; choose another origin"
        )
    return number_XZY, versions


def section_numbers(chunk: Chunk, y: int, palette: Palette) -> np.ndarray:
    """Return the number in `palette` of every cell of a section, int32 [16, 16, 16] in the order X, Z, Y."""
    number_P = palette.numbers(chunk.palette(y), chunk.where)
    return number_P[chunk.cells(y, len(number_P))].transpose(2, 1, 0)


def _paste(number_XZY: np.ndarray, section_XZY: np.ndarray, corner: tuple[int, int, int]) -> None:
    """Write a section whose first cell is `corner` of the cut-out; what lies outside is left out."""
    into, part = [], []
    for start, size in zip(corner, number_XZY.shape, strict=True):
        low, high = max(0, start), min(size, start + SECTION_BLOCKS)
        into.append(slice(low, high))
        part.append(slice(low - start, high - start))
    number_XZY[tuple(into)] = section_XZY[tuple(part)]
