"""What tasks a synthesis makes."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from task_synthesis.held_out import KINDS, TRAIN_BIOMES, Kinds, check_trainable_biomes, look_reason
from task_synthesis.look_mix import LookMix
from task_synthesis.task import BANDS, SKILLS
from task_synthesis.views.viewpoints import GOAL_VIEWS
from worlds.generate.biomes import BIOMES
from worlds.spec import MAX_OBJECTS, Detail, Split

# A torus of side s has its farthest point s / 2 * sqrt(2) away; close to that there is hardly a direction left.
_REACHED_SHARE = 0.45


@dataclass(frozen=True, kw_only=True)
class SynthesisConfig:
    """What tasks to make."""

    skills: dict[str, float] = field(default_factory=lambda: {"approach": 1.0, "break": 1.0})
    """Weight of each skill."""
    bands: dict[str, float] = field(default_factory=lambda: {"near": 1.0, "easy": 1.0})
    """Weight of each distance band."""
    exact_shares: bool = False
    """Whether the tasks follow the weights of skills and bands to the task; otherwise the candidates do, by chance."""
    biomes: tuple[str, ...] = TRAIN_BIOMES
    """Biomes drawn with equal chance; by default all that training may see."""
    kinds: Kinds = "train"
    """Which kinds of objects are targets and others: those of training, only those held out of it, or any."""
    looks: LookMix = LookMix()
    """How the worlds are drawn."""
    detail: Detail = "plain"
    """Whether worlds are bare terrain and trees, or have plants, caves and structures too; see WorldSpec.detail."""
    side_blocks: int = 64
    """Side of the worlds along x and z."""
    num_same_kind: tuple[int, int] = (0, 2)
    """Fewest and most other objects of the target's kind."""
    num_other_kind: tuple[int, int] = (1, 3)
    """Fewest and most objects of other kinds."""
    companions: bool = False
    """Whether a block of another kind stands beside the target and each other object of its kind, beside the target
    another one than beside the others, and the goal view shows it: then the picture tells which object is meant."""
    goal_area: tuple[float, float] = (0.004, 0.3)
    """Smallest and largest share of the goal view that the target may cover."""
    goal_views: dict[str, float] = field(default_factory=lambda: {"close": 1.0})
    """Weight of each style of goal view."""
    max_hidden_share: float = 1.0
    """Largest share of the target, as it would look alone, that leaves, walls and others may hide in the goal view."""
    least_mask_width: float = 0.0
    """Least mean width of the target across its longer side, as a share of the goal view's side."""
    max_near_share: float = 1.0
    """Largest share of the goal view that what is nearer than a block to the camera may fill."""
    hidden_share: float = 0.0
    """Chance that a start is kept from which turning round does not show the target (some 40 % of all near starts)."""
    min_hidden_walk: float = 0.0
    """Least share of the shortest walk's cells from which the target cannot be seen; above 0 every start looks at the
    target, so that it is seen once and then lost."""
    tasks_per_world: int = 8
    """Tasks made in one world before the next seed is taken."""
    image_px: int = 64
    """Side of the goal picture in which areas are measured."""

    def __post_init__(self) -> None:
        for name, known, given in (
            ("skills", SKILLS, self.skills),
            ("bands", BANDS, self.bands),
            ("biomes", BIOMES, self.biomes),
            ("goal_views", GOAL_VIEWS, self.goal_views),
        ):
            unknown = sorted(set(given) - set(known))
            if unknown or not given:
                what = f"there is no {' or '.join(map(str, unknown))}" if unknown else "nothing is given"
                close = get_close_matches(str(unknown[0]), map(str, known), n=1) if unknown else []
                fix = f"did you mean {close[0]}?" if close else f"choose from {', '.join(sorted(known))}"
                raise ValueError(f"synthesis.{name}: {what}; {fix}")
        for name in ("skills", "bands", "goal_views"):
            weights = getattr(self, name)
            if not (all(weight >= 0 for weight in weights.values()) and 0 < sum(weights.values()) < math.inf):
                raise ValueError(f"synthesis.{name} needs a positive weight and no negative one, got {weights}")
        for name in ("num_same_kind", "num_other_kind"):
            fewest, most = getattr(self, name)
            if not 0 <= fewest <= most:
                raise ValueError(f"synthesis.{name} must be 0 <= fewest <= most, got {(fewest, most)}")
        if self.kinds not in KINDS:
            raise ValueError(f"synthesis.kinds must be one of {', '.join(KINDS)}, got {self.kinds!r}")
        if not 0 < self.goal_area[0] < self.goal_area[1] <= 1:
            raise ValueError(f"synthesis.goal_area must be 0 < least < most <= 1, got {self.goal_area}")
        for name in ("hidden_share", "max_hidden_share", "max_near_share", "min_hidden_walk", "least_mask_width"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"synthesis.{name} must be in [0, 1], got {getattr(self, name)}; it is a share")
        reason = too_far(self.bands, self.side_blocks)
        if reason:
            raise ValueError(f"synthesis.bands: {reason}; use a larger side_blocks")
        num_objects = most_objects(self.num_same_kind[1], self.num_other_kind[1], with_companions=self.companions)
        if num_objects > MAX_OBJECTS:
            raise ValueError(
                f"synthesis: up to {num_objects} objects would stand in a task, the target included, and {MAX_OBJECTS} "
                f"fit; lower the most of num_same_kind {self.num_same_kind} or num_other_kind {self.num_other_kind}"
            )
        if self.tasks_per_world < 1:
            raise ValueError(f"synthesis.tasks_per_world must be at least 1, got {self.tasks_per_world}")

    def check_split(self, split: Split) -> None:
        """Raise ValueError where tasks of a train or val split would hold what is held out of training."""
        if split == "held_out":
            return
        check_trainable_biomes(self.biomes, where=f"synthesis.biomes of split {split!r}")
        if self.kinds != "train":
            raise ValueError(f"synthesis.kinds is {self.kinds!r}, but split {split!r} holds only kinds of training")
        for look in self.looks.corners():
            reason = look_reason(look)
            if reason:
                raise ValueError(f"synthesis.looks of split {split!r}: {reason}; choose looks that training may see")


def too_far(bands: Mapping[str, float], side_blocks: int) -> str:
    """Return why worlds of that side have no room for one of the bands; "" where they have."""
    reach_blocks = _REACHED_SHARE * side_blocks * math.sqrt(2)
    for band, weight in bands.items():
        if weight > 0 and BANDS[band][1] > reach_blocks:
            return (
                f"{band!r} starts up to {BANDS[band][1]:g} blocks away, but in a world of {side_blocks} blocks "
                f"nothing is farther than {reach_blocks:.0f}"
            )
    return ""


def most_objects(num_same_kind: int, num_other_kind: int, *, with_companions: bool) -> int:
    """Return how many objects a task has with the target, at most: each of its kind may have a companion beside it."""
    return (1 + num_same_kind) * (2 if with_companions else 1) + num_other_kind


def at_scale(**changes: Any) -> SynthesisConfig:
    """Return the config of the large library: equal shares of all skills and bands, full worlds of 128."""
    fields: dict[str, Any] = {
        "skills": dict.fromkeys(SKILLS, 1.0),
        "bands": dict.fromkeys(BANDS, 1.0),
        "exact_shares": True,
        "detail": "full",
        "side_blocks": 128,
        "goal_area": (0.002, 0.3),
        "goal_views": {"human": 1.0, "third_person": 1.0, "birds_eye": 1.0},
        "max_hidden_share": 0.35,
        "least_mask_width": 0.025,
        "max_near_share": 0.25,
        "hidden_share": 0.5,
        "tasks_per_world": 64,
        "image_px": 128,
    }
    return SynthesisConfig(**(fields | changes))
