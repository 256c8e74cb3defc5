"""`mcrl compile`: compile the engine ahead, as a package that brings C along is compiled when it is installed."""

import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from tempfile import TemporaryFile

from mcrl.commands.options import read_options
from mcrl.provenance import num_usable_cores
from worlds.cache_home import cache_home
from worlds.kernel_cache import are_kernels_ours

_DESCRIPTION = (
    "Compile all that worlds, tasks, pictures and policies need on this CPU, in two processes, and keep it. Without "
    "this command each part is compiled when it is first used. Run it once on every node of a cluster, or where an "
    "image for containers is built; another kind of CPU compiles anew."
)
_TICK = ("worlds.voxel.compile_tick",)
_REHEARSAL = "mcrl.commands.machine.rehearsal"


@dataclass(frozen=True, kw_only=True)
class CompileOptions:
    """No options: everything is compiled."""


def compile_command(args: Sequence[str]) -> int:
    """Compile what is not yet; return 1, after its last words, when a part fails."""
    read_options(CompileOptions, args, prog="mcrl compile", description=_DESCRIPTION)
    begin_s = time.monotonic()
    print("mcrl compile: one to three minutes on two cores, less where parts of it are kept", flush=True)
    with ExitStack() as stack:
        # What plays needs all the rest, and finds it done.
        for programs in ((_TICK, (_REHEARSAL, "tasks")), ((_REHEARSAL, "play"),)):
            num_together = len(programs) if num_usable_cores() > 1 else 1
            for first in range(0, len(programs), num_together):
                running = [_Part(program, stack) for program in programs[first : first + num_together]]
                for part in running:
                    if part.process.wait():
                        print(f"mcrl compile: {part.last_words()}", file=sys.stderr)
                        return 1
    where = f"kept in {cache_home('kernels')}" if are_kernels_ours() else "kept where numba was told to"
    print(f"mcrl compile: done in {time.monotonic() - begin_s:.0f} s; {where}")
    return 0


class _Part:
    """A module that runs as a program. It ends with the stack, and with this process however that ends."""

    def __init__(self, program: Sequence[str], stack: ExitStack) -> None:
        self._words = stack.enter_context(TemporaryFile())
        self.process = stack.enter_context(
            subprocess.Popen(
                [sys.executable, "-m", *program],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=self._words,
                start_new_session=True,  # Ctrl-C is for us: we end it, and it says nothing of it
            )
        )
        stack.callback(self.process.kill)

    def last_words(self) -> str:
        """Return what it ended with, or how."""
        self._words.seek(0)
        lines = self._words.read().decode(errors="replace").split("\n")
        return next((line.strip() for line in reversed(lines) if line.strip()), f"ended by {self.process.returncode}")
