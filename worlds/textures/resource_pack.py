"""A user's own resource pack, turned into a texture set of ours. H W pixels, C = 4 channels.

The standard folder layout is read, of today and of before 1.13, at any square size from 16 to 512 px. Where a pack
lacks a picture, ours stays, and the notes say so.
"""

import hashlib
import struct
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from worlds.mobs.kinds import MOBS
from worlds.textures.pack_files import holds_any, read_pictures
from worlds.textures.pack_names import picture_paths
from worlds.textures.patterns import TEXTURE_PX, Color
from worlds.textures.procedural import build_textures

MIN_PX, MAX_PX = 16, 512
_MAX_FRAMES = 64
_SIGNATURE = b"\x89PNG\r\n\x1a\n"

# The game keeps these pictures grey and multiplies them with a colour of the biome: here those of plains.
_GRASS_TINT: Color = (0x91, 0xBD, 0x59)
_FOLIAGE_TINT: Color = (0x77, 0xAB, 0x2F)
_TINTS: dict[str, Color] = {
    **dict.fromkeys(("grass_block_top", "grass", "fern", "tall_grass_bottom", "tall_grass_top"), _GRASS_TINT),
    **dict.fromkeys(("large_fern_bottom", "large_fern_top", "sugar_cane"), _GRASS_TINT),
    **dict.fromkeys(("oak_leaves", "jungle_leaves", "acacia_leaves", "dark_oak_leaves", "vine"), _FOLIAGE_TINT),
    "birch_leaves": (0x80, 0xA7, 0x55),
    "lily_pad": (0x20, 0x80, 0x30),
    "spruce_leaves": (0x61, 0x99, 0x61),
    "water": (0x3F, 0x76, 0xE4),
}
# The fringe of grass on the side of its block is a grey picture of its own, laid over the dirt.
_OVERLAYS = {"grass_block_side": ("block/grass_block_side_overlay.png", "blocks/grass_side_overlay.png")}

_MAX_NAMED = 12  # of what a pack lacks, in its notes


@dataclass(frozen=True, kw_only=True, slots=True)
class ResourcePack:
    """A complete texture set, some of it the user's."""

    sha256: str
    """Of the pictures taken, names and bytes: a folder and its zip share it. `Look.textures` is "pack:<sha256>"."""
    textures: dict[str, np.ndarray]
    """uint8 [16, 16, 4] RGBA by name, as of build_textures()."""
    notes: list[str]
    """What was taken, what was not, and why; a sentence each."""


def load_resource_pack(path: str | Path) -> ResourcePack:
    """Return the texture set of the resource pack at `path`, a folder or a .zip; ours where the pack has none."""
    own = build_textures()
    names = [name for name in own if not name.startswith("mob/")]
    candidates = {name: picture_paths(name) for name in names}
    overlay_files = [file for files in _OVERLAYS.values() for file in files]
    content = read_pictures(path, dict.fromkeys([*(f for files in candidates.values() for f in files), *overlay_files]))
    taken: dict[str, np.ndarray] = {}
    used: set[str] = set()
    notes: list[str] = []
    for name in names:
        file = next((file for file in candidates[name] if file in content), None)
        if file is None:
            continue
        picture_HWC, reason = _first_frame(content[file], f"{path}: {file}")
        if picture_HWC is None:
            notes.append(f"{file} left out: {reason}")
            continue
        picture_HWC = _tinted(name, picture_HWC)
        for overlay_file in _OVERLAYS.get(name, ()):
            if overlay_file in content:
                overlay_HWC, reason = _first_frame(content[overlay_file], f"{path}: {overlay_file}")
                if overlay_HWC is None:
                    notes.append(f"{overlay_file} left out: {reason}")
                else:
                    picture_HWC = _laid_over(picture_HWC, _tinted("grass_block_top", overlay_HWC))
                    used.add(overlay_file)
        used.add(file)
        taken[name] = _like(own[name], picture_HWC)
    if not taken:
        if notes:
            raise ValueError(f"resource pack: {path} holds no picture that can be used: {notes[0]}")
        skins = ", and mob skins are not read" if _holds_skins(path) else ""
        raise ValueError(
            f"resource pack: {path} holds no picture of a block or item that is known here{skins}; give a pack with "
            "assets/minecraft/textures/block/*.png, or blocks/*.png"
        )
    digest = hashlib.sha256()
    for file in sorted(used):
        digest.update(f"{file}:{len(content[file])}:".encode() + content[file])
    if _holds_skins(path):
        notes.insert(0, "mob skins of packs are not read: mobs keep ours")
    return ResourcePack(sha256=digest.hexdigest(), textures={**own, **taken}, notes=[_summary(names, taken), *notes])


def _holds_skins(path: str | Path) -> bool:
    return holds_any(path, tuple(f"entity/{mob.name}{end}" for mob in MOBS for end in ("/", ".png")))


def _summary(names: list[str], taken: dict[str, np.ndarray]) -> str:
    missing = [name for name in names if name not in taken]
    first = f"{len(taken)} of {len(names)} textures taken"
    if missing:
        more = f" and {len(missing) - _MAX_NAMED} more" if len(missing) > _MAX_NAMED else ""
        first += f"; missing, ours stay: {', '.join(missing[:_MAX_NAMED])}{more}"
    return first


def _first_frame(content: bytes, where: str) -> tuple[np.ndarray | None, str]:
    """Return the first frame of a PNG, uint8 [W, W, 4] RGBA, or None and why it cannot be used.

    Raises:
        ValueError: its head tells of more pixels than are decoded.
    """
    size = _whole_size(content)
    if size is None:
        return None, "it is no whole PNG"
    width, height = size
    if width > 4096 or height > MAX_PX * _MAX_FRAMES or width * height > MAX_PX * MAX_PX * _MAX_FRAMES:
        raise ValueError(
            f"resource pack {where} has {width} x {height} px, at most {MAX_PX} x {MAX_PX} px a frame; remove it"
        )
    image_HWC = _decode(content)
    if image_HWC is None:
        return None, "it is no readable PNG"
    if not MIN_PX <= width <= MAX_PX:
        return None, f"it is {width} px wide, wanted {MIN_PX} to {MAX_PX}"
    if height % width:
        return None, f"it is {width} x {height} px, neither square nor a strip of squares"
    return image_HWC[:width], ""


def _decode(content: bytes) -> np.ndarray | None:
    """Return a whole PNG as uint8 [H, W, 4] RGBA; None where its pixels cannot be read."""
    import cv2  # heavy, and absent on slim machines that never load a pack

    try:
        image = cv2.imdecode(np.frombuffer(content, np.uint8), cv2.IMREAD_UNCHANGED)
    except cv2.error:
        image = None
    if image is None:
        return None
    key = _grey_key(content)
    is_clear = None if key is None or image.ndim > 2 and image.shape[2] > 1 else image.reshape(image.shape[:2]) == key
    if image.dtype == np.uint16:
        image = ((image.astype(np.uint32) + 128) // 257).astype(np.uint8)
    if image.ndim == 2:
        image = image[..., None]
    if image.shape[2] == 1:
        image = image.repeat(3, axis=2)
    alpha_HW1 = image[..., 3:] if image.shape[2] == 4 else np.full((*image.shape[:2], 1), 255, np.uint8)
    if is_clear is not None:
        alpha_HW1[is_clear] = 0
    return np.concatenate([image[..., 2::-1], alpha_HW1], axis=2)


def _grey_key(content: bytes) -> int | None:
    """Return the grey that means transparent, as it is decoded; None where there is none: OpenCV passes it over."""
    depth_bits, color_type = content[24], content[25]
    at = len(_SIGNATURE)
    while color_type == 0 and content[at + 4 : at + 8] not in (b"IDAT", b"IEND"):
        (num_bytes,) = struct.unpack(">I", content[at : at + 4])
        if content[at + 4 : at + 8] == b"tRNS" and num_bytes == 2:
            (key,) = struct.unpack(">H", content[at + 8 : at + 10])
            return int(key) if depth_bits == 16 else int(key) * 255 // (2**depth_bits - 1)
        at += 12 + num_bytes
    return None


def _whole_size(content: bytes) -> tuple[int, int] | None:
    """Return (width, height) of a PNG; None where a chunk is not whole, on which the decoder does not always insist."""
    if not content.startswith(_SIGNATURE) or content[12:16] != b"IHDR" or len(content) < 33:
        return None
    at = len(_SIGNATURE)
    kind = b""
    while kind != b"IEND":
        if at + 12 > len(content):
            return None
        (num_bytes,) = struct.unpack(">I", content[at : at + 4])
        kind = content[at + 4 : at + 8]
        end = at + 8 + num_bytes
        if end + 4 > len(content) or struct.unpack(">I", content[end : end + 4])[0] != zlib.crc32(
            content[at + 4 : end]
        ):
            return None
        at = end + 4
    width, height = struct.unpack(">II", content[16:24])
    return width, height


def _tinted(name: str, image_HWC: np.ndarray) -> np.ndarray:
    """Return the picture in the biome's colour where the pack keeps it grey; coloured ones stay as drawn."""
    seen_N3 = image_HWC[image_HWC[..., 3] > 0][:, :3].astype(np.int64)
    if name not in _TINTS or not len(seen_N3) or (seen_N3.max(axis=1) - seen_N3.min(axis=1)).mean() > 12.0:
        return image_HWC
    result_HWC = image_HWC.copy()
    result_HWC[..., :3] = (image_HWC[..., :3].astype(np.int64) * np.array(_TINTS[name]) + 127) // 255
    return result_HWC


def _laid_over(below_HWC: np.ndarray, above_HWC: np.ndarray) -> np.ndarray:
    if above_HWC.shape != below_HWC.shape:
        return below_HWC
    return np.where(above_HWC[..., 3:] >= 128, above_HWC, below_HWC)


def _like(own_HWC: np.ndarray, image_HWC: np.ndarray) -> np.ndarray:
    """Return the picture at 16 px with alpha as our own texture has it: opaque stays opaque, a cutout a cutout."""
    seen_HW1 = (image_HWC[..., 3:] >= 26).astype(np.float64)
    share_HW1 = _box_filtered(seen_HW1)
    color_HWC = _box_filtered(image_HWC[..., :3] * seen_HW1) / np.maximum(share_HW1, 1e-9)
    alpha_HW = _box_filtered(image_HWC[..., 3:].astype(np.float64))[..., 0]
    result_HWC = np.empty((TEXTURE_PX, TEXTURE_PX, 4), np.uint8)
    if own_HWC[..., 3].min() > 0:
        # Holes of leaves become shade, as in the game's fast graphics: the renderer's cubes stay solid.
        mean_3 = (color_HWC * share_HW1).sum(axis=(0, 1)) / max(share_HW1.sum(), 1e-9)
        color_HWC = color_HWC * share_HW1 + 0.45 * mean_3 * (1.0 - share_HW1)
        result_HWC[..., 3] = own_HWC[..., 3]
    else:
        half_seen = ((image_HWC[..., 3] > 32) & (image_HWC[..., 3] < 224)).mean()
        # Stained glass is half transparent: a screen of pixels of the same share stands for it.
        threshold_HW = _SCREEN_HW if half_seen > 0.2 else np.full((TEXTURE_PX, TEXTURE_PX), 128.0)
        result_HWC[..., 3] = np.where(alpha_HW >= threshold_HW, 255, 0)
    result_HWC[..., :3] = np.clip(color_HWC + 0.5, 0, 255).astype(np.uint8)
    return result_HWC


_SCREEN_HW = np.tile((np.array([[0, 8, 2, 10], [12, 4, 14, 6], [3, 11, 1, 9], [15, 7, 13, 5]]) + 0.5) * 15.9, (4, 4))


def _box_filtered(image_HWC: np.ndarray) -> np.ndarray:
    """Return float64 [16, 16, C]: each pixel the mean of the area it covers, whatever the size."""
    size = image_HWC.shape[0]
    edge_N = np.arange(TEXTURE_PX + 1) * (size / TEXTURE_PX)
    pixel_N = np.arange(size)
    overlap = np.minimum(edge_N[1:, None], pixel_N + 1.0) - np.maximum(edge_N[:-1, None], pixel_N)
    weight = np.maximum(overlap, 0.0) * (TEXTURE_PX / size)
    return np.einsum("is,jt,stc->ijc", weight, weight, image_HWC, optimize=True)
