import dataclasses

import numpy as np
import pytest
import torch
from torch import nn

from mcrl.dataflow.weights.params import ParamLayout


def make_net(seed=0, width=3):
    net = nn.Sequential(nn.Linear(2, width), nn.Linear(width, 1))
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator))
    return net


def test_weights_arrive_as_they_left():
    sender, receiver = make_net(0), make_net(1)
    ParamLayout(receiver).load(receiver, ParamLayout(sender).snapshot(sender, 7))
    for a, b in zip(sender.parameters(), receiver.parameters(), strict=True):
        assert torch.equal(a, b)


def test_frozen_weights_do_not_travel():
    sender, receiver = make_net(0), make_net(1)
    for net in (sender, receiver):
        net[0].requires_grad_(False)
    receiver[0].load_state_dict(sender[0].state_dict())
    before = receiver[0].weight.clone()
    snapshot = ParamLayout(sender).snapshot(sender, 0)
    ParamLayout(receiver).load(receiver, snapshot)
    assert snapshot.flat_P.size == 4
    assert torch.equal(receiver[0].weight, before)


def test_weights_that_go_with_other_frozen_weights_are_refused():
    sender, receiver = make_net(0), make_net(1)
    for net in (sender, receiver):
        net[0].requires_grad_(False)
    with pytest.raises(ValueError, match="other frozen weights"):
        ParamLayout(receiver).load(receiver, ParamLayout(sender).snapshot(sender, 0))


@pytest.mark.parametrize("other", ["weight", "bias"])
def test_every_frozen_weight_must_be_the_same(other):
    sender, receiver = make_net(0), make_net(0)
    for net in (sender, receiver):
        net[0].requires_grad_(False)
    getattr(receiver[0], other)[0] += 1.0
    with pytest.raises(ValueError, match="other frozen weights"):
        ParamLayout(receiver).load(receiver, ParamLayout(sender).snapshot(sender, 0))


def test_a_later_step_of_the_learner_does_not_change_a_snapshot():
    net = make_net()
    snapshot = ParamLayout(net).snapshot(net, 0)
    before = snapshot.flat_P.copy()
    with torch.no_grad():
        net[0].weight.add_(1.0)
    assert np.array_equal(snapshot.flat_P, before)
    assert not snapshot.flat_P.flags.writeable


def test_torn_weights_are_refused():
    net = make_net()
    snapshot = ParamLayout(net).snapshot(net, 0)
    torn = snapshot.flat_P.copy()
    torn[0] += 1
    with pytest.raises(ValueError, match="torn"):
        ParamLayout(net).load(net, dataclasses.replace(snapshot, flat_P=torn))


def test_weights_of_another_policy_are_refused():
    net, other = make_net(), make_net(width=4)
    with pytest.raises(ValueError, match="same preset"):
        ParamLayout(other).load(other, ParamLayout(net).snapshot(net, 0))
