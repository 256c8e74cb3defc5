import dataclasses

import pytest

from eval.failure_causes import REACH_BLOCKS, cause_of
from eval.judged_episode import view_angle_deg
from eval.records import CAUSES, OUTCOMES
from task_synthesis.skills import SKILLS
from tests.mcrl.corridor import make_task
from worlds.types import Pose

LATE = {"skill": "break", "outcome": "time_limit", "ticks": 200}


def _cause(**fields) -> str:
    walked = {"walked_blocks": 9.0, "closest_blocks": 8.0, "first_seen_ticks": 12, "last_seen_ticks": 180}
    return cause_of(**(LATE | walked | fields))


@pytest.mark.parametrize("outcome", [outcome for outcome in OUTCOMES if outcome != "time_limit"])
def test_what_ended_an_episode_early_is_its_cause(outcome):
    assert _cause(outcome=outcome) == outcome


@pytest.mark.parametrize(
    ("fields", "cause"),
    [
        ({"walked_blocks": 0.5}, "stuck"),
        ({"walked_blocks": 0.5, "closest_blocks": 4.0}, "not_done"),
        ({"closest_blocks": 4.0}, "not_done"),
        ({"closest_blocks": 4.0, "first_seen_ticks": None, "last_seen_ticks": None}, "not_done"),
        ({"first_seen_ticks": None, "last_seen_ticks": None}, "never_seen"),
        ({"last_seen_ticks": 100}, "lost"),
        ({"last_seen_ticks": 104}, "not_reached"),
        ({"skill": "approach", "closest_blocks": 4.0}, "not_reached"),
        ({"skill": "archery"}, "not_done"),
        ({"skill": "archery", "first_seen_ticks": None, "last_seen_ticks": None}, "never_seen"),
    ],
)
def test_a_time_limit_has_the_first_cause_that_holds(fields, cause):
    assert cause in CAUSES
    assert _cause(**fields) == cause


def test_every_skill_has_a_reach():
    assert REACH_BLOCKS.keys() == SKILLS.keys()


@pytest.mark.parametrize(
    ("start", "camera", "angle_deg"),
    [
        ((1.5, 11.5), (1.5, 6.5), 0.0),
        ((1.5, 11.5), (6.5, 1.5), 90.0),
        ((1.5, 11.5), (-3.5, 1.5), 90.0),
        ((1.5, 11.5), (1.5, 24.5), 180.0),  # the torus of 32 blocks: 9 blocks the other way
        ((1.5, 11.5), (1.5, 1.5), 0.0),  # right above
    ],
)
def test_the_view_angle_is_measured_at_the_target(start, camera, angle_deg):
    task = make_task(0)
    x, _, z = task.placements[0].position
    assert (x, z) == (1, 1)
    moved = dataclasses.replace(
        task,
        start=Pose(start[0], 30.0, start[1], 0.0, 0.0),
        goal_view=Pose(camera[0], 36.0, camera[1], 0.0, 0.0),
        task_id="",
    )
    assert view_angle_deg(moved) == pytest.approx(angle_deg, abs=1e-6)
