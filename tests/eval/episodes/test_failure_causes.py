import pytest

from eval.episodes.failure_causes import cause_of
from eval.episodes.records import CAUSES, OUTCOMES

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
