"""From a played task to its line in episodes.jsonl."""

from eval.episodes.episode_track import EpisodeTrack
from eval.episodes.failure_causes import cause_of
from eval.episodes.records import JudgedEpisode
from mcrl.rollout.episodes import EpisodeRecord
from task_synthesis.task import TaskSpec
from task_synthesis.views.view_shift import view_shift_deg


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
        view_angle_deg=round(view_shift_deg(task), 1),
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
