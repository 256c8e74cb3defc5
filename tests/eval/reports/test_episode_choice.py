from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from eval.episodes.records import CAUSES
from eval.reports.episode_choice import episodes_to_film, failures_to_show
from tests.eval.made_episodes import make_episode

_OUTCOMES = ("success", "wrong_object", "death", "time_limit", "fault")
_SKILLS = ("approach", "break", "hunt")


@st.composite
def _episodes(draw):
    kinds = draw(st.lists(st.tuples(st.sampled_from(_OUTCOMES), st.sampled_from(_SKILLS)), max_size=60))
    return [make_episode("rl", n, outcome, skill=skill) for n, (outcome, skill) in enumerate(kinds)]


@given(_episodes(), st.integers(1, 20))
def test_the_first_success_and_failure_of_every_skill_are_filmed_when_there_is_room(episodes, num_shown):
    shown = episodes_to_film(episodes, num_shown)
    assert len(shown) == min(num_shown, sum(episode.outcome != "fault" for episode in episodes))
    assert len({episode.task_id for episode in shown}) == len(shown)
    if num_shown >= 2 * len(_SKILLS):
        for skill in _SKILLS:
            for is_success in (True, False):
                of_kind = [e for e in episodes if (e.skill, e.success) == (skill, is_success) and e.outcome != "fault"]
                assert of_kind[:1] == [e for e in shown if (e.skill, e.success) == (skill, is_success)][:1]


@given(_episodes(), st.integers(1, 24))
def test_failures_are_spread_evenly_over_their_causes(episodes, num_shown):
    shown = failures_to_show(episodes, num_shown)
    failures = [e for e in episodes if e.outcome not in ("success", "fault")]
    assert len(shown) == min(num_shown, len(failures))
    assert [CAUSES.index(e.cause) for e in shown] == sorted(CAUSES.index(e.cause) for e in shown)
    counts, available = Counter(e.cause for e in shown), Counter(e.cause for e in failures)
    for cause in available:
        # A cause is shown less often than another one only when it has no more, or by one.
        assert counts[cause] == available[cause] or counts[cause] >= max(counts.values()) - 1


def test_an_episode_too_short_to_see_is_filmed_last():
    short, long = make_episode("rl", 0, "success"), make_episode("rl", 1, "success")
    object.__setattr__(short, "ticks", 4)
    assert episodes_to_film([short, long], 1) == [long]
    assert episodes_to_film([short, long], 2) == [long, short]
