"""Where the time of a learning step goes: CPU seconds of each part of a CrossViewPolicy, forwards and backwards."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from torch import Tensor, nn
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

from policies.cross_view import CrossViewPolicy

PARTS = ("collate", "goals", "stem", "block", "attention", "readout", "memory", "heads", "clip", "optimizer")
"""In the order of a step. "collate" is stacking, targets, minibatches and metrics; "stem" holds colours and FiLM too,
"heads" the losses too, and "goals" the backbone's pass over goal views."""


class LearningStopwatch:
    """CPU seconds a part, summed over the updates that ran while it was attached.

    It listens at the borders between modules: forward hooks there, and hooks on the gradients that cross them on the
    way back. The parts form a chain, and autograd runs what was computed last first, so whatever runs between two
    borders belongs to the part between them.
    """

    def __init__(self) -> None:
        self.cpu_s: dict[str, float] = defaultdict(float)
        self._part = "collate"
        self._last_s = 0.0

    @contextmanager
    def attached(self, policy: CrossViewPolicy) -> Iterator[None]:
        """Listen to `policy` while the block calls `Learner.update`, and to whatever optimizer steps meanwhile."""
        block = policy.backbone.block
        handles: list[Any] = [
            policy.goal_encoder.register_forward_pre_hook(lambda *call: self._enter("goals")),
            policy.goal_encoder.register_forward_hook(lambda *call: self._enter("stem")),
            policy.backbone.conv1.register_forward_hook(self._after_first_convolution),
            *self._listen(block, "block", before="stem", after="attention"),
            *self._listen(policy.view_attention, "attention", before=None, after="readout"),
            *self._listen(policy.temporal, "memory", before="readout", after="heads"),
            # The last of them is the end of the backward pass.
            *(p.register_post_accumulate_grad_hook(self._go_on) for p in policy.parameters() if p.requires_grad),
            register_optimizer_step_pre_hook(self._before_step),
            register_optimizer_step_post_hook(lambda *call: self._enter("collate")),
        ]
        with ExitStack() as stack:
            for handle in handles:
                stack.callback(handle.remove)
            self._part, self._last_s = "collate", time.process_time()
            yield
            self._enter("collate")

    def _enter(self, part: str) -> None:
        """Give the time since the last border to the part that ran, and let `part` begin."""
        now_s = time.process_time()
        self.cpu_s[self._part] += now_s - self._last_s
        self._part, self._last_s = part, now_s

    def _go_on(self, parameter: Tensor) -> None:
        self._enter(self._part)

    def _before_step(self, *call: object) -> None:
        self._part = "clip"
        self._enter("optimizer")

    def _after_first_convolution(self, module: nn.Module, inputs: tuple[Tensor, ...], output: Tensor) -> None:
        if self._part != "goals" and output.grad_fn is not None:
            # Images have no gradient: the stem is through when its first convolution has given its weights theirs.
            output.grad_fn.register_hook(lambda *gradients: self._enter("goals"))

    def _listen(self, module: nn.Module, part: str, *, before: str | None, after: str) -> list[Any]:
        """Listen to a module that is `part`; `before` and `after` are its neighbours, None where they adjoin."""

        def enters(module: nn.Module, inputs: tuple[Tensor, ...]) -> None:
            if self._part != "goals":
                self._enter(part)
                if before is not None:
                    _on_gradient(inputs[0], lambda: self._enter(before))

        def leaves(module: nn.Module, inputs: tuple[Tensor, ...], output: Any) -> None:
            if self._part != "goals":
                self._enter(after)
                _on_gradient(output if isinstance(output, Tensor) else output[0], lambda: self._enter(part))

        return [module.register_forward_pre_hook(enters), module.register_forward_hook(leaves)]


def _on_gradient(tensor: Tensor, act: Callable[[], None]) -> None:
    """Call `act` when the gradient of `tensor` is whole."""
    if tensor.requires_grad:
        tensor.register_hook(lambda gradient: act())
