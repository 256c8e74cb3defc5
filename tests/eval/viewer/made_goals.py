"""Goals in a small world, made as a person makes them."""

from eval.viewer.session import ViewerSession
from worlds.spec import WorldSpec
from worlds.types import Pose

WORLD = WorldSpec(seed=0, biome="plains", size_blocks=(64, 64, 64), detail="plain")


def eye_over_start(session: ViewerSession, *, height_blocks: float = 3.5, pitch_deg: float = 25.0) -> Pose:
    """An eye above the agent's start that looks down ahead of it."""
    start = session.goal.draft.start
    return Pose(start.x, start.y + height_blocks, start.z, start.yaw_deg, pitch_deg)


def mark_ground(session: ViewerSession, *, skill: str = "break") -> None:
    """Take the goal from above the start, mark the ground ahead, begin ten blocks away from it."""
    session.goal.goal_from_here(eye_over_start(session))
    session.goal.click_goal(150, 128)
    session.goal.choose_skill(skill)
    session.goal.sample_start("near", seed=1)


def place_cow(session: ViewerSession) -> None:
    """Put a cow on the ground ahead of the start, where the goal camera sees it."""
    eye = eye_over_start(session)
    session.goal.goal_from_here(eye)
    session.goal.add_object("cow", session.goal.desk.hit_in_view(eye, 150, 128, 256))
