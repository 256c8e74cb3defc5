"""Claims about how often a page is sent the scene."""

import math

import pytest

from eval.viewer.app_state import scene_interval_s


@pytest.mark.parametrize(
    ("slowest_ms", "wanted_s"),
    [(0.0, 0.1), (16.7, 0.1), (25.0, 0.1), (100.0, 0.4), (170.0, 0.68), (5000.0, 1.0)],
)
def test_a_slow_browser_gets_the_scene_less_often_and_spends_a_quarter_of_its_time_on_it(slowest_ms, wanted_s):
    assert scene_interval_s(slowest_ms) == pytest.approx(wanted_s)


@pytest.mark.parametrize("nonsense", [math.nan, -1.0, -math.inf])
def test_what_is_no_time_counts_as_a_fast_browser(nonsense):
    assert scene_interval_s(nonsense) == 0.1


def test_a_browser_that_never_draws_still_gets_the_scene_every_second():
    assert scene_interval_s(math.inf) == 1.0
