"""What the expert remembers of every env. E envs, O placed objects."""

from typing import NamedTuple

import numpy as np

from worlds.spec import MAX_OBJECTS

APPROACH, BREAK, INTERACT, PLACE, PICK_UP, HUNT, ARCHERY = range(7)
NO_TOOL = -1


class Mind(NamedTuple):
    """The task of every env, the plan of its walk and what it did last."""

    skill_E: np.ndarray  # int64 [E], a way of acting: policies.expert.decide.WAY_OF_SKILL
    slot_E: np.ndarray  # int64 [E], object slot + 1 of the target
    cell_E3: np.ndarray  # int64 [E, 3], where the target was placed
    tool_E: np.ndarray  # int64 [E], hotbar slot that the skill needs, NO_TOOL any
    keep_off_EO2: np.ndarray  # float64 [E, O, 2], x, z of objects that must not be touched
    num_keep_off_E: np.ndarray  # int64 [E]
    cost_EXZY: np.ndarray  # uint16 [E, X, Z, Y], costs of walks to planned_E3
    planned_E3: np.ndarray  # float64 [E, 3], the target of the plan
    plan_steps_E: np.ndarray  # int64 [E], decisions since the plan was made, -1 none was
    last_position_E3: np.ndarray  # float64 [E, 3], of the agent
    last_target_E3: np.ndarray  # float64 [E, 3], of a mob
    has_last_target_E: np.ndarray  # bool [E]
    stuck_steps_E: np.ndarray  # int64 [E], decisions in which it wanted to walk and did not move
    wait_steps_E: np.ndarray  # int64 [E], decisions in which something kept it from its deed
    has_used_E: np.ndarray  # bool [E], the use key was down in the last decision


def empty_mind(num_envs: int, cost_EXZY: np.ndarray) -> Mind:
    """Return the memory of envs that have no task yet; `cost_EXZY` is kept and written to."""
    e = num_envs
    return Mind(
        skill_E=np.zeros(e, np.int64),
        slot_E=np.zeros(e, np.int64),
        cell_E3=np.zeros((e, 3), np.int64),
        tool_E=np.full(e, NO_TOOL, np.int64),
        keep_off_EO2=np.zeros((e, MAX_OBJECTS, 2)),
        num_keep_off_E=np.zeros(e, np.int64),
        cost_EXZY=cost_EXZY,
        planned_E3=np.zeros((e, 3)),
        plan_steps_E=np.full(e, -1, np.int64),
        last_position_E3=np.zeros((e, 3)),
        last_target_E3=np.zeros((e, 3)),
        has_last_target_E=np.zeros(e, bool),
        stuck_steps_E=np.zeros(e, np.int64),
        wait_steps_E=np.zeros(e, np.int64),
        has_used_E=np.zeros(e, bool),
    )


def forget(mind: Mind, e: int) -> None:
    """Forget what happened in env e, as at the start of an episode."""
    mind.plan_steps_E[e] = -1
    mind.has_last_target_E[e] = mind.has_used_E[e] = False
    mind.stuck_steps_E[e] = mind.wait_steps_E[e] = 0
