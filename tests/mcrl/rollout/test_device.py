"""Claims about where policies compute: the same results on a GPU as on the CPU, and one sentence where there is none.

Those marked `on_gpu` run wherever torch finds a GPU; the same code runs on the CPU, named as a device, elsewhere.
"""

import dataclasses
from pathlib import Path

import numpy as np
import pytest
import torch

from eval.judging.suite_row import SuiteRow
from mcrl import checkpoint
from mcrl.checkpoint import Checkpoint, CheckpointState
from mcrl.cli import main
from mcrl.config import ImitationConfig, LearnerConfig, PPOConfig, RolloutConfig
from mcrl.learning.imitation import clone
from mcrl.learning.learner import Learner
from mcrl.recipes import RECIPES
from mcrl.rollout.rollout_worker import RolloutWorker
from mcrl.run import training_device, with_one_precision
from policies import action_codec
from policies.device import CPU, device_of, find_device, to_numpy
from policies.precision import uses_bf16
from policies.presets import build_policy, tiny
from task_synthesis.playing.curriculum import ShuffledTasks
from tests.mcrl.corridor import CorridorEnv, make_task
from tests.policies.conformance import awaken

on_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="torch finds no CUDA GPU")
without_gpu = pytest.mark.skipif(torch.cuda.is_available(), reason="torch finds a CUDA GPU")
CUDA = torch.device("cuda", 0)
# The CPU as a device that is named runs the same code wherever the tests run.
DEVICES = [pytest.param(CPU, id="cpu"), pytest.param(CUDA, id="cuda", marks=on_gpu)]

PPO = PPOConfig(
    num_iterations=10,
    fragment_steps=8,
    fragments_per_batch=4,
    minibatch_sequences=2,
    value_warmup_iterations=0,
    learning_rate=1e-3,
)


@pytest.fixture(autouse=True)
def _full_fp32(monkeypatch) -> None:
    """Let a GPU convolve in fp32 proper: in TF32, torch's default, log-probs agree to 1e-2 only."""
    monkeypatch.setattr(torch.backends.cudnn, "allow_tf32", False)


def make_policy(device=CPU, seed=0):
    return awaken(build_policy(dataclasses.replace(tiny(), image_px=16), seed)).to(device)


def make_fragments(device=CPU, num_collects=1):
    source = ShuffledTasks([make_task(index) for index in range(8)], split="train", seed=0)
    worker = RolloutWorker(
        CorridorEnv(source, 4),
        make_policy(device),
        make_policy(device, seed=3),
        fragment_steps=8,
        worker_id=0,
        seed=0,
        precision="fp32",
    )
    return [fragment for _ in range(num_collects) for fragment in worker.collect()]


def make_learner(policy, config=PPO, **options):
    return Learner(policy, config, precision="fp32", seed=0, learner=LearnerConfig(**options))


def trace(policy, fragments, config=PPO, **options):
    learner = make_learner(policy, config, **options)
    losses = [learner.update(fragments) for _ in range(3)]
    return np.array([[metrics[name] for name in ("loss", "value_loss", "kl_to_reference")] for metrics in losses])


@pytest.mark.parametrize("device", DEVICES)
def test_a_rollout_on_any_device_is_that_of_the_cpu(device):
    for here, there in zip(make_fragments(num_collects=2), make_fragments(device, num_collects=2), strict=True):
        np.testing.assert_array_equal(here.action_TA, there.action_TA)
        np.testing.assert_array_equal(here.image_THWC, there.image_THWC)
        np.testing.assert_allclose(here.log_prob_T, there.log_prob_T, atol=1e-4)
        np.testing.assert_allclose(here.bootstrap_value_T, there.bootstrap_value_T, atol=1e-4)
        np.testing.assert_allclose(here.reference_logits_TL, there.reference_logits_TL, atol=1e-3)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("options", [{}, {"pass_sequences": 1}, {"recomputes_views": True}], ids=str)
def test_losses_on_any_device_follow_those_of_the_cpu(device, options):
    fragments = make_fragments()
    expected = trace(make_policy(), fragments)
    np.testing.assert_allclose(trace(make_policy(device), fragments, **options), expected, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("loss", ["vtrace", "decoupled_ppo"])
def test_losses_that_ask_the_weights_twice_do_so_on_any_device(device, loss):
    config, fragments = dataclasses.replace(PPO, loss=loss), make_fragments()
    expected = trace(make_policy(), fragments, config)
    np.testing.assert_allclose(trace(make_policy(device), fragments, config), expected, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("device", DEVICES)
def test_cloning_on_any_device_follows_that_of_the_cpu(device):
    fragments = [dataclasses.replace(f, expert_action_TA=f.action_TA) for f in make_fragments()]
    config = ImitationConfig(num_updates=3, val_every_updates=3, sequences_per_batch=2, fragment_steps=8)
    losses = [
        clone(policy, fragments, fragments, config, precision="fp32", seed=0).best_val_loss
        for policy in (make_policy(), make_policy(device))
    ]
    assert losses[1] == pytest.approx(losses[0], rel=1e-3)


@pytest.mark.parametrize(("first", "then"), [(CPU, CPU), (CUDA, CPU), (CPU, CUDA)])
def test_a_checkpoint_of_one_device_goes_on_on_the_other(tmp_path, first, then):
    if "cuda" in (first.type, then.type) and not torch.cuda.is_available():
        pytest.skip("torch finds no CUDA GPU")
    fragments = make_fragments()
    unbroken, before = make_learner(make_policy(first)), make_learner(make_policy(first), ema_decay=0.9)
    unbroken.update(fragments)
    before.update(fragments)
    state = CheckpointState(stage="ppo", iteration=1, version=1, preset="tiny", image_px=16, config={})
    saved = Checkpoint(model=before.policy.state_dict(), optimizer=before.state_tensors(), state=state)
    checkpoint.save(tmp_path / "c", saved)
    loaded = checkpoint.load(tmp_path / "c")
    after = make_learner(make_policy(then, seed=1), ema_decay=0.9)
    checkpoint.load_into(after.policy, loaded.model, where=tmp_path)
    after.restore(1, loaded.optimizer, before.generator_state(), where=tmp_path)
    assert {p.device for p in after.policy.parameters()} == {then}
    assert after.update(fragments)["loss"] == pytest.approx(unbroken.update(fragments)["loss"], rel=1e-3)


def test_actions_are_drawn_on_the_cpu_whichever_device_holds_the_logits():
    generator = torch.Generator().manual_seed(0)
    drawn = action_codec.sample(torch.zeros(3, action_codec.NUM_LOGITS, device="meta"), generator)
    assert drawn.device.type == "meta"
    other = torch.Generator().manual_seed(0)
    action_codec.sample(torch.zeros(3, action_codec.NUM_LOGITS), other)
    assert torch.equal(generator.get_state(), other.get_state())


@pytest.mark.parametrize("device", DEVICES)
def test_what_is_read_from_a_device_is_what_is_there(device):
    whole, real = to_numpy(torch.arange(6, device=device), torch.ones(2, 3, device=device))
    np.testing.assert_array_equal(whole, np.arange(6))
    np.testing.assert_array_equal(real, np.ones((2, 3), np.float32))


@on_gpu
def test_auto_is_the_gpu_where_there_is_one():
    assert find_device("auto", where="device").type == "cuda"
    assert device_of(make_policy(find_device("auto", where="device"))).type == "cuda"


@without_gpu
def test_auto_is_the_cpu_where_there_is_no_gpu():
    assert find_device("auto", where="device") == CPU
    assert training_device(RECIPES["gpu"]()) == CPU


@without_gpu
def test_a_gpu_that_is_not_there_is_refused_before_there_is_a_run(tmp_path, capsys):
    assert main(["train", "smoke", "--run-dir", str(tmp_path / "run"), "--device", "cuda", "--no-report"]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "device cuda: torch" in said
    assert "install --force-reinstall torch --index-url" in said
    assert not list(tmp_path.iterdir())
    row = SuiteRow(
        name="rl", agent="policy", source="", config=RECIPES["smoke"](), checkpoint=Path("none"), device="cuda"
    )
    with pytest.raises(ValueError, match="--device cuda: torch .* or set --device to cpu"):
        row.load_policy()


def test_a_device_that_no_one_knows_is_named():
    with pytest.raises(ValueError, match='device must be "auto", "cpu" or "cuda", got \'tpu\''):
        dataclasses.replace(RECIPES["smoke"](), device="tpu")


def test_several_learner_processes_compute_on_the_cpu():
    smoke = RECIPES["smoke"]()
    several = LearnerConfig(num_processes=2)
    assert training_device(dataclasses.replace(smoke, learner=several)) == CPU
    with pytest.raises(ValueError, match="num_processes 2 share gradients of the CPU, and device is cuda"):
        dataclasses.replace(smoke, learner=several, device="cuda")


def test_workers_compute_in_the_precision_of_their_learner_wherever_both_are():
    inline = RECIPES["smoke"]()
    beside = dataclasses.replace(inline, rollout=RolloutConfig(placement="ray", num_workers=1, envs_per_worker=16))
    assert with_one_precision(inline, CUDA) is inline
    assert with_one_precision(beside, CPU).precision == ("bf16" if uses_bf16("auto", CPU) else "fp32")
    assert with_one_precision(beside, CUDA).precision in ("bf16", "fp32")
    named = dataclasses.replace(beside, precision="bf16")
    assert with_one_precision(named, CUDA) is named
