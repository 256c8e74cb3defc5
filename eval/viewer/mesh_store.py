"""Chunks of worlds as they began, made once for all sessions that show them."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable

_MAX_BYTES = 64 * 2**20  # ten worlds of 128 x 64 x 128


class MeshStore:
    """GLB files by what they are of; those that were asked for longest ago go first."""

    def __init__(self, *, max_bytes: int = _MAX_BYTES) -> None:
        """Begin empty."""
        self._max_bytes, self._num_bytes = max_bytes, 0
        self._contents: OrderedDict[Hashable, bytes | None] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def num_bytes(self) -> int:
        """Return how much is kept."""
        return self._num_bytes

    def get(self, key: Hashable, make: Callable[[], bytes | None]) -> bytes | None:
        """Return what is kept, else what `make` returns, which is kept from now on. From any thread."""
        with self._lock:
            if key in self._contents:
                self._contents.move_to_end(key)
                return self._contents[key]
        content = make()
        with self._lock:
            if key not in self._contents:
                self._contents[key] = content
                self._num_bytes += len(content or b"")
            while self._num_bytes > self._max_bytes:
                _, gone = self._contents.popitem(last=False)
                self._num_bytes -= len(gone or b"")
        return content
