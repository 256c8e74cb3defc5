"""Claims about the bench of whole iterations: its stages are all of the time, each second once."""

import time

import pytest
import torch

from eval.benches.iteration_bench import bench_iteration
from eval.benches.stage_clock import StageClock
from mcrl.recipes import RECIPES


class Work:
    def outer(self):
        time.sleep(0.02)
        self.inner()
        time.sleep(0.02)

    def inner(self):
        time.sleep(0.05)

    def fail(self):
        raise KeyError("nothing")


def test_a_stage_within_another_counts_alone():
    work, clock = Work(), StageClock(torch.device("cpu"))
    clock.time(work, "outer", "outside")
    clock.time(work, "inner", "inside")
    begin_s = time.perf_counter()
    work.outer()
    wall_s = time.perf_counter() - begin_s
    assert clock.seconds["inside"] >= 0.05
    assert 0.04 <= clock.seconds["outside"] <= wall_s - 0.05
    assert sum(clock.seconds.values()) <= wall_s


def test_a_stage_that_fails_is_over():
    work, clock = Work(), StageClock(torch.device("cpu"))
    clock.time(work, "fail", "failing")
    clock.time(work, "inner", "inside")
    with pytest.raises(KeyError):
        work.fail()
    failing_s = clock.seconds["failing"]
    work.inner()
    assert clock.seconds["failing"] == failing_s


def test_iterations_of_a_recipe_are_measured_stage_by_stage():
    rows = bench_iteration(RECIPES["smoke"](), repeats=1, num_threads=1, num_envs=8)
    per_s = {row.metric: row for row in rows if row.metric != "stage_ms"}
    assert per_s["ticks_per_s"].value == pytest.approx(4 * per_s["decisions_per_s"].value)
    assert per_s["decisions_per_s"].fields["num_envs"] == 8
    assert per_s["decisions_per_s"].fields["engine"] == "cpu"
    stage_ms = {row.fields["stage"]: row.value for row in rows if row.metric == "stage_ms"}
    assert {"act", "learn", "record", "judge and reward", "engine: play and draw", "begin episodes"} <= stage_ms.keys()
    assert min(stage_ms.values()) >= 0.0
    assert stage_ms["rest"] < sum(stage_ms.values()) / 2
