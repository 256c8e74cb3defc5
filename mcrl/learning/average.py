"""An exponential moving average of a policy's weights, as named tensors."""

from collections.abc import Mapping
from pathlib import Path

import torch
from torch import Tensor, nn

_SUFFIX = "/average"


class WeightAverage:
    """The average of the trainable weights: after every step, decay * average + (1 - decay) * weights.

    It starts at the weights themselves, so that there is no bias towards 0 to correct.
    """

    def __init__(self, policy: nn.Module, decay: float) -> None:
        """Start at the present weights of `policy`."""
        self._policy, self._decay = policy, decay
        self._average = {
            name: parameter.detach().clone() for name, parameter in policy.named_parameters() if parameter.requires_grad
        }

    @torch.no_grad()
    def hear(self) -> None:
        """Take in the weights after one more step."""
        parameters = dict(self._policy.named_parameters())
        for name, average in self._average.items():
            average.lerp_(parameters[name], 1 - self._decay)

    def state_dict(self) -> dict[str, Tensor]:
        """Return the state of a policy with the averaged weights."""
        return self._policy.state_dict() | self._average

    def tensors(self) -> dict[str, Tensor]:
        """Return what a checkpoint must keep, "parameter name/average"."""
        return {f"{name}{_SUFFIX}": average.clone() for name, average in self._average.items()}

    def restore(self, tensors: Mapping[str, Tensor], *, where: Path) -> None:
        """Go on from what `tensors` returned; from the present weights where there is nothing of it."""
        given = {name.removesuffix(_SUFFIX): tensor for name, tensor in tensors.items() if name.endswith(_SUFFIX)}
        parameters = dict(self._policy.named_parameters())
        for name, average in self._average.items():
            source = given.get(name) if given else parameters[name]
            if source is None or source.shape != average.shape:
                raise ValueError(
                    f"{where}: the average of {name} is {'absent' if source is None else tuple(source.shape)}, the "
                    f"policy wants {tuple(average.shape)}; build the policy from the preset named in state.json"
                )
            average.copy_(source.detach())


def without_average(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the tensors of a checkpoint that are not of an average."""
    return {name: tensor for name, tensor in tensors.items() if not name.endswith(_SUFFIX)}
