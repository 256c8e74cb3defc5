"""Weights between real processes: nothing torn for seconds under constant pushes, and a killed member is outlived."""

import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch.distributed as dist

from mcrl.dataflow.weights.broadcast import BroadcastParamReader, BroadcastParamStore, WeightGroup
from mcrl.dataflow.weights.delayed_update import DelayedUpdate
from tests.mcrl.dataflow.weights.weight_watch import make_net, push, snapshot, watch
from tests.mcrl.gloo_ranks import on_ranks

SECONDS, MIN_SWAPS = 4.0, 20


def push_and_watch(rank, weight_format, folder):
    """Rank 0 pushes until the others have seen enough."""
    # Rendezvous of its own: default groups and weight groups know nothing of each other.
    store = dist.FileStore(str(folder / "weights"), 3)
    group = WeightGroup(store, rank=rank, num_receivers=2, timeout_s=30)
    if rank == 0:
        sender = BroadcastParamStore(group, weight_format=weight_format)
        return push(sender, lambda: store.check(["done/1", "done/2"]))
    net = make_net(-1)
    update = DelayedUpdate(net, BroadcastParamReader(group), patience_s=0.05)
    watched = watch(net, update, seconds=SECONDS, num_swaps=MIN_SWAPS)
    store.set(f"done/{rank}", "1")
    while not store.check(["done/1", "done/2"]):
        time.sleep(0.01)  # the sender needs all its receivers to the end
    time.sleep(1.0)
    update.close()
    return watched, update.buffer.num_torn


@pytest.mark.slow
@pytest.mark.parametrize("weight_format", ["whole", "delta"])
def test_gloo_processes_never_act_with_torn_weights(tmp_path, weight_format):
    last, *receivers = on_ranks(3, push_and_watch, tmp_path, weight_format, tmp_path)
    for watched, num_torn in receivers:
        assert (watched.num_torn, watched.num_backwards, num_torn) == (0, 0, 0)
        assert MIN_SWAPS <= watched.num_swaps <= last + 1


class Watcher:
    """A receiver in a process of its own."""

    def __init__(self, board):
        from mcrl.dataflow.ray.params import RayParamReader

        self.net = make_net(-1)
        self.update = DelayedUpdate(self.net, RayParamReader(board[0]))

    def watch(self, options):
        return watch(self.net, self.update, **options), self.update.buffer.num_torn

    def process_id(self):
        return os.getpid()


@pytest.mark.ray
@pytest.mark.usefixtures("ray_session")
class TestRayProcesses:
    @pytest.fixture
    def store(self):
        from mcrl.dataflow.ray.params import RayParamStore

        store = RayParamStore(weight_format="delta")
        yield store
        store.close()

    @pytest.fixture
    def watchers(self, store):
        from mcrl.dataflow.ray.remote_object import RemoteObject

        watchers = [RemoteObject(Watcher, [store.board]) for _ in range(2)]
        yield watchers
        for watcher in watchers:
            watcher.close()

    def test_they_never_act_with_torn_weights(self, store, watchers):
        options = {"seconds": SECONDS, "num_swaps": MIN_SWAPS}
        with ThreadPoolExecutor(len(watchers)) as pool:
            waiting = [pool.submit(watcher.call("watch", options)) for watcher in watchers]
            last = push(store, lambda: all(future.done() for future in waiting))
        for future in waiting:
            watched, num_torn = future.result()
            assert (watched.num_torn, watched.num_backwards, num_torn) == (0, 0, 0)
            assert MIN_SWAPS <= watched.num_swaps <= last + 1

    def test_a_receiver_that_is_killed_and_started_again_gets_the_newest(self, store, watchers):
        from mcrl.dataflow.ray.remote_object import RemoteObject

        store.publish(snapshot(1))
        watchers[0].call("watch", {"last_version": 1})()
        os.kill(watchers[0].call("process_id")(), signal.SIGKILL)
        store.publish(snapshot(2))
        watchers[0] = RemoteObject(Watcher, [store.board])
        for watcher in watchers:
            assert watcher.call("watch", {"last_version": 2})()[0].last_version == 2

    def test_receivers_act_on_when_the_learner_is_killed_and_follow_its_successor(self, store, watchers):
        from mcrl.dataflow.ray.remote_object import RemoteObject

        learner = RemoteObject(Learner, [store.board])
        for version in (1, 2):
            learner.call("publish", version)()
            for watcher in watchers:
                watcher.call("watch", {"last_version": version})()
        os.kill(learner.call("process_id")(), signal.SIGKILL)
        late = RemoteObject(Watcher, [store.board])  # finds a notice whose weights died with their owner
        watched, _ = watchers[0].call("watch", {"timeout_s": 1.0})()
        assert (watched.num_torn, watched.last_version) == (0, 2)
        assert watched.num_ticks >= 10
        successor = RemoteObject(Learner, [store.board])
        first = successor.call("newest_version")() + 1
        assert first == 3
        successor.call("publish", first)()
        for watcher in (*watchers, late):
            assert watcher.call("watch", {"last_version": 3})()[0].last_version == 3
        for process in (late, successor):
            process.close()

    def test_a_board_that_is_killed_comes_back_and_learns_of_the_next_version(self, store, watchers):
        import ray

        store.publish(snapshot(1))
        watchers[0].call("watch", {"last_version": 1})()
        ray.kill(store.board, no_restart=False)
        assert store.newest_version() == 1  # the learner has not forgotten
        store.publish(snapshot(2))
        for watcher in watchers:
            assert watcher.call("watch", {"last_version": 2})()[0].last_version == 2


class Learner:
    """A sender in a process of its own."""

    def __init__(self, board):
        from mcrl.dataflow.ray.params import RayParamStore

        self.store = RayParamStore(weight_format="delta", board=board[0])

    def publish(self, version):
        self.store.publish(snapshot(version))

    def newest_version(self):
        return self.store.newest_version()

    def process_id(self):
        return os.getpid()
