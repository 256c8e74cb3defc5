"""Memory that our process and an engine's share: its pulse and the agent's view. Both sides run it. H W C image.

The memory has no name anywhere: it goes from process to process as an open file, and is gone with the last that has it.

    bytes 0 .. 7     the pulse, uint64 little-endian: grows about once a second while the engine's interpreter lives
    from byte 64     the image, uint8 [H, W, 3]
    then             the instance mask, int32 [H, W], and the depth, float32 [H, W], each from a multiple of 64 bytes on
"""

from __future__ import annotations

import mmap
import os
import tempfile

import numpy as np

from worlds.adapters.engine import Sight

_ALIGN_BYTES = 64


def _aligned(num_bytes: int) -> int:
    return -(-num_bytes // _ALIGN_BYTES) * _ALIGN_BYTES


def open_memory(image_px: tuple[int, int]) -> int:
    """Return an open file for the frames of one engine, not inherited by other programs.

    Raises:
        OSError: there is no room for it.
    """
    if hasattr(os, "memfd_create"):
        memory_fd = os.memfd_create("mcrl-frames", os.MFD_CLOEXEC)
    else:  # not Linux: a file that was removed while it is open
        with tempfile.TemporaryFile() as file:
            memory_fd = os.dup(file.fileno())
    try:
        num_bytes = frame_bytes(image_px)
        if hasattr(os, "posix_fallocate"):
            # Claims the room now: a full disk or memory is an error here, and not a bus error later.
            os.posix_fallocate(memory_fd, 0, num_bytes)
        else:
            os.ftruncate(memory_fd, num_bytes)
    except OSError:
        os.close(memory_fd)
        raise
    return memory_fd


def frame_bytes(image_px: tuple[int, int]) -> int:
    """Return how much memory frames of `image_px` (height, width) take."""
    pixels = image_px[0] * image_px[1]
    return _ALIGN_BYTES + _aligned(3 * pixels) + 2 * _aligned(4 * pixels)


class Frames:
    """The shared memory of one engine, in one of the two processes."""

    def __init__(self, memory_fd: int, image_px: tuple[int, int]) -> None:
        """Map `memory_fd`, which may be closed afterwards."""
        height, width = image_px
        self._memory = mmap.mmap(memory_fd, frame_bytes(image_px))
        self._pulse_1 = np.frombuffer(self._memory, np.uint64, 1)
        offset = _ALIGN_BYTES
        self.image_HWC = np.frombuffer(self._memory, np.uint8, 3 * height * width, offset).reshape(height, width, 3)
        offset += _aligned(3 * height * width)
        self.instance_HW = np.frombuffer(self._memory, np.int32, height * width, offset).reshape(height, width)
        offset += _aligned(4 * height * width)
        self.depth_HW = np.frombuffer(self._memory, np.float32, height * width, offset).reshape(height, width)

    @property
    def pulse(self) -> int:
        """Return a number that grows while the engine's interpreter lives."""
        return int(self._pulse_1[0])

    def beat(self) -> None:
        """Let the pulse grow."""
        self._pulse_1 += np.uint64(1)

    def write(self, sight: Sight) -> None:
        """Put a view of the right size there."""
        self.image_HWC[:] = sight.image_HWC
        if sight.instance_HW is not None:
            self.instance_HW[:] = sight.instance_HW
        if sight.depth_HW is not None:
            self.depth_HW[:] = sight.depth_HW

    def close(self) -> None:
        """Let go of the memory, which is unmapped when nobody looks at an array of it any more."""
        del self._pulse_1, self.image_HWC, self.instance_HW, self.depth_HW, self._memory
