import dataclasses

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

simpy = pytest.importorskip("simpy", reason="the planner's extra is not installed: pip install 'mcrl[plan]'")

from mcrl.planning.choice import cluster_scale, local_placements, pick, store_bytes, until_no_faster  # noqa: E402
from mcrl.planning.components import ComponentTimes  # noqa: E402
from mcrl.planning.shared_cores import SharedCores  # noqa: E402
from mcrl.planning.simulator import Deployment, predict  # noqa: E402

ENVS, STEPS, BATCH = 4, 16, 8


def times(**changes):
    fields = {"collect_s": 0.5, "learn_s": 0.4, "publish_s": 0.0, "load_s": 0.0, "receive_s": 0.0, "call_s": 0.0}
    fields |= {"fragment_bytes": 1e5, "weight_bytes": 1e6, "num_cores": 2.0}
    return ComponentTimes(
        recipe="x", envs_per_worker=ENVS, fragment_steps=STEPS, fragments_per_batch=BATCH, **(fields | changes)
    )


def steps_per_s(measured, placement="split", num_workers=1, max_staleness=1, num_cores=None, **changes):
    deployment = Deployment(
        placement=placement, num_workers=num_workers, max_staleness=max_staleness, num_cores=num_cores, **changes
    )
    return predict(measured, deployment).steps_per_s


def test_inline_adds_up_collects_and_the_update():
    measured = times(publish_s=0.03, load_s=0.02)
    expected = BATCH * STEPS / (BATCH / ENVS * 0.5 + 0.4 + 0.05)
    assert steps_per_s(measured, "inline", max_staleness=0) == pytest.approx(expected)


def test_what_a_collect_waits_for_counts_where_acting_and_learning_take_turns():
    measured = times(collect_s=0.01, collect_wait_s=10.0, learn_s=1.0)
    deployment = Deployment(placement="inline", num_workers=1, max_staleness=0, num_cores=None)
    assert predict(measured, deployment).bottleneck == "workers"


def test_one_worker_that_is_slower_than_the_learner_never_waits():
    prediction = predict(
        times(learn_s=0.3), Deployment(placement="split", num_workers=1, max_staleness=1, num_cores=None)
    )
    assert prediction.steps_per_s == pytest.approx(ENVS * STEPS / 0.5)
    assert prediction.workers_idle == pytest.approx(0, abs=1e-6)
    assert prediction.bottleneck == "workers"


def test_a_learner_slower_than_its_workers_never_waits():
    measured = times(learn_s=2.0, receive_s=0.1)
    prediction = predict(measured, Deployment(placement="split", num_workers=4, max_staleness=1, num_cores=None))
    assert prediction.steps_per_s == pytest.approx(BATCH * STEPS / (2.0 + 0.1 * BATCH / ENVS))
    assert prediction.bottleneck == "learner"


def test_without_staleness_acting_and_learning_take_turns():
    assert steps_per_s(times(), num_workers=2, max_staleness=0) == pytest.approx(BATCH * STEPS / (0.5 + 0.4))


def test_a_turn_is_all_that_happens_in_it_and_a_worker_takes_each_version_once():
    measured = times(publish_s=0.03, load_s=0.02, call_s=0.1)
    # One worker collects twice for a batch, two once each.
    for num_workers, num_collects in ((1, 2), (2, 1)):
        turn_s = 0.02 + num_collects * (0.1 + 0.5) + 0.4 + 0.03
        rate = steps_per_s(measured, num_workers=num_workers, max_staleness=0)
        assert rate == pytest.approx(BATCH * STEPS / turn_s)


def test_weights_are_passed_on_by_the_machines_that_have_them():
    measured = times(weight_bytes=1e6, fragment_bytes=0.0)
    # 7 machines of 64 workers have them after 3 rounds of 0.1 s.
    rate = steps_per_s(measured, num_workers=448, max_staleness=0, network_bytes_per_s=1e7)
    assert rate == pytest.approx(BATCH * STEPS / (3 * 0.1 + 0.5 + 0.4))


def test_learners_share_an_update_and_larger_batches_make_it_longer():
    measured = times(learn_s=2.0, collect_s=0.1)
    for changes in ({"num_learners": 4}, {"num_learners": 4, "batch_factor": 3}):
        assert steps_per_s(measured, num_workers=8, **changes) == pytest.approx(BATCH * STEPS / (2.0 / 4))


def test_who_waits_is_said_for_the_learner_and_for_the_mean_worker():
    idle = predict(times(learn_s=2.0), Deployment(placement="split", num_workers=4, max_staleness=1, num_cores=None))
    # Of 4 x 2 s an update the workers collect twice 0.5 s.
    assert (idle.learner_idle, idle.workers_idle) == pytest.approx((0, 1 - 1 / 8), abs=0.01)
    turns = predict(times(), Deployment(placement="split", num_workers=2, max_staleness=0, num_cores=None))
    assert (turns.learner_idle, turns.workers_idle) == pytest.approx((0.5 / 0.9, 0.4 / 0.9))


def test_uneven_collects_take_as_long_as_measured_on_average():
    deployment = Deployment(placement="split", num_workers=1, max_staleness=1, num_cores=None)
    uneven = predict(times(learn_s=1e-6, collect_spread=0.5), deployment, num_updates=600)
    assert uneven.steps_per_s == pytest.approx(ENVS * STEPS / 0.5, rel=0.05)


def test_two_on_one_core_take_twice_as_long():
    measured = times(learn_s=1e-9)
    alone = steps_per_s(measured, num_workers=2, num_cores=2.0)
    assert steps_per_s(measured, num_workers=2, num_cores=1.0) == pytest.approx(alone / 2, rel=0.01)


@pytest.mark.parametrize(("num_cores", "ends"), [(None, [1.0, 1.5]), (2.0, [1.0, 1.5]), (1.0, [1.5, 2.0])])
def test_processes_share_cores_evenly(num_cores, ends):
    env = simpy.Environment()
    cores, seen = SharedCores(env, num_cores), []

    def process(begin_s):
        yield env.timeout(begin_s)
        yield cores.compute(1.0)
        seen.append(env.now)

    for begin_s in (0.0, 0.5):
        env.process(process(begin_s))
    env.run()
    assert seen == pytest.approx(ends)


@settings(max_examples=20, deadline=None)
@given(
    collect_s=st.floats(0.01, 2.0),
    learn_s=st.floats(0.01, 2.0),
    call_s=st.floats(0.0, 0.05),
    num_workers=st.integers(1, 6),
    max_staleness=st.integers(0, 2),
)
def test_a_prediction_is_within_what_each_part_allows(collect_s, learn_s, call_s, num_workers, max_staleness):
    measured = times(collect_s=collect_s, learn_s=learn_s, call_s=call_s)
    rate = steps_per_s(measured, num_workers=num_workers, max_staleness=max_staleness)
    assert rate <= BATCH * STEPS / learn_s * 1.0001
    # What waited at the begin of the measured updates may come on top of what is made in them.
    assert rate <= num_workers * ENVS * STEPS / (collect_s + call_s) * 1.15
    num_rounds = -(-BATCH // (ENVS * num_workers))
    assert rate >= BATCH * STEPS / (num_rounds * (collect_s + call_s) + learn_s) / 1.15


def test_a_run_of_years_is_predicted_as_well():
    per_s = steps_per_s(times(learn_s=1e7, collect_s=1e6), num_workers=3, num_cores=1.7)
    assert per_s == pytest.approx(
        steps_per_s(times(learn_s=1e4, collect_s=1e3), num_workers=3, num_cores=1.7) / 1e3, rel=1e-3
    )


def test_the_same_seed_predicts_the_same():
    assert steps_per_s(times(collect_spread=0.5)) == steps_per_s(times(collect_spread=0.5))


def test_stragglers_cost_a_synchronous_run_more_than_a_stale_one():
    even, uneven = times(learn_s=0.01), times(learn_s=0.01, collect_spread=1.0)
    cost = [
        steps_per_s(uneven, num_workers=8, max_staleness=eta) / steps_per_s(even, num_workers=8, max_staleness=eta)
        for eta in (0, 3)
    ]
    assert cost[0] < cost[1]


@pytest.mark.slow
def test_a_cluster_grows_to_ten_thousand_workers_and_the_learner_holds_it_back():
    scale = cluster_scale(
        times(), max_staleness=1, max_workers=10_000, num_learners=1, network_bytes_per_s=1.25e9, num_updates=3
    )
    assert [scale[0].deployment.num_workers, scale[-1].deployment.num_workers] == [1, 10_000]
    assert scale[-1].bottleneck == "learner"
    assert scale[-1].steps_per_s == pytest.approx(BATCH * STEPS / 0.4, rel=0.1)


def test_a_cluster_is_shown_until_more_workers_are_no_faster():
    (one,) = local_placements(times(), max_staleness=1, max_workers=1)[:1]
    rates = [100.0, 90.0, 197.0, 200.0, 199.0, 206.0]  # the last is nearly as fast as the third
    scale = [dataclasses.replace(one, steps_per_s=rate) for rate in rates]
    assert [prediction.steps_per_s for prediction in until_no_faster(scale)] == rates[:3]
    assert until_no_faster(scale[:1]) == scale[:1]


def test_a_slow_network_holds_a_cluster_back():
    fast, slow = (
        cluster_scale(
            times(fragment_bytes=1e7, learn_s=1e-3),
            max_staleness=1,
            max_workers=64,
            num_learners=1,
            network_bytes_per_s=bytes_per_s,
        )[-1].steps_per_s
        for bytes_per_s in (1e12, 1e8)
    )
    assert slow == pytest.approx(1e8 / 1e7 * STEPS, rel=0.1)
    assert fast > 2 * slow


def test_the_simpler_placement_wins_unless_another_is_clearly_faster():
    even = local_placements(times(num_cores=1.0, collect_s=0.001), max_staleness=1, max_workers=2)
    assert pick(even).deployment.placement == "inline"
    apart = local_placements(times(num_cores=4.0), max_staleness=1, max_workers=3)
    assert pick(apart).deployment.placement == "split"


def test_the_store_holds_what_may_wait_and_what_is_in_the_making():
    deployment = Deployment(placement="split", num_workers=3, max_staleness=2, num_cores=None)
    assert store_bytes(times(), deployment) == ((2 + 1) * BATCH + 3 * ENVS) * 1e5
