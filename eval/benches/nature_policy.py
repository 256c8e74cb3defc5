"""The network that benches of training systems share, as a policy of ours. E envs, X any frames, D width, L logits."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from eval.peers.nature_trunk import WIDTH, nature_trunk
from policies import action_codec
from policies.heads import NUM_AUXILIARY
from policies.interface import EncodedGoals, Memory
from policies.precision import compute_dtype
from policies.recurrent import RecurrentPolicy


class NaturePolicy(RecurrentPolicy):
    """The convolutional network of Mnih et al. 2015 on 84 px views, blind to goals and without memory.

    The heads are those of our actions: 53 logits where the peers' drivers have 6.
    """

    def __init__(self) -> None:
        super().__init__()
        self.image_px = 84
        self.trunk = nature_trunk()
        self.action = nn.Linear(WIDTH, action_codec.NUM_LOGITS)
        self.value_head = nn.ModuleDict({"value": nn.Linear(WIDTH, 1)})
        self.to(memory_format=torch.channels_last)  # type: ignore[call-overload]  # torch's stub lacks it

    def initial_memory(self, num_envs: int) -> Memory:
        """Return no memory."""
        return {}

    def encode_goals(self, image_GHWC: Tensor, mask_GHW: Tensor, interaction_G: Tensor) -> EncodedGoals:
        """Return encodings that say nothing."""
        nothing_G0 = torch.zeros(len(interaction_G), 0)
        return EncodedGoals(token_GKD=nothing_G0[:, None], vector_GD=nothing_G0, color_GN3=nothing_G0[:, None])

    def _read(
        self,
        view_X: Tensor,
        goals: EncodedGoals,
        goal_index_X: Tensor,
        first_X: Tensor,
        previous_action_XA: Tensor,
    ) -> tuple[Tensor]:
        # Permuted, the views are channels-last already. Bytes become 0 .. 1 by the first layer's weights: they are
        # fewer than the pixels.
        x_XCHW = view_X.permute(0, 3, 1, 2).to(compute_dtype(view_X.device))
        first = self.trunk[0]
        assert isinstance(first, nn.Conv2d)
        return (self.trunk[1:](functional.conv2d(x_XCHW, first.weight / 255, first.bias, first.stride)),)

    def _remember(self, step_BTD: Tensor, first_BT: Tensor, memory: Memory) -> tuple[Tensor, Memory]:
        return step_BTD, memory

    def _decided(self, hidden_XD: Tensor) -> tuple[Tensor, Tensor]:
        return self.action(hidden_XD).float(), self.value_head["value"](hidden_XD).float().squeeze(-1)

    def _predicted(self, hidden_BTD: Tensor, *read_BT: Tensor) -> dict[str, Any]:
        return {"auxiliary_BT7": hidden_BTD.new_zeros(*hidden_BTD.shape[:2], NUM_AUXILIARY, dtype=torch.float32)}
