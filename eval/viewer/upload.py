"""Pictures from a browser: PNG and JPEG alone, limited in size, looked at before they are decoded. H W C image."""

import struct

import cv2
import numpy as np

from eval.viewer.goal_mask import resized_image

MAX_BYTES = 8 * 2**20
MAX_PIXELS = 16 * 2**20  # a decoded picture of so many takes 48 MiB
_PNG, _JPEG = b"\x89PNG\r\n\x1a\n", b"\xff\xd8"
_FIX = "give a PNG or JPEG picture"
# Markers of a JPEG that begin a frame and so hold its size; C4, C8 and CC are tables.
_JPEG_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
# Markers that no length follows: none comes before a frame, and what is behind one is read otherwise by every decoder.
_JPEG_BARE = frozenset({0x00, 0x01, *range(0xD0, 0xDA)})


def decode_picture(content: bytes, side_px: int) -> np.ndarray:
    """Return the square middle of a picture, uint8 [side_px, side_px, 3] RGB.

    Raises:
        ValueError: it is too large, no PNG or JPEG, cut short or broken.
    """
    check_size(content)
    try:
        decoded_HWC = cv2.imdecode(np.frombuffer(content, np.uint8), cv2.IMREAD_COLOR)
    except cv2.error:
        decoded_HWC = None
    if decoded_HWC is None or min(decoded_HWC.shape[:2]) < 1:
        raise ValueError(f"picture: it is broken and cannot be decoded; {_FIX}")
    height, width = decoded_HWC.shape[:2]
    side = min(height, width)
    top, left = (height - side) // 2, (width - side) // 2
    square_HWC = decoded_HWC[top : top + side, left : left + side, ::-1]
    return np.ascontiguousarray(resized_image(np.ascontiguousarray(square_HWC), side_px))


def check_size(content: bytes) -> None:
    """Look at a picture before it is decoded. ValueError: it is no PNG or JPEG, or has too many bytes or pixels."""
    if len(content) > MAX_BYTES:
        raise ValueError(
            f"picture: {len(content) / 2**20:.1f} MiB are more than {MAX_BYTES // 2**20} MiB; make it smaller"
        )
    height, width = _size_px(content)
    if height * width > MAX_PIXELS:
        raise ValueError(
            f"picture: {width} x {height} pixels are more than {MAX_PIXELS // 2**20} million; make it smaller"
        )


def _size_px(content: bytes) -> tuple[int, int]:
    """Return (height, width) as the header says, without decoding anything. ValueError: there is no such header."""
    if content.startswith(_PNG) and len(content) >= 24 and content[12:16] == b"IHDR":
        width, height = struct.unpack(">II", content[16:24])
    elif content.startswith(_JPEG):
        height, width = _jpeg_size_px(content)
    else:
        raise ValueError(f"picture: neither PNG nor JPEG; {_FIX}")
    if not (height and width):
        raise ValueError(f"picture: its header says {width} x {height} pixels; {_FIX}")
    return height, width


def _jpeg_size_px(content: bytes) -> tuple[int, int]:
    place = 2
    while place + 9 <= len(content) and content[place] == 0xFF:
        marker = content[place + 1]
        if marker == 0xFF:  # filling
            place += 1
            continue
        if marker in _JPEG_FRAMES:
            height, width = struct.unpack(">HH", content[place + 5 : place + 9])
            return height, width
        length = struct.unpack(">H", content[place + 2 : place + 4])[0]
        if marker in _JPEG_BARE or length < 2:
            break
        place += 2 + length
    raise ValueError(f"picture: a JPEG without a size, or cut short; {_FIX}")
