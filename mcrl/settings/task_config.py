"""Settings of a run's tasks: which are synthesised, and in which order training plays them."""

from dataclasses import dataclass, field
from typing import Literal

from mcrl.settings.config_checks import check_mix, require, require_at_least
from task_synthesis.held_out import check_trainable_biomes
from task_synthesis.playing.curriculum import family_namer
from task_synthesis.synthesis_config import SynthesisConfig, most_objects, too_far
from task_synthesis.task import BANDS, SKILLS
from worlds.spec import MAX_OBJECTS

_MOST_OTHERS = SynthesisConfig().num_other_kind[1]

Order = Literal["shuffled", "mixed", "adaptive"]


@dataclass(frozen=True, kw_only=True)
class CurriculumConfig:
    """How the second stage chooses among the train tasks."""

    order: Order = "shuffled"
    """"shuffled" goes through the list; "mixed" keeps to the shares of `tasks.skills` x `tasks.bands` exactly, whatever
    the list holds; "adaptive" prefers families that are solved sometimes, by their success rate p as p (1 - p)."""
    key: str = "skill/band/kind"
    """What makes a family for "adaptive": some of skill, band, kind and biome, joined by slashes."""
    exploration: float = 0.2
    """Share of "adaptive" draws that ignore what is known, so that nothing is given up for good."""
    memory_episodes: float = 100.0
    """Episodes of a family after which an outcome counts 1/e as much for "adaptive"."""

    def __post_init__(self) -> None:
        orders = ("shuffled", "mixed", "adaptive")
        require(self.order in orders, f"tasks.curriculum.order must be one of {', '.join(orders)}, got {self.order!r}")
        family_namer(self.key)
        require(0 < self.exploration <= 1, f"tasks.curriculum.exploration must be in (0, 1], got {self.exploration}")
        require_at_least(1, "tasks.curriculum.", self, "memory_episodes")


@dataclass(frozen=True, kw_only=True)
class TaskConfig:
    """Which tasks are synthesised for a run."""

    skills: dict[str, float] = field(default_factory=lambda: {"approach": 1.0, "break": 1.0})
    """Share of each skill among the tasks; shares need not sum to 1."""
    bands: dict[str, float] = field(default_factory=lambda: {"near": 1.0})
    """Share of each distance band among the tasks; shares need not sum to 1."""
    biomes: tuple[str, ...] = ("plains", "forest", "desert")
    """Biomes of the worlds, drawn evenly; none that is held out of training (task_synthesis.held_out)."""
    side_blocks: int = 64
    """Side of the worlds along x and z: 32, 64, 128 or 256."""
    full_share: float = 0.0
    """Share of the tasks that are as the frozen suites have them: in full worlds (plants, caves, structures), seen from
    near and far, half of the starts without a sight of the target. The rest are in bare worlds, seen from close by."""
    num_same_kind: tuple[int, int] = (0, 2)
    """Fewest and most other objects of the target's kind; touching one is a failure."""
    companion_share: float = 0.0
    """Share of the tasks in which a block of another kind stands beside the target, which the goal picture shows, and
    others beside the other objects of its kind: the picture then tells which one is meant."""
    library: str | None = None
    """Train library of `mcrl synth`, a folder: all its tasks are played, and `num_train_tasks` counts for nothing; None
    synthesises them. `side_blocks` must be that of its worlds."""
    val_library: str | None = None
    """Val library, of which `num_val_tasks` are drawn; None synthesises them."""
    curriculum: CurriculumConfig = CurriculumConfig()
    """In which order training plays them; demonstrations and validation go through the list."""
    num_train_tasks: int = 4096
    """Tasks in worlds of the train split; reused when training needs more."""
    num_val_tasks: int = 128
    """Tasks in worlds of the val split: demonstrations for early stopping and success checks while training."""
    num_eval_tasks: int = 256
    """Tasks in held-out worlds for the report at the end; training never sees them."""

    def __post_init__(self) -> None:
        check_mix("tasks.skills", self.skills, SKILLS)
        check_mix("tasks.bands", self.bands, BANDS)
        require(bool(self.biomes), "tasks.biomes is empty; name at least one biome")
        check_trainable_biomes(self.biomes, where="tasks.biomes")
        require(
            self.side_blocks in (32, 64, 128, 256),
            f"tasks.side_blocks must be 32, 64, 128 or 256, got {self.side_blocks}",
        )
        reason = too_far(self.bands, self.side_blocks) if self.library is None else ""
        require(not reason, f"tasks.bands: {reason}; set tasks.side_blocks higher, or that band's share to 0")
        require(0 <= self.full_share <= 1, f"tasks.full_share must be in [0, 1], got {self.full_share}; it is a share")
        require(
            0 <= self.companion_share <= 1,
            f"tasks.companion_share must be in [0, 1], got {self.companion_share}; it is a share",
        )
        least, most = self.num_same_kind
        require(
            0 <= least <= most,
            f"tasks.num_same_kind must be 0 <= fewest <= most, got {self.num_same_kind}",
        )
        num_objects = most_objects(most, _MOST_OTHERS, with_companions=self.companion_share > 0)
        require(
            num_objects <= MAX_OBJECTS or self.library is not None,
            f"tasks.num_same_kind {self.num_same_kind}: up to {num_objects} objects would stand in a task, with the "
            f"target, {_MOST_OTHERS} others{' and companions' if self.companion_share else ''}, and {MAX_OBJECTS} "
            "fit; lower its most",
        )
        require_at_least(1, "tasks.", self, "num_train_tasks num_val_tasks num_eval_tasks")
