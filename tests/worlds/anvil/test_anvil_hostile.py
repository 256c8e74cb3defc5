"""Broken and hostile region files: one ValueError each (or a world), within 64 MB and 2 s."""

import random
import struct
import subprocess
import sys
import textwrap
import time
import tracemalloc
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.worlds.anvil.anvil_files import Byte, Longs, chunk, nbt, region
from worlds.anvil import open_save, read_world, suggest_origin
from worlds.spec import WorldSpec

MAX_EXTRA_BYTES = 64 * 2**20
MAX_S = 2.0
NUM_MUTATIONS = 400


def pattern(x: int, y: int, z: int) -> str:
    return f"minecraft:{('stone', 'dirt', 'sand', 'gravel', 'clay', 'granite', 'air')[(x + 3 * y + 5 * z) % 7]}"


CHUNK_16 = chunk(pattern, 0, 0, "1.16", ys=range(2))
CHUNK_18 = chunk(pattern, 0, 0, "1.18", ys=range(-1, 1))


def of_chunk(content: bytes) -> bytes:
    """Return a region of 2 x 2 times the same chunk."""
    return region({(x, z): content for x in range(2) for z in range(2)})


def root_with(tag: bytes) -> bytes:
    """Return a chunk's NBT with one more, raw tag before all others."""
    return CHUNK_16[:3] + tag + CHUNK_16[3:]


def named(kind: int, payload: bytes) -> bytes:
    return bytes([kind]) + b"\0\x01x" + payload


def with_sections(sections: list[dict[str, object]]) -> bytes:
    return nbt({"DataVersion": 2586, "Level": {"Status": "full", "Sections": sections}})


def raw_region(stored: bytes, *, length: int | None = None, compression: int = 2, location: int | None = None) -> bytes:
    header = bytearray(8192)
    num_sectors = -(-(len(stored) + 5) // 4096)
    header[:4] = struct.pack(">I", location if location is not None else 2 << 8 | num_sectors)
    body = struct.pack(">iB", len(stored) + 1 if length is None else length, compression) + stored
    return bytes(header) + body.ljust(num_sectors * 4096, b"\0")


def bomb(num_bytes: int, wbits: int = 15) -> bytes:
    """Return `num_bytes` zeros, compressed."""
    deflater = zlib.compressobj(wbits=wbits)
    pieces = [deflater.compress(bytes(2**20)) for _ in range(num_bytes // 2**20)]
    return b"".join(pieces) + deflater.flush()


PALETTE = [{"Name": "minecraft:stone"}]
HOSTILE: dict[str, Callable[[], bytes]] = {
    "no bytes": lambda: b"",
    "half a header": lambda: bytes(5000),
    "header alone": lambda: of_chunk(CHUNK_16)[:8192],
    "chunk cut off": lambda: of_chunk(CHUNK_16)[: 8192 + 200],
    "chunk inside the header": lambda: raw_region(zlib.compress(CHUNK_16), location=1 << 8 | 1),
    "chunk far behind the end": lambda: raw_region(zlib.compress(CHUNK_16), location=0xFFFFFF << 8 | 255),
    "negative chunk length": lambda: raw_region(zlib.compress(CHUNK_16), length=-5),
    "huge chunk length": lambda: raw_region(zlib.compress(CHUNK_16), length=2**31 - 1),
    "zero chunk length": lambda: raw_region(zlib.compress(CHUNK_16), length=0),
    "unknown compression": lambda: raw_region(zlib.compress(CHUNK_16), compression=77),
    "external file missing": lambda: raw_region(b"", compression=0x82),
    "no zlib stream": lambda: raw_region(b"garbage" * 100),
    "zlib stream cut off": lambda: raw_region(zlib.compress(CHUNK_16)[:-200]),
    "zip bomb": lambda: raw_region(bomb(2**28)),
    "zip bomb in gzip": lambda: raw_region(bomb(2**28, wbits=31), compression=1),
    "empty nbt": lambda: of_chunk(b""),
    "nbt of a list": lambda: of_chunk(b"\x09\0\0\x01\0\0\0\0"),
    "unknown tag": lambda: of_chunk(root_with(named(55, b""))),
    "negative array": lambda: of_chunk(root_with(named(7, struct.pack(">i", -(2**31))))),
    "huge long array": lambda: of_chunk(root_with(named(12, struct.pack(">i", 2**31 - 1)))),
    "negative list": lambda: of_chunk(root_with(named(9, struct.pack(">bi", 1, -1)))),
    "huge list of bytes": lambda: of_chunk(root_with(named(9, struct.pack(">bi", 1, 2**31 - 1)))),
    "huge list of compounds": lambda: of_chunk(root_with(named(9, struct.pack(">bi", 10, 2**31 - 1)))),
    "list of nothing": lambda: of_chunk(root_with(named(9, struct.pack(">bi", 0, 5)))),
    "nested lists": lambda: of_chunk(root_with(named(9, struct.pack(">bi", 9, 1) * 100_000))),
    "nested compounds": lambda: of_chunk(root_with(named(10, b"\x0a\0\0" * 100_000))),
    "a million fields": lambda: of_chunk(root_with(b"\x01\0\x03abcx" * 10**6)),
    "millions of empty compounds": lambda: raw_region(
        zlib.compress(root_with(named(9, struct.pack(">bi", 10, 7_000_000) + bytes(6_999_999))))
    ),
    "endless palette": lambda: of_chunk(with_sections([{"Y": Byte(0), "Palette": [{"Name": "a"}] * 100_000}])),
    "empty palette": lambda: of_chunk(with_sections([{"Y": Byte(0), "Palette": [], "BlockStates": Longs([0] * 256)}])),
    "thousands of sections": lambda: of_chunk(with_sections([{"Y": Byte(0), "Palette": PALETTE}] * 5000)),
    "two equal sections": lambda: of_chunk(with_sections([{"Y": Byte(0), "Palette": PALETTE}] * 2)),
    "cells missing": lambda: of_chunk(with_sections([{"Y": Byte(0), "Palette": PALETTE * 2}])),
    "cells too few": lambda: of_chunk(
        with_sections([{"Y": Byte(0), "Palette": PALETTE * 2, "BlockStates": Longs([0])}])
    ),
    "cells outside the palette": lambda: of_chunk(
        with_sections([{"Y": Byte(0), "Palette": PALETTE * 2, "BlockStates": Longs([2**64 - 1] * 256)}])
    ),
    "palette of numbers": lambda: of_chunk(with_sections([{"Y": Byte(0), "Palette": [1, 2]}])),
    "palette without names": lambda: of_chunk(with_sections([{"Y": Byte(0), "Palette": [{"Nome": "a"}]}])),
    "palette with a control character": lambda: of_chunk(
        with_sections([{"Y": Byte(0), "Palette": [{"Name": "minecraft:\x1b]0;mine\x07"}]}])
    ),
    "property with a control character": lambda: of_chunk(
        with_sections([{"Y": Byte(0), "Palette": [{"Name": "minecraft:oak_log", "Properties": {"axis": "\x1b[2J"}}]}])
    ),
    "endless name": lambda: of_chunk(with_sections([{"Y": Byte(0), "Palette": [{"Name": "waxed_" * 10_000}]}])),
    "section above the world": lambda: of_chunk(with_sections([{"Y": 3000, "Palette": PALETTE}])),
    "section without Y": lambda: of_chunk(with_sections([{"Palette": PALETTE}])),
    "no version": lambda: of_chunk(nbt({"Level": {"Status": "full"}})),
}


def read(folder: Path, content: bytes) -> str:
    """Read the region and return the error, "" when it gave a world; anything but a ValueError passes through."""
    (folder / "r.0.0.mca").write_bytes(content)
    return read_folder(folder)


def read_folder(folder: Path | str) -> str:
    """Read the world in a folder, see `read`."""
    try:
        save = open_save(folder)
        suggest_origin(save, (32, 64, 32))
        read_world(save, WorldSpec(seed=0, source=save.source, origin_blocks=(0, -8, 0), size_blocks=(32, 64, 32)))
    except ValueError as error:
        return str(error)
    return ""


def read_within_limits(folder: Path, content: bytes) -> str:
    tracemalloc.start()
    begin_s = time.perf_counter()
    try:
        error = read(folder, content)
        peak_bytes = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert time.perf_counter() - begin_s < MAX_S
    assert peak_bytes < MAX_EXTRA_BYTES
    return error


@pytest.fixture(scope="module", autouse=True)
def _compiled(tmp_path_factory) -> None:
    """Compile the reader and build the block tables, so that no test pays for them."""
    assert read(tmp_path_factory.mktemp("good"), of_chunk(CHUNK_16)) == ""


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_file_gives_one_sentence_within_64_mb_and_2_s(case, tmp_path):
    error = read_within_limits(tmp_path, HOSTILE[case]())
    assert error.startswith(str(tmp_path))
    assert "\n" not in error
    assert len(error) < 400


def mutated(content: bytes, draw: random.Random) -> bytes:
    """Return the bytes with a piece cut, flipped, overwritten, repeated or taken out."""
    changed = bytearray(content)
    for _ in range(draw.choice((1, 1, 2, 5))):
        if not changed:
            break
        at = draw.randrange(len(changed))
        match draw.randrange(5):
            case 0:
                del changed[at:]
            case 1:
                changed[at] ^= 1 << draw.randrange(8)
            case 2:
                changed[at : at + 4] = draw.choice(
                    (b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", b"\0\0\0\0", b"\x80\0\0\0")
                )
            case 3:
                changed[at:at] = changed[at : at + draw.randrange(1, 40)] * draw.randrange(1, 50)
            case _:
                del changed[at : at + draw.randrange(1, 60)]
    return bytes(changed)


@pytest.mark.parametrize("place", ["file", "nbt of 1.16", "nbt of 1.18"])
def test_random_damage_never_gives_anything_but_a_world_or_a_value_error(place, tmp_path):
    draw = random.Random(place)
    errors = []
    for _ in range(NUM_MUTATIONS):
        if place == "file":
            content = mutated(of_chunk(CHUNK_16), draw)
        else:
            content = of_chunk(mutated(CHUNK_16 if place == "nbt of 1.16" else CHUNK_18, draw))
        errors.append(read_within_limits(tmp_path, content))
    # Enough must be noticed, or the damage tested nothing.
    assert sum(map(bool, errors)) > NUM_MUTATIONS // 10


@pytest.mark.parametrize(
    ("module", "limit", "least", "said"),
    [
        ("cut_out", "_MAX_MEAN_CHUNK_BYTES", len(CHUNK_16), "hold more than {} bytes each on average"),
        ("cut_out", "_MAX_STATES", 8, "more than {} different block states"),
        ("save", "_MAX_CHART_CHUNKS", 4, "its chunks lie up to 2 chunks apart"),
    ],
)
def test_what_all_chunks_take_together_is_bounded(module, limit, least, said, tmp_path, monkeypatch):
    module = sys.modules[f"worlds.anvil.{module}"]
    monkeypatch.setattr(module, limit, least)
    assert read(tmp_path, of_chunk(CHUNK_16)) == ""
    monkeypatch.setattr(module, limit, least - 1)
    assert said.format(least - 1) in read(tmp_path, of_chunk(CHUNK_16))


def test_two_files_of_one_place_are_refused(tmp_path):
    (tmp_path / "r.-0.0.mca").write_bytes(of_chunk(CHUNK_16))
    assert "two region files name the same place" in read(tmp_path, of_chunk(CHUNK_16))


@pytest.mark.slow
def test_the_greediest_files_leave_the_process_within_64_mb(tmp_path):
    # In a process of its own, since tracemalloc does not see what zlib and compiled code take.
    greedy = [
        case for case in HOSTILE if any(word in case for word in ("bomb", "million", "huge", "endless", "nested"))
    ]
    folders = [tmp_path / str(i) for i in range(len(greedy) + 1)]
    for folder, content in zip(folders, [of_chunk(CHUNK_16), *(HOSTILE[case]() for case in greedy)], strict=True):
        folder.mkdir()
        (folder / "r.0.0.mca").write_bytes(content)
    script = """
        import resource, sys
        from tests.worlds.anvil.test_anvil_hostile import read_folder
        used = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        good, *greedy = sys.argv[1:]
        assert read_folder(good) == ""
        before = used()
        assert all(read_folder(folder) for folder in greedy)
        print(used() - before)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script), *map(str, folders)],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[3],
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) * 1024 < MAX_EXTRA_BYTES
