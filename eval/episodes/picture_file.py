"""A picture file that opencv encodes: there whole, or not at all and with the reason."""

from collections.abc import Sequence
from pathlib import Path

import cv2
import numpy as np

from task_synthesis.libraries.library import write_whole


def write_picture(path: Path, picture_HWC: np.ndarray, setting: Sequence[int] = ()) -> None:
    """Write uint8 [H, W, 3] BGR, or [H, W, 4] BGRA, as what the suffix says, with opencv's flags of that format.

    Raises:
        ValueError: opencv knows no such format.
        OSError: it cannot be written, with the reason, which `cv2.imwrite` keeps to itself.
    """
    try:
        _, packed_N = cv2.imencode(path.suffix, picture_HWC, list(setting))
    except cv2.error:
        raise ValueError(f"{path}: not a picture that opencv writes; name a .png or .jpg file") from None
    write_whole(path, packed_N.tobytes())
