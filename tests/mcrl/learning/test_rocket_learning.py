"""Claims about the ROCKET network in the hands of rollout, learner and assembly, shrunk."""

import dataclasses

import pytest
import torch
from safetensors.torch import save_file

from mcrl import assembly, checkpoint
from mcrl.config import EnvConfig, ImitationConfig, PPOConfig, RolloutConfig
from mcrl.learning.learner import Learner
from mcrl.recipes import smoke
from mcrl.rollout.rollout_worker import RolloutWorker
from mcrl.train import train
from policies import presets
from policies.presets import build_policy
from policies.rocket import RocketPolicy
from policies.vpt_heads import NUM_VPT_LOGITS
from task_synthesis.playing.curriculum import ShuffledTasks
from tests.mcrl.corridor import CorridorEnv, make_task
from tests.mcrl.corridor_policy import CORRIDOR
from tests.mcrl.corridor_run import make_config
from tests.policies.rocket_sizes import shrunk_rocket
from tests.policies.test_pretrained import public_tensors

CONFIG = PPOConfig(
    num_iterations=4, fragment_steps=6, fragments_per_batch=2, minibatch_sequences=2, value_warmup_iterations=1
)


def make_wide_env(config, source, num_envs) -> CorridorEnv:
    return CorridorEnv(source, num_envs, image_px=config.env.image_px)


def make_worker(policy, reference) -> RolloutWorker:
    source = ShuffledTasks([make_task(index) for index in range(4)], split="train", seed=0)
    env = CorridorEnv(source, 2, image_px=policy.image_px)
    return RolloutWorker(env, policy, reference, fragment_steps=6, worker_id=0, seed=0, precision="fp32")


def test_rocket_learns_from_its_own_fragments_and_its_frozen_encoder_stays():
    policy = build_policy(shrunk_rocket(), seed=0)
    frozen = {name: tensor.clone() for name, tensor in policy.view_encoder.state_dict().items()}
    buttons = policy.heads.buttons.weight.clone()
    worker = make_worker(build_policy(shrunk_rocket(), seed=0), build_policy(shrunk_rocket(), seed=0))
    learner = Learner(policy, CONFIG, precision="fp32", seed=0)
    fragments = worker.collect()
    assert fragments[0].image_THWC.shape == (6, 4, 64)
    assert fragments[0].reference_logits_TL.shape == (6, NUM_VPT_LOGITS)
    metrics = [learner.update(fragments) for _ in range(2)]
    assert metrics[0]["ratio_spread_lag0"] < 1e-5
    assert metrics[0]["kl_to_reference"] == pytest.approx(0.0, abs=1e-5)
    assert not any(parameter.requires_grad for parameter in policy.view_encoder.parameters())
    assert all(torch.equal(policy.view_encoder.state_dict()[name], tensor) for name, tensor in frozen.items())
    assert not torch.equal(policy.heads.buttons.weight, buttons)


def test_the_frozen_encoder_sees_a_frame_once_for_acting_reference_and_learning(monkeypatch):
    num_seen = []
    look = RocketPolicy.look
    monkeypatch.setattr(RocketPolicy, "look", lambda policy, image: num_seen.append(len(image)) or look(policy, image))
    seen = {}
    for name, reference in (("alone", None), ("with reference", build_policy(shrunk_rocket(), seed=0))):
        num_seen.clear()
        fragments = make_worker(build_policy(shrunk_rocket(), seed=0), reference).collect()
        seen[name] = sum(num_seen)
    assert seen["with reference"] == seen["alone"]
    # 6 steps of 2 envs, and the frames beyond the fragments' ends and beyond truncations.
    assert 12 < seen["alone"] <= 16
    num_seen.clear()
    Learner(build_policy(shrunk_rocket(), seed=0), CONFIG, precision="fp32", seed=0).update(fragments)
    assert not num_seen


@pytest.fixture
def run_config(monkeypatch):
    """A run of a preset "rocket" that is small enough to build."""
    monkeypatch.setitem(presets.PRESETS, "rocket", shrunk_rocket)
    return dataclasses.replace(smoke(), preset="rocket", env=EnvConfig(image_px=32))


def test_a_run_begins_with_the_public_weights_it_names(run_config, tmp_path):
    tensors = public_tensors(shrunk_rocket())
    save_file(tensors, tmp_path / "model.safetensors")
    config = dataclasses.replace(run_config, pretrained_weights=str(tmp_path / "model.safetensors"))
    policy = assembly.make_policy(config)
    assert torch.equal(policy.state_dict()["interaction.weight"], tensors["interaction.weight"])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"preset": "tiny"}, "give rocket"),
        ({"env": EnvConfig(image_px=64)}, "env.image_px 32"),
    ],
)
def test_public_weights_of_another_network_than_the_presets_are_refused(run_config, tmp_path, change, message):
    save_file(public_tensors(shrunk_rocket()), tmp_path / "model.safetensors")
    config = dataclasses.replace(run_config, pretrained_weights=str(tmp_path / "model.safetensors"), **change)
    with pytest.raises(ValueError, match=message):
        assembly.make_policy(config)


def test_ppo_can_begin_with_public_weights_and_its_checkpoints_need_the_same_file(run_config, tmp_path):
    save_file(public_tensors(shrunk_rocket()), tmp_path / "model.safetensors")
    parts = dataclasses.replace(CORRIDOR, make_policy=assembly.make_policy, make_env=make_wide_env)
    config = dataclasses.replace(
        make_config(tmp_path / "first"),
        preset="rocket",
        env=run_config.env,
        pretrained_weights=str(tmp_path / "model.safetensors"),
        imitation=ImitationConfig(num_updates=0, num_envs=4, control_updates=0),
        ppo=dataclasses.replace(CONFIG, num_iterations=2),
        rollout=RolloutConfig(envs_per_worker=2),
    )
    first = train(config, parts=parts)
    public = assembly.make_policy(config).state_dict()
    trained = checkpoint.load(first.checkpoint).model
    assert torch.equal(trained["view_encoder.cls_token"], public["view_encoder.cls_token"])
    assert not torch.equal(trained["heads.buttons.bias"], public["heads.buttons.bias"])
    second = dataclasses.replace(config, run_dir=str(tmp_path / "second"), initial_policy=str(first.checkpoint))
    train(second, parts=parts)
    third = dataclasses.replace(second, run_dir=str(tmp_path / "third"), pretrained_weights=None)
    with pytest.raises(ValueError, match="other frozen weights"):
        train(third, parts=parts)
