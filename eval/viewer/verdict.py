"""How an episode stands, in a sentence for the person who watches."""

from task_synthesis.playing.success import Outcome
from task_synthesis.skills import SKILLS, base_kind
from task_synthesis.task import TaskSpec
from worlds.types import TICK_S


def verdict(outcome: Outcome, task: TaskSpec | None, *, ticks: int) -> str:
    """Return why the episode ended; "" while it runs."""
    seconds = f"{ticks * TICK_S:.1f} s"
    if outcome == Outcome.RUNNING:
        return ""
    if outcome == Outcome.DEATH:
        return f"the agent died after {seconds}"
    if outcome == Outcome.FAULT:
        return f"the engine failed after {seconds}; this says nothing about the agent"
    if task is None:
        return f"{seconds} are over; without a target in this world nothing is judged"
    kind = base_kind(task.placements[task.target_index].kind).removeprefix("item:").replace("_", " ")
    if outcome == Outcome.SUCCESS:
        return f"after {seconds}, {task.skill.replace('_', ' ')} {kind}: {SKILLS[task.skill].success}"
    if outcome == Outcome.WRONG_OBJECT:
        return f"after {seconds}: it was another {kind} than the marked one, or the wrong deed was done to it"
    return f"the time limit of {task.max_ticks * TICK_S:.0f} s has passed"
