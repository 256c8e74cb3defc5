"""Textured quads as binary glTF, the format that browsers draw. F quads, V vertices, T textures of a set.

One vertex is 16 bytes: its place in steps of 1/960 block (KHR_mesh_quantization: exact for sixteenths and their
tenths), its place in the picture, and its light. Light is baked in (KHR_materials_unlit), so that the page shows the
engine's own colours whatever lamps a scene has. The picture holds only the textures in use: a few kilobytes.
"""

import json
import struct
import zlib

import numpy as np

from eval.viewer.mesh_color import page_colors, page_lights
from worlds.textures.atlas import NUM_FACE_TEXELS
from worlds.textures.patterns import TEXTURE_PX

STEPS_PER_BLOCK = 960
_MAX_EXTENT_BLOCKS = 65535 / STEPS_PER_BLOCK
# Around each texture lies a rim of its own other side: smoothing at the edge of a face looks a little beyond it.
_RIM_PX = TEXTURE_PX // 2
_TILE_PX = TEXTURE_PX + 2 * _RIM_PX
_CUTOFF = 0.3  # alpha; lower than the engine's half, because a smaller size is the mean of its texels
_NEAREST, _NEAREST_MIPMAP_LINEAR, _CLAMP = 9728, 9986, 33071
_USHORT, _UINT, _UBYTE, _ARRAY, _ELEMENTS = 5123, 5125, 5121, 34962, 34963


def glb_of_quads(
    corner_F43: np.ndarray,
    uv_F42: np.ndarray,
    row_F: np.ndarray,
    brightness_F: np.ndarray,
    atlas_N: np.ndarray,
    *,
    tint_3: np.ndarray | None = None,
    is_double_sided: bool = False,
) -> bytes:
    """Return quads as one GLB file.

    Args:
        corner_F43: float32 [F, 4, 3], blocks, counter-clockwise seen from the front; at least one quad, and no
            side of all of them together above 67 blocks.
        uv_F42: float32 [F, 4, 2] in [0, 1] of the texture.
        row_F: int [F], row of the texture set.
        brightness_F: float32 [F] in [0, 1].
        atlas_N: uint32 [T * 341], see worlds.textures.atlas.
        tint_3: red, green, blue that the colours are multiplied with; None leaves them.
        is_double_sided: seen from behind too.
    """
    used_U, tile_F = np.unique(row_F, return_inverse=True)
    tiles_across, tiles_down = _grid(len(used_U))
    place_F2 = np.stack([tile_F % tiles_across, tile_F // tiles_across], axis=1)
    uv_F42 = (place_F2[:, None] + (_RIM_PX + TEXTURE_PX * uv_F42) / _TILE_PX) / (tiles_across, tiles_down)
    light_F3 = brightness_F[:, None] * (np.ones(3) if tint_3 is None else tint_3)
    light_F3 = page_lights(np.clip(light_F3, 0.0, 1.0))
    vertex_V = np.zeros(
        len(row_F) * 4, [("place", "<u2", 3), ("pad", "<u2"), ("uv", "<u2", 2), ("light", "u1", 4)]
    )  # fmt: skip
    corner_V3 = corner_F43.reshape(-1, 3)
    origin_3 = np.floor(corner_V3.min(axis=0))
    assert (corner_V3 - origin_3).max() <= _MAX_EXTENT_BLOCKS
    vertex_V["place"] = np.rint((corner_V3 - origin_3) * STEPS_PER_BLOCK)
    vertex_V["uv"] = np.rint(uv_F42.reshape(-1, 2) * 65535)
    vertex_V["light"][:, :3] = np.repeat(np.rint(light_F3 * 255), 4, axis=0)
    vertex_V["light"][:, 3] = 255
    index_type = np.dtype("<u2") if len(vertex_V) <= 65536 else np.dtype("<u4")
    index_F6 = (np.arange(len(row_F))[:, None] * 4 + np.array([0, 1, 2, 0, 2, 3])).astype(index_type)
    picture = png(_picture(used_U, tiles_across, tiles_down, atlas_N))
    return _container(vertex_V, index_F6, picture, origin_3.tolist(), is_double_sided=is_double_sided)


def _grid(num_tiles: int) -> tuple[int, int]:
    """Return columns and rows, both powers of two: smaller sizes of the picture then never mix two textures."""
    across = 1 << int(np.ceil(np.log2(max(1.0, num_tiles**0.5))))
    down = 1 << int(np.ceil(np.log2(max(1.0, num_tiles / across))))
    return across, down


def _picture(used_U: np.ndarray, tiles_across: int, tiles_down: int, atlas_N: np.ndarray) -> np.ndarray:
    """Return the textures in use side by side, uint8 [H, W, 4]; holes have the colour of what is around them."""
    texel_UN = atlas_N.reshape(-1, NUM_FACE_TEXELS)[used_U]
    rgba_UHWC = np.ascontiguousarray(texel_UN[:, : TEXTURE_PX**2]).view(np.uint8)
    rgba_UHWC = rgba_UHWC.reshape(-1, TEXTURE_PX, TEXTURE_PX, 4).copy()
    mean_U4 = np.ascontiguousarray(texel_UN[:, -1:]).view(np.uint8).reshape(-1, 4)
    is_hole_UHW = rgba_UHWC[..., 3] < 128
    rgba_UHWC[is_hole_UHW] = np.broadcast_to(mean_U4[:, None, None], rgba_UHWC.shape)[is_hole_UHW]
    rgba_UHWC[..., :3] = page_colors(rgba_UHWC[..., :3])
    rgba_UHWC[..., 3] = np.where(is_hole_UHW, 0, 255)
    tiles_UHWC = np.zeros((tiles_across * tiles_down, _TILE_PX, _TILE_PX, 4), np.uint8)
    rim = (_RIM_PX, _RIM_PX)
    tiles_UHWC[: len(rgba_UHWC)] = np.pad(rgba_UHWC, ((0, 0), rim, rim, (0, 0)), mode="wrap")
    grid = tiles_UHWC.reshape(tiles_down, tiles_across, _TILE_PX, _TILE_PX, 4)
    return grid.swapaxes(1, 2).reshape(tiles_down * _TILE_PX, tiles_across * _TILE_PX, 4)


def png(image_HWC: np.ndarray) -> bytes:
    """Return a uint8 [H, W, 3 or 4] picture as a PNG file."""
    height, width, channels = image_HWC.shape
    rows = np.concatenate([np.zeros((height, 1), np.uint8), image_HWC.reshape(height, -1)], axis=1)

    def block(name: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))

    header = struct.pack(">IIBBBBB", width, height, 8, 6 if channels == 4 else 2, 0, 0, 0)
    pixels = zlib.compress(rows.tobytes(), 6)
    return b"\x89PNG\r\n\x1a\n" + block(b"IHDR", header) + block(b"IDAT", pixels) + block(b"IEND", b"")


def _container(
    vertex_V: np.ndarray, index_F6: np.ndarray, picture: bytes, origin: list[float], *, is_double_sided: bool
) -> bytes:
    parts = [vertex_V.tobytes(), index_F6.tobytes(), picture]
    views, offset, chunks = [], 0, []
    for part, extra in zip(parts, ({"target": _ARRAY, "byteStride": 16}, {"target": _ELEMENTS}, {}), strict=True):
        views.append({"buffer": 0, "byteOffset": offset, "byteLength": len(part), **extra})
        chunks.append(part + b"\0" * (-len(part) % 4))
        offset += len(chunks[-1])
    accessor = {"bufferView": 0, "count": len(vertex_V)}
    place_V3 = vertex_V["place"]
    document = {
        "asset": {"version": "2.0"},
        "extensionsUsed": ["KHR_mesh_quantization", "KHR_materials_unlit"],
        "extensionsRequired": ["KHR_mesh_quantization"],
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0, "translation": origin, "scale": [1 / STEPS_PER_BLOCK] * 3}],
        "meshes": [
            {
                "primitives": [
                    {"attributes": {"POSITION": 0, "TEXCOORD_0": 1, "COLOR_0": 2}, "indices": 3, "material": 0}
                ]
            }
        ],
        "materials": [
            {
                "pbrMetallicRoughness": {"baseColorTexture": {"index": 0}, "metallicFactor": 0},
                "alphaMode": "MASK",
                "alphaCutoff": _CUTOFF,
                "doubleSided": is_double_sided,
                "extensions": {"KHR_materials_unlit": {}},
            }
        ],
        "textures": [{"sampler": 0, "source": 0}],
        "samplers": [{"magFilter": _NEAREST, "minFilter": _NEAREST_MIPMAP_LINEAR, "wrapS": _CLAMP, "wrapT": _CLAMP}],
        "images": [{"bufferView": 2, "mimeType": "image/png"}],
        "accessors": [
            {
                **accessor,
                "componentType": _USHORT,
                "type": "VEC3",
                "min": place_V3.min(axis=0).tolist(),
                "max": place_V3.max(axis=0).tolist(),
            },
            {**accessor, "byteOffset": 8, "componentType": _USHORT, "normalized": True, "type": "VEC2"},
            {**accessor, "byteOffset": 12, "componentType": _UBYTE, "normalized": True, "type": "VEC4"},
            {
                "bufferView": 1,
                "componentType": _USHORT if index_F6.itemsize == 2 else _UINT,
                "count": index_F6.size,
                "type": "SCALAR",
            },
        ],
        "bufferViews": views,
        "buffers": [{"byteLength": offset}],
    }
    text = json.dumps(document, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 4)
    total = 12 + 8 + len(text) + 8 + offset
    header = struct.pack("<4sII", b"glTF", 2, total)
    return b"".join(
        [header, struct.pack("<I4s", len(text), b"JSON"), text, struct.pack("<I4s", offset, b"BIN\0"), *chunks]
    )
