import dataclasses
import json
import math
import re

import pytest

from eval.origin import SuiteOrigin
from eval.records import JudgedEpisode, read_jsonl, write_jsonl
from eval.report import ALL_TASKS, Group, markdown, summarise
from eval.report_html import EmbeddedVideo, Plot, page
from eval.svg_plot import Curve, curve_plot

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


def _episode(row: str, number: int, outcome: str, *, skill: str = "approach", band: str = "near") -> JudgedEpisode:
    return JudgedEpisode(
        row=row,
        task_id=f"{number:04d}",
        goal_task_id=f"{number:04d}",
        family=f"{skill}/gold_block",
        skill=skill,
        band=band,
        biome="plains",
        world_seed=number,
        split="held_out",
        outcome=outcome,
        success=outcome == "success",
        ticks=30,
        max_ticks=240,
        distance_blocks=8.0 if band == "near" else 16.0,
        path_blocks=8.0,
        num_same_kind=1,
        num_other_kind=2,
        visible_at_start=False,
    )


def _suite() -> list[JudgedEpisode]:
    rl = ["success"] * 8 + ["wrong_object", "time_limit"]
    imitation = ["success"] * 2 + ["time_limit"] * 8
    episodes = [_episode("rl", n, outcome) for n, outcome in enumerate(rl)]
    episodes += [_episode("imitation", n, outcome) for n, outcome in enumerate(imitation)]
    for row in ("rl", "imitation"):
        episodes += [_episode(row, 100 + n, "success", skill="break", band="easy") for n in range(3)]
    return episodes


def _rate(summary, row, group):
    return next(score for score in summary.scores if score.row == row).rates[group]


def test_rates_are_counted_by_skill_and_band():
    summary = summarise(_suite(), ORIGIN)
    assert summary.groups == (Group("approach", "near"), Group("break", "easy"), ALL_TASKS)
    assert (_rate(summary, "rl", Group("approach", "near")).num_success) == 8
    assert _rate(summary, "rl", ALL_TASKS).value == pytest.approx(11 / 13)


def test_near_comes_before_easy():
    episodes = [_episode("rl", n, "success", band=band) for n, band in enumerate(["easy", "near"])]
    assert [group.band for group in summarise(episodes, ORIGIN).groups[:-1]] == ["near", "easy"]


def test_rl_is_compared_with_imitation_task_by_task():
    summary = summarise(_suite(), ORIGIN)
    compared = {c.group: c.paired for c in summary.comparisons if (c.row_a, c.row_b) == ("rl", "imitation")}
    paired = compared[Group("approach", "near")]
    assert (paired.num_both, paired.num_only_a, paired.num_only_b, paired.num_neither) == (2, 6, 0, 2)
    assert paired.p_value == pytest.approx(2 * 0.5**6)


def test_comparison_does_not_depend_on_the_order_of_the_episodes():
    shuffled = _suite()[::-1]
    assert {c.paired for c in summarise(shuffled, ORIGIN).comparisons} == {
        c.paired for c in summarise(_suite(), ORIGIN).comparisons
    }


def test_rows_that_played_other_tasks_are_refused():
    episodes = [_episode("rl", 1, "success"), _episode("imitation", 2, "success")]
    with pytest.raises(ValueError, match="different tasks"):
        summarise(episodes, ORIGIN)


def test_an_engine_fault_counts_for_nobody():
    episodes = [_episode("rl", 1, "success"), _episode("rl", 2, "fault")]
    rate = _rate(summarise(episodes, ORIGIN), "rl", ALL_TASKS)
    assert (rate.num_success, rate.num_episodes) == (1, 1)


def test_a_task_that_one_row_lost_to_a_fault_is_left_out_of_the_pairs():
    episodes = [_episode(row, n, "success") for row in ("rl", "imitation") for n in range(3)]
    episodes[0] = dataclasses.replace(episodes[0], outcome="fault", success=False)
    assert all(c.paired.num_pairs == 2 for c in summarise(episodes, ORIGIN).comparisons)


def test_markdown_says_how_to_make_the_numbers_again():
    text = markdown(summarise(_suite(), ORIGIN))
    for part in ("mcrl eval runs/x --seed 3", "abc123", "suite seed 3", "80.0 [49.0, 94.3]", "wrong object"):
        assert part in text


def test_page_is_self_contained_and_escapes_text():
    video = EmbeddedVideo(
        caption="<script>", video_uri="data:video/mp4;base64,AAAA", poster_uri="data:image/png;base64,AA"
    )
    plots = [Plot(title="t", svg="<svg></svg>", note="")]
    text = page(summarise(_suite(), ORIGIN), title="T & Co", plots=plots, videos=[video], video_note="note")
    addresses = re.findall(r'(?:src|href|poster)="([^"]*)"', text)
    assert addresses
    assert all(address.startswith("data:") for address in addresses)
    assert "&lt;script&gt;" in text
    assert "<script>" not in text
    assert "url(" not in text


def test_curves_leave_gaps_at_values_that_are_not_finite():
    svg = curve_plot("t", [Curve("a", [0, 1, 2, 3, 4], [1, 2, math.nan, 2, 1], "red")], x_label="x")
    assert svg.count("<path") == 2
    assert "nan" not in svg


def test_a_plot_without_finite_values_is_left_out():
    assert curve_plot("t", [Curve("a", [0], [math.nan], "red")], x_label="x") == ""


def test_records_survive_the_file(tmp_path):
    path = tmp_path / "episodes.jsonl"
    write_jsonl(_suite(), path)
    assert read_jsonl(path) == _suite()


@pytest.mark.parametrize(
    ("change", "message"),
    [({"schema": 99}, "schema 99"), ({"outcome": "won"}, "outcome 'won'"), ({"extra": 1}, "extra")],
)
def test_a_foreign_record_is_refused_with_its_line(tmp_path, change, message):
    path = tmp_path / "episodes.jsonl"
    write_jsonl(_suite()[:1], path)
    path.write_text(path.read_text() + json.dumps(json.loads(path.read_text()) | change) + "\n")
    with pytest.raises(ValueError, match=rf"episodes.jsonl:2: .*{message}"):
        read_jsonl(path)
