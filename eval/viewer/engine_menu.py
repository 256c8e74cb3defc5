"""Other engines that a session may play on: those of the catalogue, and the one that the command line names."""

from collections.abc import Callable, Mapping

from worlds.adapters.backend import ProcessBackend
from worlds.adapters.catalogue import BUILT_IN, ENGINES, choice_of
from worlds.adapters.engine_choice import EngineChoice
from worlds.backend import EnvBackend

EngineMaker = Callable[[tuple[int, int, int], int], EnvBackend]
"""Makes another engine with one env, of a world's size and a picture's side in pixels. OSError: it does not start."""


class EngineMenu:
    """Engines by name. A page chooses among these and can start no other program."""

    def __init__(self, given: Mapping[str, EngineChoice] | None = None) -> None:
        """Offer the catalogue; `given` engines, ready to start, take the place of its own or come beside them."""
        self._given = dict(given or {})

    @property
    def names(self) -> tuple[str, ...]:
        """Return every engine, the built-in one first."""
        return (BUILT_IN, *sorted({*ENGINES, *self._given}))

    def maker(self, name: str) -> EngineMaker | None:
        """Return what starts an engine, None for the built-in one. ValueError: it is not offered, or not installed."""
        if name not in self.names:
            raise ValueError(f"engine: {name!r} is none of {', '.join(self.names)}")
        if name == BUILT_IN:
            return None
        choice = self._given.get(name) or choice_of(name)

        def make(size_blocks: tuple[int, int, int], side_px: int) -> ProcessBackend:
            return ProcessBackend(1, choice, size_blocks=size_blocks, image_px=(side_px, side_px))

        return make
