"""Writes small region files in the layouts of 1.13, 1.16 and 1.18, for tests. Slow and plain on purpose."""

import gzip
import struct
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path

State = str | tuple[str, dict[str, str]]
StateAt = Callable[[int, int, int], State]

DATA_VERSIONS = {"1.13": 1519, "1.16": 2586, "1.18": 2860, "1.21": 3953}


class Long(int):
    """An int written as a long."""


class Byte(int):
    """An int written as a byte."""


class Longs(list):
    """A list written as a long array; a plain list becomes an NBT list."""


def _kind(value: object) -> int:
    for kind, number in ((Long, 4), (Byte, 1), (int, 3), (str, 8), (Longs, 12), (list, 9), (Mapping, 10)):
        if isinstance(value, kind):
            return number
    raise TypeError(value)


def _text(text: str) -> bytes:
    encoded = text.encode()
    return struct.pack(">H", len(encoded)) + encoded


def _payload(value: object) -> bytes:
    match _kind(value):
        case 1:
            return struct.pack(">b", value)
        case 3:
            return struct.pack(">i", value)
        case 4:
            return struct.pack(">q", value)
        case 8:
            return _text(value)
        case 12:
            return struct.pack(f">i{len(value)}Q", len(value), *value)
        case 9:
            kind = _kind(value[0]) if value else 0
            return struct.pack(">bi", kind, len(value)) + b"".join(map(_payload, value))
        case _:
            parts = (bytes([_kind(child)]) + _text(name) + _payload(child) for name, child in value.items())
            return b"".join(parts) + b"\0"


def nbt(root: Mapping[str, object]) -> bytes:
    """Return an uncompressed NBT file."""
    return b"\x0a\0\0" + _payload(root)


def _packed(indices: list[int], bits: int, *, is_padded: bool) -> Longs:
    per_long = 64 // bits
    if is_padded:
        groups = [indices[i : i + per_long] for i in range(0, len(indices), per_long)]
        return Longs(sum(index << (bits * k) for k, index in enumerate(group)) for group in groups)
    whole = sum(index << (bits * k) for k, index in enumerate(indices))
    return Longs((whole >> (64 * k)) & (2**64 - 1) for k in range(len(indices) * bits // 64))


def _entry(state: State) -> dict[str, object]:
    name, properties = (state, {}) if isinstance(state, str) else state
    return {"Name": name} | ({"Properties": properties} if properties else {})


def section(states: list[State], version: str, y: int) -> dict[str, object]:
    """Return the NBT of one section from 4096 states in the order y, z, x."""
    palette: list[State] = []
    indices = []
    for state in states:
        if state not in palette:
            palette.append(state)
        indices.append(palette.index(state))
    entries = [_entry(state) for state in palette]
    bits = max(4, (len(palette) - 1).bit_length())
    cells = _packed(indices, bits, is_padded=version != "1.13")
    if version in ("1.13", "1.16"):
        return {"Y": Byte(y), "Palette": entries, "BlockStates": cells}
    held = {"palette": entries} | ({"data": cells} if len(palette) > 1 else {})
    return {"Y": Byte(y), "block_states": held, "biomes": {"palette": ["minecraft:plains"]}}


def chunk(state_at: StateAt, chunk_x: int, chunk_z: int, version: str, *, ys: range, status: str = "full") -> bytes:
    """Return the NBT of one chunk whose cells are `state_at(x, y, z)`."""
    sections: list[dict[str, object]] = [
        section(
            [state_at(chunk_x * 16 + i % 16, y * 16 + i // 256, chunk_z * 16 + i // 16 % 16) for i in range(4096)],
            version,
            y,
        )
        for y in ys
    ]
    level = {"xPos": chunk_x, "zPos": chunk_z, "Status": status, "LastUpdate": Long(7), "Heightmaps": {"X": Longs([1])}}
    if version in ("1.13", "1.16"):
        light = {"Y": Byte(-1)}  # a section of light alone
        inside = level | {"Sections": [light, *sections], "TileEntities": [{"id": "minecraft:chest", "Items": []}]}
        return nbt({"Level": inside, "DataVersion": DATA_VERSIONS[version]})
    return nbt({"DataVersion": DATA_VERSIONS[version]} | level | {"sections": sections, "block_entities": []})


def region(chunks: Mapping[tuple[int, int], bytes], *, compression: int = 2) -> bytes:
    """Return a region file with uncompressed `chunks` by their place in it, x and z in 0 .. 31."""
    header, body, sector = bytearray(8192), bytearray(), 2
    for (x, z), content in chunks.items():
        stored = {1: gzip.compress, 2: zlib.compress, 3: bytes}[compression](content)
        block = struct.pack(">ib", len(stored) + 1, compression) + stored
        num_sectors = -(-len(block) // 4096)
        body += block.ljust(num_sectors * 4096, b"\0")
        header[4 * (x + 32 * z) : 4 * (x + 32 * z) + 4] = struct.pack(">I", sector << 8 | num_sectors)
        sector += num_sectors
    return bytes(header + body)


def write_save(
    folder: Path, state_at: StateAt, version: str, *, chunks: range, ys: range, compression: int = 2
) -> Path:
    """Write a world of `chunks` x `chunks` chunks into `folder`/region and return `folder`."""
    (folder / "region").mkdir(parents=True, exist_ok=True)
    regions: dict[tuple[int, int], dict[tuple[int, int], bytes]] = {}
    for x in chunks:
        for z in chunks:
            content = chunk(state_at, x, z, version, ys=ys)
            regions.setdefault((x // 32, z // 32), {})[x % 32, z % 32] = content
    for (x, z), held in regions.items():
        (folder / "region" / f"r.{x}.{z}.mca").write_bytes(region(held, compression=compression))
    return folder
