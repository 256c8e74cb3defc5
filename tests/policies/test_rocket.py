"""Claims about the ROCKET network: the policy contract at a shrunk size, and each part against an independent twin."""

from dataclasses import replace

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from policies import action_codec, vpt_heads
from policies.precision import autocast
from policies.presets import PRESETS, build_policy, rocket, rocket_xl
from policies.rocket_config import RocketConfig
from policies.rocket_heads import PREVIOUS_KEYS, PreviousAction, RocketHeads
from policies.token_memory import NUM_BASES, TokenMemory, TokenMemoryLayer
from policies.view_fusion import ViewFusion
from policies.vit import VisionTransformer
from tests.policies.conformance import NUM_ENVS, PolicyConformance, acted, awaken, evaluate, random_play
from tests.policies.rocket_sizes import shrunk_rocket
from worlds.types import BUTTON_INDEX


class TestRocket(PolicyConformance):
    def make(self):
        return awaken(build_policy(shrunk_rocket(), seed=0))


class TestRocketWithoutPreviousActionAndWithAShortWindow(PolicyConformance):
    def make(self):
        config = replace(shrunk_rocket(), has_previous_action=False, context_steps=3, num_view_tokens=1)
        return awaken(build_policy(config, seed=1))


def test_a_new_rocket_is_near_uniform_and_expects_nothing():
    policy = build_policy(shrunk_rocket(), seed=0).eval()
    with torch.no_grad():
        evaluation = evaluate(policy, random_play(policy.image_px), policy.initial_memory(NUM_ENVS))
    assert evaluation.logits_BTL.shape[-1] == policy.num_logits == vpt_heads.NUM_VPT_LOGITS
    assert evaluation.logits_BTL.abs().max() < 1.0
    assert torch.equal(evaluation.value_BT, torch.zeros_like(evaluation.value_BT))


def test_every_weight_but_the_frozen_encoder_gets_a_gradient():
    policy = awaken(build_policy(shrunk_rocket(), seed=0)).train()
    evaluation = evaluate(policy, random_play(policy.image_px), policy.initial_memory(NUM_ENVS))
    (evaluation.logits_BTL.square().sum() + evaluation.value_BT.sum() + evaluation.auxiliary_BT7.sum()).backward()
    silent = {name for name, p in policy.named_parameters() if p.grad is None or not p.grad.abs().max() > 0}
    frozen = {name for name, _ in policy.named_parameters() if name.startswith("view_encoder.")}
    assert silent == frozen


def test_the_frozen_encoder_reads_pictures_in_imagenets_units_channel_by_channel():
    policy, seen = build_policy(shrunk_rocket(), seed=0).eval(), []
    policy.view_encoder.register_forward_pre_hook(lambda module, inputs: seen.append(inputs[0]))
    image_XHWC = random_play(policy.image_px).image_ETHWC[:, 0]
    policy.look(image_XHWC)
    mean_3, deviation_3 = torch.tensor([0.485, 0.456, 0.406]), torch.tensor([0.229, 0.224, 0.225])
    torch.testing.assert_close(seen[0].permute(0, 2, 3, 1), (image_XHWC / 255 - mean_3) / deviation_3)


def test_actions_are_read_from_the_last_token_of_a_step_and_predictions_from_the_last_of_its_views():
    policy, seen = awaken(build_policy(shrunk_rocket(), seed=0)), {}
    policy.memory.register_forward_hook(lambda module, inputs, output: seen.update(hidden=output[0]))
    for name, head in policy.heads.named_children():
        head.register_forward_pre_hook(lambda module, inputs, name=name: seen.update({name: inputs[0]}))
    evaluate(policy, random_play(policy.image_px), policy.initial_memory(NUM_ENVS))
    for name, token in (
        ("buttons", -1),
        ("camera", -1),
        ("value", -1),
        ("auxiliary", policy.config.num_view_tokens - 1),
    ):
        assert torch.equal(seen[name], seen["hidden"][:, :, token]), name


def test_recomputing_the_fusion_changes_no_gradient():
    gradients = []
    for recomputes in (False, True):
        policy = awaken(build_policy(replace(shrunk_rocket(), recomputes_fusion=recomputes), seed=0))
        evaluation = evaluate(policy, random_play(policy.image_px), policy.initial_memory(NUM_ENVS))
        evaluation.logits_BTL.square().mean().backward()
        gradients.append([p.grad for p in policy.parameters() if p.grad is not None])
    assert len(gradients[0]) == len(gradients[1])
    for kept, recomputed in zip(*gradients, strict=True):
        torch.testing.assert_close(kept, recomputed)


def test_bf16_acting_and_learning_agree_on_the_ratio_within_two_percent():
    policy = build_policy(shrunk_rocket(), seed=0).eval()
    play = random_play(policy.image_px)
    # Logits as spread out as a trained policy's; the hidden state is that of a fresh one.
    for head in (policy.heads.buttons, policy.heads.camera):
        nn.init.normal_(head.weight, std=0.3, generator=torch.Generator().manual_seed(0))
    with torch.no_grad(), autocast("bf16", "cpu"):
        _, _, log_prob, action, _ = acted(policy, play, policy.initial_memory(NUM_ENVS))
        evaluation = evaluate(policy, play, policy.initial_memory(NUM_ENVS))
    assert {evaluation.logits_BTL.dtype, evaluation.value_BT.dtype, evaluation.auxiliary_BT7.dtype} == {torch.float32}
    ratio = (action_codec.log_prob(evaluation.logits_BTL, action) - log_prob).exp()
    assert ratio.std() < 0.02


def test_actions_of_rocket_exist_in_the_environment():
    policy = awaken(build_policy(shrunk_rocket(), seed=0))
    action_XA = acted(policy, random_play(policy.image_px), policy.initial_memory(NUM_ENVS))[3].flatten(0, 1)
    again = action_codec.from_vpt(*action_codec.to_vpt(action_XA.numpy()))
    assert torch.equal(torch.from_numpy(again), action_XA)


def test_vision_transformer_equals_torchs_encoder_layers():
    torch.manual_seed(0)
    ours = VisionTransformer(32, 3, 24, 2, 3).eval()
    x_BCHW = torch.randn(2, 3, 32, 32)
    patches = F.unfold(x_BCHW, 16, stride=16).transpose(1, 2) @ ours.patch_embed.proj.weight.flatten(1).T
    x_BKD = torch.cat([ours.cls_token.expand(2, -1, -1), patches + ours.patch_embed.proj.bias], 1) + ours.pos_embed
    for block in ours.blocks:
        layer = nn.TransformerEncoderLayer(
            24, 3, 96, dropout=0.0, activation="gelu", layer_norm_eps=1e-6, batch_first=True, norm_first=True
        )
        names = {"qkv.": "in_proj_", "attn.": "self_attn.", "proj.": "out_proj.", "mlp.fc": "linear"}
        state = {}
        for name, tensor in block.state_dict().items():
            for public, torchs in names.items():
                name = name.replace(public, torchs)
            state[name] = tensor
        layer.load_state_dict(state)
        x_BKD = layer(x_BKD)
    torch.testing.assert_close(ours(x_BCHW), x_BKD[:, 1:], atol=1e-5, rtol=1e-5)


def test_fusion_equals_torchs_encoder_on_the_queries():
    torch.manual_seed(0)
    ours = ViewFusion(16, 3, 2, num_queries=4, recomputes=False)
    torchs = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 2, 32, dropout=0.1, batch_first=True), 3).eval()
    for mine, theirs in zip(ours.layers, torchs.layers, strict=True):
        mine.query_key_value.load_state_dict(
            {"weight": theirs.self_attn.in_proj_weight, "bias": theirs.self_attn.in_proj_bias}
        )
        mine.attention_out.load_state_dict(theirs.self_attn.out_proj.state_dict())
        mine.attention_norm.load_state_dict(theirs.norm1.state_dict())
        mine.feedforward_in.load_state_dict(theirs.linear1.state_dict())
        mine.feedforward_out.load_state_dict(theirs.linear2.state_dict())
        mine.feedforward_norm.load_state_dict(theirs.norm2.state_dict())
    agent, goal = torch.randn(2, 5, 16), torch.randn(2, 5, 16)
    with torch.no_grad():
        expected = torchs(torch.cat([ours.query_QD.expand(2, -1, -1), agent, goal], 1))[:, :4]
        torch.testing.assert_close(ours(agent, goal), expected, atol=1e-5, rtol=1e-5)


def vpt_layer_by_hand(layer: TokenMemoryLayer, x_RD: torch.Tensor, window: int) -> torch.Tensor:
    """VPT's block token by token and head by head: what the fast one must equal, without a memory before x."""
    size = x_RD.shape[1] // layer.num_heads
    normed = layer.norm(x_RD)
    query, key, content = layer.query(normed), layer.key(normed), layer.content(normed)
    position = layer.position(normed)
    out = []
    for r in range(len(x_RD)):
        seen = range(max(0, r - window + 1), r + 1)
        parts = []
        for head in range(layer.num_heads):
            cut = slice(head * size, (head + 1) * size)
            basis = position[r, head * NUM_BASES : (head + 1) * NUM_BASES]
            score = torch.stack([query[r, cut] @ key[c, cut] / size + basis @ layer.basis_FS[:, r - c] for c in seen])
            parts.append(score.softmax(0) @ content[seen.start : seen.stop, cut])
        out.append(normed[r] + layer.attention_out(torch.cat(parts)))
    x_RD = torch.stack(out)
    return x_RD + layer.feedforward_out(F.relu(layer.feedforward_in(layer.feedforward_norm(x_RD))))


def test_token_memory_equals_vpts_recursion_by_hand():
    torch.manual_seed(0)
    memory = TokenMemory(8, num_layers=2, num_heads=2, context_steps=3, tokens_per_step=2)
    with torch.no_grad():
        for parameter in memory.parameters():
            parameter.add_(0.3 * torch.randn(parameter.shape))
        x_BTKD, first_BT = torch.randn(1, 5, 2, 8), torch.tensor([[True, False, False, False, False]])
        fast, _ = memory(x_BTKD, first_BT, memory.initial(1, torch.device("cpu")))
        x_RD = x_BTKD.flatten(0, 2)
        for layer in memory.layers:
            x_RD = vpt_layer_by_hand(layer, x_RD, window=6)
        slow = memory.final_norm(F.relu(memory.out(memory.out_norm(F.relu(x_RD)))))
    torch.testing.assert_close(fast.flatten(0, 2), slow, atol=1e-5, rtol=1e-5)


def test_previous_action_token_is_the_sum_of_keys_and_the_turn_in_degrees():
    torch.manual_seed(0)
    token = PreviousAction(6)
    action_EA = torch.from_numpy(action_codec.from_vpt([8640, 0, 8639, 1235], [60, 60, 3, 100]))
    actions = action_codec.decode(action_EA.numpy())
    with torch.no_grad():
        got = token(action_EA, torch.zeros(4, dtype=torch.bool))
        for e in range(4):
            pressed = [int(actions.buttons_EB[e, BUTTON_INDEX[key]]) for key in PREVIOUS_KEYS]
            expected = sum(token.key_K2D[k, is_pressed] for k, is_pressed in enumerate(pressed))
            expected = expected + token.turn(torch.from_numpy(actions.camera_deg_E2[e]))
            torch.testing.assert_close(got[e], expected, atol=1e-5, rtol=1e-5)
        assert torch.equal(token(action_EA, torch.ones(4, dtype=torch.bool)), token.unknown_D.expand(4, -1))


def test_places_outside_the_picture_are_cut_but_keep_their_gradient():
    heads = RocketHeads(2)
    with torch.no_grad():
        heads.auxiliary.weight.fill_(10.0)
    hidden_XD = torch.ones(1, 2, requires_grad=True)
    place = heads.predictions(hidden_XD)[:, 1:]
    assert torch.equal(place, torch.ones_like(place))
    place.sum().backward()
    assert hidden_XD.grad.abs().min() > 0


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("image_px", 40, "multiple of 16"),
        ("width", 0, "policy.width must be at least 1"),
        ("num_heads", 7, "multiple of policy.num_heads"),
        ("mask_heads", 5, "multiple of policy.mask_heads"),
    ],
)
def test_impossible_sizes_are_refused_by_name(field, value, message):
    with pytest.raises(ValueError, match=message):
        RocketConfig(**{field: value})


def test_presets_have_the_sizes_they_promise():
    with torch.device("meta"):
        millions = {
            name: sum(p.numel() for p in build_policy(PRESETS[name](), 0).parameters()) / 1e6
            for name in ("base", "rocket", "rocket_xl")
        }
    assert 20 <= millions["base"] <= 40
    assert 180 <= millions["rocket"] <= 200
    assert 290 <= millions["rocket_xl"] <= 310


@pytest.mark.slow
def test_the_papers_network_acts_at_full_size():
    policy = build_policy(rocket(), seed=0).eval()
    shapes = {name: tuple(tensor.shape) for name, tensor in policy.state_dict().items()}
    assert shapes["view_encoder.pos_embed"] == (1, 197, 768)
    assert shapes["mask_encoder.patch_embed.proj.weight"] == (192, 1, 16, 16)
    assert shapes["goal_projection.weight"] == (1024, 960)
    assert shapes["fusion.query_QD"] == (9, 1024)
    assert shapes["memory.layers.3.basis_FS"] == (10, 128 * 11)
    assert shapes["heads.buttons.weight"] == (8641, 1024)
    assert shapes["heads.camera.weight"] == (121, 1024)
    assert rocket_xl().tokens_per_step == rocket().tokens_per_step == 11
    memory = policy.initial_memory(1)
    # 4 layers x 1,408 tokens x keys and contents x 1,024 x 4 bytes.
    assert sum(tensor.nbytes for tensor in memory.values()) == 4 * 1408 * 2048 * 4 + 8
    play = random_play(224)
    with torch.inference_mode():
        goals = policy.encode_goals(play.goal_image_GHWC[:1], play.goal_mask_GHW[:1], play.interaction_G[:1])
        step = policy.act(
            play.image_ETHWC[:1, 0],
            goals,
            torch.zeros(1, dtype=torch.int64),
            torch.tensor([True]),
            play.previous_action_ETA[:1, 0],
            memory,
            generator=torch.Generator().manual_seed(0),
        )
    assert goals.token_GKD.shape == (1, 196, 1024)
    assert step.logits_EL.shape == (1, 8762)
    assert step.logits_EL.isfinite().all()
    assert step.memory["num_steps"].tolist() == [1]
