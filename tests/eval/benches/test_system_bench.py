"""Claims about the bench of asynchrony: its prediction is the published one, and what it measures is what was slept."""

import json

import numpy as np
import pytest

from eval.benches.system_bench import LATENCY_MODELS, Setting, bench_system
from eval.benches.system_prediction import MODES, frames_per_s, predicted_take_s
from mcrl.cli import main
from mcrl.dataflow.rings.latency import LatencyModel


def predict(mode, name, num_updates=24):
    return Setting(mode=mode, model=LATENCY_MODELS[name], num_updates=num_updates, seed=0).predict()


@pytest.mark.parametrize(
    ("name", "over_fragment_barrier", "over_step_barrier"),
    [
        ("constant", 1.31, 1.31),
        ("lognormal-0.5", 1.49, 3.25),
        ("lognormal-1", 1.80, 7.38),
        ("resets", 3.67, 14.0),
        ("slow-instances", 4.0, 4.0),
    ],
)
def test_the_prediction_is_that_of_the_issue(name, over_fragment_barrier, over_step_barrier):
    rate = predict("async", name)
    assert rate / predict("fragment barrier", name) == pytest.approx(over_fragment_barrier, rel=0.1)
    assert rate / predict("step barrier", name) == pytest.approx(over_step_barrier, rel=0.2)


def test_without_latency_or_learner_to_wait_for_there_is_nothing_to_gain():
    model = LatencyModel(step_s=0.03)
    rates = [
        Setting(mode=mode, model=model, num_envs=8, fragment_steps=8, learner_s=0.0, num_updates=6, seed=0).predict()
        for mode in MODES
    ]
    assert rates == pytest.approx([8 / 0.03] * 3)


def test_a_learner_that_is_slower_than_the_environments_sets_the_pace():
    take_s_U = predicted_take_s(
        "async", LatencyModel(step_s=0.01), num_envs=4, fragment_steps=4, learner_s=1.0, num_updates=6, seed=0
    )
    assert np.diff(take_s_U) == pytest.approx(np.ones(5))
    assert frames_per_s(take_s_U, num_envs=4, fragment_steps=4, num_skipped=1) == pytest.approx(16)


@pytest.mark.slow
def test_under_heavy_tails_async_beats_the_fragment_barrier_and_that_beats_the_step_barrier():
    # Relations alone, at a pace that a busy machine keeps up with.
    model = LatencyModel(step_s=0.02, sigma=1.0, reset_probability=1 / 60, reset_s=0.6)
    rate = {
        mode: Setting(
            mode=mode, model=model, num_envs=8, fragment_steps=16, learner_s=0.2, num_updates=6, seed=3
        ).measure()[0]
        for mode in MODES
    }
    assert rate["async"] > rate["fragment barrier"] > rate["step barrier"]


@pytest.mark.slow
def test_the_system_bench_sets_both_baselines_in_one_row_and_says_that_it_slept(capfd):
    argv = ["bench", "system", "--model", "constant", "--repeats", "1", "--time-scale", "0.5", "--json", "-"]
    assert main(argv) == 0
    rows = json.loads(capfd.readouterr().out)["rows"]
    assert [row["metric"] for row in rows] == ["speedup_over_fragment_barrier"]
    assert rows[0]["latency_is"] == "simulated by sleeping"
    assert rows[0]["predicted_long_run"] == pytest.approx(1.31, abs=0.01)
    assert rows[0]["over_step_barrier_predicted"] == pytest.approx(1.31, abs=0.01)
    assert rows[0]["async_per_s"] > 0


def test_a_latency_model_that_there_is_not_is_refused_with_those_there_are():
    with pytest.raises(ValueError, match="there are constant, lognormal-0.5"):
        bench_system(model="fast", repeats=1, time_scale=1.0, seed=0)
