"""From a played task to its line in episodes.jsonl."""

import math

from eval.episode_track import EpisodeTrack
from eval.failure_causes import cause_of
from eval.records import JudgedEpisode
from mcrl.episodes import EpisodeRecord
from task_synthesis.targets import torus_delta
from task_synthesis.task import TaskSpec


def judged_episode(
    task: TaskSpec, record: EpisodeRecord, track: EpisodeTrack, *, row: str, suite: str, unit: int, goal_task_id: str
) -> JudgedEpisode:
    """Return the full record of one episode."""
    difficulty = task.difficulty
    return JudgedEpisode(
        row=row,
        suite=suite,
        unit=unit,
        task_id=task.task_id,
        goal_task_id=goal_task_id,
        family=task.family,
        skill=task.skill,
        band=task.band,
        biome=task.world.biome,
        world_seed=task.world.seed,
        split=task.split,
        outcome=record.outcome,
        cause=cause_of(
            skill=task.skill,
            outcome=record.outcome,
            ticks=record.num_ticks,
            walked_blocks=track.walked_blocks,
            closest_blocks=track.closest_blocks,
            first_seen_ticks=track.first_seen_ticks,
            last_seen_ticks=track.last_seen_ticks,
        ),
        success=record.is_success,
        ticks=record.num_ticks,
        max_ticks=task.max_ticks,
        distance_blocks=difficulty.distance_blocks,
        path_blocks=difficulty.path_blocks,
        height_blocks=difficulty.height_blocks,
        target_yaw_deg=difficulty.target_yaw_deg,
        view_overlap=difficulty.view_overlap,
        view_angle_deg=round(view_angle_deg(task), 1),
        goal_area=difficulty.goal_area,
        num_same_kind=difficulty.num_same_kind,
        num_other_kind=difficulty.num_other_kind,
        in_sight=difficulty.in_sight,
        visible_at_start=difficulty.visible_at_start,
        walked_blocks=track.walked_blocks,
        closest_blocks=track.closest_blocks,
        first_seen_ticks=track.first_seen_ticks,
        last_seen_ticks=track.last_seen_ticks,
    )


def view_angle_deg(task: TaskSpec) -> float:
    """Return the angle at the target between the start and the goal camera, horizontally, 0 .. 180.

    0 when the camera stands right above the target: from there every side is as near.
    """
    x, _, z = task.placements[task.target_index].position
    side_x, _, side_z = task.world.size_blocks
    start, camera = (
        (float(torus_delta(pose.x - x - 0.5, side_x)), float(torus_delta(pose.z - z - 0.5, side_z)))
        for pose in (task.start, task.goal_view)
    )
    if math.hypot(*camera) < 1e-6 or math.hypot(*start) < 1e-6:
        return 0.0
    turn_deg = math.degrees(math.atan2(start[1], start[0]) - math.atan2(camera[1], camera[0]))
    return abs((turn_deg + 180.0) % 360.0 - 180.0)
