"""Claims about memory over steps: each layer is what its words say, and many steps at once are one after the other."""

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from policies.temporal import MemoryLayer, TemporalMemory
from policies.token_memory import TokenMemory

CONTEXT = 3


def shaken(module: nn.Module) -> nn.Module:
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(0.5 * torch.randn(parameter.shape, generator=generator))
    return module.eval()


def layer_by_hand(layer: MemoryLayer, x_TD: Tensor) -> Tensor:
    """The layer step by step and head by head, without a memory before x."""
    size = layer.head_size
    qkv_TN = layer.query_key_value(layer.attention_norm(x_TD)).unflatten(-1, (layer.num_heads, 3 * size))
    query, key, value = (qkv_TN[..., part * size : (part + 1) * size] for part in range(3))
    out = []
    for t in range(len(x_TD)):
        seen = range(max(0, t - CONTEXT), t + 1)
        heads = []
        for n in range(layer.num_heads):
            score = torch.stack([query[t, n] @ key[c, n] / size**0.5 + layer.age_bias_NS[n, t - c] for c in seen])
            heads.append(score.softmax(0) @ value[seen.start : seen.stop, n])
        out.append(x_TD[t] + layer.attention_out(torch.cat(heads)))
    x_TD = torch.stack(out)
    return x_TD + layer.feedforward_out(F.gelu(layer.feedforward_in(layer.feedforward_norm(x_TD))))


def test_the_memory_is_attention_over_the_last_steps_by_their_age():
    memory = shaken(TemporalMemory(8, 2, 2, 4, context_steps=CONTEXT, feedforward_ratio=2))
    x_BTD = torch.randn(1, 7, 8, generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        fast, _ = memory(x_BTD, torch.zeros(1, 7, dtype=torch.bool), memory.initial(1, torch.device("cpu")))
        slow = x_BTD[0]
        for layer in memory.layers:
            slow = layer_by_hand(layer, slow)
    torch.testing.assert_close(fast[0], memory.norm(slow), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize(
    ("memory", "step_shape"),
    [
        (TemporalMemory(8, 2, 2, 4, context_steps=CONTEXT, feedforward_ratio=2), (8,)),
        (TokenMemory(8, num_layers=2, num_heads=2, context_steps=CONTEXT, tokens_per_step=2), (2, 8)),
    ],
    ids=["steps", "tokens"],
)
def test_what_is_remembered_after_many_steps_is_that_of_one_at_a_time(memory, step_shape):
    memory = shaken(memory)
    x_BT = torch.randn(4, 6, *step_shape, generator=torch.Generator().manual_seed(1))
    first_BT = torch.tensor([[0, 0, 0, 0, 0, 0], [0, 1, 0, 1, 0, 0], [1, 0, 0, 0, 0, 1], [0, 1, 1, 0, 0, 0]]).bool()
    before = one_by_one = memory.initial(4, torch.device("cpu"))
    with torch.no_grad():
        out_BT, at_once = memory(x_BT, first_BT, before)
        for t in range(6):
            out_B1, one_by_one = memory(x_BT[:, t : t + 1], first_BT[:, t : t + 1], one_by_one)
            torch.testing.assert_close(out_B1[:, 0], out_BT[:, t], atol=1e-5, rtol=1e-5)
    assert at_once["num_steps"].tolist() == [3, 3, 1, 3]
    for name, tensor in one_by_one.items():
        torch.testing.assert_close(at_once[name], tensor, atol=1e-5, rtol=1e-5)
