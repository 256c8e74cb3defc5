"""Claims about the table of an ablation: rates and differences of its runs, and how they came along."""

import dataclasses
import json

import pytest

from eval.ablation.ablation_curves import variant_curves
from eval.ablation.ablation_run import VariantResult
from eval.ablation.ablation_table import AblationTable, free_stem, markdown, variant_rows, write_table
from eval.ablation.ablations import Ablation, Variant
from eval.numbers.statistics import compare_paired, wilson_interval
from mcrl.telemetry.metrics import MetricsLog

TWO = Ablation(name="two", question="?", variants=(Variant(name="first"), Variant(name="second")))


def result(variant, seed, success, learning_s=60.0):
    return VariantResult(
        variant=variant,
        seed=seed,
        run_dir=f"runs/{variant}{seed}",
        success_N=tuple(None if s is None else bool(s) for s in success),
        commit="abc",
        ppo_ticks=1000,
        expert_ticks=500,
        learning_s=learning_s,
    )


def made_table(rows, failures=()):
    return AblationTable(
        ablation="two",
        question="Which?",
        command="mcrl ablate two",
        commit="abc",
        date="today",
        judged_on="val",
        num_tasks=8,
        rows=rows,
        failures=failures,
    )


RESULTS = [
    result("first", 0, [1, 0, 0, 0, 0, 0, 0, 0]),
    result("second", 0, [1, 1, 1, 1, 1, 0, 0, 0]),
    result("first", 1, [0, 0, 0, 0, 0, 0, 0, 1]),
    result("second", 1, [1, 1, 0, 0, 0, 0, 0, 0], learning_s=120.0),
]


def test_differences_are_paired_by_seed_and_task():
    first, second = variant_rows(TWO, RESULTS)
    assert (first.difference, first.p_pooled, first.p_by_seed) == (None, None, ())
    assert first.rate.value == pytest.approx(1 / 8)
    assert second.rate_by_seed == (5 / 8, 2 / 8)
    assert second.difference_by_seed == (4 / 8, 1 / 8)
    assert second.difference.value == pytest.approx(2.5 / 8)
    # 4 : 0 and 2 : 1 tasks that one alone solved, 6 : 1 together.
    assert second.p_by_seed == pytest.approx((0.125, 1.0))
    assert second.p_pooled == pytest.approx(0.125)
    assert second.learning_s == 90.0


def test_an_interval_over_seeds_is_students():
    _, second = variant_rows(TWO, RESULTS)
    # Mean 5 / 16, standard error 3 / 16, and 12.706 of it with one degree of freedom: all there can be.
    assert (second.difference.low, second.difference.high) == (-1.0, 1.0)
    three = [result("first", seed, [0] * 10) for seed in range(3)]
    three += [result("second", seed, [1] * (4 + seed) + [0] * (6 - seed)) for seed in range(3)]
    row = variant_rows(TWO, three)[1]
    assert row.difference.value == pytest.approx(0.5)
    assert row.difference.high - 0.5 == pytest.approx(4.30265 * 0.1 / 3**0.5, rel=1e-4)


def test_one_seed_has_intervals_over_tasks():
    first, second = variant_rows(TWO, RESULTS[:2])
    assert (first.rate.low, first.rate.high) == pytest.approx(wilson_interval(1, 8))
    paired = compare_paired(RESULTS[1].success_N, RESULTS[0].success_N)
    assert (second.difference.low, second.difference.high) == (paired.low, paired.high)


def test_tasks_that_the_engine_failed_count_for_neither_side():
    faulty = [result("first", 0, [1, 0, None, 0]), result("second", 0, [1, 1, 1, None])]
    first, second = variant_rows(TWO, faulty)
    assert (first.rate.low, first.rate.high) == pytest.approx(wilson_interval(1, 3))
    assert second.rate_by_seed == (1.0,)
    assert second.difference_by_seed == (1 / 2,)
    assert (first.num_faults, second.num_faults) == (1, 1)
    assert "count for nobody: first 1, second 1." in markdown(made_table(variant_rows(TWO, faulty)))
    assert "count for nobody" not in markdown(made_table(variant_rows(TWO, RESULTS)))


def test_runs_without_a_task_that_both_finished_are_not_compared():
    rows = variant_rows(TWO, [result("first", 0, [1, None]), result("second", 0, [None, 1])])
    assert (rows[1].difference, rows[1].p_pooled, rows[1].difference_by_seed) == (None, None, ())


def test_a_table_of_unfinished_runs_shows_what_there_is():
    rows = variant_rows(TWO, [RESULTS[0], RESULTS[1], RESULTS[3]])
    assert [row.seeds for row in rows] == [(0,), (0, 1)]
    assert rows[1].difference_by_seed == (4 / 8,)
    only_second = variant_rows(TWO, [RESULTS[3]])
    assert only_second[0].difference is None


def test_the_table_is_written_as_markdown_and_json(tmp_path):
    table = made_table(variant_rows(TWO, RESULTS), failures=("two, third, seed 0: it failed",))
    write_table(table, tmp_path / "two_far.v1")
    text = (tmp_path / "two_far.v1.md").read_text()
    assert text == markdown(table)
    assert "| second | 43.8 [0.0, 100.0] | 62.5, 25.0 | +31.2 [-100.0, +100.0] | +50.0, +12.5 |" in text
    assert "- two, third, seed 0: it failed" in text
    read = json.loads((tmp_path / "two_far.v1.json").read_text())
    assert read["rows"][1]["difference"]["value"] == pytest.approx(2.5 / 8)


def write_way(run_dir, updates):
    log = MetricsLog(run_dir / "metrics.jsonl")
    run_dir.mkdir()
    log.write("imitation", 1, {"elapsed_s": 99.0})
    for step, (update_s, num_episodes, success) in enumerate(updates, start=1):
        solved = {} if num_episodes == 0 else {"success": success}
        times = {"take_s": update_s / 2, "learn_s": update_s / 2, "lag_mean": 1.0}
        log.write("ppo", step, {**times, "episodes": num_episodes, **solved})
    return dataclasses.replace(RESULTS[0], variant=run_dir.name, run_dir=run_dir)


def test_a_slower_variant_has_had_fewer_samples_in_the_time_of_the_fastest(tmp_path):
    rising = [(1.0, 4, step / 8) for step in range(1, 9)]
    fast = write_way(tmp_path / "fast", rising)
    slow = write_way(tmp_path / "slow", [(2.0, ended, success) for _, ended, success in rising])
    curves = variant_curves([fast, slow])
    assert [curve.at_samples for curve in curves] == [(0.25, 0.5, 0.75, 1.0)] * 2
    assert curves[0].at_time == (0.25, 0.5, 0.75, 1.0)
    assert curves[1].at_time == (0.125, 0.25, 0.375, 0.5)
    assert [(curve.ppo_s, curve.lag_mean) for curve in curves] == [(8.0, 1.0), (16.0, 1.0)]


def test_a_rate_is_of_the_episodes_that_ended_and_none_where_none_did(tmp_path):
    # A tenth of 20 updates is 2: of each pair one ended many episodes, the other few.
    updates = [(1.0, 0, 0.0)] * 10 + [(1.0, 9, 1.0), (1.0, 1, 0.0)] * 5
    (curve,) = variant_curves([write_way(tmp_path / "run", updates)])
    assert curve.at_samples == (None, None, pytest.approx(0.9), pytest.approx(0.9))


def test_runs_without_ppo_have_no_curve(tmp_path):
    assert variant_curves([write_way(tmp_path / "alone", [])]) == ()


def test_a_table_of_more_seeds_is_not_replaced_by_one_of_fewer(tmp_path):
    stem = tmp_path / "two_val-abc"
    assert free_stem(stem, [0]) == stem
    write_table(made_table(tuple(variant_rows(TWO, RESULTS))), stem)
    assert free_stem(stem, [1, 0]) == free_stem(stem, [0, 1, 2]) == stem
    assert free_stem(stem, [0]) == tmp_path / "two_val-abc-seeds0"
    assert free_stem(stem, [1, 2]) == tmp_path / "two_val-abc-seeds1_2"
