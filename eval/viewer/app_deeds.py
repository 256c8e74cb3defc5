"""What a page has asked for and nobody has done yet: a queue that loses what is too much, and that ends."""

import logging
import queue
from collections.abc import Callable
from contextlib import suppress

logger = logging.getLogger(__name__)

Deed = Callable[[], None]
_MAX_DEEDS = 200  # that wait; a page that sends more than can be done loses the rest


class Deeds:
    """Deeds in the order in which they were asked for, from any thread, for the one that does them."""

    def __init__(self) -> None:
        """Begin with none."""
        self._waiting: queue.Queue[Deed | None] = queue.Queue(_MAX_DEEDS)

    def add(self, deed: Deed) -> None:
        """Let a deed wait for its turn."""
        try:
            self._waiting.put_nowait(deed)
        except queue.Full:
            logger.warning("viewer: a page sends more than can be done; something was left out")

    def end(self) -> None:
        """Let the end come after what waits, or in its place where there is no room."""
        while True:
            try:
                self._waiting.put(None, timeout=0.1)
                return
            except queue.Full:
                with suppress(queue.Empty):
                    while True:
                        self._waiting.get_nowait()

    def next(self, *, wait_s: float = 0.0) -> Deed | None:
        """Take the next one out, None at the end. queue.Empty: none has come in `wait_s`."""
        return self._waiting.get(timeout=wait_s) if wait_s else self._waiting.get_nowait()
