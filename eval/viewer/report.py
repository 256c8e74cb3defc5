"""What is to be said about a goal before it is played: how hard it is, whether it can be done, what may go wrong."""

from dataclasses import dataclass

from eval.viewer.desk import Desk
from task_synthesis.by_hand.user_tasks import IMAGE_PX
from task_synthesis.skills import base_kind
from task_synthesis.synthesis_config import at_scale
from task_synthesis.task import Difficulty
from task_synthesis.views.goal_check import GoalCheck
from worlds.blocks import BLOCK_ID, BLOCKS
from worlds.spec import split_of

_FAULTS = {
    "target_hidden": "the target is not in the goal picture",
    "mask_too_small": "the target is very small in the goal picture; go nearer",
    "mask_too_large": "the target fills the goal picture; step back, so that its surroundings tell where it is",
    "mask_cut": "the target is cut off by the border of the goal picture",
    "mask_too_thin": "the target is seen from its edge; look at it from another side",
    "camera_at_wall": "something close to the camera hides much of the goal picture",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class GoalReport:
    """What was found out about a goal."""

    fault: str
    """Why it is no task; "" where it is one."""
    difficulty: Difficulty | None
    """None where it is no task."""
    band: str
    """Distance band; "" where it is no task."""
    max_ticks: int | None
    """The time limit; None where it is no task."""
    is_reachable: bool | None
    """Whether a walk leads to where the target is in reach; None where it is no task."""
    split: str
    """Of the world: train, val or held_out."""
    warnings: tuple[str, ...]
    """What an agent, or who reads its results, may stumble over; it can be played all the same."""


def report_on(desk: Desk) -> GoalReport:
    """Return what there is to say about the draft on the desk."""
    draft = desk.draft
    warnings: list[str] = []
    fault, task = "", None
    try:
        task = desk.task()
    except ValueError as error:
        fault = str(error)
    is_reachable = None
    if task is not None:
        is_reachable = desk.is_reachable()
        if not is_reachable:
            warnings.append("no walk leads from the start to where the target is in reach; a way must be dug or built")
    if draft.goal_view is not None and draft.target is not None:
        check = GoalCheck(desk.engine, at_scale())
        views = desk.views(draft.goal_view, (IMAGE_PX, IMAGE_PX))
        warnings += [_FAULTS.get(name, name) for name in check.faults(views) if name]
    warnings += _words_on_target(desk)
    if draft.picture is not None:
        what = "picture is from elsewhere" if draft.picture.is_foreign else "mask was painted"
        warnings.append(f"the {what}; success is judged by the target in this world alone")
    return GoalReport(
        fault=fault,
        difficulty=None if task is None else task.difficulty,
        band="" if task is None else task.band,
        max_ticks=None if task is None else task.max_ticks,
        is_reachable=is_reachable,
        split=split_of(draft.world.source, draft.world.seed),
        warnings=tuple(warnings),
    )


def _words_on_target(desk: Desk) -> list[str]:
    draft = desk.draft
    if draft.target is None or base_kind(draft.target.kind) not in BLOCK_ID:
        return []
    kind = base_kind(draft.target.kind)
    words = []
    if draft.skill == "interact" and not BLOCKS[BLOCK_ID[kind]].use:
        words.append(f"using a {kind} does nothing, so nobody can succeed; choose another target or skill")
    if draft.skill == "break" and draft.adopted is not None:
        words.append(f"breaking any other {kind} on the way ends the episode as a failure")
    return words
