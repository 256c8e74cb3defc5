"""The size that room is made by is that of the fragments that come."""

from contextlib import closing
from dataclasses import replace

import pytest
import torch

from mcrl.assembly import PRODUCT, build_worker, make_policy, make_tasks
from mcrl.dataflow.weights.params import ParamLayout
from mcrl.fragment_size import fragment_bytes
from mcrl.planning.measure import array_bytes
from mcrl.recipes import RECIPES
from policies.presets import build_policy
from policies.vpt_heads import NUM_VPT_LOGITS
from tests.policies.rocket_sizes import shrunk_rocket

SMOKE = RECIPES["smoke"]()


@pytest.mark.parametrize(
    "config",
    [
        SMOKE,
        replace(SMOKE, ppo=replace(SMOKE.ppo, kl_to_reference=None, privileged_critic=True)),
        replace(SMOKE, preset="small", env=replace(SMOKE.env, image_px=64), ppo=replace(SMOKE.ppo, fragment_steps=32)),
    ],
    ids=["smoke", "critic", "small"],
)
def test_it_is_about_what_a_worker_makes_and_no_less(config):
    tasks = make_tasks(config, "train", 4, lambda num_done: None)
    policy = make_policy(config)
    snapshot = ParamLayout(policy).snapshot(policy, version=0)
    reference = None if config.ppo.kl_to_reference is None else snapshot
    with closing(build_worker(config, PRODUCT, tasks, reference, 0, 0)) as worker:
        worker.load(snapshot)
        sizes = [array_bytes(fragment) for fragment in worker.collect()]
    assert max(sizes) <= fragment_bytes(config, policy) <= 2 * max(sizes)


def test_a_policy_with_a_frozen_part_sends_its_features_its_memory_and_many_logits():
    policy = build_policy(shrunk_rocket(), seed=0)
    config = replace(SMOKE, env=replace(SMOKE.env, image_px=policy.image_px))
    features = policy.look(torch.zeros(1, policy.image_px, policy.image_px, 3, dtype=torch.uint8))
    memory_bytes = sum(tensor.nbytes for tensor in policy.initial_memory(1).values())
    least = memory_bytes + config.ppo.fragment_steps * (features.nbytes + 4 * NUM_VPT_LOGITS)
    assert least < fragment_bytes(config, policy)
    without = replace(config, ppo=replace(config.ppo, kl_to_reference=None))
    saved = config.ppo.fragment_steps * 4 * NUM_VPT_LOGITS
    assert fragment_bytes(config, policy) - fragment_bytes(without, policy) == saved
