"""A task for the books: what an env must name that plays no Minecraft."""

from task_synthesis.task import Difficulty, TaskSpec
from worlds.spec import Placement, WorldSpec
from worlds.types import Pose


def unplayed_task(kind: str = "gold_block", *, max_ticks: int, world_seed: int = 0) -> TaskSpec:
    """Return a valid task "approach a block of `kind`" in a world of 32 x 32 columns; its numbers are made up."""
    return TaskSpec(
        family=f"approach/{kind}",
        band="near",
        world=WorldSpec(seed=world_seed, size_blocks=(32, 64, 32)),
        placements=(Placement(kind=kind, position=(1, 30, 1)),),
        target_index=0,
        start=Pose(0.0, 30.0, 0.0, 0.0, 0.0),
        goal_view=Pose(0.0, 32.0, 0.0, 0.0, 0.0),
        inventory=(),
        max_ticks=max_ticks,
        difficulty=Difficulty(
            distance_blocks=5.0,
            path_blocks=5.0,
            target_yaw_deg=0.0,
            height_blocks=0.0,
            in_sight=True,
            visible_at_start=True,
            goal_area=0.1,
            view_overlap=0.0,
            num_same_kind=0,
            num_other_kind=0,
        ),
    )
