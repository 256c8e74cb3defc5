"""What the page's words and numbers say about a session, as plain values for JSON."""

import dataclasses
import math
from typing import Any

from eval.viewer.draft import GoalDraft
from eval.viewer.players import HUMAN
from eval.viewer.run_control import RunControl, RunFrame
from eval.viewer.session import ViewerSession
from task_synthesis.skills import base_kind
from worlds.types import TICK_S

_MAX_VALUES = 400  # of a drawn curve
_FULL_HEALTH = 20  # half hearts
_SCENE_S = (0.1, 1.0)  # between updates of the 3-D scene while something plays: least, and most for a slow browser
_DRAWN_SHARE = 0.25  # of a slow browser's time that the scene may take; the rest is for the agent's view


def scene_interval_s(slowest_ms: float) -> float:
    """Return how long to wait between updates of the scene for a browser whose slowest frame took `slowest_ms`.

    What a page sends may be no number; it then counts as a fast one.
    """
    least_s, most_s = _SCENE_S
    wanted_s = slowest_ms / 1000 / _DRAWN_SHARE
    return least_s if math.isnan(wanted_s) else min(max(wanted_s, least_s), most_s)


def page_state(session: ViewerSession) -> dict[str, Any]:
    """Return what app_page.js shows; its keys are read there."""
    draft = session.goal.draft
    goal = goal_words(draft)
    state: dict[str, Any] = {"goal": goal, "outcome": "", "rival": ""}
    if session.run.run is None:
        player = "you" if session.run.player == HUMAN else session.run.player
        agent = player if draft.target else ""
        return state | {"banner": _hint(session), "by_hand": False, "agent": agent}
    frame = session.run.frame()
    state |= {
        "banner": _banner(frame, _goal_before(session)),
        "outcome": frame.outcome,
        "by_hand": frame.is_by_hand and not frame.outcome,
        "agent": _who(frame),
        "ticks": frame.ticks,
        "max_ticks": frame.max_ticks,
        "buttons": list(frame.buttons),
        "facts": _facts(frame),
        "values": [round(value, 4) for value in _thinned(frame.values)],
    }
    if frame.belief is not None and all(math.isfinite(side) for side in frame.belief.box):
        belief = frame.belief
        state["belief"] = {
            "visibility": round(belief.visibility, 3),
            "centre": [round(part, 4) for part in belief.centre],
            "box": [round(side, 4) for side in belief.box],
        }
    if session.rival.run is not None:
        state["rival"] = _rival(session.rival)
    return state


def goal_words(draft: GoalDraft) -> str:
    """Return the goal in two words, "break oak log"; "" while there is none."""
    if draft.target is None:
        return "uploaded picture" if draft.picture is not None else ""
    kind = base_kind(draft.target.kind).removeprefix("item:").replace("_", " ")
    return f"{draft.skill.replace('_', ' ')} {kind}"


def _hint(session: ViewerSession) -> str:
    """Return what a person may do next, before anything runs."""
    draft = session.goal.draft
    if draft.picture is not None and draft.picture.is_foreign and not draft.picture.mask_HW.any():
        return "Click or brush what the agent shall find in your picture."
    if draft.target is None and (draft.picture is None or not draft.picture.is_foreign):
        return "Fly with W A S D and the mouse. Click a block or an animal: it becomes the target."
    if draft.goal_view is None and draft.picture is None:
        return "Fly to a good view of the target and press Goal from here."
    if not session.goal.view().mask_HW.any():
        return "The target is not to be seen in the goal picture: fly to where it is and press Goal from here."
    try:
        session.shared.engines.check_world(session.run.engine_name, draft.world)
    except ValueError as error:
        return f"The goal is ready, but {str(error).removeprefix('run: ')}."
    return "The goal is ready: open the Run tab and press Play."


def _goal_before(session: ViewerSession) -> str:
    """Return what the run plays, in words, where the goal was changed since it began; else ""."""
    played = session.run.draft
    if played is None or dataclasses.replace(session.goal.draft, task=played.task) == played:
        return ""
    return goal_words(played) or "another goal"


def _banner(frame: RunFrame, goal_before: str) -> str:
    if frame.outcome:
        name = "Success" if frame.outcome == "success" else frame.outcome.replace("_", " ").capitalize()
        return f"{name}: {frame.reason}" + (". You changed the goal since: Play begins yours." if goal_before else "")
    if frame.is_by_hand:
        begin = "You play" if frame.is_playing else "Paused. Press Play and you play"
        banner = (
            f"{begin}: W A S D, space, shift, arrows to look, F to hit, E to use, 1-9 for tools. Click in the agent's "
            "picture, and the mouse looks and hits, until Esc."
        )
    else:
        banner = "" if frame.is_playing else "Paused."
    if goal_before:
        banner += (
            f" You changed the goal: until Reset this run is still {goal_before}, as it was. A button under More gives "
            "yours to the running agent."
        )
    return banner.strip()


def _who(frame: RunFrame) -> str:
    who = "you" if frame.is_by_hand else frame.player
    return f"{who}, {frame.ticks * TICK_S:.1f} of {frame.max_ticks * TICK_S:.0f} s"


def _facts(frame: RunFrame) -> str:
    item, count = frame.hotbar[frame.selected]
    parts = [f"health {frame.health:.0f}/{_FULL_HEALTH}"]
    if item:
        parts.append(f"{item.replace('_', ' ')}{f' x{count}' if count > 1 else ''} in hand")
    reached = [name.replace("_", " ") for name, is_reached in frame.milestones.items() if is_reached]
    if reached:
        parts.append("reached: " + ", ".join(reached))
    return "; ".join(parts)


def _rival(control: RunControl) -> str:
    frame = control.frame()
    return f"{_who(frame)} {frame.outcome.replace('_', ' ')}"


def _thinned(values: tuple[float, ...]) -> list[float]:
    every = len(values) // _MAX_VALUES + 1
    return [value for value in values[::every] if math.isfinite(value)]
