"""What an evaluation suite is: a claim, and everything that decides its tasks."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from eval.suites.suite_index import FOLDER, read_index
from task_synthesis.synthesis_config import SynthesisConfig
from task_synthesis.task import TaskSpec


class Cell(NamedTuple):
    """Tasks of one sort; a suite has equally many of each, up to one."""

    skill: str
    band: str
    part: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Suite:
    """The definition of a suite. Whoever changes what follows from it, its tasks, gives it a new version."""

    name: str
    version: int
    claim: str
    """What success here shows, one sentence."""
    num_tasks: int
    synthesis: SynthesisConfig
    """Of all cells; each draws one of its skills and one of its bands."""
    num_parts: int = 1
    """Further division of skill x band, by `part_of`."""
    part_of: Callable[[TaskSpec], int | None] | None = None
    """Which part a task belongs to, 0 .. num_parts - 1, or None where it does not belong to the suite; no function:
    all belong to part 0."""

    @property
    def label(self) -> str:
        """Return name and version, "unseen_seeds.v1": what a table is about."""
        return f"{self.name}.v{self.version}"

    @property
    def path(self) -> Path:
        """Return the file of the tasks."""
        return FOLDER / f"{self.label}.jsonl.gz"

    @property
    def sha256(self) -> str:
        """Return the hash of the lines as they were frozen; raise ValueError where they never were."""
        if self.label not in read_index():
            raise ValueError(f"suite {self.label} was never frozen; run `mcrl suites --freeze {self.name}`")
        return read_index()[self.label]

    @property
    def skills(self) -> tuple[str, ...]:
        """Return the skills, each with an equal share."""
        return tuple(self.synthesis.skills)

    @property
    def bands(self) -> tuple[str, ...]:
        """Return the distance bands, each with an equal share."""
        return tuple(self.synthesis.bands)

    @property
    def side_blocks(self) -> int:
        """Return the side of the worlds."""
        return self.synthesis.side_blocks

    def order(self) -> list[Cell]:
        """Return the cell of every task in order.

        Every run of tasks as long as there are skills holds each skill once, every run of skills x bands from the
        beginning each pair once, and so on: the first N tasks are a smaller suite of the same kind, for any N.
        """
        skills, bands, cells = self.skills, self.bands, []
        for index in range(self.num_tasks):
            lap, skill = divmod(index, len(skills))
            part, band = divmod(lap, len(bands))
            # Skewed, so that a short prefix is not all of one band and part.
            cells.append(
                Cell(skills[skill], bands[(band + skill) % len(bands)], (part + 2 * band + skill) % self.num_parts)
            )
        return cells
