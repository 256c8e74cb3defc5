"""Engines that step at their own pace: the same fragments as a plain worker's, and nobody waits for another."""

import dataclasses
from collections import Counter

import numpy as np
import pytest
import torch

from mcrl.dataflow.rings.latency import EngineCrashError, LatencyModel
from mcrl.dataflow.rings.step_runner import ThreadRunner, VirtualRunner
from mcrl.dataflow.weights.params import ParamLayout
from mcrl.learning.batch import collate
from mcrl.learning.forward import evaluate
from mcrl.rollout.rollout_worker import RolloutWorker
from policies import action_codec
from task_synthesis.playing.task_env import Outcome
from tests.mcrl.corridor import CorridorEnv
from tests.mcrl.corridor_policy import CorridorPolicy
from tests.mcrl.corridor_rings import (
    LIMIT_S,
    NUM_STEPS,
    WORKER,
    corridor,
    make_host,
    make_ring,
    play,
    play_past_the_first,
)


def snapshot(version):
    policy = CorridorPolicy(seed=version)
    return ParamLayout(policy).snapshot(policy, version)


def assert_same(ours, theirs):
    for field in dataclasses.fields(ours):
        a, b = getattr(ours, field.name), getattr(theirs, field.name)
        if field.name in ("start_ns", "end_ns"):
            continue
        if isinstance(a, np.ndarray):
            assert a.dtype == b.dtype, field.name
            assert a.tobytes() == b.tobytes(), field.name
        elif field.name == "memory":
            assert a.keys() == b.keys()
            assert all(a[name].tobytes() == b[name].tobytes() for name in a)
        elif field.name == "goals":
            assert all(x.image_HWC.tobytes() == y.image_HWC.tobytes() for x, y in zip(a, b, strict=True))
        else:
            assert a == b, field.name


@pytest.mark.parametrize("runner", [VirtualRunner(), ThreadRunner(1)], ids=["virtual", "threads"])
@pytest.mark.parametrize("has_reference", [False, True])
def test_a_ring_of_one_is_a_rollout_worker_to_the_bit(has_reference, runner):
    reference = CorridorPolicy(3) if has_reference else None
    worker = RolloutWorker(
        corridor(3, fault_at_step=5),
        CorridorPolicy(0),
        reference,
        fragment_steps=NUM_STEPS,
        worker_id=WORKER,
        seed=0,
        precision="fp32",
    )
    ring = make_ring(
        num_groups=1,
        envs_per_group=3,
        runner=runner,
        inference=make_host(reference),
        make_env=lambda *names: corridor(*names, fault_at_step=5),
    )
    for version in range(4):
        for ours, theirs in zip(ring.collect(), worker.collect(), strict=True):
            assert_same(ours, theirs)
        ring.load(snapshot(version + 1))
        worker.load(snapshot(version + 1))


def test_what_groups_do_in_one_batch_is_what_the_learner_thinks_they_did():
    ring = make_ring(LatencyModel(sigma=1.0), inference=make_host(CorridorPolicy(0)))
    for _ in range(3):
        batch = collate(ring.collect())
        with torch.no_grad():
            evaluation = evaluate(CorridorPolicy(0), batch, "fp32")
        log_prob_BT = action_codec.log_prob(evaluation.logits_BTL, batch.action_BTA)
        torch.testing.assert_close(log_prob_BT, batch.log_prob_BT, atol=1e-4, rtol=0)
        torch.testing.assert_close(evaluation.value_BT, batch.value_BT, atol=1e-4, rtol=0)
        torch.testing.assert_close(evaluation.logits_BTL, batch.reference_logits_BTL, atol=1e-4, rtol=0)


def test_fragments_of_each_env_are_numbered_without_gaps_and_joined_without_a_seam():
    ring = make_ring(LatencyModel(sigma=1.0, reset_probability=0.05), envs_per_group=2, num_groups=3)
    by_env = {}
    for fragment in play(ring, 60):
        by_env.setdefault(fragment.env_index, []).append(fragment)
    assert sorted(by_env) == list(range(6))
    for fragments in by_env.values():
        assert [fragment.sequence for fragment in fragments] == list(range(len(fragments)))
        for before, after in zip(fragments, fragments[1:], strict=False):
            assert before.end_ns <= after.start_ns
            if not after.first_T[0]:
                assert np.array_equal(after.previous_action_TA[0], before.action_TA[-1])
                assert after.task_ids[0] == before.task_ids[-1]
                assert abs(before.bootstrap_value_T[-1] - after.value_T[0]) < 1e-5


def test_a_slow_engine_does_not_hold_up_the_others():
    runner = VirtualRunner()
    ring = make_ring(LatencyModel(step_s=1.0, slow_share=0.25), runner=runner)
    play(ring, 3)
    assert runner.now_s() == pytest.approx(NUM_STEPS)  # the three fast ones; the slow one is at a quarter
    counts = Counter(fragment.env_index for fragment in play(ring, 10))
    assert runner.now_s() == pytest.approx(4 * NUM_STEPS)
    assert sorted(counts.values()) == [1, 3, 3, 3]


def test_a_reset_holds_up_its_own_group_alone():
    # Of a hundred steps one is a reset that takes as long as a fragment: the other groups go on.
    alone = VirtualRunner()
    play(make_ring(LatencyModel(step_s=1.0), runner=alone), 40)
    spiky = VirtualRunner()
    play(make_ring(LatencyModel(step_s=1.0, reset_probability=0.01, reset_s=NUM_STEPS), runner=spiky), 40)
    assert alone.now_s() == pytest.approx(10 * NUM_STEPS)
    assert 10 * NUM_STEPS <= spiky.now_s() < 13 * NUM_STEPS


def test_a_crashed_engine_is_started_again_and_its_step_does_not_count():
    ring = make_ring(LatencyModel(crash_probability=0.02))
    fragments = play(ring, 80)
    num_crashes = ring.num_failures["crashed"]
    assert num_crashes > 0
    invalid = [~fragment.is_valid_T for fragment in fragments]
    assert sum(int(is_invalid_T.sum()) for is_invalid_T in invalid) in (num_crashes, num_crashes - 1, num_crashes - 2)
    for fragment, is_invalid_T in zip(fragments, invalid, strict=True):
        assert (fragment.status == "crashed") == bool(is_invalid_T.any())
        assert fragment.truncated_T[is_invalid_T].all()
        assert not fragment.terminated_T[is_invalid_T].any()
        assert not fragment.reward_T[is_invalid_T].any()
        assert not fragment.bootstrap_value_T[is_invalid_T].any()
        assert (fragment.outcome_T[is_invalid_T] == Outcome.FAULT).all()
        assert fragment.first_T[1:][is_invalid_T[:-1]].all()  # the new engine begins an episode
    sequences = {}
    for fragment in fragments:
        assert sequences.get(fragment.env_index, -1) + 1 == fragment.sequence
        sequences[fragment.env_index] = fragment.sequence


class HangingEnv(CorridorEnv):
    """Answers its first step after an hour."""

    def __init__(self, env, clock):
        super().__init__(env._source, env.num_envs)
        self._clock = clock

    def step(self, actions):
        self._clock.sleep(3600.0)
        return super().step(actions)


def test_a_hung_engine_is_given_up_after_its_limit_and_the_others_go_on_meanwhile():
    runner = VirtualRunner()

    def make_env(num_envs, group, life):
        env = corridor(num_envs, group, life)
        return HangingEnv(env, runner) if (group, life) == (2, 0) else env

    ring = make_ring(LatencyModel(step_s=1.0), runner=runner, make_env=make_env)
    before = play(ring, 3 * 7)  # of the three that answer: 7 fragments each take 56 s
    assert {fragment.env_index for fragment in before} == {0, 1, 3}
    assert runner.now_s() < LIMIT_S
    after = play(ring, 8)
    late = next(fragment for fragment in after if fragment.env_index == 2)
    assert ring.num_failures == {"timeout": 1}
    assert late.status == "timeout"
    assert late.is_valid_T.tolist() == [False] + [True] * (NUM_STEPS - 1)
    assert runner.now_s() < LIMIT_S + 2 * NUM_STEPS


def test_an_engine_that_hangs_in_a_thread_is_given_up_too():
    def make_env(num_envs, group, life):
        env = corridor(num_envs, group, life)
        return HangingEnv(env, _Sleeper()) if (group, life) == (1, 0) else env

    ring = make_ring(num_groups=2, runner=ThreadRunner(2), make_env=make_env, step_limit_s=0.3)
    try:
        play_past_the_first(ring)
        assert ring.num_failures == {"timeout": 1}
    finally:
        ring.close()
        ring.close()


class _Sleeper:
    def sleep(self, duration_s):
        import time

        time.sleep(min(duration_s, 3.0))  # longer than the limit, short enough to end with the tests


def test_an_engine_that_never_starts_stops_the_run_and_says_why():
    def make_env(num_envs, group, life):
        raise EngineCrashError("no Java")

    with pytest.raises(RuntimeError, match="3 times.*no Java"):
        play(make_ring(make_env=make_env), 1)


def test_a_bug_in_an_engine_is_not_taken_for_a_crash():
    def make_env(num_envs, group, life):
        raise KeyError("no such block")

    with pytest.raises(KeyError, match="no such block"):
        play(make_ring(make_env=make_env), 1)


def test_new_weights_act_from_the_next_step_and_the_fragment_names_both_versions():
    ring = make_ring(LatencyModel(step_s=1.0, slow_share=0.25))
    ring.start(4)
    ring.poll(1e6)
    ring.load(snapshot(3))
    ring.start(ring.num_idle)
    versions = {fragment.env_index: (fragment.min_version, fragment.max_version) for fragment in play(ring, 10)}
    assert versions[3] == (0, 3)
    assert {versions[index] for index in range(3)} == {(3, 3)}


def test_the_same_seed_gives_the_same_fragments_whatever_the_order_of_events():
    def everything(model):
        return [(f.env_index, f.sequence, f.action_TA.tobytes()) for f in play(make_ring(model), 20)]

    model = LatencyModel(sigma=1.0, reset_probability=0.02, crash_probability=0.01)
    assert everything(model) == everything(model)


def test_where_not_all_may_go_on_those_begin_that_have_made_least():
    ring = make_ring(num_groups=3, first_sequence=[2, 0, 1])
    for group, num_idle in ((1, 2), (2, 1), (0, 0)):
        ring.start()
        assert (ring._groups[group].is_started, ring.num_idle) == (True, num_idle)


def test_the_time_of_a_step_is_that_of_the_engine_without_its_reset():
    ring = make_ring(LatencyModel(step_s=1.0, reset_probability=1.0, reset_s=5.0), num_groups=2, is_timed=True)
    for fragment in play(ring, 4):
        np.testing.assert_allclose(fragment.step_s_G, 1.0, rtol=1e-6)


class NotingSampler:
    def __init__(self):
        self.heard = []

    def load_statistics(self, statistics):
        self.heard.append(statistics)


def test_who_hands_out_tasks_hears_what_comes_with_new_weights_once():
    ring = make_ring(num_groups=2)
    play(ring, 2)
    for group in ring._groups:
        group.backend.sampler = NotingSampler()
    ring.load(dataclasses.replace(snapshot(1), task_statistics={"a": 1}))
    play(ring, 4)
    assert [group.backend.sampler.heard for group in ring._groups] == [[{"a": 1}]] * 2


def test_closing_ends_every_engine():
    closed = []
    ring = make_ring(num_groups=3)
    play(ring, 3)
    for group in ring._groups:
        group.backend.env.close = lambda index=group.index: closed.append(index)
    ring.close()
    assert sorted(closed) == [0, 1, 2]
