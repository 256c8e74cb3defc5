"""The network that benches of training systems share, as a policy of ours. E envs, X any frames, D width, L logits."""

import torch
from torch import Tensor, nn

from policies import action_codec
from policies.heads import NUM_AUXILIARY
from policies.interface import EncodedGoals, Evaluation, Memory, Policy, PolicyStep
from policies.precision import compute_dtype

_WIDTH = 512


class NaturePolicy(Policy):
    """The convolutional network of Mnih et al. 2015 on 84 px views, blind to goals and without memory.

    The heads are those of our actions: 53 logits where the peers' drivers have 6.
    """

    def __init__(self) -> None:
        super().__init__()
        self.image_px = 84
        self.trunk = nn.Sequential(
            nn.Conv2d(3, 32, 8, 4),
            nn.ReLU(),
            nn.Conv2d(32, 64, 4, 2),
            nn.ReLU(),
            nn.Conv2d(64, 64, 3, 1),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(3136, _WIDTH),
            nn.ReLU(),
        )
        self.action = nn.Linear(_WIDTH, action_codec.NUM_LOGITS)
        self.value_head = nn.ModuleDict({"value": nn.Linear(_WIDTH, 1)})
        self.to(memory_format=torch.channels_last)  # type: ignore[call-overload]  # torch's stub lacks it

    def initial_memory(self, num_envs: int) -> Memory:
        """Return no memory."""
        return {}

    def encode_goals(self, image_GHWC: Tensor, mask_GHW: Tensor, interaction_G: Tensor) -> EncodedGoals:
        """Return encodings that say nothing."""
        nothing_G0 = torch.zeros(len(interaction_G), 0)
        return EncodedGoals(token_GKD=nothing_G0[:, None], vector_GD=nothing_G0, color_G3=nothing_G0)

    def act(
        self,
        image_EHWC: Tensor,
        goals: EncodedGoals,
        goal_index_E: Tensor,
        first_E: Tensor,
        previous_action_EA: Tensor,
        memory: Memory,
        *,
        generator: torch.Generator | None = None,
        temperature: float = 1.0,
    ) -> PolicyStep:
        """Choose actions; see Policy.act."""
        logits_EL, value_E = self._read(image_EHWC)
        action_EA = action_codec.sample(logits_EL, generator, temperature)
        return PolicyStep(action_EA, action_codec.log_prob(logits_EL, action_EA), value_E, logits_EL, memory)

    def evaluate(
        self,
        image_BTHWC: Tensor,
        goals: EncodedGoals,
        goal_index_BT: Tensor,
        first_BT: Tensor,
        previous_action_BTA: Tensor,
        memory: Memory,
    ) -> Evaluation:
        """Give logits and values, and no predictions about the target."""
        logits_XL, value_X = self._read(image_BTHWC.flatten(0, 1))
        shape = first_BT.shape
        auxiliary_BT7 = torch.zeros(*shape, NUM_AUXILIARY)
        return Evaluation(logits_XL.unflatten(0, shape), value_X.unflatten(0, shape), auxiliary_BT7)

    def value(
        self,
        image_EHWC: Tensor,
        goals: EncodedGoals,
        goal_index_E: Tensor,
        first_E: Tensor,
        previous_action_EA: Tensor,
        memory: Memory,
    ) -> Tensor:
        """Return float32 [E], the values of the views."""
        return self._read(image_EHWC)[1]

    def _read(self, image_XHWC: Tensor) -> tuple[Tensor, Tensor]:
        # Permuted, the views are channels-last already.
        x_XCHW = image_XHWC.permute(0, 3, 1, 2).to(compute_dtype(image_XHWC.device)).div_(255)
        hidden_XD = self.trunk(x_XCHW)
        return self.action(hidden_XD).float(), self.value_head["value"](hidden_XD).float().squeeze(-1)
