"""One conformance suite for every way to the policy, then what only shared replicas can do."""

import dataclasses
import os
import signal

import numpy as np
import pytest
import torch

from mcrl.dataflow.inference.policy_host import PolicyHost
from mcrl.dataflow.inference.remote import LocalTransport, RemoteInference
from mcrl.dataflow.inference.server import InferenceServer
from mcrl.dataflow.inference.stream import ActRequest, HostStateLostError, ValueRequest
from mcrl.dataflow.rings.latency import LatencyModel
from mcrl.learning.batch import collate
from mcrl.learning.forward import evaluate
from policies import action_codec
from tests.mcrl.corridor_policy import CorridorPolicy
from tests.mcrl.corridor_rings import corridor, make_host, make_ring, play
from tests.mcrl.dataflow.rings.test_ring import assert_same, snapshot

MODEL = LatencyModel(sigma=1.0, reset_probability=0.05)


def request(group=(5, 0), request_id=0, *, seed=0, wants_memory=False):
    observation = corridor(2, seed).reset()
    return ActRequest(
        group=group,
        request_id=request_id,
        image_EHWC=observation.image_EHWC,
        first_E=np.full(2, request_id == 0),
        goals=observation.goals,
        previous_action_EA=None,
        wants_memory=wants_memory,
    )


def same_reply(a, b):
    return (
        a.request_id == b.request_id
        and a.action_EA.tobytes() == b.action_EA.tobytes()
        and a.log_prob_E.tobytes() == b.log_prob_E.tobytes()
        and a.value_E.tobytes() == b.value_E.tobytes()
    )


class InferenceConformance:
    """What a ring may rely on, wherever its policy acts."""

    def make(self):
        """Return a stream whose policy is that of `make_host`."""
        raise NotImplementedError

    def test_a_ring_plays_bit_for_bit_as_with_the_policy_in_its_own_process(self):
        stream = self.make()
        ours, theirs = make_ring(MODEL, inference=stream), make_ring(MODEL)
        for version in (1, 2):
            for a, b in zip(play(ours, 12), play(theirs, 12), strict=True):
                assert_same(a, b)
            for ring in (ours, theirs):
                ring.load(snapshot(version))
        stream.close()

    def test_a_request_that_is_sent_twice_is_answered_alike_and_remembered_once(self):
        stream, once = self.make(), make_host()
        for request_id in range(3):
            asked = request(request_id=request_id)
            first, again = stream.act([asked])[0], stream.act([asked])[0]
            assert same_reply(first, again)
            assert same_reply(first, once.act([asked])[0])
        stream.close()

    def test_values_leave_the_memory_as_it_was(self):
        stream, untouched = self.make(), make_host()
        for request_id in range(3):
            asked = request(request_id=request_id)
            assert same_reply(stream.act([asked])[0], untouched.act([asked])[0])
            value = ValueRequest(group=(5, 0), image_NHWC=asked.image_EHWC[1:], env_N=np.array([1]))
            one, two = stream.values([value])[0], stream.values([value])[0]
            assert one.shape == (1,)
            assert one.tobytes() == two.tobytes()
        stream.close()

    def test_replies_name_the_weights_that_acted(self):
        stream = self.make()
        assert stream.act([request()])[0].version == 0
        stream.load(snapshot(4))
        assert stream.act([request(request_id=1)])[0].version == 4
        stream.close()

    def test_a_groups_memory_is_its_own(self):
        stream, alone, values = self.make(), (make_host(), make_host()), []
        for request_id in range(3):
            asked = [request((5, 0), request_id), request((6, 3), request_id, seed=1)]
            both = stream.act(asked)
            # Two groups draw from one generator, and so their actions differ from those of one: values do not.
            for reply, host, own in zip(both, alone, asked, strict=True):
                np.testing.assert_allclose(reply.value_E, host.act([own])[0].value_E, atol=1e-5)
            assert [reply.request_id for reply in both] == [request_id] * 2
            values.append(both[0].value_E)
        assert abs(values[2] - values[1]).min() > 1e-3  # the views are the same: it is memory that differs
        stream.close()


class TestInline(InferenceConformance):
    def make(self):
        return make_host()

    def test_a_request_out_of_order_is_refused(self):
        host = self.make()
        host.act([request()])
        with pytest.raises(ValueError, match="request 2 after 0"):
            host.act([request(request_id=2)])

    def test_a_group_that_is_not_known_needs_all_its_goals(self):
        asked = dataclasses.replace(request(request_id=3), goals=[None, None])
        with pytest.raises(HostStateLostError):
            self.make().act([asked])

    def test_the_memory_handed_out_is_the_one_before_the_step(self):
        host = self.make()
        first = host.act([request(wants_memory=True)])[0]
        second = host.act([request(request_id=1, wants_memory=True)])[0]
        assert all(not memory["h"].any() for memory in first.memories)
        assert all(memory["h"].any() for memory in second.memories)


class TestRemoteInThreads(InferenceConformance):
    def make(self):
        return RemoteInference([LocalTransport(lambda: InferenceServer(make_host))])


def test_a_memory_that_was_lost_is_said_to_be_also_where_the_first_try_failed():
    failures = ["out of memory"]

    class FailingPolicy(CorridorPolicy):
        def act(self, *args, **kwargs):
            if failures:
                raise RuntimeError(failures.pop())
            return super().act(*args, **kwargs)

    host = PolicyHost(FailingPolicy(0), seed=0, precision="fp32")
    asked = dataclasses.replace(request(request_id=3), goals=request().goals)
    with pytest.raises(RuntimeError, match="out of memory"):
        host.act([asked])
    reply = host.act([asked])[0]
    assert reply.is_memory_lost
    assert len(reply.memories) == 2


def test_goals_are_encoded_once_a_version_of_the_weights():
    counts = []

    class CountingPolicy(CorridorPolicy):
        def encode_goals(self, *args):
            counts.append(len(args[0]))
            return super().encode_goals(*args)

    host = PolicyHost(CountingPolicy(0), seed=0, precision="fp32")
    for request_id in range(4):
        if request_id == 2:
            host.load(snapshot(1))
        host.act([request(request_id=request_id)])
    assert counts == [2, 2]


def test_a_worker_that_was_started_again_is_another_client_and_finds_no_memory_of_the_first():
    server = InferenceServer(make_host)
    first, again = (RemoteInference([LocalTransport(lambda: server)]) for _ in range(2))
    for request_id in range(3):
        first.act([request(request_id=request_id)])
    reply = again.act([request()])[0]
    assert not reply.is_memory_lost
    np.testing.assert_array_equal(reply.value_E, make_host().act([request()])[0].value_E)
    server.close()


class MortalTransport(LocalTransport):
    """Loses its server after some calls, and now and then answers too late."""

    def __init__(self, *, lives_calls, late_every=None):
        super().__init__(lambda: InferenceServer(make_host))
        self.num_calls, self.num_deaths = 0, 0
        self._lives_calls, self._late_every = lives_calls, late_every

    def wait(self, pending, timeout_s):
        if self._late_every and self.num_calls % self._late_every == 0:
            raise TimeoutError("late")
        return pending

    def call(self, method, *args, **named):
        self.num_calls += 1
        if self.num_calls % self._lives_calls == 0:
            self._server.close()
            self.num_deaths += 1
        return super().call(method, *args, **named)


def test_a_late_answer_is_asked_for_again_and_changes_nothing():
    late = RemoteInference([MortalTransport(lives_calls=10**9, late_every=7)])
    for a, b in zip(play(make_ring(MODEL, inference=late), 16), play(make_ring(MODEL), 16), strict=True):
        assert_same(a, b)
    assert late.num_retries > 0


def test_a_dead_replica_costs_its_groups_their_memory_and_nothing_else():
    transport = MortalTransport(lives_calls=61)
    ring = make_ring(MODEL, inference=RemoteInference([transport]))
    ring.load(snapshot(2))
    fragments = play(ring, 24)
    assert transport.num_deaths > 0
    assert ring.num_memories_lost >= transport.num_deaths
    assert {(f.min_version, f.max_version) for f in fragments} == {(2, 2)}  # never the first weights again
    # Whatever a fragment holds still is what the learner makes of its memory and views.
    batch = collate(fragments)
    with torch.no_grad():
        evaluation = evaluate(CorridorPolicy(2), batch, "fp32")
    log_prob_BT = action_codec.log_prob(evaluation.logits_BTL, batch.action_BTA)
    torch.testing.assert_close(log_prob_BT, batch.log_prob_BT, atol=1e-4, rtol=0)
    sequences = {}
    for fragment in fragments:
        assert fragment.sequence == sequences.get(fragment.env_index, -1) + 1
        sequences[fragment.env_index] = fragment.sequence
    assert_gaps_are_told(fragments)
    assert any(fragment.has_gap for fragment in fragments)


def assert_gaps_are_told(fragments):
    """Expect a fragment in the middle of an episode to begin where the one before ended, unless it says otherwise."""
    last_of = {}
    for fragment in fragments:
        before = last_of.get(fragment.env_index)
        if before is not None and not fragment.first_T[0] and not fragment.has_gap:
            assert np.array_equal(fragment.previous_action_TA[0], before.action_TA[-1])
            assert fragment.task_ids[0] == before.task_ids[-1]
        last_of[fragment.env_index] = fragment


def test_a_group_stays_with_its_replica():
    replicas = [LocalTransport(lambda: InferenceServer(make_host)) for _ in range(2)]
    seen = [set(), set()]
    for index, replica in enumerate(replicas):
        plain = replica.call

        def call(method, *args, plain=plain, index=index, **named):
            if method == "act":
                seen[index] |= {asked.group for asked in args[0]}
            return plain(method, *args, **named)

        replica.call = call
    ring = make_ring(MODEL, inference=RemoteInference(replicas))
    play(ring, 12)
    assert not seen[0] & seen[1]
    assert len(seen[0]) == len(seen[1]) == 2
    assert ring.num_memories_lost == 0


def test_a_replica_that_never_answers_is_given_up():
    transport = MortalTransport(lives_calls=10**9, late_every=1)
    with pytest.raises(TimeoutError):
        RemoteInference([transport]).act([request()])


@pytest.mark.ray
@pytest.mark.usefixtures("ray_session")
class TestRemoteByRay(InferenceConformance):
    num_made = 0

    def transport(self):
        from mcrl.dataflow.ray.inference import RayTransport

        TestRemoteByRay.num_made += 1
        name = f"test-{os.getpid()}-{self.num_made}"
        return RayTransport(name, lambda num_missed: make_host(), num_threads=1, time_limit_s=120.0)

    def make(self):
        return RemoteInference([self.transport()], time_limit_s=120.0)

    def test_a_killed_replica_is_started_again_with_the_weights_of_now(self):
        transport = self.transport()
        ring = make_ring(MODEL, inference=RemoteInference([transport], time_limit_s=120.0))
        ring.load(snapshot(3))
        before = play(ring, 4)
        os.kill(transport.wait(transport.call("process_id"), 60.0), signal.SIGKILL)
        after = play(ring, 8)
        assert {f.max_version for f in before + after} == {3}
        assert ring.num_memories_lost == 4
        sequences = {}
        for fragment in before + after:
            assert fragment.sequence == sequences.get(fragment.env_index, -1) + 1
            sequences[fragment.env_index] = fragment.sequence
