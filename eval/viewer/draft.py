"""A goal while it is being made: everything a person has chosen so far. H W C image."""

import dataclasses
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from task_synthesis.interaction import Interaction
from task_synthesis.prerequisites import draw_inventory
from task_synthesis.skills import SKILLS, Skill, base_kind
from task_synthesis.task import TaskSpec
from worlds.spec import Episode, Look, Placement, WorldSpec
from worlds.types import Pose


@dataclass(frozen=True, slots=True, eq=False)
class OwnPicture:
    """A goal picture whose mask a person made, or that came from elsewhere. Arrays are never changed."""

    image_HWC: np.ndarray  # uint8 [H, W, 3] RGB
    mask_HW: np.ndarray  # bool [H, W]
    is_foreign: bool
    """The picture is not of this world: it was uploaded."""


@dataclass(frozen=True, kw_only=True, slots=True)
class GoalDraft:
    """What a person has chosen so far. Changed by making another one, so that undo is exact."""

    world: WorldSpec
    start: Pose
    """Feet of the agent at the start."""
    objects: tuple[Placement, ...] = ()
    """What was put into the world."""
    adopted: Placement | None = None
    """A block of the terrain that was made the target: a placement of the same block in its own cell."""
    target_index: int | None = None
    """Index into `placements`; None while there is no target."""
    skill: str = "approach"
    """A key of task_synthesis.skills.SKILLS."""
    goal_view: Pose | None = None
    """Eye of the goal camera; None before there is one."""
    inventory: tuple[tuple[str, int], ...] | None = None
    """None: what the skill needs."""
    max_ticks: int | None = None
    """None: by skill and distance."""
    look: Look = field(default_factory=Look)
    episode_seed: int = 0
    picture: OwnPicture | None = None
    """Takes the place of what the goal camera sees."""
    task: TaskSpec | None = None
    """The task that this is exactly, where it was loaded or saved; any change forgets it."""

    @property
    def placements(self) -> tuple[Placement, ...]:
        """Return all objects of the episode, the adopted block last."""
        return self.objects if self.adopted is None else (*self.objects, self.adopted)

    @property
    def target(self) -> Placement | None:
        """Return the target, None while there is none."""
        return None if self.target_index is None else self.placements[self.target_index]

    @property
    def skill_row(self) -> Skill:
        """Return the row of the table of skills."""
        return SKILLS[self.skill]

    @property
    def interaction(self) -> Interaction:
        """Return what the goal asks for."""
        return self.skill_row.interaction

    @property
    def carried(self) -> tuple[tuple[str, int], ...]:
        """Return (item, count) by slot: what was chosen, else what the skill needs for the target."""
        if self.inventory is not None:
            return self.inventory
        # Nothing here is random: what a hand-made task without an inventory carries is that of seed 0.
        kind = "" if self.target is None else base_kind(self.target.kind)
        return draw_inventory(np.random.default_rng(0), self.skill_row, kind) if kind else ()

    def changed(self, **fields: Any) -> "GoalDraft":
        """Return this draft with other values; it is no longer the task that was loaded."""
        return dataclasses.replace(self, **({"task": None} | fields))

    def episode(self) -> Episode:
        """Return what an engine needs to begin."""
        return Episode(
            world=self.world,
            placements=self.placements,
            start=self.start,
            target_index=-1 if self.target_index is None else self.target_index,
            inventory=self.carried,
            look=self.look,
            seed=self.episode_seed,
        )


def draft_of(task: TaskSpec) -> GoalDraft:
    """Return the draft that is exactly `task`."""
    return GoalDraft(
        world=task.world,
        start=task.start,
        objects=task.placements,
        target_index=task.target_index,
        skill=task.skill,
        goal_view=task.goal_view,
        inventory=task.inventory,
        max_ticks=task.max_ticks,
        look=task.look,
        episode_seed=task.episode_seed,
        task=task,
    )


class History:
    """The drafts of a session, in order, with a place in them."""

    _MAX_DRAFTS = 100  # pictures that a person painted are 200 kB each

    def __init__(self, first: GoalDraft) -> None:
        """Begin with one draft."""
        self._drafts = [first]
        self._at = 0

    @property
    def present(self) -> GoalDraft:
        """Return the draft that holds now."""
        return self._drafts[self._at]

    @property
    def can_undo(self) -> bool:
        """Return whether there is something to take back."""
        return self._at > 0

    @property
    def can_redo(self) -> bool:
        """Return whether something was taken back."""
        return self._at + 1 < len(self._drafts)

    def add(self, draft: GoalDraft) -> None:
        """Go on with another draft; what was taken back is forgotten."""
        self._drafts = [*self._drafts[: self._at + 1], draft][-self._MAX_DRAFTS :]
        self._at = len(self._drafts) - 1

    def know_task(self, task: TaskSpec) -> None:
        """Note that the present draft is exactly `task`; nothing to take back."""
        self._drafts[self._at] = dataclasses.replace(self.present, task=task)

    def undo(self) -> None:
        """Go one draft back."""
        if not self.can_undo:
            raise ValueError("undo: nothing was changed yet; change something first")
        self._at -= 1

    def redo(self) -> None:
        """Go one draft forward again."""
        if not self.can_redo:
            raise ValueError("redo: nothing was taken back; undo something first")
        self._at += 1
