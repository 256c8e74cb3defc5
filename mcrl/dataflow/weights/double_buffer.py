"""Two halves of memory for weights: one is acted with while the next version arrives in the other. P values."""

import math
import threading
import zlib

import numpy as np
import torch
from torch import Tensor

from mcrl.dataflow.weights.params import ParamLayout
from mcrl.dataflow.weights.snapshot import ParamHeader, ParamSnapshot
from mcrl.dataflow.weights.weight_delta import apply_delta


class DoubleBuffer:
    """The receiver's end of weight sync: what is acted with is whole, always, whatever arrives meanwhile.

    One thread writes, one acts and swaps at its tick borders. The half that is acted with is not written to before
    the next swap; a version whose checksum does not fit never becomes visible. Memory: 2 P values, and a policy bound
    to the front (`ParamLayout.bind`) needs none of its own.
    """

    def __init__(self, layout: ParamLayout) -> None:
        """Make two empty halves for the weights of that layout."""
        self.layout = layout
        self.num_torn = 0
        """Versions that arrived with another checksum than they left with, and were refused."""
        # Filled, so that the memory is there before weights arrive, and so that nobody takes it for weights.
        self._halves = (torch.full((layout.num_values,), math.nan), torch.full((layout.num_values,), math.nan))
        # What each half holds; None while it is written to, and in the idle half when nothing waits there.
        self._holds: list[ParamHeader | None] = [None, None]
        self._front = 0
        self._newest_version: int | None = None
        self._changed = threading.Condition()

    @property
    def newest_version(self) -> int | None:
        """Return the newest version that ever arrived whole, acted with or not."""
        return self._newest_version

    def held_version(self) -> int | None:
        """Return the newest version that is here whole now: what a delta may go on top of."""
        with self._changed:
            held = self._holds[1 - self._front] or self._holds[self._front]
            return None if held is None else held.version

    def begin(self, header: ParamHeader) -> np.ndarray:
        """Return the idle half, float32 [P], for the weights of `header`; what waited in it is given up.

        Raises:
            ValueError: weights of another policy, or not newer than the newest that was here.
        """
        self._check(header)
        with self._changed:
            self._holds[1 - self._front] = None
        return self._halves[1 - self._front].numpy()

    def complete(self, header: ParamHeader) -> bool:
        """Let the idle half wait for the next swap if its checksum is that of `header`; return whether it is."""
        idle = 1 - self._front  # no swap moves it: nothing waits
        if zlib.crc32(self._halves[idle].numpy().data) != header.checksum:
            self.num_torn += 1
            return False
        with self._changed:
            self._holds[idle] = header
            self._newest_version = header.version
            self._changed.notify_all()
        return True

    def write_whole(self, snapshot: ParamSnapshot) -> bool:
        """Copy a version in and let it wait for the next swap; False if it was torn. Errors as in `begin`."""
        np.copyto(self.begin(snapshot.header), snapshot.flat_P)
        return self.complete(snapshot.header)

    def write_delta(self, header: ParamHeader, packed_N: np.ndarray) -> bool:
        """Make a version out of `held_version`, the delta's base; False if it was torn. Errors as in `begin`."""
        self._check(header)
        with self._changed:
            base = 1 - self._front if self._holds[1 - self._front] is not None else self._front
            assert self._holds[base] is not None, "a delta needs the version that it is a difference to"
        base_P = self._halves[base].numpy()
        apply_delta(base_P, packed_N, self.begin(header))
        return self.complete(header)

    def swap(self) -> ParamHeader | None:
        """Put the version that waits to the front and say which; None when none waits. Waits for no transfer."""
        with self._changed:
            waiting = self._holds[1 - self._front]
            if waiting is not None:
                self._holds[self._front] = None
                self._front = 1 - self._front
                self._changed.notify_all()
            return waiting

    def front(self) -> Tensor:
        """Return the half that is acted with, float32 [P]: not written to until `swap` returns a version."""
        return self._halves[self._front]

    def wait_swapped(self, timeout_s: float) -> bool:
        """Wait until no version waits for a swap, at most `timeout_s`; return whether that is so.

        Without it a writer that never pauses would take back every version before it could be acted with.
        """
        with self._changed:
            return self._changed.wait_for(lambda: self._holds[1 - self._front] is None, timeout_s)

    def wait_whole(self, timeout_s: float) -> bool:
        """Wait until a version waits for a swap, at most `timeout_s`; return whether one does."""
        with self._changed:
            return self._changed.wait_for(lambda: self._holds[1 - self._front] is not None, timeout_s)

    def _check(self, header: ParamHeader) -> None:
        self.layout.check(header)
        if self._newest_version is not None and header.version <= self._newest_version:
            raise ValueError(
                f"weights version {header.version} arrived after version {self._newest_version}; a learner that starts "
                "again must go on above the newest version of its store"
            )
