import math

import numpy as np
import pytest

from mcrl.telemetry.metrics import MetricsLog, read_metrics, rollout_metrics
from task_synthesis.playing.task_env import Outcome
from tests.mcrl.fragments import make_fragment


def test_lines_come_back_and_what_is_not_finite_becomes_null(tmp_path):
    log = MetricsLog(tmp_path / "metrics.jsonl")
    log.write("ppo", 1, {"loss": 0.5, "success": math.nan})
    (line,) = read_metrics(log.path)
    assert (line["stage"], line["step"], line["loss"], line["success"]) == ("ppo", 1, 0.5, None)


def test_a_line_cut_short_by_a_crash_is_left_out_and_a_broken_one_is_not(tmp_path):
    path = tmp_path / "metrics.jsonl"
    path.write_text('{"stage": "ppo", "step": 1}\n{"stage": "pp')
    assert len(read_metrics(path)) == 1
    path.write_text('{"stage": "pp\n{"stage": "ppo", "step": 1}\n')
    with pytest.raises(ValueError, match=r"metrics.jsonl:1"):
        read_metrics(path)


def test_the_next_line_takes_the_place_of_one_that_was_cut_short(tmp_path):
    log = MetricsLog(tmp_path / "metrics.jsonl")
    for tail, steps in (('{"stage": "pp', [1, 9]), ('{"stage": "ppo", "step": 2}', [1, 2, 9])):
        log.path.write_text('{"stage": "ppo", "step": 1}\n' + tail)
        log.write("ppo", 9, {})
        assert [line["step"] for line in read_metrics(log.path)] == steps


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("5", "a stage and a step are wanted"),
        ('{"step": 1}', "a stage and a step are wanted"),
        ('{"stage": "ppo", "step": "1"}', "step must be int, got '1'"),
        ('{"stage": "ppo", "step": true}', "step must be int, got True"),
        ('{"stage": null, "step": 1}', "stage must be str, got None"),
        ('{"stage": "ppo", "step": 1, "loss": "low"}', "loss must be a finite float, got 'low'"),
    ],
)
def test_a_line_that_no_run_writes_is_refused_also_as_the_last(tmp_path, line, said):
    path = tmp_path / "metrics.jsonl"
    path.write_text('{"stage": "ppo", "step": 1}\n' + line + "\n")
    with pytest.raises(ValueError, match=rf"metrics.jsonl:2: not a line of metrics \({said}\); delete the line"):
        read_metrics(path)


@pytest.mark.parametrize("line", ["[" * 200_000, "9" * 5000, "\xff"], ids=["deep", "long", "binary"])
def test_a_line_that_is_no_json_is_refused_unless_it_is_the_last(tmp_path, line):
    path = tmp_path / "metrics.jsonl"
    path.write_text('{"stage": "ppo", "step": 1}\n' + line, encoding="latin-1")
    assert len(read_metrics(path)) == 1
    path.write_text(line + '\n{"stage": "ppo", "step": 1}\n', encoding="latin-1")
    with pytest.raises(ValueError, match="metrics.jsonl:1: not a line of JSON; delete the line"):
        read_metrics(path)


def test_a_resumed_run_writes_no_step_twice(tmp_path):
    log = MetricsLog(tmp_path / "metrics.jsonl")
    log.write("imitation", 10, {})
    for step in (1, 2, 3):
        log.write("ppo", step, {})
    log.discard_after("ppo", 2)
    log.write("ppo", 3, {})
    assert [(line["stage"], line["step"]) for line in read_metrics(log.path)] == [
        ("imitation", 10),
        ("ppo", 1),
        ("ppo", 2),
        ("ppo", 3),
    ]


def test_only_lines_with_the_named_value_are_discarded(tmp_path):
    log = MetricsLog(tmp_path / "metrics.jsonl")
    for step in (1, 2):
        log.write("val", step, {"ppo_success": 0.5})
        log.write("val", step, {"imitation_success": 0.5})
    log.discard_after("val", 1, name="ppo_success")
    assert [line["step"] for line in read_metrics(log.path)] == [1, 1, 2]
    assert log.has("val", 1, name="ppo_success")
    assert not log.has("val", 2, name="ppo_success")


def test_what_follows_the_last_named_value_is_discarded_and_all_where_there_is_none(tmp_path):
    log = MetricsLog(tmp_path / "metrics.jsonl")
    assert not log.has("val", 0, name="a")
    log.discard_after_last("a")  # there is no log yet
    for step, name in enumerate(("x", "a", "y", "b", "z")):
        log.write("val", step, {name: 1.0})
    log.discard_after_last("a", "b")
    assert [line["step"] for line in read_metrics(log.path)] == [0, 1, 2, 3]
    log.discard_after_last("c")
    assert read_metrics(log.path) == []


def test_success_is_counted_a_skill_and_faults_count_in_no_rate():
    outcomes = np.array([Outcome.SUCCESS, Outcome.WRONG_OBJECT, Outcome.FAULT, Outcome.RUNNING])
    fragment = make_fragment(
        outcome_T=outcomes,
        terminated_T=np.array([True, True, False, False]),
        truncated_T=np.array([False, False, True, False]),
        goals=(None, None),
        families=("approach/a", "break/b"),
        goal_index_T=np.array([0, 1, 1, 1]),
    )
    metrics = rollout_metrics([fragment])
    assert metrics["episodes"] == 2
    assert metrics["faults"] == 1
    assert metrics["success"] == 0.5
    assert metrics["success/approach"] == 1.0
    assert metrics["success/break"] == 0.0
    assert metrics["wrong_object"] == 0.5
