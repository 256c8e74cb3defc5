"""Episode records made up for tests of what is counted from them."""

from dataclasses import replace

from eval.episodes.records import JudgedEpisode
from eval.judging.origin import SuiteOrigin

ORIGIN = SuiteOrigin(
    command="mcrl eval runs/x --seed 3",
    commit="abc123",
    date="2026-01-01",
    hardware={"cpu": "a <b> & c"},
    split="held_out",
    suite_seed=3,
    agent_seed=3,
    num_worlds=2,
    row_sources={"rl": "runs/x"},
    row_wall_s={"rl": 1.0, "imitation": 2.0},
    training_wall_s={},
)

EPISODE = JudgedEpisode(
    row="rl",
    suite="tiny.v1",
    unit=0,
    task_id="0000000000000000",
    goal_task_id="0000000000000000",
    family="approach/gold_block",
    skill="approach",
    band="near",
    biome="plains",
    world_seed=1,
    split="held_out",
    outcome="success",
    cause="success",
    success=True,
    ticks=60,
    max_ticks=240,
    distance_blocks=8.0,
    path_blocks=8.0,
    height_blocks=0.0,
    target_yaw_deg=30.0,
    view_overlap=0.5,
    view_angle_deg=90.0,
    goal_area=0.05,
    num_same_kind=1,
    num_other_kind=2,
    in_sight=True,
    visible_at_start=False,
    walked_blocks=10.0,
    closest_blocks=2.0,
    first_seen_ticks=8,
    last_seen_ticks=56,
)


def make_episode(row: str, number: int, outcome: str, *, skill: str = "approach", band: str = "near") -> JudgedEpisode:
    """Return a record of task `number`; a time limit counts as not reached."""
    return replace(
        EPISODE,
        row=row,
        task_id=f"{number:016x}",
        goal_task_id=f"{number:016x}",
        family=f"{skill}/gold_block",
        skill=skill,
        band=band,
        world_seed=number,
        outcome=outcome,
        cause="not_reached" if outcome == "time_limit" else outcome,
        success=outcome == "success",
        distance_blocks=(8.0 if band == "near" else 16.0) + number % 5 / 10,
    )
