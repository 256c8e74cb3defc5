"""Claims about groups of weights by broadcast: large weights in many messages, and generations on one store."""

import threading

import numpy as np
import torch.distributed as dist

from mcrl.dataflow.weights.broadcast import BroadcastParamReader, BroadcastParamStore, WeightGroup
from mcrl.dataflow.weights.double_buffer import DoubleBuffer
from mcrl.dataflow.weights.params import ParamLayout
from tests.mcrl.dataflow.weights.weight_watch import make_net, snapshot


def test_weights_too_large_for_one_message_arrive_whole_and_in_order(monkeypatch):
    monkeypatch.setattr("mcrl.dataflow.weights.broadcast._MESSAGE_BYTES", 256)
    sent_N, store, received = np.arange(1000, dtype=np.float32), dist.HashStore(), []

    def receive():
        out_N = np.full(1000, np.nan, np.float32)
        WeightGroup(store, rank=1, num_receivers=1).receive(out_N)
        received.append(out_N)

    receiver = threading.Thread(target=receive)
    receiver.start()
    WeightGroup(store, rank=0, num_receivers=1).send(sent_N)
    receiver.join()
    assert np.array_equal(received[0], sent_N)


def test_what_an_earlier_generation_announced_is_not_waited_for_by_the_next():
    store = dist.HashStore()
    # Receivers that died: nobody hears the announcement.
    BroadcastParamStore(WeightGroup(store, rank=0, num_receivers=0)).publish(snapshot(1))
    group = WeightGroup(store, rank=0, num_receivers=0, generation=1)
    assert BroadcastParamStore(group).newest_version() == 1
    assert BroadcastParamReader(group).receive(DoubleBuffer(ParamLayout(make_net())), timeout_s=0.0) is None
