"""Claims about the places that are chosen in a save: whole, generated, the surface where it belongs."""

import numpy as np
import pytest

from tests.worlds.anvil.anvil_files import chunk, region, write_save
from tests.worlds.anvil.test_anvil import hills, spec_of
from worlds.anvil import open_save, read_world, suggest_origin
from worlds.spec import World


def test_the_suggested_origin_puts_the_surface_into_the_lower_half(tmp_path):
    save = open_save(write_save(tmp_path, hills, "1.18", chunks=range(-2, 2), ys=range(-1, 2)))
    world = read_world(save, spec_of(save, suggest_origin(save, (32, 64, 32))))
    assert 24 <= np.median(world.ground_XZ[1:, 1:]) <= 32


def test_the_suggested_origin_keeps_to_what_was_generated(tmp_path):
    held = {(x, z): chunk(hills, x, z, "1.16", ys=range(2)) for x in range(4) for z in range(3) if (x, z) != (1, 1)}
    held[3, 0] = chunk(hills, 3, 0, "1.16", ys=range(2), status="noise")
    (tmp_path / "r.0.0.mca").write_bytes(region(held))
    save = open_save(tmp_path)
    x, y, z = suggest_origin(save, (32, 64, 32))
    assert (x, z) == (32, 16)
    assert isinstance(read_world(save, spec_of(save, (x, y, z))), World)
    with pytest.raises(ValueError, match="no 64 x 64 blocks of it were generated as a whole; .* or choose a smaller"):
        suggest_origin(save, (64, 64, 64))
    (tmp_path / "r.0.0.mca").write_bytes(region({(0, 0): held[0, 0]}))
    with pytest.raises(ValueError, match="no 32 x 32 blocks .* explore more of the world$"):
        suggest_origin(open_save(tmp_path), (32, 64, 32))


def test_the_suggested_origin_keeps_to_what_can_be_read(tmp_path):
    held = {(x, z): chunk(hills, x, z, "1.16", ys=range(2)) for x in range(6) for z in range(4)}
    held[1, 1] = held[1, 1][:-200]  # which no corner of a cut-out in the middle is
    path = tmp_path / "r.0.0.mca"
    path.write_bytes(region(held))
    whole = open_save(tmp_path)
    with pytest.raises(ValueError, match=r"chunk \(1, 1\)"):
        read_world(whole, spec_of(whole, (0, 0, 0), side=64))
    x, y, z = suggest_origin(whole, (64, 64, 64))
    assert (x, z) == (32, 0)
    assert isinstance(read_world(whole, spec_of(whole, (x, y, z), side=64)), World)

    path.write_bytes(path.read_bytes()[: -6 * 4096])  # the disk was full
    cut = open_save(tmp_path)
    assert 0 < cut.num_cut_off == whole.num_chunks - cut.num_chunks < 24
    x, y, z = suggest_origin(cut, (32, 64, 32))
    assert isinstance(read_world(cut, spec_of(cut, (x, y, z))), World)


def test_one_broken_chunk_in_the_middle_hides_no_save(tmp_path):
    good, bad = (chunk(hills, 0, 0, "1.16", ys=range(2)), chunk(hills, 0, 0, "1.16", ys=range(2))[:-200])
    (tmp_path / "r.0.0.mca").write_bytes(
        region({(x, z): bad if (x, z) == (10, 10) else good for x in range(20) for z in range(20)})
    )
    save = open_save(tmp_path)
    x, _, z = suggest_origin(save)
    assert not (0 <= 160 - x < 128 and 0 <= 160 - z < 128)


def test_the_suggested_origin_is_near_the_middle(tmp_path):
    held = chunk(hills, 0, 0, "1.16", ys=range(2))
    (tmp_path / "r.0.0.mca").write_bytes(region({(x, z): held for x in range(9) for z in range(7)}))
    x, _, z = suggest_origin(open_save(tmp_path), (48, 64, 48))
    assert abs(x - 48) <= 16
    assert abs(z - 32) <= 16
