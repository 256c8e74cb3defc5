import dataclasses
import math
import re

import pytest

from eval.reports.episode_sections import EmbeddedVideo, ShownEpisodes, ShownFailure
from eval.reports.report import ALL_TASKS, Group, summarise
from eval.reports.report_html import Plot, page
from eval.reports.report_markdown import markdown
from eval.reports.report_text import notes_of, title_of
from eval.reports.suite_summary import summarise_suites, write_suite_summary
from eval.reports.svg_plot import Curve, curve_plot
from mcrl.recipes import RECIPES
from tests.eval.made_episodes import ORIGIN, make_episode


def _suite():
    rl = ["success"] * 8 + ["wrong_object", "time_limit"]
    imitation = ["success"] * 2 + ["time_limit"] * 8
    episodes = [make_episode("rl", n, outcome) for n, outcome in enumerate(rl)]
    episodes += [make_episode("imitation", n, outcome) for n, outcome in enumerate(imitation)]
    for row in ("rl", "imitation"):
        episodes += [make_episode(row, 100 + n, "success", skill="break", band="easy") for n in range(3)]
    return episodes


def _goal_suite(own: int, shuffled: int, num_tasks: int = 100):
    """Rows that solve the first so many of the tasks."""
    episodes = [make_episode("rl", n, "success" if n < own else "time_limit") for n in range(num_tasks)]
    return episodes + [
        make_episode("shuffled goal", n, "success" if n < shuffled else "time_limit") for n in range(num_tasks)
    ]


def test_rates_are_counted_by_skill_and_band():
    summary = summarise(_suite(), ORIGIN)
    assert summary.groups == (Group("approach", "near"), Group("break", "easy"), ALL_TASKS)
    rates = summary.score("rl").rates
    assert rates[Group("approach", "near")].num_success == rates[Group("approach", "")].num_success == 8
    assert rates[ALL_TASKS].value == pytest.approx(11 / 13)


def test_the_headline_weighs_every_skill_alike():
    assert summarise(_suite(), ORIGIN).score("rl").over_skills.value == pytest.approx((0.8 + 1.0) / 2)


def test_near_comes_before_easy():
    episodes = [make_episode("rl", n, "success", band=band) for n, band in enumerate(["easy", "near"])]
    assert [group.band for group in summarise(episodes, ORIGIN).groups[:-1]] == ["near", "easy"]


def test_rl_is_compared_with_imitation_task_by_task():
    claim = summarise(_suite(), ORIGIN).claim_against("imitation")
    inside = next(one.paired for one in claim.by_group if one.group == Group("approach", "near"))
    assert (inside.num_both, inside.num_only_a, inside.num_only_b, inside.num_neither) == (2, 6, 0, 2)
    assert claim.p_holm == claim.paired.p_value == pytest.approx(2 * 0.5**6)


def test_p_values_are_corrected_for_the_number_of_claims():
    episodes = _suite() + [dataclasses.replace(episode, row="other") for episode in _suite() if episode.row != "rl"]
    claims = summarise(episodes, ORIGIN).claims
    assert [claim.row_b for claim in claims] == ["imitation", "other"]
    assert all(claim.p_holm == pytest.approx(2 * claim.paired.p_value) for claim in claims)


def test_comparison_does_not_depend_on_the_order_of_the_episodes():
    assert summarise(_suite()[::-1], ORIGIN).claims == summarise(_suite(), ORIGIN).claims


def test_rows_that_played_other_tasks_are_refused():
    episodes = [make_episode("rl", 1, "success"), make_episode("imitation", 2, "success")]
    with pytest.raises(ValueError, match="different tasks"):
        summarise(episodes, ORIGIN)


def test_an_engine_fault_counts_for_nobody_and_is_told():
    episodes = [make_episode("rl", 1, "success"), make_episode("rl", 2, "fault")]
    summary = summarise(episodes, ORIGIN)
    rate = summary.score("rl").rates[ALL_TASKS]
    assert (rate.num_success, rate.num_episodes) == (1, 1)
    assert any("rl 1" in note.text for note in notes_of(summary))


def test_a_row_that_lost_a_skill_to_faults_is_said_to_be_a_mean_over_the_others():
    episodes = [make_episode("rl", 0, "success"), make_episode("rl", 1, "fault", skill="break")]
    texts = [note.text for note in notes_of(summarise(episodes, ORIGIN))]
    assert "Row rl is a mean over 1 of 2 skills: all its episodes of break failed." in texts


def test_a_task_that_one_row_lost_to_a_fault_is_left_out_of_the_pairs():
    episodes = [make_episode(row, n, "success") for row in ("rl", "imitation") for n in range(3)]
    episodes[0] = make_episode("rl", 0, "fault")
    assert summarise(episodes, ORIGIN).claim_against("imitation").paired.num_pairs == 2


def test_a_suite_lost_to_faults_still_gives_a_page():
    summary = summarise([make_episode("rl", n, "fault") for n in range(3)], ORIGIN)
    assert math.isnan(summary.score("rl").over_skills.value)
    assert "nan" not in page(summary).lower()
    assert markdown(summary)


@pytest.mark.parametrize(
    ("own", "shuffled", "said", "is_warning"),
    [
        (80, 20, "uses its goal: +60.0", False),
        (58, 50, "hardly uses its goal: +8.0", True),
        (51, 50, "DOES NOT MEASURABLY USE ITS GOAL", True),
        (40, 60, "DOES NOT MEASURABLY USE ITS GOAL", True),
    ],
)
def test_a_policy_that_does_not_use_its_goal_is_called_so(own, shuffled, said, is_warning):
    note = notes_of(summarise(_goal_suite(own, shuffled), ORIGIN))[0]
    assert said in note.text
    assert note.is_warning == is_warning


def test_where_interval_and_exact_test_disagree_nothing_is_claimed():
    summary = summarise(_goal_suite(80, 20), ORIGIN)
    (claim,) = summary.claims
    undecided = dataclasses.replace(summary, claims=[dataclasses.replace(claim, p_holm=0.12)])
    note = notes_of(undecided)[0]
    assert "is not settled: +60.0" in note.text
    assert "p 0.12" in note.text
    assert note.is_warning


def test_several_suites_side_by_side_show_their_differences(tmp_path):
    alone = summarise([make_episode("rl", 0, "success")], ORIGIN)
    suites = summarise_suites({"goals": summarise(_goal_suite(80, 20), ORIGIN), "alone": alone})
    (pair,) = suites.pairs()
    assert pair == ("rl", "shuffled goal")
    assert suites.difference("goals", pair).startswith("+60.0 [")
    assert suites.difference("alone", pair) == ""
    write_suite_summary(suites, tmp_path, {"goals": "goals", "alone": "alone"})
    summary = (tmp_path / "summary.md").read_text()
    assert f"| rl minus shuffled goal | {suites.difference('goals', pair)} |  |" in summary
    assert "another call" not in summary


def test_suites_that_another_call_has_judged_are_named(tmp_path):
    for name in ("goals", "earlier", "later"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "report.md").touch()
    suites = summarise_suites({"goals": summarise(_goal_suite(80, 20), ORIGIN)})
    write_suite_summary(suites, tmp_path, {"goals": "goals"}, to_come=["later"])
    assert (tmp_path / "summary.md").read_text().endswith(" all):\n\n- [earlier](earlier/report.md)\n")


def test_the_title_calls_those_worlds_unseen_that_are():
    assert title_of(summarise(_goal_suite(80, 20), ORIGIN)).endswith("worlds it has never seen")
    trained_on = dataclasses.replace(ORIGIN, split="train")
    assert title_of(summarise(_goal_suite(80, 20), trained_on)) == "What the agent does in train worlds"


def test_a_comparison_knows_that_its_rows_were_shown_other_goals():
    episodes = [make_episode(f"{name}: {row}", 0, "success") for name in "ab" for row in ("rl", "shuffled goal")]
    assert notes_of(summarise(episodes, ORIGIN)) == []


def test_a_report_without_another_tasks_goal_says_so():
    texts = [note.text for note in notes_of(summarise([make_episode("rl", 0, "success")], ORIGIN))]
    assert texts == ["No row was shown another task's goal, which takes two tasks of each skill."]


def test_skills_that_a_run_has_learned_and_its_suite_has_not_are_named():
    episodes = _goal_suite(80, 20)
    config = dataclasses.asdict(RECIPES["smoke"]())
    config["tasks"]["skills"] |= {"hunt": 1.0, "archery": 0.0}

    def told(**changes):
        origin = dataclasses.replace(ORIGIN, config=config, **changes)
        return [note.text for note in notes_of(summarise(episodes, origin)) if "has learned" in note.text]

    (text,) = told(suite="laptop.v1")
    assert text.startswith("Suite laptop has no tasks of hunt, which")
    assert "`mcrl eval runs/smoke --skills hunt`" in text
    assert told(suite="unseen_seeds.v1") == []  # asked for by hand, not the run's own report
    config["report_suite"] = "unseen_seeds"
    assert told(suite="unseen_seeds.v1") == []
    assert told(suite="") == []


def test_a_low_ceiling_and_a_high_floor_are_called_so():
    episodes = [make_episode("expert", n, "success" if n < 5 else "death") for n in range(10)]
    episodes += [make_episode("random", n, "success" if n < 3 else "death") for n in range(10)]
    texts = " ".join(note.text for note in notes_of(summarise(episodes, ORIGIN)))
    assert "expert solves only 50.0 %" in texts
    assert "random row solves 30.0 %" not in texts  # 3 of 10 may be chance
    most = [make_episode("expert", n, "success" if n < 8 else "death") for n in range(10)]
    assert "expert solves only" not in " ".join(note.text for note in notes_of(summarise(most, ORIGIN)))
    more = [make_episode("random", n, "success" if n % 3 == 0 else "death") for n in range(90)]
    assert "random row solves 33.3 %" in " ".join(note.text for note in notes_of(summarise(more, ORIGIN)))


def test_markdown_says_how_to_make_the_numbers_again():
    text = markdown(summarise(_suite(), ORIGIN))
    for part in ("mcrl eval runs/x --seed 3", "abc123", "suite seed 3", "80.0 [49.0, 94.3]", "wrong object"):
        assert part in text


def test_times_of_rows_add_up_as_they_are_shown():
    origin = dataclasses.replace(ORIGIN, row_wall_s={"small": 110.6, "sharp": 189.6})
    assert "small 111 s, sharp 190 s; 301 s together" in markdown(summarise(_suite(), origin))


def test_an_interval_of_too_few_successes_is_explained_beside_its_table():
    summary = summarise(_suite(), ORIGIN)
    above_table = markdown(summary).split("| row |")[0]
    for text in (above_table, page(summary)):
        assert "[0.0, ...] where they are too few for an interval" in text


def test_page_is_self_contained_and_escapes_text():
    video = EmbeddedVideo(
        caption="<script>",
        is_success=True,
        goal_uri="data:image/jpeg;base64,AA",
        video_uri="data:video/mp4;base64,AAAA",
        poster_uri="data:image/png;base64,AA",
    )
    failure = ShownFailure(
        heading="<i>",
        cause="lost",
        story="a & b",
        start_uri="data:,",
        goal_uri="data:,",
        last_uri="data:,",
        map_svg="",
        side_blocks=9,
    )
    shown = ShownEpisodes(videos=[video], video_note="note", failures=[failure])
    plots = [Plot(title="t", svg="<svg></svg>", note="")]
    text = page(summarise(_suite(), ORIGIN), title="T & Co", plots=plots, shown=shown, schema_text="row (str)")
    addresses = re.findall(r'(?:src|href|poster)="([^"]*)"', text)
    assert addresses
    assert all(address.startswith("data:") for address in addresses)
    assert "&lt;script&gt;" in text
    assert "<script" not in text
    assert "url(" not in text
    assert "@import" not in text


def test_the_head_of_a_page_names_the_policy_that_is_judged():
    head = page(summarise(_suite(), ORIGIN)).partition("</header>")[0]
    assert "rl: runs/x; 2026-01-01, commit abc123" in head
    comparison = page(summarise(_suite(), ORIGIN), title="Comparison").partition("</header>")[0]
    assert "runs/x" not in comparison


def test_every_plot_says_in_words_what_it_shows():
    text = page(summarise(_goal_suite(80, 20), ORIGIN))
    plots = re.findall(r'<svg (?!class="key")[^>]*>', text)  # but the signs of a legend, whose names stand beside
    assert len(plots) >= 5
    assert all(re.search(r'role="img" aria-label="[^"]{10,}"', plot) for plot in plots)


def test_curves_leave_gaps_at_values_that_are_not_finite():
    svg = curve_plot("t", [Curve("a", [0, 1, 2, 3, 4], [1, 2, math.nan, 2, 1], "red")], x_label="x")
    assert svg.count("<path") == 2
    assert "nan" not in svg


def test_a_plot_without_finite_values_is_left_out():
    assert curve_plot("t", [Curve("a", [0], [math.nan], "red")], x_label="x") == ""


@pytest.mark.parametrize("faulty_row", ["rl", "imitation"])
def test_a_task_that_either_row_lost_to_a_fault_is_left_out_of_the_pairs(faulty_row):
    episodes = [make_episode(row, n, "success") for row in ("rl", "imitation") for n in range(3)]
    episodes = [make_episode(e.row, 0, "fault") if (e.row, e.task_id[-1]) == (faulty_row, "0") else e for e in episodes]
    paired = summarise(episodes, ORIGIN).claim_against("imitation").paired
    assert (paired.num_both, paired.num_pairs) == (2, 2)


def test_wrong_objects_are_a_share_of_the_episodes_that_the_engine_did_not_fail():
    episodes = [make_episode("rl", n, outcome) for n, outcome in enumerate(("wrong_object", "success", "fault"))]
    wrong = summarise(episodes, ORIGIN).score("rl").wrong_object
    assert (wrong.num_success, wrong.num_episodes) == (1, 2)


def test_a_claim_is_made_skill_by_skill_with_every_skill_alike():
    claim = summarise(_suite(), ORIGIN).claim_against("imitation")
    assert claim.over_skills.value == pytest.approx(((0.8 - 0.2) + (1.0 - 1.0)) / 2)


def test_each_band_of_a_skill_is_counted_apart():
    episodes = [make_episode("rl", 1, "success"), make_episode("rl", 2, "time_limit", band="easy")]
    rates = summarise(episodes, ORIGIN).score("rl").rates
    cells = [rates[Group("approach", band)] for band in ("near", "easy", "")]
    assert [(cell.num_success, cell.num_episodes) for cell in cells] == [(1, 1), (0, 1), (1, 2)]


def test_paths_and_times_are_those_of_the_records_and_times_of_successes_alone():
    late = [dataclasses.replace(make_episode("rl", n, "time_limit"), ticks=240) for n in (1, 2)]
    score = summarise([make_episode("rl", 0, "success"), *late], ORIGIN).score("rl")
    assert score.success_ticks.value == 60
    assert score.spl.value == pytest.approx(8 / 10 / 3)
