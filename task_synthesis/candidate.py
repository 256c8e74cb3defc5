"""One attempt at a task: what has been drawn so far, and the task that it becomes."""

from dataclasses import dataclass

import numpy as np

from task_synthesis.placement.aim import wrapped_deg
from task_synthesis.placement.layout import Layout
from task_synthesis.placement.starts import Start
from task_synthesis.placement.targets import torus_delta
from task_synthesis.prerequisites import Inventory, max_ticks
from task_synthesis.skills import Skill, base_kind
from task_synthesis.task import Difficulty, TaskSpec
from worlds.spec import MAX_SEED, Look, WorldSpec
from worlds.types import EYE_HEIGHT_BLOCKS, Pose


@dataclass(slots=True)
class Candidate:
    """One attempt: what has been drawn so far."""

    rng: np.random.Generator
    skill: Skill
    band: str
    layout: Layout
    circle_blocks: tuple[int, int]  # after which one is back along x and z
    inventory: Inventory
    style: str
    look: Look
    start: Start | None = None
    goal_view: Pose | None = None
    goal_area: float = 0.0
    surface_P3: np.ndarray | None = None  # float64 [P, 3], what the goal view shows


def start_eye(candidate: Candidate) -> Pose:
    """Return the eye of the agent at the start."""
    assert candidate.start is not None
    pose = candidate.start.pose
    return pose._replace(y=pose.y + EYE_HEIGHT_BLOCKS)


def task_of(world: WorldSpec, candidate: Candidate, *, visible_at_start: bool, view_overlap: float) -> TaskSpec:
    """Return the task of a candidate that has a start and a goal view."""
    layout, start, goal_view = candidate.layout, candidate.start, candidate.goal_view
    assert start is not None
    assert goal_view is not None
    circle_x, circle_z = candidate.circle_blocks
    target = layout.target_position
    dx = float(torus_delta(target[0] + 0.5 - start.pose.x, circle_x))
    dz = float(torus_delta(target[2] + 0.5 - start.pose.z, circle_z))
    yaw_deg = float(np.degrees(np.arctan2(-dx, dz))) - start.pose.yaw_deg
    kinds = [base_kind(placement.kind) for placement in layout.placements]
    num_same = kinds.count(layout.kind) - 1
    is_alive = candidate.skill.target == "mob"
    return TaskSpec(
        family=f"{candidate.skill.name}/{layout.kind}",
        band=candidate.band,
        world=world,
        placements=layout.placements,
        target_index=layout.target_index,
        start=start.pose,
        goal_view=goal_view,
        inventory=candidate.inventory,
        max_ticks=max_ticks(candidate.skill, layout.kind, candidate.band),
        look=candidate.look,
        # Only what lives does anything by chance.
        episode_seed=int(candidate.rng.integers(MAX_SEED)) if is_alive else 0,
        difficulty=Difficulty(
            distance_blocks=round(float(np.hypot(dx, dz)), 3),
            path_blocks=start.path_blocks,
            target_yaw_deg=round(wrapped_deg(yaw_deg), 2),
            height_blocks=target[1] - start.pose.y,
            in_sight=start.in_sight,
            visible_at_start=visible_at_start,
            goal_area=candidate.goal_area,
            view_overlap=round(view_overlap, 4),
            num_same_kind=num_same,
            num_other_kind=len(layout.placements) - 1 - num_same,
        ),
    )
