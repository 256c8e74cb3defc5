"""A word to whoever runs the engine for the first time: it is compiled then, and nothing else seems to happen."""

import functools
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from mcrl.commands.late_word import said_when_slow

# What is over sooner was a refusal, and has no use for the word. Compiling takes a hundred times as long.
_REFUSED_WITHIN_S = 1.0
_WORD = (
    "mcrl: first use of these sources: the engine is compiled, once, in one to two minutes, as it is needed; meanwhile "
    "progress may stand still"
)


@contextmanager
def compiling_announced() -> Iterator[None]:
    """Say on stderr that the engine is compiled, by this process or its workers, while the block has it do so."""
    from worlds.kernel_cache import are_kernels_kept

    if are_kernels_kept():
        yield
        return
    with said_when_slow(_WORD, after_s=_REFUSED_WITHIN_S):
        yield


def announce_compiling_once_it_begins() -> None:
    """Say so when this process compiles its first kernel: not before the input was found to be good."""
    from worlds.kernel_cache import are_kernels_kept

    if not are_kernels_kept():
        _listen()


@functools.cache
def _listen() -> None:
    """Have numba tell us, once a process."""
    from numba.core import event

    class Announcer(event.Listener):
        def on_start(self, event: object) -> None:
            _speak_once()

        def on_end(self, event: object) -> None: ...

    event.register("numba:compile", Announcer())


@functools.cache
def _speak_once() -> None:
    print(_WORD, file=sys.stderr)
