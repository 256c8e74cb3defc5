"""One conformance suite for every way of the weights, then what only some can do."""

import contextlib
import threading
import time
from datetime import timedelta

import pytest
import torch
import torch.distributed as dist

from mcrl.dataflow.weights.broadcast import BroadcastParamReader, BroadcastParamStore, WeightGroup
from mcrl.dataflow.weights.delayed_update import DelayedUpdate
from mcrl.dataflow.weights.param_store import LocalParamStore
from tests.mcrl.dataflow.weights.weight_watch import make_net, push, snapshot, versions_in, watch

WAIT_S = 20.0


class LocalSync:
    """Learner and receivers of a LocalParamStore."""

    def __init__(self, num_receivers=2, nets=None):
        self.nets = nets or [make_net(-1) for _ in range(num_receivers)]
        self.store = LocalParamStore()
        self.updates = [DelayedUpdate(net, self.make_reader()) for net in self.nets]

    def make_reader(self):
        return self.store.reader()

    def publish_in_vain(self, weights):
        self.store.publish(weights)

    def restart_learner(self):
        pass  # the store is what outlives a learner of the same process

    def restart_receiver(self):
        self.updates[0].close()
        self.nets[0] = make_net(-1)
        self.updates[0] = DelayedUpdate(self.nets[0], self.make_reader())

    def close(self):
        for update in self.updates:
            update.close()
        self.store.close()


class BroadcastSync:
    """Learner and receivers of a gloo group, each on a thread. Whoever starts again makes all join anew."""

    def __init__(self, weight_format, nets=None):
        self.nets = nets or [make_net(-1), make_net(-1)]
        self.weight_format = weight_format
        self.server = dist.TCPStore("127.0.0.1", 0, None, True, wait_for_workers=False)
        self.generation = 0
        self.join()

    def join(self):
        def member(rank):
            client = dist.TCPStore("127.0.0.1", self.server.port, None, False, timedelta(seconds=WAIT_S))
            count, generation = len(self.nets), self.generation
            groups[rank] = WeightGroup(client, rank=rank, num_receivers=count, generation=generation, timeout_s=WAIT_S)

        groups = {}
        threads = [threading.Thread(target=member, args=(rank,)) for rank in range(len(self.nets) + 1)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.store = BroadcastParamStore(groups[0], weight_format=self.weight_format)
        self.updates = [
            DelayedUpdate(net, BroadcastParamReader(groups[rank]), patience_s=0.05)
            for rank, net in enumerate(self.nets, 1)
        ]

    def publish_in_vain(self, weights):
        self.store._group._timeout_s = 1.0
        self.store.publish(weights)

    def restart_learner(self):
        self.close()
        self.generation += 1
        self.join()

    def restart_receiver(self):
        self.nets[0] = make_net(-1)
        self.restart_learner()

    def close(self):
        for update in self.updates:
            update.close()
        self.store.close()


class RaySync(LocalSync):
    """Learner and receivers of a RayParamStore, all of them clients of one Ray."""

    def __init__(self, weight_format, nets=None):
        from mcrl.dataflow.ray.params import RayParamStore

        self.nets = nets or [make_net(-1), make_net(-1)]
        self.weight_format = weight_format
        self.first_store = self.store = RayParamStore(weight_format=weight_format)
        self.updates = [DelayedUpdate(net, self.make_reader()) for net in self.nets]

    def make_reader(self):
        from mcrl.dataflow.ray.params import RayParamReader

        return RayParamReader(self.store.board)

    def restart_learner(self):
        from mcrl.dataflow.ray.params import RayParamStore

        self.store = RayParamStore(weight_format=self.weight_format, board=self.store.board)

    def close(self):
        super().close()
        self.first_store.close()


class StoreConformance:
    """What learner and receivers may rely on, however the weights travel."""

    def test_every_receiver_gets_the_weights_as_they_left(self, sync):
        for version in (1, 2, 5):
            sync.store.publish(snapshot(version))
            for net, update in zip(sync.nets, sync.updates, strict=True):
                assert update.wait(WAIT_S)
                header = update.swap()
                assert (header.version, header.task_statistics) == (version, {"version": version})
                assert versions_in(net) == {float(version)}
                assert net[2].weight.eq(0.5).all()

    def test_a_receiver_acts_with_the_old_weights_until_it_swaps(self, sync):
        for version in (1, 2):
            sync.store.publish(snapshot(version))
            assert sync.updates[0].wait(WAIT_S)
            assert versions_in(sync.nets[0]) == {float(version - 1) or -1.0}
            assert sync.updates[0].swap().version == version
        assert sync.updates[0].swap() is None

    def test_parameters_stay_the_same_objects(self, sync):
        before = list(sync.nets[0].parameters())
        sync.store.publish(snapshot(1))
        assert sync.updates[0].wait(WAIT_S)
        sync.updates[0].swap()
        assert all(a is b for a, b in zip(before, sync.nets[0].parameters(), strict=True))

    def test_a_version_that_is_not_newer_is_refused(self, sync):
        sync.store.publish(snapshot(3))
        for version in (3, 2):
            with pytest.raises(ValueError, match="not newer than version 3"):
                sync.store.publish(snapshot(version))
        assert sync.store.newest_version() == 3

    def test_versions_grow_on_when_the_learner_starts_again(self, sync):
        assert sync.store.newest_version() is None
        sync.store.publish(snapshot(3))
        assert sync.updates[0].wait(WAIT_S)
        assert sync.updates[0].swap().version == 3
        sync.restart_learner()
        assert sync.store.newest_version() == 3
        with pytest.raises(ValueError, match="goes on at 4 or above"):
            sync.store.publish(snapshot(3))
        sync.store.publish(snapshot(4))
        assert sync.updates[0].wait(WAIT_S)
        assert sync.updates[0].swap().version == 4
        assert versions_in(sync.nets[0]) == {4.0}

    def test_a_receiver_that_starts_again_gets_newer_weights_whole(self, sync):
        for version in (1, 2):
            sync.store.publish(snapshot(version))
            assert all(update.wait(WAIT_S) for update in sync.updates)
            assert [update.swap().version for update in sync.updates] == [version, version]
        sync.restart_receiver()
        sync.store.publish(snapshot(3))
        for net, update in zip(sync.nets, sync.updates, strict=True):
            assert watch(net, update, last_version=3).last_version == 3

    def test_constant_pushes_tear_nothing(self, sync):
        watched = {}

        def receive(index):
            watched[index] = watch(sync.nets[index], sync.updates[index], seconds=1.0, num_swaps=10)

        threads = [threading.Thread(target=receive, args=(index,)) for index in range(2)]
        for thread in threads:
            thread.start()
        last = push(sync.store, lambda: not any(thread.is_alive() for thread in threads))
        for thread in threads:
            thread.join()
        for result in watched.values():
            assert (result.num_torn, result.num_backwards) == (0, 0)
            assert result.num_swaps >= 10
            assert result.last_version <= last
        assert all(update.buffer.num_torn == 0 for update in sync.updates)

    def test_weights_of_another_policy_are_refused(self, sync):
        with contextlib.suppress(RuntimeError):  # a broadcast that nobody takes part in ends as such
            sync.publish_in_vain(snapshot(1, width=200))
        with pytest.raises(ValueError, match="same preset"):
            watch(sync.nets[0], sync.updates[0], last_version=1)


class TestLocalParamStore(StoreConformance):
    @pytest.fixture
    def sync(self):
        sync = LocalSync()
        yield sync
        sync.close()

    def test_a_late_receiver_gets_the_newest_weights_at_once(self, sync):
        sync.store.publish(snapshot(7))
        net = make_net(-1)
        late = DelayedUpdate(net, sync.make_reader())
        assert late.wait(WAIT_S)
        assert late.swap().version == 7
        late.close()


class TestBroadcastParamStore(StoreConformance):
    # The first version of a group goes whole also where deltas follow.
    @pytest.fixture(params=[pytest.param("whole", marks=pytest.mark.slow), "delta"])
    def sync(self, request):
        sync = BroadcastSync(request.param)
        yield sync
        sync.close()

    @pytest.mark.slow  # a value of the store that is gone is waited for
    def test_the_store_keeps_no_announcement_that_all_have_heard(self, sync):
        for version in range(3):
            sync.store.publish(snapshot(version))
            assert all(update.wait(WAIT_S) for update in sync.updates)
            assert [update.swap().version for update in sync.updates] == [version, version]
            assert not sync.store._group.keys.check([f"announced/{version}"])

    def test_a_missing_member_ends_in_a_sentence_and_in_bounded_time(self, sync):
        sync.updates[0].close()  # receives no more
        sync.store._group._timeout_s = 1.0
        begin_s = time.monotonic()
        with pytest.raises(RuntimeError, match="a member of the group is missing"):
            push(sync.store, lambda: False)  # what fits into the sockets' buffers goes out at first
        assert time.monotonic() - begin_s < 30


@pytest.mark.ray
@pytest.mark.usefixtures("ray_session")
class TestRayParamStore(StoreConformance):
    @pytest.fixture(params=["whole", "delta"])
    def sync(self, request):
        sync = RaySync(request.param)
        yield sync
        sync.close()


def test_a_policy_under_delayed_update_computes_what_a_loaded_one_does():
    sync = LocalSync()
    newest = snapshot(2)
    sync.store.publish(newest)
    assert sync.updates[0].wait(WAIT_S)
    sync.updates[0].swap()
    loaded = make_net(-1)
    sync.updates[0].buffer.layout.load(loaded, newest)
    x = torch.randn(4, 300, generator=torch.Generator().manual_seed(0))
    assert torch.equal(loaded(x), sync.nets[0](x))
    sync.close()
