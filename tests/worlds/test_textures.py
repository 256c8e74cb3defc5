"""Our own textures: complete, stable, and different enough to tell blocks apart at a distance."""

import hashlib
from itertools import combinations

import numpy as np
import pytest

from worlds.blocks import BLOCKS
from worlds.textures.patterns import grain, lumps, paint
from worlds.textures.procedural import build_textures

# After a wanted change of any texture, print the new value: it is the hash of all textures in the order of names.
GOLDEN_SHA256 = "4ece06cfd0cf7c17a11ebebc48627c623b334044b5f2da3f29d1c3bfc0e8caf5"


@pytest.fixture(scope="module")
def textures() -> dict[str, np.ndarray]:
    return build_textures()


def quarter_size(texture_HWC: np.ndarray) -> np.ndarray:
    """Return the texture at 4 x 4 pixels: what is left of it about 16 blocks away."""
    return texture_HWC.astype(float).reshape(4, 4, 4, 4, 3).mean(axis=(1, 3))


def test_every_texture_a_block_names_is_drawn(textures: dict[str, np.ndarray]) -> None:
    assert set(textures) == {name for kind in BLOCKS for name in kind.textures if name}
    for name, texture_HWC in textures.items():
        assert texture_HWC.shape == (16, 16, 3), name
        assert texture_HWC.dtype == np.uint8, name


def test_textures_never_change_by_accident(textures: dict[str, np.ndarray]) -> None:
    digest = hashlib.sha256(b"".join(name.encode() + textures[name].tobytes() for name in sorted(textures)))
    assert digest.hexdigest() == GOLDEN_SHA256


def test_any_two_kinds_of_blocks_look_different_from_afar(textures: dict[str, np.ndarray]) -> None:
    alike = []
    for a, b in combinations(BLOCKS[1:], 2):
        faces = zip(a.textures, b.textures, strict=True)
        difference = max(
            np.sqrt(np.mean((quarter_size(textures[p]) - quarter_size(textures[q])) ** 2)) for p, q in faces
        )
        if difference < 10.0:
            alike.append((a.name, b.name, round(difference, 1)))
    assert not alike


def test_every_texture_has_structure(textures: dict[str, np.ndarray]) -> None:
    flat = [name for name, texture_HWC in textures.items() if len(np.unique(texture_HWC.reshape(-1, 3), axis=0)) < 3]
    assert not flat


def test_the_grass_fringe_hangs_over_dirt(textures: dict[str, np.ndarray]) -> None:
    side_HWC = textures["grass_block_side"].astype(int)
    is_green_HW = side_HWC[..., 1] > side_HWC[..., 0]
    assert is_green_HW[:2].all()
    assert not is_green_HW[6:].any()
    assert len(np.unique(is_green_HW.sum(axis=0))) >= 3


def test_ores_are_stone_but_for_their_grains(textures: dict[str, np.ndarray]) -> None:
    for name in ("coal_ore", "iron_ore", "gold_ore", "diamond_ore", "redstone_ore", "lapis_ore"):
        share = (textures[name] != textures["stone"]).any(axis=-1).mean()
        assert 0.1 < share < 0.35, name


def test_lumps_cover_every_shade_equally() -> None:
    value_HW = lumps("any", wide=4, tall=2)
    assert (np.histogram(value_HW, bins=4, range=(0, 1))[0] == 64).all()
    assert len(np.unique(paint(value_HW, [(0, 0, 0), (9, 9, 9), (20, 20, 20), (30, 30, 30)]))) == 4


def test_grain_depends_on_name_and_layer() -> None:
    assert (grain("a") == grain("a")).all()
    assert (grain("a") != grain("b")).any()
    assert (grain("a") != grain("a", 1)).any()
