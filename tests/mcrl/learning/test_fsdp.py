"""Claims about policies sharded by FSDP2, on two gloo ranks."""

from dataclasses import replace

import pytest
import torch
from torch import Tensor
from torch.distributed.device_mesh import init_device_mesh

from mcrl.learning.batch import FragmentBatch, collate
from mcrl.learning.forward import evaluate, perception_loss
from mcrl.learning.fsdp import shard_policy
from mcrl.learning.optimizer import make_adam
from policies import action_codec
from policies.interface import Policy
from policies.presets import build_policy, small
from tests.mcrl.gloo_ranks import on_ranks
from tests.mcrl.learning.test_rocket_learning import make_worker
from tests.policies.rocket_sizes import shrunk_rocket

NUM_RANKS, NUM_UPDATES = 2, 4


def losses(policy: Policy, batch: FragmentBatch) -> list[float]:
    """Take optimizer steps on imitation, value and auxiliary losses; return the loss before each."""
    adam, trace = make_adam(policy, 1e-3), []
    for _ in range(NUM_UPDATES):
        evaluation = evaluate(policy, batch, "fp32")
        log_prob_BT = action_codec.log_prob(evaluation.logits_BTL, batch.action_BTA)
        loss: Tensor = -log_prob_BT.mean() + (evaluation.value_BT - 1).square().mean()
        loss = loss + perception_loss(evaluation, batch)
        adam.zero_grad()
        loss.backward()
        adam.step()
        trace.append(float(loss.detach()))
    return trace


def make_policy(preset: str) -> Policy:
    presets = {"small": small(), "glimpses": replace(small(), num_glimpses=1), "rocket": shrunk_rocket()}
    return build_policy(presets[preset], seed=0).eval()


def make_batch(preset: str) -> FragmentBatch:
    return collate(make_worker(make_policy(preset), None).collect())


def sharded_losses(rank: int, preset: str) -> tuple[list[float], float]:
    policy, batch = make_policy(preset), make_batch(preset)
    shard_policy(policy, init_device_mesh("cpu", (NUM_RANKS,)))
    local = sum(parameter.to_local().numel() for parameter in policy.parameters())
    whole = sum(parameter.numel() for parameter in policy.parameters())
    return losses(policy, batch.select(torch.tensor([rank]))), local / whole


@pytest.mark.slow
@pytest.mark.parametrize("preset", ["small", "glimpses", "rocket"])
def test_two_ranks_with_half_the_weights_each_learn_as_one_with_all(tmp_path, preset):
    batch = make_batch(preset)
    assert batch.is_valid_BT.all()  # so that the mean over the batch is that of the ranks' means
    results = on_ranks(NUM_RANKS, sharded_losses, tmp_path, preset)
    both = [sum(pair) / NUM_RANKS for pair in zip(*(trace for trace, _ in results), strict=True)]
    assert both == pytest.approx(losses(make_policy(preset), batch), rel=1e-4)
    assert all(share < 0.51 for _, share in results)
