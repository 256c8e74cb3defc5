"""A word to whoever waits, once something has taken a while: what is refused at once is refused alone."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def said_when_slow(sentence: str, *, after_s: float) -> Iterator[None]:
    """Say the sentence on stderr when the block has lasted `after_s`."""
    timer = threading.Timer(after_s, print, args=(sentence,), kwargs={"file": sys.stderr, "flush": True})
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
