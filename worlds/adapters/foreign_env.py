"""What is known of the episode that one engine plays."""

from dataclasses import dataclass

from worlds.adapters.engine import Moment
from worlds.adapters.event_rows import Cell
from worlds.spec import Episode
from worlds.types import INSTANCE_FIRST_OBJECT


@dataclass(slots=True)
class ForeignEnv:
    """One env of a ProcessBackend between two resets."""

    episode: Episode
    moment: Moment | None = None  # the last one; its view is overwritten
    is_sneaking: bool = False
    num_steps: int = 0  # since the last scan

    @property
    def origin(self) -> Cell:
        """The engine's cell that is (0, 0, 0) of the world."""
        return self.episode.world.origin_blocks

    @property
    def target_instance(self) -> int:
        """Instance id of the target, 0 when there is none."""
        index = self.episode.target_index
        return INSTANCE_FIRST_OBJECT + index if index >= 0 else 0
