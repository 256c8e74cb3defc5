"""Resource packs that are none, broken or hostile: each is refused or mended in one sentence."""

import os
import struct
import zlib
from pathlib import Path

import pytest

from tests.worlds.textures.pack_pictures import (
    BLOCK,
    RGB,
    STONE,
    chunk,
    filled,
    folder,
    load,
    png,
    zipped,
)
from worlds.textures import pack_files
from worlds.textures.resource_pack import load_resource_pack

pytest.importorskip("cv2")


def test_pictures_of_odd_shapes_are_left_out_with_a_note(tmp_path: Path) -> None:
    files = STONE | {
        BLOCK + "dirt.png": png(filled((1, 1, 1), 8), RGB),
        BLOCK + "sand.png": png(filled((1, 1, 1), 16, tall=24), RGB),
    }
    pack = load(tmp_path, files)
    assert pack.notes[0].startswith("1 of ")
    assert "block/dirt.png left out: it is 8 px wide, wanted 16 to 512" in pack.notes
    assert "block/sand.png left out: it is 16 x 24 px, neither square nor a strip of squares" in pack.notes


def test_what_is_no_pack_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no such path"):
        load_resource_pack(tmp_path / "nowhere")
    with pytest.raises(ValueError, match="holds no assets/minecraft/textures"):
        load_resource_pack(folder(tmp_path / "empty", {"readme.txt": b"hello"}))
    with pytest.raises(ValueError, match="holds no assets/minecraft/textures"):
        load_resource_pack(zipped(tmp_path / "empty.zip", {"readme.txt": b"hello"}))
    with pytest.raises(ValueError, match="holds no picture"):
        load_resource_pack(folder(tmp_path / "sounds", {BLOCK + "readme.txt": b"hello"}))
    skins = {"assets/minecraft/textures/entity/cow/cow.png": png(filled((1, 2, 3)), RGB)}
    with pytest.raises(ValueError, match="holds no picture of a block .*, and mob skins are not read; give a pack"):
        load_resource_pack(folder(tmp_path / "skins", skins))
    misshapen = folder(tmp_path / "misshapen", {BLOCK + "sand.png": png(filled((1, 2, 3), 16, tall=24), RGB)})
    with pytest.raises(ValueError, match=r"no picture that can be used: block/sand.png left out: it is 16 x 24 px"):
        load_resource_pack(misshapen)
    (tmp_path / "text.zip").write_bytes(b"no zip at all")
    with pytest.raises(ValueError, match="neither a folder nor a zip"):
        load_resource_pack(tmp_path / "text.zip")
    whole = zipped(tmp_path / "whole.zip", STONE).read_bytes()
    (tmp_path / "cut.zip").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match=r"cut\.zip: a zip that is cut short; download it again"):
        load_resource_pack(tmp_path / "cut.zip")


@pytest.mark.parametrize("damage", ["empty", "text", "jpeg", "cut", "flipped", "no end", "wrong data"])
def test_a_broken_png_is_left_out_with_a_note(tmp_path: Path, damage: str) -> None:
    whole = STONE[BLOCK + "stone.png"]
    flipped = bytearray(whole)
    flipped[45] ^= 0x10
    header = struct.pack(">IIBBBBB", 16, 16, 8, RGB, 0, 0, 0)
    wrong = whole[:8] + chunk(b"IHDR", header) + chunk(b"IDAT", b"\xff" * 40) + chunk(b"IEND", b"")
    content = {
        "empty": b"",
        "text": b"<html>404</html>",
        "jpeg": b"\xff\xd8\xff\xe0\x00\x10JFIF" + b"\0" * 40,
        "cut": whole[:50],
        "flipped": bytes(flipped),
        "no end": whole[:-12],
        "wrong data": wrong,
    }[damage]
    said = f"left out: it is no {'readable' if damage == 'wrong data' else 'whole'} PNG"
    pack = load(tmp_path, STONE | {BLOCK + "dirt.png": content})
    assert pack.notes[0].startswith("1 of ")
    assert f"block/dirt.png {said}" in pack.notes
    alone = zipped(tmp_path / "alone.zip", {BLOCK + "stone.png": content})
    with pytest.raises(ValueError, match=rf"holds no picture that can be used: block/stone\.png {said}"):
        load_resource_pack(alone)


def test_a_broken_overlay_is_left_out_and_its_block_is_taken(tmp_path: Path) -> None:
    side = png(filled((120, 80, 50)), RGB)
    files = {BLOCK + "grass_block_side.png": side, BLOCK + "grass_block_side_overlay.png": b"<html>404</html>"}
    pack = load(tmp_path, files)
    assert (pack.textures["grass_block_side"][..., :3] == (120, 80, 50)).all()
    assert "block/grass_block_side_overlay.png left out: it is no whole PNG" in pack.notes


def test_a_picture_of_huge_extent_is_refused_before_it_is_decoded(tmp_path: Path) -> None:
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", 2**31 - 1, 2**31 - 1, 8, RGB, 0, 0, 0))
    body = chunk(b"IDAT", zlib.compress(b"\0" * 64)) + chunk(b"IEND", b"")
    with pytest.raises(ValueError, match="2147483647 px, at most 512 x 512 px a frame"):
        load(tmp_path, {BLOCK + "stone.png": b"\x89PNG\r\n\x1a\n" + header + body})


def test_zip_bombs_are_refused_by_their_declared_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bomb = zipped(tmp_path / "bomb.zip", {BLOCK + "stone.png": b"\0" * (pack_files.MAX_FILE_BYTES + 1)})
    assert bomb.stat().st_size < 10_000
    with pytest.raises(ValueError, match=r"block/stone\.png has 4194305 bytes, at most 4194304 are read"):
        load_resource_pack(bomb)
    monkeypatch.setattr(pack_files, "MAX_PACK_BYTES", 1000)
    many = zipped(tmp_path / "many.zip", {f"{BLOCK}{n}.png": b"\0" * 600 for n in ("stone", "dirt")})
    with pytest.raises(ValueError, match="its pictures have 1200 bytes, at most 1000 are read"):
        load_resource_pack(many)


def test_a_zip_of_too_many_entries_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = zipped(tmp_path / "many.zip", STONE | {f"{n}.txt": b"" for n in range(4)})
    monkeypatch.setattr(pack_files, "MAX_ZIP_ENTRIES", 5)
    assert load_resource_pack(path).notes[0].startswith("1 of ")
    monkeypatch.setattr(pack_files, "MAX_ZIP_ENTRIES", 4)
    with pytest.raises(ValueError, match=r"many\.zip: more than 4 entries"):
        load_resource_pack(path)


def test_a_zip_that_lies_about_its_sizes_is_refused(tmp_path: Path) -> None:
    path = zipped(tmp_path / "liar.zip", {BLOCK + "stone.png": b"\0" * 100_000})
    content = bytearray(path.read_bytes())
    size_at = content.rindex(b"PK\x01\x02") + 24
    content[size_at : size_at + 4] = struct.pack("<I", 100)
    path.write_bytes(bytes(content))
    with pytest.raises(ValueError, match="liar.zip"):
        load_resource_pack(path)


def test_damaged_zips_load_or_are_refused_in_one_sentence(tmp_path: Path) -> None:
    whole = zipped(tmp_path / "whole.zip", STONE).read_bytes()
    path = tmp_path / "damaged.zip"
    refusals = []
    for at in range(0, len(whole), 13):
        damaged = bytearray(whole)
        damaged[at] ^= 0x5A
        path.write_bytes(bytes(damaged))
        try:
            load_resource_pack(path)
        except ValueError as error:
            refusals.append(str(error))
    assert len(refusals) > 5
    assert all(text.startswith("resource pack") for text in refusals)


def test_a_zip_with_a_name_that_is_no_text_is_damaged(tmp_path: Path) -> None:
    path = zipped(tmp_path / "pack.zip", STONE | {BLOCK + "\N{SNOWMAN}.png": b""})
    path.write_bytes(path.read_bytes().replace("\N{SNOWMAN}".encode(), b"\xff\xfe\xfd"))
    with pytest.raises(ValueError, match=r"^resource pack .*pack\.zip: damaged or encrypted zip"):
        load_resource_pack(path)


def test_entries_that_point_out_of_the_pack_are_ignored(tmp_path: Path) -> None:
    inside = zipped(tmp_path / "pack.zip", STONE | {f"../../{BLOCK}dirt.png": b"not a png", f"/{BLOCK}sand.png": b"x"})
    assert load_resource_pack(inside).notes[0].startswith("1 of ")
    secret = tmp_path / "secret.png"
    secret.write_bytes(png(filled((9, 9, 9)), RGB))
    root = folder(tmp_path / "pack", STONE)
    os.symlink(secret, root / BLOCK / "dirt.png")
    assert load_resource_pack(root).notes[0].startswith("1 of ")
