"""A sign that a process compiles kernels, left as a file where a waiting process has asked for one."""

import os
from contextlib import suppress
from pathlib import Path

from numba.core import event

from worlds.kernel_cache import COMPILE_SIGN_VARIABLE


def leave_sign_when_compiling() -> None:
    """From now on, make the file named by the environment whenever this process compiles. Reading kept code is none."""
    event.register("numba:compile", _Signer())


class _Signer(event.Listener):  # type: ignore[misc]  # numba has no types
    def on_start(self, event: event.Event) -> None:
        # Of a machine or folder that is not the waiting process's own: nobody is told.
        with suppress(OSError):
            if path := os.environ.get(COMPILE_SIGN_VARIABLE):
                Path(path).touch()

    def on_end(self, event: event.Event) -> None: ...
