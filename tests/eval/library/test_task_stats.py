"""Claims about the statistics of a library."""

import json

import pytest

from eval.library.task_sample import sample_tasks
from eval.library.task_stats import task_stats
from eval.suites.suites import load_suite
from task_synthesis.task import to_json_line
from tests.task_synthesis.fixtures import some_tasks


def as_lines(tasks):
    return [(f"tasks.jsonl:{number}", to_json_line(task)) for number, task in enumerate(tasks, 1)]


def test_every_histogram_counts_every_task_once():
    tasks = some_tasks()
    stats = task_stats(as_lines(tasks))
    assert {"distance_blocks", "in_sight", "num_same_kind", "max_ticks"} <= {h.name for h in stats.histograms}
    for histogram in stats.histograms:
        assert sum(share.count for share in histogram.shares) == len(tasks), histogram.name
        assert max(share.of_largest for share in histogram.shares) == 1.0
    assert sum(int(row[-1]) for row in stats.tables[0].rows) == len(tasks)


def test_bands_stand_in_the_order_of_their_distance():
    stats = task_stats(as_lines(some_tasks()))
    assert stats.tables[0].header == ["skill", "near", "easy", "all"]


def test_companions_are_told_where_there_are_some():
    with_some = [*load_suite("companions", 30), *load_suite("distractors", 10)]
    tables = {table.title: table.rows for table in task_stats(as_lines(with_some)).tables}
    assert tables["Companions"] == [["no", "10", "25.0 %"], ["yes", "30", "75.0 %"]]
    for suite in ("laptop", "unseen_seeds"):
        assert "Companions" not in {table.title for table in task_stats(as_lines(load_suite(suite, 200))).tables}


@pytest.mark.parametrize("line", ["# a title", "", '{"family": "approach/pum'])
def test_a_line_that_was_cut_short_is_named(line):
    with pytest.raises(ValueError, match=r"^tasks\.jsonl:3: not a line of JSON, so no task; if it was cut short"):
        task_stats([*as_lines(some_tasks()[:2]), ("tasks.jsonl:3", line)])


@pytest.mark.parametrize("line", ["{}", "7", '{"family": 3}', "null"])
def test_a_line_that_is_no_task_is_named(line):
    with pytest.raises(ValueError, match=r"^tasks\.jsonl:3: not a task; name a library"):
        task_stats([*as_lines(some_tasks()[:2]), ("tasks.jsonl:3", line)])


def test_a_value_that_is_no_number_is_named():
    where, line = as_lines(some_tasks()[:1])[0]
    fields = json.loads(line)
    fields["difficulty"]["distance_blocks"] = "far"
    with pytest.raises(ValueError, match=r"^tasks\.jsonl:1: not a task"):
        task_stats([(where, json.dumps(fields))])


def test_a_sample_shows_every_skill_and_no_task_twice():
    tasks = some_tasks()
    sample = sample_tasks(tasks, 10, seed=0)
    counts = [sum(task.skill == skill for task in sample) for skill in {task.skill for task in tasks}]
    assert counts == [5, 5]
    assert len({task.task_id for task in sample}) == 10
    assert sample == sample_tasks(tasks, 10, seed=0) != sample_tasks(tasks, 10, seed=1)
    assert len(sample_tasks(tasks, 1000, seed=0)) == len(tasks)
