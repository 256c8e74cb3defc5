"""What tasks a synthesis makes."""

from dataclasses import dataclass, field

from task_synthesis.task import BANDS, SKILLS
from worlds.generate.biomes import BIOMES
from worlds.spec import Detail


@dataclass(frozen=True, kw_only=True)
class SynthesisConfig:
    """What tasks to make."""

    skills: dict[str, float] = field(default_factory=lambda: {"approach": 1.0, "break": 1.0})
    """Weight of each skill."""
    bands: dict[str, float] = field(default_factory=lambda: {"near": 1.0, "easy": 1.0})
    """Weight of each distance band."""
    biomes: tuple[str, ...] = tuple(BIOMES)
    """Biomes drawn with equal chance."""
    detail: Detail = "plain"
    """Whether worlds are bare terrain and trees, or have plants, caves and structures too; see WorldSpec.detail."""
    side_blocks: int = 64
    """Side of the worlds along x and z."""
    num_same_kind: tuple[int, int] = (0, 2)
    """Fewest and most other objects of the target's kind."""
    num_other_kind: tuple[int, int] = (1, 3)
    """Fewest and most objects of other kinds."""
    goal_area: tuple[float, float] = (0.004, 0.3)
    """Smallest and largest share of the goal view that the target may cover."""
    hidden_share: float = 0.0
    """Chance that a start is kept from which turning round does not show the target (some 40 % of all near starts)."""
    tasks_per_world: int = 8
    """Tasks made in one world before the next seed is taken."""
    image_px: int = 64
    """Side of the goal picture in which areas are measured."""

    def __post_init__(self) -> None:
        for name, known, given in (
            ("skills", SKILLS, self.skills),
            ("bands", BANDS, self.bands),
            ("biomes", BIOMES, self.biomes),
        ):
            unknown = sorted(set(given) - set(known))
            if unknown or not given:
                raise ValueError(f"synthesis.{name}: {unknown or 'nothing'} given; choose from {sorted(known)}")
        if not 0 < self.goal_area[0] < self.goal_area[1] <= 1:
            raise ValueError(f"synthesis.goal_area must be 0 < least < most <= 1, got {self.goal_area}")
        if not 0 <= self.hidden_share <= 1:
            raise ValueError(f"synthesis.hidden_share must be in [0, 1], got {self.hidden_share}")
        if self.tasks_per_world < 1:
            raise ValueError(f"synthesis.tasks_per_world must be at least 1, got {self.tasks_per_world}")
