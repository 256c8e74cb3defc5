"""Claims about public ROCKET weights: the file as its own code would write it becomes our policy, anything else not."""

import re
from dataclasses import replace

import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from policies import pretrained
from policies.presets import build_policy, rocket
from policies.pretrained import config_of, load_into_rocket, load_rocket, public_names
from policies.rocket_config import RocketConfig
from policies.rocket_heads import PREVIOUS_KEYS
from tests.policies.conformance import NUM_ENVS, awaken, evaluate, random_play
from tests.policies.rocket_sizes import shrunk_rocket


def linear(name, rows, columns, *, bias=True):
    return {f"{name}.weight": (rows, columns)} | ({f"{name}.bias": (rows,)} if bias else {})


def norm(name, width):
    return {f"{name}.weight": (width,), f"{name}.bias": (width,)}


def public_shapes(config: RocketConfig) -> dict[str, tuple[int, ...]]:
    """Return names and shapes of a public file, written down from the public code, independently of the key map."""
    shapes: dict[str, tuple[int, ...]] = {}
    width, patches = config.width, (config.image_px // 16) ** 2
    encoders = (
        ("view_backbone", 3, config.view_width, config.view_layers),
        ("mask_backbone", 1, config.mask_width, config.mask_layers),
    )
    for name, channels, size, layers in encoders:
        shapes |= {f"{name}.model.cls_token": (1, 1, size), f"{name}.model.pos_embed": (1, patches + 1, size)}
        shapes |= {f"{name}.model.patch_embed.proj.weight": (size, channels, 16, 16)}
        shapes |= {f"{name}.model.patch_embed.proj.bias": (size,)}
        for block in (f"{name}.model.blocks.{index}" for index in range(layers)):
            shapes |= norm(f"{block}.norm1", size) | norm(f"{block}.norm2", size)
            shapes |= linear(f"{block}.attn.qkv", 3 * size, size) | linear(f"{block}.attn.proj", size, size)
            shapes |= linear(f"{block}.mlp.fc1", 4 * size, size) | linear(f"{block}.mlp.fc2", size, 4 * size)
    shapes["updim_obs.weight"] = (width, config.view_width, 1, 1)
    shapes["updim_cross.weight"] = (width, config.view_width + config.mask_width, 1, 1)
    shapes["view_cls_tokens"] = (1, config.num_view_tokens, width)
    with torch.device("meta"):
        layer = nn.TransformerEncoderLayer(width, config.num_heads, 2 * width, batch_first=True)
        encoder = nn.TransformerEncoder(layer, config.fusion_layers)
    shapes |= {f"view_resampler.{name}": tuple(tensor.shape) for name, tensor in encoder.state_dict().items()}
    shapes["interaction.weight"] = (10, width)
    if config.has_previous_action:
        shapes |= linear("action_embedding_layer.camera_layer", width, 2)
        for key in PREVIOUS_KEYS:
            shapes[f"action_embedding_layer.binary_layers.act_{key.replace('.', '_')}.weight"] = (2, width)
    shapes["dropout_embedding"] = (1, 1, width)
    window = config.context_steps * (config.num_view_tokens + 1 + config.has_previous_action)
    for block in (f"recurrent.blocks.{index}" for index in range(config.memory_layers)):
        shapes |= norm(f"{block}.pre_r_ln", width) | norm(f"{block}.mlp0.norm", width)
        shapes |= linear(f"{block}.mlp0.layer", 4 * width, width, bias=False)
        shapes |= linear(f"{block}.mlp1.layer", width, 4 * width)
        inside = f"{block}.r.orc_block"
        shapes |= linear(f"{inside}.q_layer", width, width) | linear(f"{inside}.proj_layer", width, width)
        shapes |= linear(f"{inside}.k_layer", width, width, bias=False)
        shapes |= linear(f"{inside}.v_layer", width, width, bias=False)
        shapes |= linear(f"{inside}.r_layer", 10 * config.num_heads, width)
        shapes[f"{inside}.b_nd"] = (10, window)
    shapes |= norm("lastlayer.norm", width) | linear("lastlayer.layer", width, width, bias=False)
    shapes |= norm("final_ln", width) | linear("aux_vis_head", 7, width)
    shapes |= linear("pi_head.buttons.linear_layer", 8641, width) | linear("pi_head.camera.linear_layer", 121, width)
    shapes |= linear("value_head.linear", 1, width)
    shapes |= {f"value_head.normalizer.{name}": (1,) for name in ("running_mean", "running_mean_sq")}
    shapes["value_head.normalizer.debiasing_term"] = ()
    return shapes


def public_tensors(config: RocketConfig, seed: int = 0) -> dict[str, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    tensors = {name: 0.1 * torch.randn(shape, generator=generator) for name, shape in public_shapes(config).items()}
    tensors["value_head.normalizer.running_mean"].fill_(0.06)
    tensors["value_head.normalizer.running_mean_sq"].fill_(0.5)
    tensors["value_head.normalizer.debiasing_term"].fill_(0.2)
    return tensors


def loaded(config: RocketConfig, tensors: dict[str, torch.Tensor]):
    policy = build_policy(config, seed=3)
    load_into_rocket(policy, tensors, where="file")
    return policy.eval()


def test_the_key_map_covers_every_name_of_the_papers_network_and_no_other():
    with torch.device("meta"):
        policy = build_policy(rocket(), 0)
    mapped = [public for group in public_names(policy).values() for public in group]
    assert len(mapped) == len(set(mapped))
    statistics = {name for name in public_shapes(rocket()) if ".normalizer." in name}
    assert set(mapped) | statistics == set(public_shapes(rocket()))


@pytest.mark.parametrize("has_previous_action", [True, False])
def test_every_public_tensor_lands_in_the_policy_whole(has_previous_action):
    config = replace(shrunk_rocket(), has_previous_action=has_previous_action)
    tensors = public_tensors(config)
    policy = loaded(config, tensors)
    for name, group in public_names(policy).items():
        if not name.startswith("heads.value."):
            theirs = torch.cat([tensors[public].flatten() for public in group])
            assert torch.equal(policy.state_dict()[name].flatten(), theirs), name


def test_sizes_are_read_off_the_tensors():
    for config in (shrunk_rocket(), replace(shrunk_rocket(), has_previous_action=False, num_view_tokens=1)):
        expected = replace(config, recomputes_fusion=True)
        assert config_of(public_tensors(config), where="file") == expected
    meta = {name: torch.empty(shape, device="meta") for name, shape in public_shapes(rocket()).items()}
    assert config_of(meta, where="file") == rocket()


def test_files_of_both_kinds_give_the_same_policy(tmp_path):
    tensors = public_tensors(shrunk_rocket())
    save_file(tensors, tmp_path / "model.safetensors")
    lightning = {
        "state_dict": {f"mine_policy.{name}": tensor for name, tensor in tensors.items()},
        "hyper_parameters": {"model": {"hiddim": 64}},
    }
    torch.save(lightning, tmp_path / "weights.ckpt")
    first, second = (load_rocket(tmp_path / name).state_dict() for name in ("model.safetensors", "weights.ckpt"))
    assert all(torch.equal(first[name], second[name]) for name in first)


def test_values_are_returns_with_the_running_scale_folded_in():
    config = shrunk_rocket()
    tensors = public_tensors(config)
    policy = loaded(config, tensors)
    hidden = torch.randn(5, config.width)
    normalised = hidden @ tensors["value_head.linear.weight"][0] + tensors["value_head.linear.bias"]
    mean = 0.06 / 0.2
    expected = normalised * (0.5 / 0.2 - mean**2) ** 0.5 + mean
    torch.testing.assert_close(policy.heads.logits_and_value(hidden)[1], expected)


def test_a_critic_that_was_never_trained_gives_zero():
    tensors = public_tensors(shrunk_rocket())
    tensors["value_head.normalizer.debiasing_term"].zero_()
    policy = loaded(shrunk_rocket(), tensors)
    assert torch.equal(policy.heads.logits_and_value(torch.randn(3, 64))[1], torch.zeros(3))


def test_a_policy_written_under_public_names_comes_back_as_itself():
    policy = awaken(build_policy(shrunk_rocket(), seed=5))
    tensors = public_tensors(shrunk_rocket())
    for name, group in public_names(policy).items():
        parts = policy.state_dict()[name].reshape(len(group), *tensors[group[0]].shape)
        tensors |= dict(zip(group, parts, strict=True))
    play = random_play(policy.image_px)
    with torch.no_grad():
        before = evaluate(policy, play, policy.initial_memory(NUM_ENVS)).logits_BTL
        after = evaluate(loaded(shrunk_rocket(), tensors), play, policy.initial_memory(NUM_ENVS)).logits_BTL
    assert torch.equal(before, after)


def one_sentence(error: ValueError) -> bool:
    return "\n" not in str(error) and len(str(error)) < 400


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.pop("final_ln.bias"), "1 tensors are missing: final_ln.bias"),
        (lambda t: t.update(extra=torch.zeros(1)), "1 tensors are unknown: extra"),
        (lambda t: t.update({"final_ln.bias": torch.zeros(7)}), r"final_ln.bias is \(7,\), the policy wants \(64,\)"),
        (lambda t: t.pop("view_cls_tokens"), "tensor view_cls_tokens is absent"),
        (lambda t: t["final_ln.bias"].fill_(float("nan")), "final_ln.bias holds NaN"),
    ],
)
def test_tensors_that_do_not_fit_are_refused_by_name(tmp_path, change, message):
    tensors = public_tensors(shrunk_rocket())
    change(tensors)
    save_file(tensors, tmp_path / "model.safetensors")
    with pytest.raises(ValueError, match=message) as caught:
        load_rocket(tmp_path / "model.safetensors")
    assert one_sentence(caught.value)


class Evil:
    """Would run code when unpickled."""

    def __reduce__(self):
        return (exec, ("raise SystemExit('it ran')",))


def test_pickled_objects_truncated_and_foreign_files_give_one_sentence_each(tmp_path):
    torch.save({"state_dict": {"a": torch.zeros(1)}, "x": Evil()}, tmp_path / "evil.ckpt")
    save_file(public_tensors(shrunk_rocket()), tmp_path / "whole.safetensors")
    (tmp_path / "half.safetensors").write_bytes((tmp_path / "whole.safetensors").read_bytes()[:-100])
    (tmp_path / "text.ckpt").write_text("not a checkpoint")
    torch.save([torch.zeros(1)], tmp_path / "list.ckpt")
    sentences = {
        "evil.ckpt": "more than tensors",
        "half.safetensors": "truncated",
        "text.ckpt": "truncated",
        "list.ckpt": "no table of tensors",
        "absent.safetensors": "no such file",
    }
    for name, sentence in sentences.items():
        with pytest.raises(ValueError, match=re.escape(name) + ".*" + sentence) as caught:
            pretrained.read_weights(tmp_path / name)
        assert one_sentence(caught.value), caught.value
