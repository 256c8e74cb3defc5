"""Engines made slow on purpose: what the model says is what one waits for."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcrl.dataflow.rings.latency import EngineCrashError, LatencyEnv, LatencyModel, LatencyStream
from mcrl.dataflow.rings.step_runner import VirtualRunner
from tests.mcrl.corridor_rings import corridor
from worlds.types import ActionBatch

MODELS = st.builds(
    LatencyModel,
    step_s=st.floats(0, 1),
    sigma=st.floats(0, 2),
    reset_probability=st.floats(0, 1),
    slow_share=st.floats(0, 1),
    crash_probability=st.floats(0, 1),
)


def draws(model, num_steps, *, instance=0, seed=0, life=0):
    stream = LatencyStream(model, seed=seed, instance=instance, life=life)
    return [stream.draw() for _ in range(num_steps)]


@settings(max_examples=20, deadline=None)
@given(model=MODELS, seed=st.integers(0, 2**31), instance=st.integers(0, 1000))
def test_the_same_seed_and_instance_draw_the_same_latencies(model, seed, instance):
    again = draws(model, 5, seed=seed, instance=instance)
    assert draws(model, 5, seed=seed, instance=instance) == again


def test_instances_and_lives_differ():
    model = LatencyModel(sigma=1.0)
    assert draws(model, 5) != draws(model, 5, instance=1)
    assert draws(model, 5) != draws(model, 5, life=1)


@pytest.mark.parametrize("sigma", [0.0, 0.5, 1.0])
def test_the_mean_step_takes_what_the_model_says_whatever_its_spread(sigma):
    step_s = np.array([latency.step_s for latency in draws(LatencyModel(sigma=sigma), 20_000)])
    assert step_s.mean() == pytest.approx(0.03, rel=0.05)
    assert np.log(step_s).std() == pytest.approx(sigma, abs=0.02)


def test_resets_come_as_often_as_asked_and_leave_the_steps_as_they_are():
    plain, spiky = LatencyModel(sigma=1.0), LatencyModel(sigma=1.0, reset_probability=1 / 60)
    without, with_resets = draws(plain, 6000), draws(spiky, 6000)
    assert [a.step_s for a in without] == [b.step_s for b in with_resets]
    resets_s = [latency.reset_s for latency in with_resets if latency.reset_s]
    assert set(resets_s) == {5.0}
    assert 70 < len(resets_s) < 130


@settings(max_examples=30, deadline=None)
@given(share=st.floats(0, 1), num_instances=st.integers(1, 200))
def test_the_share_of_slow_instances_holds_to_within_one(share, num_instances):
    model = LatencyModel(slow_share=share)
    num_slow = sum(model.is_slow(instance) for instance in range(num_instances))
    assert abs(num_slow - share * num_instances) <= 1


def test_a_slow_instance_takes_its_factor_for_steps_and_none_for_resets():
    model = LatencyModel(slow_share=1.0, slow_factor=4.0, reset_probability=1.0)
    assert draws(model, 3) == [(pytest.approx(0.12), 5.0, False)] * 3


def test_a_lockstep_step_takes_as_long_as_its_slowest_environment():
    clock = VirtualRunner()
    model = LatencyModel(sigma=1.0, reset_probability=0.3)
    env = LatencyEnv(corridor(4), model, seed=0, clock=clock)
    env.reset()
    by_env = [draws(model, 20, instance=e) for e in range(4)]
    for step in range(20):
        begin_s = clock.now_s()
        transition = env.step(ActionBatch.noop(4))
        now = [of_env[step] for of_env in by_env]
        total_s = max(latency.step_s + latency.reset_s for latency in now)
        assert clock.now_s() - begin_s == pytest.approx(total_s)
        step_s = max(latency.step_s for latency in now)
        assert transition.reset_ns == pytest.approx((total_s - step_s) * 1e9, abs=1)


def test_a_crashed_engine_stays_dead():
    env = LatencyEnv(corridor(1), LatencyModel(crash_probability=1.0), seed=0, clock=VirtualRunner())
    env.reset()
    for _ in range(2):
        with pytest.raises(EngineCrashError, match="crashed"):
            env.step(ActionBatch.noop(1))


def test_a_scaled_model_waits_in_proportion():
    model = LatencyModel(sigma=1.0, reset_probability=0.1)
    for whole, half in zip(draws(model, 50), draws(model.scaled(0.5), 50), strict=True):
        assert half.step_s == pytest.approx(whole.step_s / 2)
        assert half.reset_s == whole.reset_s / 2


@pytest.mark.parametrize(
    ("field", "value"),
    [("step_s", -1.0), ("sigma", math.inf), ("reset_probability", 1.1), ("slow_factor", 0.5), ("reset_s", math.nan)],
)
def test_a_model_that_makes_no_sense_is_refused_by_name(field, value):
    with pytest.raises(ValueError, match=f"latency.{field}"):
        LatencyModel(**{field: value})
