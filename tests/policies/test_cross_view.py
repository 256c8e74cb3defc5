"""Claims about the cross-view policy beyond the contract: presets, determinism, precision, the memory's window."""

from dataclasses import dataclass, replace

import pytest
import torch

from policies import action_codec
from policies.backbones import ConvBackbone
from policies.cross_view import CrossViewPolicy
from policies.precision import autocast, uses_bf16
from policies.presets import PRESETS, CrossViewConfig, base, build_policy, sharp, small, tiny
from policies.temporal import TemporalMemory
from tests.policies.conformance import NUM_ENVS, PolicyConformance, acted, awaken, evaluate, random_play


class TestTiny(PolicyConformance):
    def make(self):
        return awaken(build_policy(tiny(), seed=0))


class TestWithAWindowShorterThanAnEpisode(PolicyConformance):
    def make(self):
        return awaken(build_policy(replace(tiny(), context_steps=3, num_layers=1), seed=1))


class TestWithAPalette(PolicyConformance):
    def make(self):
        return awaken(build_policy(replace(tiny(), num_palette_colors=2, num_context_colors=2), seed=0))


class TestWithCellsOfTwelvePixels(PolicyConformance):
    def make(self):
        return awaken(build_policy(replace(tiny(), image_px=48, stem_strides=(3, 2, 2)), seed=0))


@pytest.mark.slow
class TestBase(PolicyConformance):
    def make(self):
        # A tenth of the noise: more weights add up to saturated softmaxes, where 1e-4 is rounding.
        return awaken(build_policy(replace(base(), context_steps=16), seed=0), scale=0.01)


def test_small_has_two_to_five_million_parameters_and_tiny_about_a_tenth_of_one():
    counts = {
        name: sum(p.numel() for p in build_policy(PRESETS[name](), 0).parameters()) / 1e6 for name in ("tiny", "small")
    }
    assert 2 <= counts["small"] <= 5
    assert counts["tiny"] <= 0.15


@pytest.mark.parametrize("strides", [(4, 2), (2, 2, 2), (3, 2, 2), (4, 2, 2), (2, 4), (2, 3)])
def test_a_stem_makes_one_token_a_cell(strides):
    config = replace(tiny(), stem_strides=strides, image_px=96)
    feature_BChw = ConvBackbone(8, 16, strides)(torch.zeros(1, 96, 96, 3, dtype=torch.uint8), torch.zeros(1, 1, 3))
    assert feature_BChw.shape == (1, 16, 96 // config.cell_px, 96 // config.cell_px)
    assert config.num_tokens == feature_BChw.shape[2] * feature_BChw.shape[3]
    mask_BHW = torch.ones(1, 96, 96, dtype=torch.bool)
    goals = build_policy(config, 0).encode_goals(
        torch.zeros(1, 96, 96, 3, dtype=torch.uint8), mask_BHW, torch.zeros(1, dtype=torch.int64)
    )
    assert goals.token_GKD.shape[1] == config.num_tokens


def test_a_stem_of_one_or_four_convolutions_is_refused():
    for strides in ((8,), (2, 2, 2, 2)):
        with pytest.raises(ValueError, match="two or three convolutions"):
            ConvBackbone(8, 16, strides)


def test_sharp_has_as_many_tokens_as_small_and_more_pixels():
    assert sharp().num_tokens == small().num_tokens
    assert sharp().image_px == 1.5 * small().image_px


@pytest.mark.parametrize(("preset", "without"), [("keen_small", "small"), ("keen", "sharp")])
def test_a_keen_preset_is_another_with_a_palette(preset, without):
    assert PRESETS[preset]() == replace(PRESETS[without](), num_palette_colors=3)


def test_a_lone_pixel_of_the_targets_colour_moves_what_is_said_of_its_cell_alone():
    """Of what a cell's best pixel answers, that is: the stem and the attention are made deaf."""
    policy = build_policy(replace(tiny(), num_palette_colors=1), seed=0).eval()
    with torch.no_grad():
        policy.view_attention.out.weight.zero_()
        policy.backbone.conv1.weight.zero_()
        # Not how far the other cells stay behind.
        policy.match[0].weight[:, policy.match[0].in_features // 2 :].zero_()
    image, mask = torch.full((1, 32, 32, 3), 100, dtype=torch.uint8), torch.zeros(1, 32, 32, dtype=torch.bool)
    image[0, 3:6, 3:6] = torch.tensor((240, 200, 40), dtype=torch.uint8)
    mask[0, 3:6, 3:6] = True
    view = torch.full((1, 32, 32, 3), 100, dtype=torch.uint8)
    seen = view.clone()
    seen[0, 21, 11] = image[0, 4, 4]
    with torch.no_grad():
        goals = policy.encode_goals(image, mask, torch.zeros(1, dtype=torch.int64))
        nothing, something = (
            policy.evaluate(
                picture.unsqueeze(1),
                goals,
                torch.zeros(1, 1, dtype=torch.int64),
                torch.ones(1, 1, dtype=torch.bool),
                torch.zeros(1, 1, action_codec.NUM_FACTORS, dtype=torch.int64),
                policy.initial_memory(1),
            ).cell_logit_BTK[0, 0]
            for picture in (view, seen)
        )
    assert (nothing != something).nonzero().flatten().tolist() == [2 * 4 + 1]


def test_building_a_policy_depends_on_the_seed_alone_and_leaves_the_global_generator_alone():
    torch.manual_seed(3)
    state = torch.random.get_rng_state()
    first = build_policy(tiny(), seed=5)
    assert torch.equal(torch.random.get_rng_state(), state)
    torch.manual_seed(4)
    second, third = build_policy(tiny(), seed=5), build_policy(tiny(), seed=6)
    pairs = zip(first.parameters(), second.parameters(), strict=True)
    assert all(torch.equal(a, b) for a, b in pairs)
    assert not torch.equal(first.readout.weight, third.readout.weight)


def test_a_new_policy_is_near_uniform_and_expects_nothing():
    policy = build_policy(small(), seed=0).eval()
    play = random_play(policy.image_px)
    with torch.no_grad():
        evaluation = evaluate(policy, play, policy.initial_memory(NUM_ENVS))
    assert evaluation.logits_BTL.abs().max() < 1.0
    assert torch.equal(evaluation.value_BT, torch.zeros_like(evaluation.value_BT))


def test_every_weight_gets_a_gradient():
    policy = awaken(build_policy(tiny(), seed=0)).train()
    evaluation = evaluate(policy, random_play(policy.image_px), policy.initial_memory(NUM_ENVS))
    (evaluation.logits_BTL.square().sum() + evaluation.value_BT.sum() + evaluation.auxiliary_BT7.sum()).backward()
    silent = [name for name, p in policy.named_parameters() if p.grad is None or not p.grad.abs().max() > 0]
    assert not silent


def test_weights_are_contiguous_as_safetensors_wants_them():
    assert all(tensor.is_contiguous() for tensor in build_policy(tiny(), 0).state_dict().values())


def test_bf16_acting_and_learning_agree_on_the_ratio_within_two_percent():
    policy = build_policy(tiny(), seed=0).eval()
    play = random_play(policy.image_px)
    # Logits as spread out as a trained policy's; the hidden state is that of a fresh one.
    torch.nn.init.normal_(policy.heads.action.weight, std=0.3, generator=torch.Generator().manual_seed(0))
    with torch.no_grad(), autocast("bf16", "cpu"):
        _, _, log_prob, action, _ = acted(policy, play, policy.initial_memory(NUM_ENVS))
        logits = evaluate(policy, play, policy.initial_memory(NUM_ENVS)).logits_BTL
    ratio = (action_codec.log_prob(logits, action) - log_prob).exp()
    assert ratio.std() < 0.02


def test_bf16_outputs_are_float32_and_gradients_finite():
    policy = build_policy(tiny(), seed=0)
    with autocast("bf16", "cpu"):
        evaluation = evaluate(policy, random_play(policy.image_px), policy.initial_memory(NUM_ENVS))
    outputs = (evaluation.logits_BTL, evaluation.value_BT, evaluation.auxiliary_BT7)
    assert {output.dtype for output in outputs} == {torch.float32}
    sum(output.square().sum() for output in outputs).backward()
    assert all(p.grad is None or p.grad.isfinite().all() for p in policy.parameters())


def test_memory_reaches_exactly_context_steps_back():
    torch.manual_seed(0)
    temporal = TemporalMemory(8, 1, 2, 4, context_steps=3, feedforward_ratio=2).eval()
    with torch.no_grad():
        for parameter in temporal.parameters():
            parameter.normal_()
        x_BTD, first_BT = torch.randn(1, 6, 8), torch.zeros(1, 6, dtype=torch.bool)
        before, _ = temporal(x_BTD, first_BT, temporal.initial(1, torch.device("cpu")))
        x_BTD[0, 1].normal_()
        after, _ = temporal(x_BTD, first_BT, temporal.initial(1, torch.device("cpu")))
    changed_T = ((before - after).abs().amax(-1) > 1e-6)[0]
    assert changed_T.tolist() == [False, True, True, True, True, False]


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("image_px", 60, "multiple of 8"),
        ("image_px", 8, "at least 16"),
        ("stem_strides", (2, 1), "policy.stem_strides must be at least 2 each"),
        ("stem_strides", (3, 3), "policy.stem_strides must be .* with an even product"),
        ("width", 0, "policy.width must be at least 1"),
        ("num_view_heads", 3, "multiple of policy.num_view_heads"),
    ],
)
def test_impossible_sizes_are_refused_by_name(field, value, message):
    with pytest.raises(ValueError, match=message):
        CrossViewConfig(**{field: value})


def test_unknown_precision_is_refused():
    with pytest.raises(ValueError, match="precision must be"):
        autocast("half", "cpu")


def test_stated_precisions_are_taken_at_their_word():
    assert uses_bf16("bf16", "cpu")
    assert not uses_bf16("fp32", "cpu")


def test_a_config_without_a_branch_of_its_own_is_one_sentence():
    @dataclass
    class OtherConfig:
        image_px: int = 32

    with pytest.raises(ValueError, match="OtherConfig has no branch in build_policy"):
        build_policy(OtherConfig(), seed=0)


def test_a_policy_that_reads_no_tuple_is_told_so():
    class Untidy(CrossViewPolicy):
        def _read(self, *args):
            return super()._read(*args)[0]

    play = random_play(32)
    policy = Untidy(tiny())
    with pytest.raises(TypeError, match="Untidy._read must return a tuple"):
        evaluate(policy, play, policy.initial_memory(NUM_ENVS))
