"""Claims about worlds that an independent server wrote: our reader sees in them what its client sees, block by block.

flying-squid writes, and tells mineflayer over Minecraft's own protocol; neither shares a line with worlds.anvil.
"""

import json
import os
import shutil
import socket
import subprocess
from pathlib import Path

import numpy as np
import pytest

from worlds.anvil import open_save
from worlds.anvil.chunk import parse_state

PROGRAM = Path(__file__).with_name("saves") / "write_world.js"
# Where `npm install` of saves/package.json was done; .ci/run says so.
PACKAGES = Path(os.environ.get("MCRL_TEST_SAVES") or PROGRAM.parent) / "node_modules"
# Before 1.18, after it, and the newest that flying-squid knows. Worlds from before 1.13 are refused by the reader.
VERSIONS = ("1.16.5", "1.18.2", "1.21.4")
LIMIT_S = 120


def write_world(version: str, folder: Path) -> dict:
    if shutil.which("node") is None:
        pytest.skip("there is no node here; install Node.js 20 or newer")
    if not (PACKAGES / "flying-squid").is_dir():
        pytest.skip(f"flying-squid is not in {PACKAGES}; run `npm install` in tests/worlds/saves")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    # A copy beside the packages: node looks for them from where the program lies.
    program = folder / PROGRAM.name
    shutil.copy(PROGRAM, program)
    (folder / "node_modules").symlink_to(PACKAGES.resolve(), target_is_directory=True)
    done = subprocess.run(
        ["node", str(program), version, str(port), str(folder)],
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        cwd=folder,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads((folder / "seen.json").read_text())


def read_column(save, chunk_x: int, chunk_z: int, *, min_y: int, height: int) -> np.ndarray:
    """Return the names our reader gives, object [Y, Z, X]."""
    found = save.read_chunk(chunk_x, chunk_z)
    assert found is not None, f"no chunk ({chunk_x}, {chunk_z})"
    chunk = found[0]
    name_YZX = np.full((height, 16, 16), "minecraft:air", object)
    for section in chunk.section_ys:
        low = section * 16 - min_y
        if not 0 <= low < height:
            continue
        palette = np.array([str(parse_state(raw, chunk.where)) for raw in chunk.palette(section)], object)
        name_YZX[low : low + 16] = palette[chunk.cells(section, len(palette))]
    return name_YZX


@pytest.mark.slow
@pytest.mark.parametrize("version", VERSIONS)
def test_our_reader_sees_every_block_that_the_protocol_tells(version, tmp_path):
    seen = write_world(version, tmp_path)
    height = seen["height"]
    id_KYZX = np.fromfile(tmp_path / "seen.bin", "<i4").reshape(len(seen["columns"]), height, 16, 16)
    save = open_save(tmp_path / "world")
    wrong: dict[tuple[str, str], int] = {}
    kinds, num_compared = set(), 0
    for (chunk_x, chunk_z), id_YZX in zip(seen["columns"], id_KYZX, strict=True):
        ids, inverse = np.unique(id_YZX, return_inverse=True)
        theirs_YZX = np.array([seen["names"][str(number)] for number in ids], object)[inverse.reshape(id_YZX.shape)]
        ours_YZX = read_column(save, chunk_x, chunk_z, min_y=seen["min_y"], height=height)
        for ours, theirs in zip(ours_YZX[ours_YZX != theirs_YZX], theirs_YZX[ours_YZX != theirs_YZX], strict=True):
            wrong[ours, theirs] = wrong.get((ours, theirs), 0) + 1
        kinds.update(theirs_YZX.ravel().tolist())
        num_compared += theirs_YZX.size
    assert not wrong, f"{sum(wrong.values())} of {num_compared} differ, for instance {list(wrong.items())[:5]}"
    assert len(kinds) > 150, "the world is too plain to tell anything"
    print(f"{version}: {num_compared} blocks of {len(seen['columns'])} chunks, {len(kinds)} states, all equal")
