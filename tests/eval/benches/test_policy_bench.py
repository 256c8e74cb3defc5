"""Claims about the policy bench: multiply-adds are counted right, and watching a learning step changes nothing."""

import itertools
import time

import pytest
import torch

from eval.benches.learning_stopwatch import PARTS, LearningStopwatch
from eval.benches.policy_bench import PresetBench, bench_policy, count_madds
from mcrl.config import PPOConfig
from mcrl.learning.learner import Learner
from policies.presets import build_policy, tiny


def test_multiply_adds_are_those_of_the_formulae():
    weight = torch.randn(8, 3, 4, 4, requires_grad=True)
    image = torch.randn(2, 3, 16, 16)
    forward = 2 * 8 * 4 * 4 * 3 * 4 * 4  # pictures, channels out, places, channels in, kernel
    convolve = torch.nn.functional.conv2d
    assert count_madds(lambda: convolve(image, weight, stride=4)) == forward
    # Backwards only the weights have a gradient: as much again.
    assert count_madds(lambda: convolve(image, weight, stride=4).sum().backward()) == 2 * forward
    assert count_madds(lambda: torch.randn(5, 7) @ torch.randn(7, 11)) == 5 * 7 * 11


def learner_and_fragments():
    fragments = PresetBench("tiny", precision="fp32", seed=0).fragments()
    config = PPOConfig(
        num_iterations=10,
        fragments_per_batch=8,
        fragment_steps=32,
        minibatch_sequences=4,
        num_epochs=1,
        value_warmup_iterations=0,
        kl_to_reference=None,
    )
    return Learner(build_policy(tiny(), 0), config, precision="fp32", seed=0), fragments


def test_watching_changes_nothing_and_leaves_nothing_behind():
    watched, fragments = learner_and_fragments()
    alone, _ = learner_and_fragments()
    watch = LearningStopwatch()
    with watch.attached(watched.policy):
        watched.update(fragments)
    heard = dict(watch.cpu_s)
    watched.update(fragments)
    for _ in range(2):
        alone.update(fragments)
    assert dict(watch.cpu_s) == heard
    for ours, theirs in zip(watched.policy.parameters(), alone.policy.parameters(), strict=True):
        assert torch.equal(ours, theirs)


def test_the_parts_of_a_learning_step_are_all_of_it(monkeypatch):
    learner, fragments = learner_and_fragments()
    watch = LearningStopwatch()
    readings = itertools.count()
    # A clock that goes on by 1 s whenever it is read: the real one counts what other threads and the garbage do.
    monkeypatch.setattr(time, "process_time", lambda: float(next(readings)))
    with watch.attached(learner.policy):
        learner.update(fragments)
    assert set(watch.cpu_s) == set(PARTS)
    assert min(watch.cpu_s.values()) > 0
    assert sum(watch.cpu_s.values()) == next(readings) - 1


def test_a_preset_that_is_not_measured_is_refused():
    known = "tiny, small, medium, sharp, keen_small, keen, keener, base"
    with pytest.raises(ValueError, match=f"rocket: no such preset to measure; there are {known}"):
        bench_policy(["rocket"], precision="auto", repeats=1, seed=0, num_threads=1)


def test_presets_that_are_compared_learn_from_as_many_frames_at_a_time():
    presets = ("tiny", "small", "medium", "sharp", "keen_small", "keen", "keener")
    assert {PresetBench(name, precision="fp32", seed=0)._num_sequences for name in presets} == {8}


def test_no_policy_beats_the_floor_of_its_arithmetic():
    rows = bench_policy(["tiny"], precision="auto", repeats=1, seed=0, num_threads=1)
    shares = {row.fields["work"]: row.value for row in rows if row.metric == "share_of_attainable"}
    assert set(shares) == {"acting", "learning"}
    assert all(0 < share < 100 for share in shares.values())
    parts = [row.value for row in rows if row.metric == "share_of_learning"]
    assert len(parts) == len(PARTS)
    assert {row.fields["minibatch_frames"] for row in rows if row.fields.get("work") == "learning"} == {8 * 32}
    assert sum(parts) == pytest.approx(100)
