"""One moment of a run, for the page. H W C image."""

from dataclasses import dataclass

import numpy as np

from eval.episodes.action_text import keys_text
from eval.play.play_session import NUM_HOTBAR_SLOTS
from eval.viewer.players import Belief
from eval.viewer.run import Run
from eval.viewer.verdict import verdict
from task_synthesis.goal import CrossViewGoal
from worlds.items import ITEMS
from worlds.types import BUTTONS


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class RunFrame:
    """What a person wants to know of a moment."""

    player: str
    image_HWC: np.ndarray  # uint8 [H, W, 3] RGB, what the player sees
    goal: CrossViewGoal
    ticks: int
    max_ticks: int
    is_playing: bool
    is_by_hand: bool
    outcome: str
    """In lower case, "success"; "" while it runs."""
    reason: str
    """A sentence; "" while it runs."""
    keys: str
    """What is pressed, in words."""
    buttons: tuple[str, ...]
    """What is pressed, names of worlds.types.BUTTONS."""
    turn_deg: tuple[float, float]
    """Right and down, a tick."""
    belief: Belief | None
    target_area: float
    """Share of the picture that truly shows the target."""
    decision: int
    """How many decisions have been made."""
    num_decisions: int | None
    """Of a recording; None where nobody knows yet."""
    values: tuple[float, ...]
    """The policy's value at every decision so far; empty for others."""
    milestones: dict[str, bool]
    health: float
    """Half hearts."""
    hotbar: tuple[tuple[str, int], ...]
    """(item, count) of the nine slots, "" for an empty one."""
    selected: int
    """Slot in hand."""


def frame_of(run: Run, *, is_playing: bool) -> RunFrame:
    """Return the present moment of a run; `is_playing` says whether its time passes."""
    last, trace = run.last, run.trace
    buttons_B, camera_deg_2 = run.actions.buttons_EB[0], run.actions.camera_deg_E2[0]
    slots = zip(last.item_ES[0, :NUM_HOTBAR_SLOTS].tolist(), last.count_ES[0].tolist(), strict=False)
    return RunFrame(
        player=run.casting.name,
        image_HWC=last.image_EHWC[0].copy(),
        goal=run.goal,
        ticks=run.ticks,
        max_ticks=run.plan.max_ticks,
        is_playing=is_playing,
        is_by_hand=run.is_by_hand,
        outcome="" if not run.is_over else run.outcome.name.lower(),
        reason=verdict(run.outcome, run.plan.task, ticks=run.ticks) + _misplayed(run),
        keys=keys_text(buttons_B, camera_deg_2) if trace.buttons else "",
        buttons=tuple(name for name, is_down in zip(BUTTONS, buttons_B, strict=True) if is_down),
        turn_deg=(float(camera_deg_2[1]), float(camera_deg_2[0])),
        belief=run.player.belief,
        target_area=float(last.target_E7[0, 0]),
        decision=run.num_decisions,
        num_decisions=None if run.casting.recording is None else len(run.casting.recording.buttons_DB),
        values=tuple(belief.value for belief in trace.beliefs if belief is not None),
        milestones=run.milestones,
        health=float(last.health_E[0]),
        hotbar=tuple((ITEMS[item].name, count) if item >= 0 else ("", 0) for item, count in slots),
        selected=int(last.selected_E[0]),
    )


def _misplayed(run: Run) -> str:
    """Return what to add where a recording has ended otherwise than when it was made."""
    recorded = run.casting.recorded
    if (
        recorded is None
        or not run.is_over
        or any(run.trace.is_by_hand)
        or (run.outcome.name.lower(), run.ticks) == (recorded.outcome, recorded.ticks)
    ):
        return ""
    return (
        f"; it was recorded as {recorded.outcome.replace('_', ' ')} after {recorded.ticks} ticks: this build plays "
        "otherwise than the one that recorded it"
    )
