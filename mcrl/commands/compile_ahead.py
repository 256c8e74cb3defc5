"""The first use of an engine on two cores: one compiles what a tick takes, the other what worlds and pictures take."""

import atexit
import functools
import subprocess
import sys
from contextlib import suppress

from mcrl.provenance import num_usable_cores
from worlds.kernel_cache import are_kernels_kept


@functools.cache
def compile_tick_ahead() -> None:
    """Begin to compile the tick in a process that ends with this one, where nothing is compiled yet.

    A command that makes a world, draws it and then plays in it needs the tick last, and finds it there. Without a
    second core, or a second process, it compiles everything itself, one part after the other.
    """
    if are_kernels_kept() or num_usable_cores() < 2:
        return
    with suppress(OSError):
        process = subprocess.Popen(
            [sys.executable, "-m", "worlds.voxel.compile_tick"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        atexit.register(process.kill)
