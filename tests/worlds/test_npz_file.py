"""Claims about archives of arrays that were damaged."""

import re

import numpy as np
import pytest

from worlds.npz_file import read_arrays

# The last bit, what makes deflate into lzma, many bits, all of them.
MASKS = (0x01, 0x06, 0x55, 0xFF)


@pytest.fixture
def archive(tmp_path):
    path = tmp_path / "arrays.npz"
    np.savez_compressed(path, names=np.array(["stone", "dirt"]), index=np.arange(24, dtype=np.uint16).reshape(2, 3, 4))
    return path


def test_arrays_come_in_the_order_of_their_names(archive):
    index, names = read_arrays(archive, ("index", "names"))
    assert index.dtype == np.uint16
    assert index[1, 2, 3] == 23
    assert names.tolist() == ["stone", "dirt"]


@pytest.mark.parametrize("mask", MASKS)
def test_any_byte_that_flips_leaves_the_arrays_or_says_that_they_are_damaged(archive, mask):
    whole, content = read_arrays(archive, ("index", "names")), archive.read_bytes()
    refusals = []
    for place, byte in enumerate(content):
        archive.write_bytes(content[:place] + bytes([byte ^ mask]) + content[place + 1 :])
        try:
            read = read_arrays(archive, ("index", "names"))
        except ValueError as error:
            refusals.append(str(error))
        else:
            assert all(np.array_equal(one, other) for one, other in zip(read, whole, strict=True))
    assert len(refusals) > len(content) / 2
    assert all(said.startswith("not a whole .npz file: ") for said in refusals)


def test_an_archive_that_is_cut_short_anywhere_is_damaged(archive):
    content = archive.read_bytes()
    for num_bytes in range(len(content)):
        archive.write_bytes(content[:num_bytes])
        with pytest.raises(ValueError, match=r"not a whole \.npz file"):
            read_arrays(archive, ("index",))


def test_an_array_that_is_lacking_is_named(archive):
    with pytest.raises(ValueError, match=re.escape("weights.npy")):
        read_arrays(archive, ("index", "weights"))


def test_a_pickled_array_is_not_run(tmp_path):
    path = tmp_path / "pickled.npz"
    np.savez_compressed(path, index=np.array([{}], dtype=object))
    with pytest.raises(ValueError, match="not a whole"):
        read_arrays(path, ("index",))
