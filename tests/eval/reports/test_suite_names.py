"""Claims about what pages of several suites say: as a question, with every warning, and each thing once."""

import dataclasses
import re

import pytest

from eval.reports.overview import overview_markdown, overview_page
from eval.reports.report import summarise
from eval.reports.report_html import page
from eval.reports.report_markdown import markdown
from eval.reports.report_text import question_of
from eval.reports.suite_names import shared_selection, without
from eval.reports.suite_summary import summarise_suites, write_suite_summary
from eval.suites.real_saves import CLAIM as REAL_SAVES_CLAIM
from eval.suites.suites import SUITES
from mcrl.commands.table import print_suite_summary
from tests.eval.made_episodes import ORIGIN, make_episode

_CLAIMS = [*(suite.claim for suite in SUITES.values()), REAL_SAVES_CLAIM]
_NEAR = "(approach; near, easy)"


def _summary(own: int, shuffled: int, *, claim: str = "it holds far away", num_tasks: int = 40):
    """Rows that solve the first so many of the tasks."""
    episodes = [
        make_episode(row, n, "success" if n < solved else "time_limit")
        for row, solved in (("rl", own), ("shuffled goal", shuffled))
        for n in range(num_tasks)
    ]
    return summarise(episodes, dataclasses.replace(ORIGIN, suite_claim=claim))


@pytest.mark.parametrize("claim", _CLAIMS)
def test_what_a_suite_claims_is_told_as_a_question_wherever_it_is_told(tmp_path, claim):
    summary = _summary(5, 4, claim=claim)
    asked = question_of(summary)
    assert re.match("Asks (whether (it|what|the|mask)|how success falls) ", asked)
    suites = {"one.v1": summary, "two.v1": summary}
    write_suite_summary(summarise_suites(suites), tmp_path, {"one.v1": "one", "two.v1": "two"})
    for text, num_told in (
        (page(summary), 1),
        (markdown(summary), 1),
        (overview_page(suites, {"one.v1": "", "two.v1": ""}), 4),
        ((tmp_path / "summary.md").read_text(), 2),
    ):
        text = text.replace("&#x27;", "'")
        assert text.count(claim) == text.count(asked) == num_told


def test_without_a_suite_nothing_is_asked():
    assert question_of(_summary(5, 4, claim="")) == ""
    assert "Asks" not in markdown(_summary(5, 4, claim=""))


def test_a_summary_names_the_suites_of_every_warning(tmp_path):
    suites = summarise_suites({"a.v1": _summary(9, 4), "b.v1": _summary(36, 4), "c.v1": _summary(8, 4)})
    (remark,) = suites.remarks()
    assert remark == (
        "a.v1, c.v1: Whether the rl policy uses its goal is not settled, judged against itself with another task's "
        "goal: judge it on more tasks."
    )
    write_suite_summary(suites, tmp_path, {name: name for name in suites.summaries})
    assert f"\n> **Note.** {remark}\n\n- [a.v1](a.v1/report.md): Asks whether" in (tmp_path / "summary.md").read_text()


def test_what_holds_of_all_suites_is_said_so():
    one = summarise([make_episode("rl", 0, "success")], ORIGIN)
    assert summarise_suites({"a.v1": one, "b.v1": one}).remarks() == [
        "every suite: No row was shown another task's goal, which takes two tasks of each skill."
    ]
    suites = summarise_suites({"a.v1": _summary(1, 1, num_tasks=400), "b.v1": _summary(2, 2, num_tasks=400)})
    assert "every suite: THE RL POLICY DOES NOT MEASURABLY USE ITS GOAL, judged" in suites.remarks()[0]


def test_a_selection_that_all_suites_share_stands_once(tmp_path):
    names = [f"a.v1 {_NEAR}", f"b.v1 {_NEAR}"]
    summaries = {name: _summary(36, 4) for name in names}
    links = dict.fromkeys(names, "")
    suites = summarise_suites(summaries)
    assert list(suites.summaries) == ["a.v1", "b.v1"]  # the headings of the tables on the terminal
    assert suites.remarks() == ["Of every suite only the tasks of: approach; near, easy."]
    write_suite_summary(suites, tmp_path, {names[0]: "a", names[1]: "b"})
    written = (tmp_path / "summary.md").read_text()
    assert "- [a.v1](a/report.md)" in written
    for text in (written, overview_page(summaries, links), overview_markdown(summaries, links)):
        assert text.count("approach; near, easy") == 1
    assert f'"{names[0]}": {{' in (tmp_path / "summary.json").read_text()  # whoever reads that reads no sentence


@pytest.mark.parametrize("other", ["b.v1", "b.v1 (hunt; near)"])
def test_selections_that_differ_stay_with_their_suites(other):
    names = [f"a.v1 {_NEAR}", other]
    assert shared_selection(names) == ""
    assert [without(name, "") for name in names] == names
    summaries = {name: _summary(36, 4) for name in names}
    assert list(summarise_suites(summaries).summaries) == names
    assert f'<th scope="row">{names[0]} ' in overview_page(summaries, dict.fromkeys(names, ""))


def test_on_a_terminal_what_there_is_more_of_goes_downwards(capsys):
    def printed(num_suites: int) -> list[list[list[str]]]:
        summary = summarise_suites({f"suite{n}": _summary(20 + n, 4) for n in range(num_suites)})
        print_suite_summary(summary)
        lines = capsys.readouterr().out.splitlines()
        cells = [[cell.strip() for cell in line.strip("┃│").split("│" if "│" in line else "┃")] for line in lines]
        return [row for row in cells if len(row) > 1]

    few = printed(2)
    assert [row[0] for row in few] == ["row", "shuffled goal", "rl", "rows", "rl minus shuffled goal"]
    many = printed(3)
    assert [row[0] for row in many] == ["suite", "suite0", "suite1", "suite2"] * 2
    assert many[0] == ["suite", "shuffled goal", "rl"]
    assert [row[1:3] for row in few[1:3]] == [[row[column] for row in many[1:3]] for column in (1, 2)]
    assert few[4][1:3] == [row[1] for row in many[5:7]]
