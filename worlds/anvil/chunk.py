"""One chunk of a save: 16 x 16 columns in sections of 16 levels, each with a palette of block states."""

import re
from typing import NamedTuple

import numpy as np

from worlds.anvil.nbt import NbtDocument, Tag

SECTION_BLOCKS = 16
_CELLS = SECTION_BLOCKS**3

# DataVersion of the first release or snapshot that ...
_FLATTENED = 1451  # 17w47a: states have names
_PADDED = 2529  # 20w17a: an index no longer spans two longs
# The first DataVersion of each release that may be named in a report.
_RELEASES = (
    (1519, "1.13"), (1952, "1.14"), (2225, "1.15"), (2566, "1.16"), (2724, "1.17"), (2860, "1.18"), (3105, "1.19"),
    (3463, "1.20"), (3953, "1.21"), (4700, "after 1.21"),
)  # fmt: skip
_FINISHED = (
    "light", "spawn", "heightmaps", "full",  # 1.14 and later
    "lighted", "mobs_spawned", "finalized", "fullchunk", "postprocessed",  # 1.13
)  # fmt: skip
_MAX_SECTIONS = 512  # a world is at most 4064 blocks high: 254 sections and two of light
_LOWEST_SECTION, _HIGHEST_SECTION = -128, 127  # Minecraft keeps it in a signed byte
# Of names and values of blocks and properties: they are printed, so no control characters, and looked up piece by
# piece, so not 64 KB.
_WORD = re.compile(r"[A-Za-z0-9_.:/-]{1,256}")


class SavedState(NamedTuple):
    """A block state as a save names it."""

    name: str  # with its namespace
    properties: tuple[tuple[str, str], ...]  # sorted by name

    def __str__(self) -> str:
        """Return it as Minecraft writes it, "minecraft:oak_log[axis=y]"."""
        inside = ",".join(f"{key}={value}" for key, value in self.properties)
        return f"{self.name}[{inside}]" if inside else self.name


def release_name(data_version: int) -> str:
    """Return the release that wrote a chunk, for people."""
    return next((name for first, name in reversed(_RELEASES) if data_version >= first), "a snapshot before 1.13")


class Chunk:
    """A chunk whose sections are decoded when asked for. Every fault is a ValueError that begins with `where`."""

    def __init__(self, content: bytes, where: str) -> None:
        """Read what `content`, uncompressed NBT, says about itself."""
        self.where = where
        self._nbt = NbtDocument(content, where)
        root = self._nbt.fields(self._nbt.root)
        self.data_version = self._nbt.integer(root["DataVersion"]) if "DataVersion" in root else 0
        if self.data_version < _FLATTENED:
            raise ValueError(
                f"{where} was saved before Minecraft 1.13 (DataVersion {self.data_version}); open the world once in a "
                "newer version, which converts it"
            )
        # 1.18 moved everything of "Level" to the root and renamed it.
        is_flat = "sections" in root
        level = root if is_flat or "Level" not in root else self._nbt.fields(root["Level"])
        status = self._nbt.string(level["Status"]) if "Status" in level else "full"
        self.is_finished = status.removeprefix("minecraft:") in _FINISHED
        self._section_Y: dict[int, tuple[Tag, Tag | None]] = {}
        listed = level.get("sections" if is_flat else "Sections")
        for element in self._nbt.compounds(listed, max_count=_MAX_SECTIONS) if listed else ():
            self._add_section(element, is_flat)

    def _add_section(self, element: Tag, is_flat: bool) -> None:
        fields = self._nbt.fields(element)
        if is_flat and "block_states" in fields:
            fields |= self._nbt.fields(fields["block_states"])
        palette, cells = (
            fields.get("palette" if is_flat else "Palette"),
            fields.get("data" if is_flat else "BlockStates"),
        )
        if palette is None:
            return  # light alone
        if "Y" not in fields:
            raise ValueError(f"{self.where} has a section without Y; the file is broken")
        y = self._nbt.integer(fields["Y"])
        if not _LOWEST_SECTION <= y <= _HIGHEST_SECTION:
            raise ValueError(f"{self.where} has a section with Y {y}; the file is broken")
        if y in self._section_Y:
            raise ValueError(f"{self.where} has two sections with Y {y}; the file is broken")
        self._section_Y[y] = (palette, cells)

    @property
    def section_ys(self) -> list[int]:
        """Return which sections hold blocks, in multiples of 16 blocks, from the bottom up."""
        return sorted(self._section_Y)

    def palette(self, y: int) -> list[bytes]:
        """Return the states of section `y` as raw NBT, see `parse_state`."""
        states = self._nbt.compounds(self._section_Y[y][0], max_count=_CELLS)
        if not states:
            raise ValueError(f"{self.where}: section {y} has an empty palette; the file is broken")
        return [self._nbt.raw(state) for state in states]

    def cells(self, y: int, num_states: int) -> np.ndarray:
        """Return the index into its palette of every cell of section `y`, int64 [16, 16, 16] in the order Y, Z, X."""
        cells = self._section_Y[y][1]
        shape = (SECTION_BLOCKS, SECTION_BLOCKS, SECTION_BLOCKS)
        if cells is None:
            if num_states > 1:
                raise ValueError(f"{self.where}: section {y} has {num_states} states but no cells; the file is broken")
            return np.zeros(shape, np.int64)
        index_N = _unpack(self._nbt.long_array(cells), max(4, (num_states - 1).bit_length()), self.data_version)
        if index_N is None or int(index_N.max()) >= num_states:
            raise ValueError(f"{self.where}: the cells of section {y} do not fit its palette; the file is broken")
        return index_N.reshape(shape)


def _unpack(long_L: np.ndarray, bits: int, data_version: int) -> np.ndarray | None:
    """Return 4096 numbers of `bits` bits, int64, lowest bits first; None when their number does not fit."""
    mask = np.uint64((1 << bits) - 1)
    if data_version >= _PADDED:
        per_long = 64 // bits
        if len(long_L) != -(-_CELLS // per_long):
            return None
        shift_P = np.arange(per_long, dtype=np.uint64) * np.uint64(bits)
        return ((long_L[:, None] >> shift_P) & mask).reshape(-1)[:_CELLS].astype(np.int64)
    if len(long_L) != _CELLS * bits // 64:
        return None
    first_bit_N = np.arange(_CELLS, dtype=np.uint64) * np.uint64(bits)
    long_N, shift_N = (first_bit_N >> np.uint64(6)).astype(np.int64), first_bit_N & np.uint64(63)
    next_N = np.minimum(long_N + 1, len(long_L) - 1)
    # Shifted in two steps, since a shift by 64 is undefined.
    high_N = (long_L[next_N] << np.uint64(1)) << (np.uint64(63) - shift_N)
    return (((long_L[long_N] >> shift_N) | high_N) & mask).astype(np.int64)


def parse_state(raw: bytes, where: str) -> SavedState:
    """Return the block state of one palette entry, the payload of a compound."""
    nbt = NbtDocument(b"\x0a\x00\x00" + raw, f"{where}: palette")
    fields = nbt.fields(nbt.root)
    if "Name" not in fields:
        raise ValueError(f"{where}: a palette entry has no Name; the file is broken")
    name = nbt.string(fields["Name"])
    properties = nbt.fields(fields["Properties"]) if "Properties" in fields else {}
    values = {key: nbt.string(value) for key, value in properties.items()}
    if not all(_WORD.fullmatch(word) for word in (name, *values.keys(), *values.values())):
        raise ValueError(f"{where}: a palette entry has a name that no block or property has; the file is broken")
    return SavedState(name, tuple(sorted(values.items())))
