import dataclasses

import numpy as np
import pytest
import torch

from mcrl.dataflow.rings.group import fault
from mcrl.dataflow.weights.params import ParamLayout
from mcrl.learning.batch import collate
from mcrl.learning.forward import evaluate
from mcrl.rollout.recorder import FragmentRecorder
from mcrl.rollout.rollout_worker import RolloutWorker
from policies import action_codec
from policies.presets import build_policy, tiny
from task_synthesis.playing.curriculum import ShuffledTasks
from task_synthesis.playing.task_env import Outcome
from tests.mcrl.corridor import MAX_DECISIONS, CorridorEnv, make_task
from tests.mcrl.corridor_policy import CorridorPolicy
from tests.policies.conformance import awaken

NUM_ENVS, NUM_STEPS = 3, 8


def make_worker(*, reference=None, policy_seed=0, fault_at_step=None, first_sequence=0, precision="fp32", worker_id=5):
    source = ShuffledTasks([make_task(index) for index in range(4)], split="train", seed=0)
    return RolloutWorker(
        CorridorEnv(source, NUM_ENVS, fault_at_step=fault_at_step),
        CorridorPolicy(policy_seed),
        reference,
        fragment_steps=NUM_STEPS,
        worker_id=worker_id,
        seed=0,
        precision=precision,
        first_sequence=first_sequence,
    )


def test_rollout_log_probs_and_values_equal_the_learners():
    worker, policy = make_worker(), CorridorPolicy(0)
    for _ in range(4):
        batch = collate(worker.collect())
        with torch.no_grad():
            evaluation = evaluate(policy, batch, "fp32")
        log_prob_BT = action_codec.log_prob(evaluation.logits_BTL, batch.action_BTA)
        torch.testing.assert_close(log_prob_BT, batch.log_prob_BT, atol=1e-4, rtol=0)
        torch.testing.assert_close(evaluation.value_BT, batch.value_BT, atol=1e-4, rtol=0)


def test_after_new_weights_the_fragment_is_still_the_learners():
    worker, policy = make_worker(), CorridorPolicy(7)
    worker.collect()
    worker.load(ParamLayout(policy).snapshot(policy, 1))
    fragments = worker.collect()
    batch = collate(fragments)
    with torch.no_grad():
        evaluation = evaluate(policy, batch, "fp32")
    log_prob_BT = action_codec.log_prob(evaluation.logits_BTL, batch.action_BTA)
    torch.testing.assert_close(log_prob_BT, batch.log_prob_BT, atol=1e-4, rtol=0)
    assert {(f.min_version, f.max_version) for f in fragments} == {(1, 1)}


def test_weights_cast_once_a_fragment_act_as_weights_cast_every_step():
    once, every_step = make_worker(precision="bf16"), make_worker(precision="bf16")
    policy = CorridorPolicy(7)
    for version in range(3):
        for ours, theirs in zip(once.collect(), every_step._collect(), strict=True):
            np.testing.assert_array_equal(ours.action_TA, theirs.action_TA)
            np.testing.assert_array_equal(ours.log_prob_T, theirs.log_prob_T)
            np.testing.assert_array_equal(ours.bootstrap_value_T, theirs.bootstrap_value_T)
        with torch.no_grad():
            policy.encoder.weight.mul_(1.5)
        for worker in (once, every_step):
            worker.load(ParamLayout(policy).snapshot(policy, version + 1))


def test_a_reference_that_is_the_policy_says_the_same_across_fragments_and_weights():
    worker = make_worker(reference=CorridorPolicy(0))
    for _ in range(3):
        batch = collate(worker.collect())
        with torch.no_grad():
            evaluation = evaluate(CorridorPolicy(0), batch, "fp32")
        torch.testing.assert_close(evaluation.logits_BTL, batch.reference_logits_BTL, atol=1e-4, rtol=0)


def test_the_reference_remembers_across_the_policys_new_weights():
    alone = make_worker()
    watched = make_worker(reference=CorridorPolicy(3))
    for a, b in zip(alone.collect() + alone.collect(), watched.collect() + watched.collect(), strict=True):
        assert np.array_equal(a.action_TA, b.action_TA)
        assert a.reference_logits_TL is None
        assert b.reference_logits_TL is not None


def test_consecutive_fragments_join_without_a_seam():
    worker = make_worker()
    first, second = worker.collect(), worker.collect()
    for before, after in zip(first, second, strict=True):
        assert (before.sequence, after.sequence) == (0, 1)
        assert (before.worker_id, before.env_index) == (after.worker_id, after.env_index)
        if not after.first_T[0]:
            assert np.array_equal(after.previous_action_TA[0], before.action_TA[-1])
            assert after.task_ids[0] == before.task_ids[-1]


def test_bootstrap_is_there_exactly_where_the_world_goes_on_unseen():
    worker = make_worker()
    num_truncated = 0
    for _ in range(6):
        for fragment in worker.collect():
            is_last_T = np.arange(NUM_STEPS) == NUM_STEPS - 1
            is_open_T = fragment.truncated_T | (is_last_T & ~fragment.terminated_T)
            assert np.all(fragment.bootstrap_value_T[~is_open_T] == 0)
            assert np.all(fragment.bootstrap_value_T[is_open_T] != 0)
            num_truncated += int(fragment.truncated_T.sum())
    assert num_truncated > 0


def test_the_bootstrap_value_at_the_seam_is_the_value_of_the_next_step():
    worker = make_worker()
    first, second = worker.collect(), worker.collect()
    for before, after in zip(first, second, strict=True):
        if not after.first_T[0]:
            assert abs(before.bootstrap_value_T[-1] - after.value_T[0]) < 1e-5


def test_goals_stand_once_and_change_where_an_episode_begins():
    worker = make_worker()
    for _ in range(3):
        for fragment in worker.collect():
            assert len(fragment.goals) == 1 + int(fragment.first_T[1:].sum())
            assert np.array_equal(np.diff(fragment.goal_index_T), fragment.first_T[1:].astype(int))
            assert len(fragment.task_ids) == len(fragment.families) == len(fragment.goals)


@pytest.mark.parametrize("start", range(4))
def test_a_goal_holds_from_the_step_at_which_its_episode_begins(start):
    env = CorridorEnv(ShuffledTasks([make_task(index) for index in range(4)], split="train", seed=0), 1)
    before, after = env.reset(), CorridorEnv(lambda _: make_task(1), 1).reset()
    recorder, nothing_EA = FragmentRecorder(1, 4), np.zeros((1, action_codec.NUM_FACTORS), np.int64)
    for step in range(4):
        seen = before if step < start else after
        recorder.see(dataclasses.replace(seen, first_E=np.array([step == start])), nothing_EA)
        recorder.act(nothing_EA, log_prob_E=np.zeros(1), value_E=np.zeros(1))
        recorder.result(fault(1), np.zeros(1))
    (fragment,) = recorder.cut([{}], version=0, worker_id=0, sequence=0)
    seen_T = [before if step < start else after for step in range(4)]
    assert [fragment.task_ids[index] for index in fragment.goal_index_T] == [seen.tasks[0].task_id for seen in seen_T]
    assert all(
        fragment.goals[index] is seen.goals[0] for index, seen in zip(fragment.goal_index_T, seen_T, strict=True)
    )


def test_an_engine_fault_is_marked_invalid_and_truncated():
    fragment = make_worker(fault_at_step=2).collect()[0]
    assert fragment.is_valid_T.tolist() == [step != 2 for step in range(NUM_STEPS)]
    assert fragment.truncated_T[2]
    assert fragment.outcome_T[2] == Outcome.FAULT
    assert fragment.bootstrap_value_T[2] == 0


def test_what_lies_after_a_step_is_the_situation_of_the_next_one_unless_an_episode_ended():
    for fragment in make_worker(fault_at_step=2).collect():
        is_over_T = fragment.terminated_T | fragment.truncated_T
        for step in np.flatnonzero(~is_over_T[:-1]):
            np.testing.assert_array_equal(fragment.after_TP[step], fragment.situation_TP[step + 1])


def test_an_engine_that_only_fails_leaves_zeros_as_its_situation():
    env = CorridorEnv(ShuffledTasks([make_task(0)], split="train", seed=0), 2)
    recorder = FragmentRecorder(2, 1, keeps_situations=True)
    nothing_EA = np.zeros((2, action_codec.NUM_FACTORS), np.int64)
    recorder.see(env.reset(), nothing_EA)
    recorder.act(nothing_EA, log_prob_E=np.zeros(2), value_E=np.zeros(2))
    recorder.result(fault(2), np.zeros(2))
    for fragment in recorder.cut([{}, {}], version=0, worker_id=0, sequence=0):
        assert fragment.after_TP.shape == fragment.situation_TP.shape
        assert not fragment.after_TP.any()


def test_episodes_end_where_the_time_limit_says():
    worker = make_worker()
    ages, outcomes = [0] * NUM_ENVS, []
    for _ in range(5):
        for env, fragment in enumerate(worker.collect()):
            for step in range(NUM_STEPS):
                ages[env] = 1 if fragment.first_T[step] else ages[env] + 1
                if fragment.outcome_T[step] == Outcome.TIME_LIMIT:
                    outcomes.append(ages[env])
    assert outcomes
    assert set(outcomes) == {MAX_DECISIONS}


def test_the_same_seed_gives_the_same_fragments_and_a_restarted_or_another_worker_others():
    def actions(worker):
        return np.stack([fragment.action_TA for fragment in worker.collect()])

    assert np.array_equal(actions(make_worker()), actions(make_worker()))
    assert not np.array_equal(actions(make_worker()), actions(make_worker(first_sequence=9)))
    assert not np.array_equal(actions(make_worker()), actions(make_worker(worker_id=6)))
    assert make_worker(first_sequence=9).collect()[0].sequence == 9


def test_new_weights_encode_the_running_goals_anew():
    # Goals of this policy go through its weights, as those of CorridorPolicy do not.
    first, second = (awaken(build_policy(dataclasses.replace(tiny(), image_px=16), seed=0), seed) for seed in (0, 1))
    source = ShuffledTasks([make_task(index) for index in range(4)], split="train", seed=0)
    worker = RolloutWorker(
        CorridorEnv(source, NUM_ENVS), first, None, fragment_steps=4, worker_id=0, seed=0, precision="fp32"
    )
    worker.collect()
    worker.load(ParamLayout(second).snapshot(second, 1))
    batch = collate(worker.collect())
    with torch.no_grad():
        log_prob_BT = action_codec.log_prob(evaluate(second, batch, "fp32").logits_BTL, batch.action_BTA)
    torch.testing.assert_close(log_prob_BT, batch.log_prob_BT, atol=1e-4, rtol=0)


def test_a_time_limit_bootstraps_from_the_view_its_episode_ended_with():
    worker, policy, transitions = make_worker(), CorridorPolicy(0), []
    step = worker._env.step
    worker._env.step = lambda actions: transitions.append(step(actions)) or transitions[-1]
    num_truncated = 0
    for _ in range(4):
        transitions.clear()
        for env, fragment in enumerate(worker.collect()):
            batch = collate([fragment])
            goals = policy.encode_goals(batch.goals.image_GHWC, batch.goals.mask_GHW, batch.goals.interaction_G)
            for t in np.flatnonzero(fragment.truncated_T):
                num_truncated += 1
                last_view = torch.from_numpy(transitions[t].final_image_EHWC[env])
                went_on = policy.evaluate(
                    torch.cat([batch.image_BTHWC[:, : t + 1], last_view[None, None]], 1),
                    goals,
                    batch.goal_index_BT[:, [*range(t + 1), t]],
                    torch.nn.functional.pad(batch.first_BT[:, : t + 1], (0, 1)),
                    torch.cat([batch.previous_action_BTA[:, : t + 1], batch.action_BTA[:, t : t + 1]], 1),
                    batch.memory,
                )
                assert abs(float(went_on.value_BT[0, -1].detach()) - fragment.bootstrap_value_T[t]) < 1e-5
    assert num_truncated > 0
