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
