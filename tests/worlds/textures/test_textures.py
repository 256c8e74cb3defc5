"""Our own textures: complete, stable, different enough to tell apart; and the atlas that renderers read."""

import hashlib
from itertools import combinations

import numpy as np
import pytest

from worlds.blocks import BLOCKS
from worlds.items import all_texture_names
from worlds.mobs.skins import mob_textures
from worlds.textures.atlas import MIP_OFFSETS, NUM_FACE_TEXELS, build_atlas, texture_rows
from worlds.textures.dyed import DYES
from worlds.textures.flowers import DRAWINGS as FLOWERS
from worlds.textures.patterns import grain, lumps, paint
from worlds.textures.plants import DRAWINGS as PLANTS
from worlds.textures.procedural import build_textures
from worlds.textures.wood import DRAWINGS as WOOD

# The textures of the first 48 kinds of blocks: trained agents and golden frames hold their colours.
FIRST_NAMES = """
andesite bedrock birch_leaves birch_log birch_log_top bookshelf bricks cactus cactus_top coal_block coal_ore
cobblestone crafting_table crafting_table_top diamond_block diamond_ore diorite dirt emerald_block furnace
furnace_top gold_block gold_ore granite grass_block_side grass_block_snow grass_block_top gravel hay_block
hay_block_top ice iron_block iron_ore lapis_block lapis_ore magenta_wool melon melon_top mossy_cobblestone
oak_leaves oak_log oak_log_top oak_planks pumpkin pumpkin_top redstone_block redstone_ore sand sandstone
sandstone_top snow_block spruce_leaves spruce_log spruce_log_top stone tnt tnt_top water white_wool
""".split()
FIRST_SHA256 = "4ece06cfd0cf7c17a11ebebc48627c623b334044b5f2da3f29d1c3bfc0e8caf5"
# After a wanted change of any other texture, print the new values: hashes of all of blocks and items by name.
GOLDEN_SHA256 = {
    0: "af82d082b3385a63c673555ca5c0cbd27b578778e35dcfdd2c34e2a0229cc3d3",
    7: "5463f31a5a8612d0a42be6ac5e19cbed628b6b22aaac7155c9c4f3a833c06696",
}
LEVEL_PX = (16, 8, 4, 2, 1)


@pytest.fixture(scope="module")
def textures() -> dict[str, np.ndarray]:
    return build_textures()


@pytest.fixture(scope="module")
def atlas_TN(textures: dict[str, np.ndarray]) -> np.ndarray:
    return build_atlas(textures).reshape(-1, NUM_FACE_TEXELS)


def quarter_size(texture_HWC: np.ndarray) -> np.ndarray:
    """Return the texture at 4 x 4 pixels: what is left of it about 16 blocks away."""
    return texture_HWC[..., :3].astype(float).reshape(4, 4, 4, 4, 3).mean(axis=(1, 3))


def level(atlas_N: np.ndarray, number: int) -> np.ndarray:
    """Return one size of one texture, uint8 [size, size, 4]."""
    px = LEVEL_PX[number]
    texels_N = atlas_N[MIP_OFFSETS[number] : MIP_OFFSETS[number] + px * px]
    return np.stack([texels_N >> shift & 255 for shift in (0, 8, 16, 24)], axis=-1).astype(np.uint8).reshape(px, px, 4)


def digest(textures: dict[str, np.ndarray], *, channels: int) -> str:
    parts = [name.encode() + textures[name][..., :channels].tobytes() for name in sorted(textures)]
    return hashlib.sha256(b"".join(parts)).hexdigest()


def test_all_that_blocks_items_and_mobs_show_is_drawn_and_nothing_else(textures: dict[str, np.ndarray]) -> None:
    assert set(textures) == {*all_texture_names(), *mob_textures()}
    assert list(textures) == sorted(textures)
    for name, texture_HWC in textures.items():
        assert texture_HWC.shape == (16, 16, 4), name
        assert texture_HWC.dtype == np.uint8, name


def test_the_first_textures_keep_their_colours_and_are_opaque(textures: dict[str, np.ndarray]) -> None:
    first = {name: textures[name] for name in FIRST_NAMES}
    found = digest(first, channels=3)
    assert found == FIRST_SHA256, f"the textures are now {found}"
    assert all((texture_HWC[..., 3] == 255).all() for texture_HWC in first.values())


@pytest.mark.parametrize("variant", sorted(GOLDEN_SHA256))
def test_textures_never_change_by_accident(variant: int) -> None:
    textures = build_textures(variant)
    found = digest({name: textures[name] for name in all_texture_names()}, channels=4)
    assert found == GOLDEN_SHA256[variant], f"variant {variant} is now {found}"


def test_alpha_is_all_or_nothing(textures: dict[str, np.ndarray]) -> None:
    half_clear = [name for name, t_HWC in textures.items() if not np.isin(t_HWC[..., 3], (0, 255)).all()]
    assert not half_clear


def test_any_two_kinds_of_blocks_look_different_from_afar(textures: dict[str, np.ndarray]) -> None:
    alike = []
    for a, b in combinations(BLOCKS[1:48], 2):
        faces = zip(a.textures, b.textures, strict=True)
        difference = max(
            np.sqrt(np.mean((quarter_size(textures[p]) - quarter_size(textures[q])) ** 2)) for p, q in faces
        )
        if difference < 10.0:
            alike.append((a.name, b.name, round(difference, 1)))
    assert not alike


def test_any_two_cubes_differ_by_more_than_grain(textures: dict[str, np.ndarray]) -> None:
    cubes = [kind for kind in BLOCKS if kind.shape in ("cube", "column", "front", "furnace")]
    pictures = {
        kind.name: np.stack([textures[n][..., :3].astype(float) for n in (*kind.textures, kind.front) if n])
        for kind in cubes
    }
    alike = [
        (a, b)
        for a, b in combinations(pictures, 2)
        if len(pictures[a]) == len(pictures[b]) and np.sqrt(np.mean((pictures[a] - pictures[b]) ** 2)) < 6.0
    ]
    assert not alike


def test_every_opaque_texture_has_structure(textures: dict[str, np.ndarray]) -> None:
    opaque = {name: t_HWC for name, t_HWC in textures.items() if t_HWC[..., 3].all()}
    flat = [name for name, t_HWC in opaque.items() if len(np.unique(t_HWC.reshape(-1, 4), axis=0)) < 3]
    assert not flat


def test_the_grass_fringe_hangs_over_dirt(textures: dict[str, np.ndarray]) -> None:
    side_HWC = textures["grass_block_side"].astype(int)
    is_green_HW = side_HWC[..., 1] > side_HWC[..., 0]
    assert is_green_HW[:2].all()
    assert not is_green_HW[6:].any()
    assert len(np.unique(is_green_HW.sum(axis=0))) >= 3


def test_ores_are_stone_but_for_their_grains(textures: dict[str, np.ndarray]) -> None:
    for name in ("coal_ore", "iron_ore", "gold_ore", "diamond_ore", "redstone_ore", "lapis_ore", "emerald_ore"):
        share = (textures[name] != textures["stone"]).any(axis=-1).mean()
        assert 0.1 < share < 0.35, name


def test_plants_have_silhouettes_that_stand_on_the_ground(textures: dict[str, np.ndarray]) -> None:
    for name in (*PLANTS, *FLOWERS):
        is_seen_HW = textures[name][..., 3] > 0
        assert 0.1 < is_seen_HW.mean() < 0.85, name
        if name not in ("lily_pad", "sunflower_front"):
            assert is_seen_HW[15].any(), f"{name} floats"


def test_the_two_halves_of_tall_plants_and_doors_meet(textures: dict[str, np.ndarray]) -> None:
    halves = [name.removesuffix("_top") for name in (*PLANTS, *FLOWERS, *WOOD) if name.endswith("_top")]
    halves = [name for name in halves if f"{name}_bottom" in textures]
    assert len(halves) >= 9
    for name in halves:
        above_W = textures[f"{name}_top"][15, :, 3] > 0
        below_W = textures[f"{name}_bottom"][0, :, 3] > 0
        assert (above_W & below_W).any(), name


def test_glass_is_a_frame_around_a_clear_pane(textures: dict[str, np.ndarray]) -> None:
    alpha_HW = textures["glass"][..., 3]
    assert alpha_HW[[0, 15]].all()
    assert alpha_HW[:, [0, 15]].all()
    assert (alpha_HW[1:15, 1:15] == 0).mean() > 0.9


@pytest.mark.parametrize("variant", range(13))
def test_sixteen_dyes_stay_apart_and_keep_their_names_in_every_variant(
    textures: dict[str, np.ndarray], variant: int
) -> None:
    variants = build_textures(variant)
    means = {dye: variants[f"{dye}_wool"][..., :3].mean(axis=(0, 1)) for dye in DYES}
    originals = {dye: textures[f"{dye}_wool"][..., :3].mean(axis=(0, 1)) for dye in DYES}
    assert len(means) == 16
    assert min(np.linalg.norm(means[a] - means[b]) for a, b in combinations(means, 2)) > 25.0
    for dye, mean_3 in means.items():
        assert min(originals, key=lambda other: float(np.linalg.norm(originals[other] - mean_3))) == dye


def test_variants_recolour_everything_but_keep_it_recognisable(textures: dict[str, np.ndarray]) -> None:
    variants = build_textures(5)
    assert list(variants) == list(textures)
    unchanged = [name for name in textures if (variants[name] == textures[name]).all()]
    assert not unchanged
    for name in ("stone", "oak_planks", "grass_block_top", "sand", "gold_block", "mob/cow"):
        shift_3 = (variants[name].astype(float) - textures[name])[..., :3].mean(axis=(0, 1))
        assert 2.0 < np.abs(shift_3).max() < 60.0, name
    assert any((build_textures(6)[name] != variants[name]).any() for name in textures)


def test_a_negative_variant_is_refused() -> None:
    with pytest.raises(ValueError, match="variant"):
        build_textures(-1)


def test_lumps_cover_every_shade_equally() -> None:
    value_HW = lumps("any", wide=4, tall=2)
    assert (np.histogram(value_HW, bins=4, range=(0, 1))[0] == 64).all()
    assert len(np.unique(paint(value_HW, [(0, 0, 0), (9, 9, 9), (20, 20, 20), (30, 30, 30)]))) == 4


def test_grain_depends_on_name_and_layer() -> None:
    assert (grain("a") == grain("a")).all()
    assert (grain("a") != grain("b")).any()
    assert (grain("a") != grain("a", 1)).any()


def test_atlas_rows_are_the_sorted_names(textures: dict[str, np.ndarray], atlas_TN: np.ndarray) -> None:
    assert list(texture_rows()) == sorted(textures)
    assert list(texture_rows().values()) == list(range(len(textures)))
    for name in ("stone", "glass", "poppy", "mob/cow"):
        np.testing.assert_array_equal(level(atlas_TN[texture_rows()[name]], 0), textures[name])


def test_smaller_sizes_of_opaque_textures_are_means(textures: dict[str, np.ndarray], atlas_TN: np.ndarray) -> None:
    for name in ("stone", "tnt", "oak_log_top"):
        for number, px in enumerate(LEVEL_PX):
            mean_HWC = textures[name].astype(float).reshape(px, 16 // px, px, 16 // px, 4).mean(axis=(1, 3))
            np.testing.assert_allclose(level(atlas_TN[texture_rows()[name]], number), mean_HWC, atol=0.51)


def test_cutouts_cover_the_same_share_at_every_size(textures: dict[str, np.ndarray], atlas_TN: np.ndarray) -> None:
    for name, row in texture_rows().items():
        share = (textures[name][..., 3] > 0).mean()
        if share == 1.0 or name == "torch":
            continue
        for number, slack in ((1, 0.01), (2, 0.04), (3, 0.13)):
            alpha_HW = level(atlas_TN[row], number)[..., 3]
            assert np.isin(alpha_HW, (0, 255)).all()
            assert abs((alpha_HW > 0).mean() - share) <= slack, (name, number)


def test_a_cutout_seen_as_one_texel_is_drawn_from_a_quarter_on(
    textures: dict[str, np.ndarray], atlas_TN: np.ndarray
) -> None:
    share = {name: (textures[name][..., 3] > 0).mean() for name in texture_rows() if name != "torch"}
    is_seen = {name: level(atlas_TN[texture_rows()[name]], 4)[0, 0, 3] == 255 for name in share}
    assert is_seen == {name: covered >= 0.25 for name, covered in share.items()}
    assert is_seen["grass"]
    assert not is_seen["dandelion"]


def test_a_screen_of_pixels_stays_spread_out(atlas_TN: np.ndarray) -> None:
    alpha_HW = level(atlas_TN[texture_rows()["red_stained_glass"]], 1)[1:7, 1:7, 3] > 0
    quadrants = alpha_HW.reshape(2, 3, 2, 3).mean(axis=(1, 3))
    assert quadrants.min() > 0.2


def test_a_far_torch_stays_whole(atlas_TN: np.ndarray) -> None:
    assert all((level(atlas_TN[texture_rows()["torch"]], number)[..., 3] == 255).all() for number in (1, 2, 3, 4))


def test_what_is_clear_has_no_say_in_the_colour_of_smaller_sizes(textures: dict[str, np.ndarray]) -> None:
    changed = dict(textures)
    changed["poppy"] = textures["poppy"].copy()
    changed["poppy"][changed["poppy"][..., 3] == 0] = (255, 0, 255, 0)
    row = texture_rows()["poppy"]
    texels_N = build_atlas(changed).reshape(-1, NUM_FACE_TEXELS)[row]
    seen_N3 = textures["poppy"][textures["poppy"][..., 3] > 0][:, :3]
    for number in (1, 2, 3, 4):
        rgba_HWC = level(texels_N, number)
        assert (rgba_HWC[..., :3] <= seen_N3.max(axis=0)).all()
        assert (rgba_HWC[..., :3] >= seen_N3.min(axis=0)).all()


def test_the_atlas_names_what_is_missing_or_misshapen(textures: dict[str, np.ndarray]) -> None:
    without = {name: t_HWC for name, t_HWC in textures.items() if name != "cactus"}
    with pytest.raises(ValueError, match="cactus missing"):
        build_atlas(without)
    with pytest.raises(ValueError, match=r"'cactus' is uint8 \(16, 16, 3\)"):
        build_atlas(textures | {"cactus": np.zeros((16, 16, 3), np.uint8)})
