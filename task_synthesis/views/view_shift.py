"""How far apart the directions are from which the agent and the goal camera look at a target."""

import math

from task_synthesis.placement.aim import wrapped_deg
from task_synthesis.placement.targets import circle_of, torus_delta
from task_synthesis.task import TaskSpec


def view_shift_deg(task: TaskSpec) -> float:
    """Return the horizontal angle at the target between the start and the goal camera, 0 .. 180.

    0: the goal picture was taken from the agent's side of the target; 180: from behind it.
    """
    x, _, z = task.placements[task.target_index].position
    circle_x, circle_z = circle_of(task.world)
    start_deg, camera_deg = (
        math.degrees(
            math.atan2(torus_delta(pose.x - x - 0.5, circle_x).item(), torus_delta(pose.z - z - 0.5, circle_z).item())
        )
        for pose in (task.start, task.goal_view)
    )
    return abs(wrapped_deg(start_deg - camera_deg))
