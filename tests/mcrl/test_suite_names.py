"""Claims about the suites that --suite names."""

from eval.suites import SUITES
from mcrl.commands.eval_tasks import suite_names


def test_all_suites_are_the_frozen_ones_and_real_saves_where_there_is_a_save():
    assert suite_names("all", 14, has_save=False) == list(SUITES)
    assert suite_names("all", 14, has_save=True) == [*SUITES, "real_saves"]


def test_a_suite_named_twice_is_played_once():
    assert suite_names("far, laptop,far", 14, has_save=False) == ["far", "laptop"]
