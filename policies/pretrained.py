"""Public ROCKET-2 and ROCKET-3 weights: their names, one by one, and how they become a RocketPolicy.

Read from the public code (CraftJarvis/ROCKET-3 rocket3/policy.py, MineStudio's MinePolicy and VPT blocks, timm's
features_only wrapper), not from a downloaded file: a name that differs stops the loading with a sentence. Files are
bare weights (.safetensors, or a .pt / .ckpt of tensors) or a Lightning checkpoint whose "state_dict" has the policy
under "mine_policy."; no pickled object is ever built from them.
"""

import warnings
from collections.abc import Mapping
from math import isqrt
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import Tensor

from policies.presets import build_policy
from policies.rocket import RocketPolicy
from policies.rocket_config import RocketConfig
from policies.rocket_heads import PREVIOUS_KEYS
from policies.token_memory import NUM_BASES
from policies.vit import PATCH_PX

# (ours, theirs): the first line that fits the beginning of our name renames it; no two of ours share a name of theirs.
_MODULES: tuple[tuple[str, str], ...] = (
    # timm's wrapper holds the transformer as "model"; below, names are timm's in both (policies.vit).
    ("view_encoder.", "view_backbone.model."),
    ("mask_encoder.", "mask_backbone.model."),
    ("agent_projection.", "updim_obs."),
    ("goal_projection.", "updim_cross."),
    ("fusion.query_QD", "view_cls_tokens"),
    ("fusion.layers.", "view_resampler.layers."),
    ("interaction.", "interaction."),
    ("previous_action.turn.", "action_embedding_layer.camera_layer."),
    ("previous_action.unknown_D", "dropout_embedding"),
    ("memory.layers.", "recurrent.blocks."),
    ("memory.out_norm.", "lastlayer.norm."),
    ("memory.out.", "lastlayer.layer."),
    ("memory.final_norm.", "final_ln."),
    ("heads.buttons.", "pi_head.buttons.linear_layer."),
    ("heads.camera.", "pi_head.camera.linear_layer."),
    ("heads.value.", "value_head.linear."),
    ("heads.auxiliary.", "aux_vis_head."),
)
# The same inside "fusion.layers.N." (torch's TransformerEncoderLayer) and "memory.layers.N." (VPT's block).
_IN_LAYERS: dict[str, tuple[tuple[str, str], ...]] = {
    "fusion.layers.": (
        ("query_key_value.weight", "self_attn.in_proj_weight"),
        ("query_key_value.bias", "self_attn.in_proj_bias"),
        ("attention_out.", "self_attn.out_proj."),
        ("attention_norm.", "norm1."),
        ("feedforward_in.", "linear1."),
        ("feedforward_out.", "linear2."),
        ("feedforward_norm.", "norm2."),
    ),
    "memory.layers.": (
        ("norm.", "pre_r_ln."),
        ("query.", "r.orc_block.q_layer."),
        ("key.", "r.orc_block.k_layer."),
        ("content.", "r.orc_block.v_layer."),
        ("attention_out.", "r.orc_block.proj_layer."),
        ("position.", "r.orc_block.r_layer."),
        ("basis_FS", "r.orc_block.b_nd"),
        ("feedforward_norm.", "mlp0.norm."),
        ("feedforward_in.", "mlp0.layer."),
        ("feedforward_out.", "mlp1.layer."),
    ),
}
# One table of ours, [19 keys, 2, D], from 19 of theirs, [2, D] each.
_KEY_TABLE = "previous_action.key_K2D"
_KEY_NAMES = tuple(f"action_embedding_layer.binary_layers.act_{key.replace('.', '_')}.weight" for key in PREVIOUS_KEYS)
# Theirs only: the running statistics of returns, by which the value head's output is scaled back.
_RETURN_MEAN, _RETURN_SQUARE, _RETURN_WEIGHT = (
    f"value_head.normalizer.{name}" for name in ("running_mean", "running_mean_sq", "debiasing_term")
)
# Theirs is there, and unused, also where the network has no token of the previous action.
_UNKNOWN_ACTION = "dropout_embedding"


def public_names(policy: RocketPolicy) -> dict[str, tuple[str, ...]]:
    """Return for each tensor of `policy` the names of the public tensors it comes from."""
    return {
        name: _KEY_NAMES if name == _KEY_TABLE else (_public_name(name),) for name in policy.state_dict(keep_vars=True)
    }


def read_weights(path: Path) -> dict[str, Tensor]:
    """Return the policy's tensors in a public weights file, without prefixes. Raise ValueError for anything else."""
    try:
        if path.suffix == ".safetensors":
            found: object = load_file(path)
        else:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of a pickle torch says more than the sentence below needs
                found = torch.load(path, map_location="cpu", weights_only=True)
    except FileNotFoundError:
        raise ValueError(f"{path}: no such file; name a .safetensors or .ckpt of ROCKET-2 or ROCKET-3") from None
    except Exception as error:  # safetensors, zipfile, pickle and torch each raise their own
        # Not torch's own words: they advise to switch the protection off.
        raise ValueError(
            f"{path}: truncated, or holds more than tensors ({type(error).__name__}); fetch it again, or ask for its "
            "tensors as .safetensors"
        ) from None
    if isinstance(found, Mapping) and isinstance(found.get("state_dict"), Mapping):
        found = found["state_dict"]
    tensors = dict(found) if isinstance(found, Mapping) else {}
    if not tensors or not all(isinstance(key, str) and isinstance(held, Tensor) for key, held in tensors.items()):
        raise ValueError(f"{path}: holds no table of tensors; name a .safetensors or .ckpt of ROCKET-2 or ROCKET-3")
    tensors = {name.removeprefix("mine_policy."): tensor for name, tensor in tensors.items()}
    for name, tensor in tensors.items():
        if tensor.is_floating_point() and not torch.isfinite(tensor).all():
            raise ValueError(f"{path}: tensor {name} holds NaN or infinity; fetch the file again")
    return tensors


def config_of(tensors: Mapping[str, Tensor], *, where: Path) -> RocketConfig:
    """Return the sizes of the network that public tensors are of. Attention heads of both encoders are 64 wide."""
    try:
        query, basis_FS = tensors["view_cls_tokens"], tensors["recurrent.blocks.0.r.orc_block.b_nd"]
        num_view_tokens, width = query.shape[1:]
        position = tensors["view_backbone.model.pos_embed"]
        mask_width = tensors["mask_backbone.model.pos_embed"].shape[2]
        has_previous_action = _KEY_NAMES[0] in tensors
        return RocketConfig(
            image_px=PATCH_PX * isqrt(position.shape[1] - 1),
            view_width=position.shape[2],
            view_layers=_num_layers(tensors, "view_backbone.model.blocks."),
            view_heads=max(1, position.shape[2] // 64),
            mask_width=mask_width,
            mask_layers=_num_layers(tensors, "mask_backbone.model.blocks."),
            mask_heads=max(1, mask_width // 64),
            width=width,
            num_heads=tensors["recurrent.blocks.0.r.orc_block.r_layer.weight"].shape[0] // NUM_BASES,
            fusion_layers=_num_layers(tensors, "view_resampler.layers."),
            memory_layers=_num_layers(tensors, "recurrent.blocks."),
            num_view_tokens=num_view_tokens,
            has_previous_action=has_previous_action,
            context_steps=basis_FS.shape[1] // (num_view_tokens + 1 + has_previous_action),
        )
    except KeyError as error:
        raise ValueError(f"{where}: tensor {error.args[0]} is absent; is this a ROCKET-2 or ROCKET-3 policy?") from None
    except (ValueError, IndexError, ZeroDivisionError) as error:
        raise ValueError(
            f"{where}: tensors of shapes that no such network has ({error}); is this a ROCKET-2 or ROCKET-3 policy?"
        ) from None


def load_into_rocket(policy: RocketPolicy, tensors: Mapping[str, Tensor], *, where: Path) -> None:
    """Copy public tensors into `policy`. Raise ValueError, naming the first few, unless names and shapes all fit.

    A critic whose statistics say that it was never trained (imitation checkpoints) gives 0, as a fresh one does.
    """
    names = public_names(policy)
    wanted = {public for group in names.values() for public in group}
    wanted |= {_RETURN_MEAN, _RETURN_SQUARE, _RETURN_WEIGHT, _UNKNOWN_ACTION}
    for what, which in (("missing", wanted - tensors.keys()), ("unknown", tensors.keys() - wanted)):
        if which:
            first = ", ".join(sorted(which)[:3])
            raise ValueError(f"{where}: {len(which)} tensors are {what}: {first} ...; this is not the network we build")
    state = {}
    for name, ours in policy.state_dict(keep_vars=True).items():
        public = [tensors[public_name] for public_name in names[name]]
        theirs = torch.stack(public) if name == _KEY_TABLE else public[0]
        # 1 x 1 convolutions are linear layers here, and learned tokens have no batch dimension.
        if theirs.numel() != ours.numel() or [d for d in theirs.shape if d > 1] != [d for d in ours.shape if d > 1]:
            raise ValueError(
                f"{where}: tensor {names[name][0]} is {tuple(theirs.shape)}, the policy wants {tuple(ours.shape)}; "
                "choose the preset of that width, or build from config_of(tensors)"
            )
        state[name] = theirs.reshape(ours.shape).float()
    state["heads.value.weight"], state["heads.value.bias"] = _value_head(tensors)
    policy.load_state_dict(state)


def load_rocket(path: Path) -> RocketPolicy:
    """Return the policy of a public weights file, of whatever size. Raise ValueError for any other file."""
    tensors = read_weights(path)
    policy = build_policy(config_of(tensors, where=path), seed=0)
    load_into_rocket(policy, tensors, where=path)
    return policy


def _public_name(name: str) -> str:
    """Return the public name of our tensor `name`."""
    ours, theirs = next(pair for pair in _MODULES if name.startswith(pair[0]))
    rest = name.removeprefix(ours)
    if ours not in _IN_LAYERS:
        return theirs + rest
    layer, _, rest = rest.partition(".")
    inner_ours, inner_theirs = next(pair for pair in _IN_LAYERS[ours] if rest.startswith(pair[0]))
    return f"{theirs}{layer}.{inner_theirs}{rest.removeprefix(inner_ours)}"


def _num_layers(tensors: Mapping[str, Tensor], prefix: str) -> int:
    return len({name[len(prefix) :].partition(".")[0] for name in tensors if name.startswith(prefix)})


def _value_head(tensors: Mapping[str, Tensor]) -> tuple[Tensor, Tensor]:
    """Return weight [1, D] and bias [1] that give returns themselves, VPT's running scale folded in."""
    weight, bias = tensors["value_head.linear.weight"].float(), tensors["value_head.linear.bias"].float()
    update_weight = tensors[_RETURN_WEIGHT].float()
    if update_weight == 0:
        return torch.zeros_like(weight), torch.zeros_like(bias)
    # As in VPT's NormalizeEwma: means are debiased, the variance is at least 0.01.
    mean = tensors[_RETURN_MEAN].float() / update_weight.clamp(min=1e-5)
    square = tensors[_RETURN_SQUARE].float() / update_weight.clamp(min=1e-5)
    scale = (square - mean**2).clamp(min=1e-2).sqrt()
    return weight * scale[:, None], bias * scale + mean
