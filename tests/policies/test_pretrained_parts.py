"""Claims about public ROCKET weights: parts of a loaded policy compute what the public code does with its own names."""

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from policies.presets import build_policy
from policies.pretrained import load_into_rocket
from policies.rocket import RocketPolicy
from tests.policies.rocket_sizes import shrunk_rocket
from tests.policies.test_pretrained import public_tensors

CONFIG = shrunk_rocket()
TENSORS = public_tensors(CONFIG)


@pytest.fixture(scope="module")
def policy() -> RocketPolicy:
    policy = build_policy(CONFIG, seed=3)
    load_into_rocket(policy, TENSORS, where="file")
    return policy.eval()


def random(*shape: int) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(1))


def test_views_are_fused_as_torchs_encoder_fuses_them(policy):
    layer = nn.TransformerEncoderLayer(CONFIG.width, CONFIG.num_heads, 2 * CONFIG.width, batch_first=True)
    theirs = nn.TransformerEncoder(layer, CONFIG.fusion_layers, enable_nested_tensor=False).eval()
    prefix = "view_resampler."
    theirs.load_state_dict({k.removeprefix(prefix): tensor for k, tensor in TENSORS.items() if k.startswith(prefix)})
    agent, goal = random(2, 5, CONFIG.width), random(2, 6, CONFIG.width)
    with torch.no_grad():
        queries = TENSORS["view_cls_tokens"].expand(2, -1, -1)
        expected = theirs(torch.cat([queries, agent, goal], 1))[:, : CONFIG.num_view_tokens]
        torch.testing.assert_close(policy.fusion(agent, goal), expected, atol=1e-5, rtol=1e-5)


def linear(name: str, x: Tensor) -> Tensor:
    return F.linear(x, TENSORS[f"{name}.weight"], TENSORS.get(f"{name}.bias"))


def norm(name: str, x: Tensor) -> Tensor:
    return F.layer_norm(x, x.shape[-1:], TENSORS[f"{name}.weight"], TENSORS[f"{name}.bias"])


def vpts_block(name: str, x_RD: Tensor) -> Tensor:
    """VPT's recurrent block on the first tokens of an episode, fewer than its window."""
    inside, num_heads = f"{name}.r.orc_block", CONFIG.num_heads
    normed = norm(f"{name}.pre_r_ln", x_RD)
    query, key, content, position = (
        linear(f"{inside}.{part}_layer", normed).unflatten(-1, (num_heads, -1)).transpose(0, 1) for part in "qkvr"
    )
    age_RR = torch.arange(len(x_RD))[:, None] - torch.arange(len(x_RD))
    bias = torch.einsum("nrf,frc->nrc", position, TENSORS[f"{inside}.b_nd"][:, age_RR.clamp(min=0)])
    score = (query @ key.transpose(1, 2) / query.shape[-1] + bias).masked_fill(age_RR < 0, -torch.inf)
    x_RD = normed + linear(f"{inside}.proj_layer", (score.softmax(-1) @ content).transpose(0, 1).flatten(1))
    return x_RD + linear(f"{name}.mlp1.layer", F.relu(linear(f"{name}.mlp0.layer", norm(f"{name}.mlp0.norm", x_RD))))


def test_it_remembers_as_vpts_blocks_do(policy):
    x_BTKD = random(1, 2, policy.memory.tokens_per_step, CONFIG.width)
    expected = x_BTKD.flatten(0, 2)
    for index in range(CONFIG.memory_layers):
        expected = vpts_block(f"recurrent.blocks.{index}", expected)
    expected = norm("final_ln", F.relu(linear("lastlayer.layer", norm("lastlayer.norm", F.relu(expected)))))
    with torch.no_grad():
        first_BT = torch.tensor([[True, False]])
        got, _ = policy.memory(x_BTKD, first_BT, policy.memory.initial(1, torch.device("cpu")))
    torch.testing.assert_close(got.flatten(0, 2), expected, atol=1e-5, rtol=1e-4)


def test_returns_that_hardly_vary_are_scaled_by_a_tenth_at_least():
    mean = TENSORS["value_head.normalizer.running_mean"] / 0.2
    alike = TENSORS | {"value_head.normalizer.running_mean_sq": 0.2 * (mean**2 + 1e-4)}
    policy = build_policy(CONFIG, seed=3)
    load_into_rocket(policy, alike, where="file")
    hidden = random(5, CONFIG.width)
    expected = 0.1 * linear("value_head.linear", hidden).squeeze(-1) + mean
    torch.testing.assert_close(policy.heads.logits_and_value(hidden)[1], expected)
