"""Says that kernels are compiled: in the log, or by a sign to a process that has asked for one and says it then."""

import functools
import logging
import os
from contextlib import suppress
from pathlib import Path

from numba.core import event

from worlds.kernel_cache import COMPILE_SIGN_VARIABLE, COMPILE_WORD, has_kernels

_LOG = logging.getLogger(__name__)
# Modules of the kernels that are compiled now: one calls for another.
_under_way: list[str] = []


def is_compiling() -> bool:
    """Return whether this process compiles at the moment."""
    return bool(_under_way)


def tell_when_compiling() -> None:
    """From now on, say so or leave the sign whenever this process compiles. Reading kept code is none."""
    event.register("numba:compile", _Teller())


class _Teller(event.Listener):  # type: ignore[misc]  # numba has no types
    def on_start(self, event: event.Event) -> None:
        module = event.data["dispatcher"].py_func.__module__
        if module is None or not has_kernels(module):
            return  # somebody else's, in the same process
        _under_way.append(module)
        path = os.environ.get(COMPILE_SIGN_VARIABLE)
        if path is None:
            _say_once()
            return
        # On a full disk, say, nobody is told.
        with suppress(OSError):
            Path(path).touch()

    def on_end(self, event: event.Event) -> None:
        module = event.data["dispatcher"].py_func.__module__
        if module is not None and has_kernels(module):
            del _under_way[-1:]  # nothing, of one that began before this listened


@functools.cache
def _say_once() -> None:
    _LOG.warning(COMPILE_WORD)
