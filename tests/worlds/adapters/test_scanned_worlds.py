"""Claims about scans of other engines' worlds that are kept on disk."""

import numpy as np
import pytest

from worlds.adapters.engine import Scan
from worlds.adapters.scanned_worlds import ScannedWorlds
from worlds.spec import WorldSpec

SPEC = WorldSpec(seed=1, size_blocks=(32, 64, 32))


def make_scan(spec: WorldSpec) -> Scan:
    size_x, size_y, size_z = spec.size_blocks
    index_XZY = np.zeros((size_x, size_z, size_y), np.uint16)
    index_XZY[:, :, : size_y // 2] = 1
    return Scan(["air", "stone"], index_XZY)


@pytest.fixture
def worlds(tmp_path):
    """Worlds of which one was scanned before and is kept, not in memory."""
    ScannedWorlds(make_scan, folder=tmp_path).get([SPEC])
    return ScannedWorlds(make_scan, folder=tmp_path)


def test_a_kept_scan_need_not_be_made_again(worlds):
    assert worlds.has(SPEC)


def test_a_damaged_scan_is_as_good_as_none_whichever_byte_it_is(worlds, tmp_path):
    (path,) = tmp_path.glob("*.npz")
    content = path.read_bytes()
    answers = set()
    for place, byte in enumerate(content):
        path.write_bytes(content[:place] + bytes([byte ^ 0x55]) + content[place + 1 :])
        answers.add(worlds.has(SPEC))
    assert answers == {True, False}  # a flipped date harms nothing
    path.write_bytes(content[: len(content) // 2])
    assert not worlds.has(SPEC)
    assert worlds.get([SPEC])[0].world.spec == SPEC
    assert path.read_bytes() != content[: len(content) // 2]


@pytest.mark.parametrize("dtype", ["float32", "bool", "int32"])
def test_a_kept_scan_of_other_numbers_is_as_good_as_none(worlds, tmp_path, dtype):
    (path,) = tmp_path.glob("*.npz")
    np.savez_compressed(path, names=np.array(["air", "stone"]), index_XZY=make_scan(SPEC).index_XZY.astype(dtype))
    assert not worlds.has(SPEC)
    assert worlds.get([SPEC])[0].world.spec == SPEC


def test_what_is_no_world_is_not_kept(tmp_path):
    def scan_strangely(spec: WorldSpec) -> Scan:
        return Scan(["air"], make_scan(spec).index_XZY)  # whose index 1 is no name's

    with pytest.raises(IndexError):
        ScannedWorlds(scan_strangely, folder=tmp_path).get([SPEC])
    assert not list(tmp_path.iterdir())
