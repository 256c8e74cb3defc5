"""Resource packs: the layouts of today and of old, every sort of PNG. The tests make their own packs."""

from pathlib import Path

import numpy as np
import pytest

from tests.worlds.textures.pack_pictures import (
    BLOCK,
    GREY,
    GREY_ALPHA,
    PALETTE,
    RGB,
    RGBA,
    STONE,
    chunk,
    filled,
    folder,
    load,
    png,
    zipped,
)
from worlds.textures.atlas import build_atlas
from worlds.textures.pack_names import picture_paths
from worlds.textures.procedural import build_textures
from worlds.textures.resource_pack import load_resource_pack

pytest.importorskip("cv2")


def test_a_pack_replaces_what_it_has_and_ours_stays_elsewhere(tmp_path: Path) -> None:
    pack = load(tmp_path, STONE | {"assets/minecraft/textures/item/stick.png": png(filled((1, 2, 3, 255)), RGBA)})
    own = build_textures()
    assert (pack.textures["stone"] == (10, 20, 30, 255)).all()
    assert (pack.textures["stick"] == (1, 2, 3, 255)).all()
    assert {n for n in own if (pack.textures[n] != own[n]).any()} == {"stone", "stick"}
    num_names = sum(not name.startswith("mob/") for name in own)
    assert pack.notes[0].startswith(f"2 of {num_names} textures taken; missing, ours stay: ")
    missing = pack.notes[0].partition("stay: ")[2]
    assert missing.endswith(f" and {num_names - 2 - 12} more")
    assert all(name in own for name in missing.partition(" and ")[0].split(", "))
    build_atlas(pack.textures)


@pytest.mark.parametrize(
    ("file", "is_told"),
    [("entity/cow/cow.png", True), ("entity/chicken.png", True), ("entity/chest/normal.png", False), (None, False)],
)
def test_only_a_pack_with_mob_skins_is_told_that_they_are_not_read(
    tmp_path: Path, file: str | None, is_told: bool
) -> None:
    skin = {} if file is None else {f"assets/minecraft/textures/{file}": png(filled((1, 2, 3)), RGB)}
    for pack in (load(tmp_path, STONE | skin), load_resource_pack(zipped(tmp_path / "pack.zip", STONE | skin))):
        assert any("mob skins" in note for note in pack.notes) == is_told


def test_a_folder_and_its_zip_are_the_same_pack(tmp_path: Path) -> None:
    from_folder = load(tmp_path, STONE)
    from_zip = load_resource_pack(zipped(tmp_path / "pack.zip", STONE))
    nested = load_resource_pack(zipped(tmp_path / "nested.zip", {f"My Pack/{name}": c for name, c in STONE.items()}))
    assert from_folder.sha256 == from_zip.sha256 == nested.sha256
    assert len(from_folder.sha256) == 64
    other = load_resource_pack(zipped(tmp_path / "other.zip", {BLOCK + "stone.png": png(filled((10, 20, 31)), RGB)}))
    assert other.sha256 != from_folder.sha256


def test_a_pack_is_named_by_all_that_is_taken_from_it(tmp_path: Path) -> None:
    dark, pale = png(filled((10, 20, 30)), RGB), png(filled((200, 200, 200, 255)), RGBA)
    side, overlay = BLOCK + "grass_block_side.png", BLOCK + "grass_block_side_overlay.png"
    contents = (
        STONE, {BLOCK + "dirt.png": dark}, {side: dark}, {side: dark, overlay: pale},
        {side: dark, overlay: png(filled((90, 90, 90, 255)), RGBA)},
    )  # fmt: skip
    packs = [load_resource_pack(folder(tmp_path / str(n), files)) for n, files in enumerate(contents)]
    assert len({pack.sha256 for pack in packs}) == len(contents)
    unread = folder(tmp_path / "unread", STONE | {BLOCK + "no_block_of_ours.png": dark})
    assert load_resource_pack(unread).sha256 == packs[0].sha256


def test_a_pack_may_lie_one_folder_deeper(tmp_path: Path) -> None:
    folder(tmp_path / "download" / "My Pack", STONE)
    assert (load_resource_pack(tmp_path / "download").textures["stone"][..., 0] == 10).all()


@pytest.mark.parametrize(
    ("old_file", "name"),
    [
        ("blocks/planks_oak.png", "oak_planks"),
        ("blocks/log_big_oak_top.png", "dark_oak_log_top"),
        ("blocks/leaves_spruce.png", "spruce_leaves"),
        ("blocks/wool_colored_silver.png", "light_gray_wool"),
        ("blocks/hardened_clay_stained_light_blue.png", "light_blue_terracotta"),
        ("blocks/glass_red.png", "red_stained_glass"),
        ("blocks/door_wood_upper.png", "oak_door_top"),
        ("blocks/stonebrick.png", "stone_bricks"),
        ("blocks/brick.png", "bricks"),
        ("blocks/grass_top.png", "grass_block_top"),
        ("blocks/furnace_front_off.png", "furnace"),
        ("blocks/flower_rose.png", "poppy"),
        ("blocks/flower_tulip_red.png", "red_tulip"),
        ("blocks/double_plant_syringa_top.png", "lilac_top"),
        ("blocks/wheat_stage_7.png", "wheat_stage7"),
        ("items/wood_pickaxe.png", "wooden_pickaxe"),
        ("items/gold_sword.png", "golden_sword"),
        ("items/gold_ingot.png", "gold_ingot"),
        ("items/beef_raw.png", "beef"),
        ("items/door_wood.png", "oak_door"),
        ("block/cactus_side.png", "cactus"),
        ("block/water_still.png", "water"),
        ("block/short_grass.png", "grass"),
    ],
)
def test_every_name_of_old_and_new_finds_its_texture(old_file: str, name: str) -> None:
    assert old_file in picture_paths(name)


def test_an_old_pack_is_read(tmp_path: Path) -> None:
    files = {"assets/minecraft/textures/blocks/planks_oak.png": png(filled((90, 60, 30)), RGB)}
    assert (load(tmp_path, files).textures["oak_planks"] == (90, 60, 30, 255)).all()


def test_no_name_of_an_old_pack_is_taken_for_another_thing(tmp_path: Path) -> None:
    files = {"blocks/melon_side": 10, "items/melon": 20, "blocks/brick": 30, "items/brick": 40}
    pictures = {f"assets/minecraft/textures/{name}.png": png(filled((n, n, n)), RGB) for name, n in files.items()}
    textures = load(tmp_path, pictures).textures
    found = {name: int(textures[name][0, 0, 0]) for name in ("melon", "melon_slice", "bricks", "brick")}
    assert found == {"melon": 10, "melon_slice": 20, "bricks": 30, "brick": 40}


@pytest.mark.parametrize("px", [16, 32, 48, 64, 512])
def test_every_size_is_averaged_down_to_16_px(tmp_path: Path, px: int) -> None:
    half = filled((200, 0, 0), px)
    half[:, px // 2 :] = (0, 0, 100)
    texture_HWC = load(tmp_path, {BLOCK + "stone.png": png(half, RGB)}).textures["stone"]
    assert (texture_HWC[:, :8] == (200, 0, 0, 255)).all()
    assert (texture_HWC[:, 8:] == (0, 0, 100, 255)).all()


def test_checkers_average_to_their_mean(tmp_path: Path) -> None:
    checkers = filled((0, 0, 0), 32)
    checkers[::2, ::2] = checkers[1::2, 1::2] = 200
    texture_HWC = load(tmp_path, {BLOCK + "stone.png": png(checkers, RGB)}).textures["stone"]
    assert (texture_HWC[..., :3] == 100).all()


def test_the_first_frame_of_an_animation_is_taken(tmp_path: Path) -> None:
    strip = filled((0, 0, 0), 16, tall=64)
    strip[:16] = (200, 100, 50)
    pack = load(tmp_path, {BLOCK + "lava_still.png": png(strip, RGB)})
    assert (pack.textures["lava"] == (200, 100, 50, 255)).all()


def test_grey_palette_and_16_bit_pictures_are_read(tmp_path: Path) -> None:
    palette = chunk(b"PLTE", bytes((1, 2, 3, 40, 50, 60)))
    files = {
        "stone": png(np.full((16, 16), 77, np.uint8), GREY),
        "dirt": png(np.ones((16, 16), np.uint8), PALETTE, extra=palette),
        "gravel": png(np.full((16, 16, 3), 77 * 257, np.uint16), RGB),
        "bricks": png(np.full((16, 16, 4), (9, 8, 7, 255), np.uint16) * 257, RGBA),
        "andesite": png(np.full((16, 16, 2), (55, 255), np.uint8), GREY_ALPHA),
        "granite": png(np.ones((16, 16), np.uint8), GREY, bits=1),
        "poppy": png(np.eye(16, dtype=np.uint8), PALETTE, extra=palette + chunk(b"tRNS", b"\0\xff")),
    }
    textures = load(tmp_path, {f"{BLOCK}{name}.png": content for name, content in files.items()}).textures
    for name, color in (
        ("stone", (77, 77, 77)),
        ("dirt", (40, 50, 60)),
        ("gravel", (77, 77, 77)),
        ("bricks", (9, 8, 7)),
    ):
        assert (textures[name] == (*color, 255)).all(), name
    assert (textures["andesite"] == (55, 55, 55, 255)).all()
    assert (textures["granite"] == 255).all()
    np.testing.assert_array_equal(textures["poppy"][..., 3], np.eye(16) * 255)
    assert (textures["poppy"][np.eye(16, dtype=bool)] == (40, 50, 60, 255)).all()


@pytest.mark.parametrize("depth_bits", [8, 16])
def test_the_grey_that_means_transparent_is(tmp_path: Path, depth_bits: int) -> None:
    grey_HW = np.full((16, 16), 200, np.uint8 if depth_bits == 8 else np.uint16)
    grey_HW[:, 8:] = 7
    poppy = png(grey_HW, GREY, extra=chunk(b"tRNS", b"\0\x07"))
    alpha_HW = load(tmp_path, {f"{BLOCK}poppy.png": poppy}).textures["poppy"][..., 3]
    assert (alpha_HW[:, :8] == 255).all()
    assert not alpha_HW[:, 8:].any()


def test_grey_plants_and_water_get_the_colour_of_plains_and_coloured_ones_keep_theirs(tmp_path: Path) -> None:
    files = {name: png(filled((200, 200, 200)), RGB) for name in ("grass_block_top", "spruce_leaves", "stone")}
    files["water_still"] = png(filled((255, 255, 255, 180)), RGBA)
    files["oak_leaves"] = png(filled((200, 40, 40)), RGB)
    textures = load(tmp_path, {f"{BLOCK}{name}.png": content for name, content in files.items()}).textures
    assert tuple(textures["grass_block_top"][0, 0, :3]) == (114, 148, 70)
    assert tuple(textures["spruce_leaves"][0, 0, :3]) == (76, 120, 76)
    assert tuple(textures["water"][0, 0]) == (0x3F, 0x76, 0xE4, 255)
    assert tuple(textures["oak_leaves"][0, 0, :3]) == (200, 40, 40)
    assert tuple(textures["stone"][0, 0, :3]) == (200, 200, 200)


def test_the_grey_fringe_of_grass_is_laid_over_its_dirt(tmp_path: Path) -> None:
    overlay = filled((0, 0, 0, 0))
    overlay[:3] = (255, 255, 255, 255)
    files = {
        BLOCK + "grass_block_side.png": png(filled((120, 80, 50)), RGB),
        BLOCK + "grass_block_side_overlay.png": png(overlay, RGBA),
    }
    side_HWC = load(tmp_path, files).textures["grass_block_side"]
    assert (side_HWC[:3, :, :3] == (0x91, 0xBD, 0x59)).all()
    assert (side_HWC[3:, :, :3] == (120, 80, 50)).all()


def test_alpha_follows_our_own_textures(tmp_path: Path) -> None:
    holes = filled((0, 0, 0, 0))
    holes[:, :8] = (100, 160, 60, 255)
    files = {"oak_leaves": png(holes, RGBA), "poppy": png(holes, RGBA)}
    files["red_stained_glass"] = png(filled((200, 30, 30, 128)), RGBA)
    textures = load(tmp_path, {f"{BLOCK}{name}.png": content for name, content in files.items()}).textures
    assert (textures["oak_leaves"][..., 3] == 255).all()  # leaves are cubes: holes become shade
    assert (textures["oak_leaves"][:, 8:, :3] == (45, 72, 27)).all()
    assert (textures["poppy"][:, 8:, 3] == 0).all()
    seen_HW = textures["red_stained_glass"][..., 3] == 255  # half transparent: every second pixel
    assert 0.4 < seen_HW.mean() < 0.6
    assert seen_HW.reshape(4, 4, 4, 4).mean(axis=(1, 3)).std() == 0.0
    assert (textures["red_stained_glass"][..., :3] == (200, 30, 30)).all()
