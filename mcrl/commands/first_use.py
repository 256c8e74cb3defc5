"""A word to whoever waits while the engine is compiled: it may take minutes, and nothing else seems to happen."""

import functools
import os
import secrets
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from worlds.kernel_cache import COMPILE_SIGN_VARIABLE, COMPILE_WORD

# What is over sooner was a refusal, and has no use for the word. Compiling takes a hundred times as long.
_REFUSED_WITHIN_S = 1.0
_LOOK_EVERY_S = 0.5


@contextmanager
def compiling_announced() -> Iterator[None]:
    """Say on stderr that kernels are compiled, by this process or those that it starts, while the block has it done."""
    if COMPILE_SIGN_VARIABLE in os.environ:  # a block around this one looks out already
        yield
        return
    try:
        # A name and no file: whoever is killed outright leaves nothing behind, unless it was compiling.
        sign = Path(tempfile.gettempdir()) / f"mcrl-compiling-{secrets.token_hex(8)}"
    except OSError:  # a full disk, say: the work may do without it, and is not kept from it for a word
        yield
        return
    is_over = threading.Event()
    threading.Thread(target=_speak_when_signed, args=(sign, is_over), daemon=True).start()
    os.environ[COMPILE_SIGN_VARIABLE] = str(sign)
    try:
        yield
    finally:
        is_over.set()
        os.environ.pop(COMPILE_SIGN_VARIABLE, None)
        with suppress(OSError):
            sign.unlink()


def _speak_when_signed(sign: Path, is_over: threading.Event) -> None:
    wait_s = _REFUSED_WITHIN_S
    while not is_over.wait(wait_s):
        if sign.exists():
            _speak_once()
            return
        wait_s = _LOOK_EVERY_S


@functools.cache
def _speak_once() -> None:
    print(COMPILE_WORD, file=sys.stderr, flush=True)
