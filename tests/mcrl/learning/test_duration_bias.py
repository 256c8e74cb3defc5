"""Where duration weighting helps and where it harms: the bias table, in both directions, and pinned workers.

The numbers of TABLE were measured by a script that is lost: 6 seeds, 1,200 updates, learning rate 0.1. The windows of
the collections follow from its shares of slow samples and from its cells without a critic. Its critic was found by
trying: of those only a running mean from 0, at rate 0.05, weighted as the policy is, comes near its three cells of
`linear` with a critic. It took durations over the mean of the batch; here they are over the running mean,
which moves the updates of `linear` by 1 to 26 %; hence the tolerance of 30 %. Here it is 3 seeds.
"""

import numpy as np
import pytest

from mcrl.dataflow.flow import Flow, FlowLimits, FlowStart
from mcrl.learning.duration import DurationWeighter, Segments
from tests.mcrl.fragments import make_fragment
from tests.mcrl.learning.slow_and_fast import WINDOW_TICKS, Setting, Workers, train

MODES = ("none", "linear", "ipw")
SETTINGS = [
    Setting(mode, best, critic)
    for mode in MODES
    for best in ("slow", "fast")
    for critic in ("none", "plain", "weighted")
    if critic != "weighted" or mode == "linear"
]
NEVER = None
# The knife's edge, see the test of it below: only "never" and "not sure" can be claimed (6 seeds gave 0.24 and 0.69).
UNSURE = "unsure"

# (collection, best arm, critic, weighting): (probability of the best arm after 1,200 updates, updates until 0.9).
# The last three rows were measured in updates alone.
TABLE = {
    ("cancel", "slow", "none", "none"): (UNSURE, NEVER),  # 0.39
    ("cancel", "slow", "none", "linear"): (1.00, 61),
    ("cancel", "slow", "none", "ipw"): (0.99, 172),
    ("drop", "slow", "none", "none"): (UNSURE, NEVER),  # 0.50
    ("drop", "slow", "none", "linear"): (1.00, 59),
    ("drop", "slow", "none", "ipw"): (0.99, 140),
    ("renewal", "slow", "none", "none"): (0.99, 166),
    ("renewal", "slow", "none", "linear"): (1.00, 57),
    ("renewal", "slow", "none", "ipw"): (0.99, 156),
    ("renewal", "slow", "plain", "none"): (0.99, 170),
    ("renewal", "slow", "weighted", "linear"): (0.94, 602),
    ("renewal", "slow", "plain", "ipw"): (0.99, 165),
    ("cancel", "slow", "plain", "none"): (0.99, 152),
    ("cancel", "slow", "weighted", "linear"): (0.96, 363),
    ("cancel", "slow", "plain", "ipw"): (0.99, 162),
    ("renewal", "fast", "none", "none"): (0.99, 166),
    ("renewal", "fast", "none", "linear"): (0.01, NEVER),
    ("renewal", "fast", "none", "ipw"): (0.99, 180),
    ("cancel", "fast", "none", "none"): (0.99, 80),
    ("cancel", "fast", "none", "linear"): (0.01, NEVER),
    ("cancel", "fast", "none", "ipw"): (0.99, 140),
    ("renewal", "fast", "plain", "none"): (0.99, 162),
    ("renewal", "fast", "weighted", "linear"): (0.99, 287),
    ("renewal", "fast", "plain", "ipw"): (0.99, 168),
}


@pytest.fixture(scope="module")
def outcomes():
    found = {name: train(name, SETTINGS, num_seeds=3) for name in ("renewal", "cancel", "drop")}
    return lambda collection, best, critic, mode: found[collection][Setting(mode, best, critic)]


@pytest.mark.parametrize("cell", TABLE, ids="-".join)
def test_the_bias_table_is_reproduced(outcomes, cell):
    probability, updates = TABLE[cell]
    outcome = outcomes(*cell)
    if probability == UNSURE:
        assert 0 < outcome.best_probability < 0.85
    else:
        assert outcome.best_probability == pytest.approx(probability, abs=0.03)
    if updates is NEVER:
        assert outcome.updates_to_90 is NEVER
    else:
        assert outcome.updates_to_90 == pytest.approx(updates, rel=0.3)


@pytest.mark.parametrize("collection", ["renewal", "cancel", "drop"])
def test_without_a_critic_linear_picks_the_slow_arm_even_where_it_is_the_worse_one(outcomes, collection):
    assert outcomes(collection, "slow", "none", "linear").best_probability > 0.99
    assert outcomes(collection, "fast", "none", "linear").best_probability < 0.02


@pytest.mark.parametrize("collection", ["renewal", "cancel", "drop"])
@pytest.mark.parametrize("best", ["slow", "fast"])
@pytest.mark.parametrize("critic", ["none", "plain"])
def test_measured_acceptance_is_right_everywhere(outcomes, collection, best, critic):
    unbiased = 166  # updates of the expected gradient without any bias
    outcome = outcomes(collection, best, critic, "ipw")
    assert outcome.best_probability == pytest.approx(0.99, abs=0.005)
    assert outcome.updates_to_90 == pytest.approx(unbiased, rel=0.15)


@pytest.mark.parametrize("mode", ["none", "linear"])
@pytest.mark.parametrize("collection", ["renewal", "cancel", "drop"])
@pytest.mark.parametrize("best", ["slow", "fast"])
def test_with_a_critic_every_wrong_weight_only_slows_learning(outcomes, mode, collection, best):
    outcome = outcomes(collection, best, "plain", mode)
    assert outcome.best_probability > 0.94
    assert outcome.updates_to_90 < 2.2 * 166


@pytest.mark.parametrize("best", ["slow", "fast"])
def test_a_weighted_critic_would_double_the_harm_of_linear(outcomes, best):
    plain, weighted = (outcomes("renewal", best, critic, "linear").updates_to_90 for critic in ("plain", "weighted"))
    assert weighted > 1.6 * plain


@pytest.mark.parametrize(("window_ticks", "share"), [(9, 0.376), (10, 0.369), (16, 0.385), (32, 0.436), (64, 0.472)])
def test_cutting_what_is_in_flight_hides_slow_work(window_ticks, share):
    accepted_R2, _ = Workers("cancel", 1, 50_000, 0, window_ticks).window(np.array([0.5]))
    assert accepted_R2[0, 1] / accepted_R2.sum() == pytest.approx(share, abs=0.004)


def accepted_odds(collection):
    """Slow over fast steps that reach the learner when both arms are chosen alike."""
    workers, total_2 = Workers(collection, 1, 2_000, 0, WINDOW_TICKS[collection]), np.zeros(2)
    for update in range(60):
        accepted_R2, _ = workers.window(np.array([0.5]))
        total_2 += accepted_R2[0] if update >= 10 else 0
    return total_2[1] / total_2[0]


def test_the_unsure_cells_lie_where_rewards_and_collection_cancel():
    # The drift of the logit is proportional to odds * 1.0 - 0.6, in these rewards.
    assert accepted_odds("drop") == pytest.approx(0.6, abs=0.01)
    assert accepted_odds("cancel") == pytest.approx(0.584, abs=0.01)
    assert accepted_odds("renewal") == pytest.approx(1.0, abs=0.02)


def test_the_plain_loop_hides_nothing():
    workers, total_2 = Workers("renewal", 1, 2_000, 0, 64), np.zeros(2)
    for _ in range(10):
        total_2 += workers.window(np.array([0.5]))[0][0]
    assert total_2[1] / total_2.sum() == pytest.approx(0.5, abs=0.01)


# ------------------------------------------------------------------------------------------- workers pinned to tasks


class MeanOfBatch:
    """The paper's normaliser, for comparison: durations over the mean of the batch."""

    def weigh_segments(self, segments, refused):
        return segments.step_s_S / np.average(segments.step_s_S, weights=segments.num_valid_S)


def pinned_optimum(weighter, num_batches=4_000, batch=30):
    """Where two tasks pull a number to -1 and to +1, and one is done 8 times as often; 0 is unbiased."""
    rng, number, total = np.random.default_rng(0), 0.0, 0.0
    for index in range(num_batches):
        num_slow = rng.binomial(batch, 1 / 9)
        num_steps_2 = np.array([batch - num_slow, num_slow])
        segments = Segments(
            families=("fast", "slow"), step_s_S=np.array([1.0, 8.0]), num_steps_S=num_steps_2, num_valid_S=num_steps_2
        )
        weight_2 = weighter.weigh_segments(segments, {})
        number += 0.05 * float((weight_2 * num_steps_2 / batch) @ (np.array([-1.0, 1.0]) - number))
        total += number if index >= num_batches // 4 else 0.0
    return total / (num_batches - num_batches // 4)


def test_pinned_workers_need_a_weight_and_the_mean_of_a_batch_is_not_quite_it():
    assert pinned_optimum(DurationWeighter("none")) == pytest.approx(-0.780, abs=0.015)
    assert pinned_optimum(MeanOfBatch()) == pytest.approx(-0.069, abs=0.015)
    assert pinned_optimum(DurationWeighter("linear")) == pytest.approx(-0.002, abs=0.015)
    assert pinned_optimum(DurationWeighter("task_balanced")) == pytest.approx(0.0, abs=0.015)


# --------------------------------------------------------------------------------- a real queue, flooded by fast work


def flooded_batches(num_batches, *, batch=4):
    """Yield (batch, refused work) of a source with an env pinned to tasks of 1 tick and one to tasks of 5 to 7."""
    rng = np.random.default_rng(0)
    flow = Flow(
        FlowLimits(num_workers=2, envs_per_worker=1, fragments_per_batch=batch, max_staleness=1),
        FlowStart(),
    )
    family, ticks = ("approach/fast", "approach/slow"), [1, 0]
    left, version_of, sequence, version = [0, 0], [0, 0], [0, 0], 0
    while version < num_batches:
        for worker in (0, 1):
            if left[worker] == 0 and flow.try_start():
                ticks[1] = int(rng.integers(5, 8)) if worker == 1 else ticks[1]
                left[worker], version_of[worker] = ticks[worker], version
            elif left[worker] == 0:
                continue
            left[worker] -= 1
            if left[worker] == 0:
                fragment = make_fragment(
                    families=(family[worker],),
                    step_s_G=np.array([ticks[worker] / 4], np.float32),
                    min_version=version_of[worker],
                    max_version=version_of[worker],
                    worker_id=worker,
                    sequence=sequence[worker],
                )
                sequence[worker] += 1
                flow.finish(worker, [fragment])
        taken = flow.take(batch)
        if taken:
            yield taken, flow.take_refused()
            version += 1
            flow.advance(version)


@pytest.mark.parametrize("mode", ["none", "linear", "ipw", "task_balanced"])
def test_what_fast_work_crowds_out_of_the_queue_is_measured_and_made_up_for(mode):
    weighter, kept, thrown, weighted, plain = DurationWeighter(mode), 0, 0, 0.0, 0.0
    for fragments, refused in flooded_batches(600):
        weight_BT, _ = weighter.weigh(fragments, refused)
        is_slow_B = np.array([fragment.families[0] == "approach/slow" for fragment in fragments])
        kept += int(is_slow_B.sum())
        thrown += sum(steps for kind, steps in refused.items() if kind.family == "approach/slow") // 4
        weighted += float(weight_BT[is_slow_B].sum()) / weight_BT.size
        plain += float(is_slow_B.mean())
    acceptance = weighter.acceptance()
    assert thrown > 50
    assert acceptance["approach/fast"] == 1.0
    assert acceptance["approach/slow"] == pytest.approx(kept / (kept + thrown), abs=0.1)
    plain, weighted = plain / 600, weighted / 600
    assert plain < 0.12
    if mode == "none":
        assert weighted == plain
    if mode == "ipw":
        started_share = (kept + thrown) / (2400 + thrown)
        assert weighted == pytest.approx(started_share, rel=0.05)
        assert plain < 0.9 * started_share
    if mode == "linear":
        assert weighted == pytest.approx(0.43, abs=0.03)  # equal time, short of the slow work that was thrown away
    if mode == "task_balanced":
        assert weighted == pytest.approx(0.5, abs=0.03)
