"""A critic that knows what only the simulator knows. B fragments, T steps, P numbers of a situation.

Asymmetric actor-critic (Pinto et al. 2018): the policy acts on pictures, and what its actions were worth is judged by
who sees where the target is. The policy's own value of a step is one more input, so that what it saw and remembers
counts as well: a critic of the state alone would be a biased judge of an agent that sees only part of it (Baisero and
Amato 2022).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from mcrl.learning.batch import FragmentBatch
from mcrl.learning.optimizer import make_adam, read_moments, write_moments
from mcrl.rollout.fragment import Fragment
from mcrl.seeding import derive_seed
from task_synthesis.playing.situation import SITUATION

WIDTH = 128
LEARNING_RATE = 1e-3
NUM_EPOCHS = 3
# Of an epoch, unless they would be smaller than the second number: the time of a fit must not grow with the batch.
NUM_MINIBATCHES, LEAST_STEPS = 16, 256

# Before the names of its tensors in a checkpoint, which lie beside those of the policy's optimizer.
_PREFIX = "privileged_critic."
_WEIGHT = "/weight"


@dataclass(frozen=True, slots=True)
class Judged:
    """What the critic says of a batch, and what it said it of; all but the last float32, in units of reward."""

    value_BT: Tensor
    bootstrap_value_BT: Tensor  # beyond a truncation or the last step, else 0
    seen_BTQ: Tensor  # float32 [B, T, P + 1]


class PrivilegedCritic:
    """A small network from situation and own value to the return, fitted to every batch after it was used."""

    def __init__(self, seed: int) -> None:
        """Begin with values of 0."""
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(derive_seed(seed, "privileged_critic"))
            self._net = nn.Sequential(
                nn.Linear(len(SITUATION) + 1, WIDTH), nn.SiLU(), nn.Linear(WIDTH, WIDTH), nn.SiLU(), nn.Linear(WIDTH, 1)
            )
        last = self._net[-1]
        assert isinstance(last, nn.Linear)
        nn.init.zeros_(last.weight)
        nn.init.zeros_(last.bias)
        self._optimizer = make_adam(self._net, LEARNING_RATE)
        self._seed = seed

    @torch.no_grad()
    def judge(self, fragments: Sequence[Fragment], batch: FragmentBatch) -> Judged:
        """Return the values of a batch's steps and of what lies beyond them; `batch` is of `fragments`.

        Raises:
            ValueError: the fragments hold no situations.
        """
        seen_BTQ = _joined([fragment.situation_TP for fragment in fragments], batch.value_BT)
        beyond_BTQ = _joined([fragment.after_TP for fragment in fragments], batch.bootstrap_value_BT)
        is_open_BT = batch.truncated_BT.clone()
        is_open_BT[:, -1] |= ~batch.terminated_BT[:, -1]
        beyond_BT = torch.where(is_open_BT & batch.is_valid_BT, self._values(beyond_BTQ), 0.0)
        return Judged(self._values(seen_BTQ), beyond_BT, seen_BTQ)

    def learn(self, judged: Judged, return_BT: Tensor, is_valid_BT: Tensor, iteration: int) -> float:
        """Fit the returns of one batch and return the mean squared error on the way, over its valid steps; 0 of none.

        The order of steps follows from seed and iteration, so that a resumed run goes on to the last bit.
        """
        seen_NQ, return_N = judged.seen_BTQ[is_valid_BT], return_BT[is_valid_BT]
        if not len(seen_NQ):
            return 0.0
        generator = torch.Generator().manual_seed(derive_seed(self._seed, "privileged_critic", iteration))
        minibatch_steps = max(LEAST_STEPS, -(-len(seen_NQ) // NUM_MINIBATCHES))
        losses: list[float] = []
        for _ in range(NUM_EPOCHS):
            for index_M in torch.randperm(len(seen_NQ), generator=generator).split(minibatch_steps):
                self._optimizer.zero_grad(set_to_none=True)
                loss = (self._values(seen_NQ[index_M]) - return_N[index_M]).square().mean()
                loss.backward()
                self._optimizer.step()
                losses.append(float(loss.detach()))
        return float(np.mean(losses))

    def tensors(self) -> dict[str, Tensor]:
        """Return what a checkpoint must keep: weights, and moments of the optimizer."""
        weights = {f"{name}{_WEIGHT}": tensor.clone() for name, tensor in self._net.state_dict().items()}
        moments = read_moments(self._optimizer, self._net)
        return {f"{_PREFIX}{name}": tensor for name, tensor in (weights | moments).items()}

    def restore(self, tensors: Mapping[str, Tensor], *, where: Path) -> None:
        """Go on from what `tensors` returned; ValueError when it is absent or of another critic."""
        given = {name.removeprefix(_PREFIX): value for name, value in tensors.items() if name.startswith(_PREFIX)}
        weights = {name: given.pop(f"{name}{_WEIGHT}", None) for name in self._net.state_dict()}
        for name, weight in self._net.state_dict().items():
            got = weights[name]
            if got is None or got.shape != weight.shape:
                raise ValueError(
                    f"{where}: the privileged critic's {name} is {'absent' if got is None else tuple(got.shape)}, this "
                    f"run wants {tuple(weight.shape)}, as where a skill was added since; begin a new run from its "
                    "weights (--initial-policy RUN_DIR --imitation.dagger-rounds 0), or go on with the mcrl that wrote "
                    "it"
                )
        self._net.load_state_dict(weights)
        write_moments(self._optimizer, self._net, given, where=where)

    def _values(self, seen_XQ: Tensor) -> Tensor:
        return self._net(seen_XQ).squeeze(-1)


def without_critic(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the tensors of a checkpoint that are not of a critic."""
    return {name: tensor for name, tensor in tensors.items() if not name.startswith(_PREFIX)}


def _joined(situations: Sequence[np.ndarray | None], value_BT: Tensor) -> Tensor:
    """Return float32 [B, T, P + 1], situations and own values side by side."""
    known = [situation_TP for situation_TP in situations if situation_TP is not None]
    if len(known) < len(situations):
        raise ValueError(
            "ppo.privileged_critic: these environments do not tell situations; give TaskEnv tells_situations, or leave "
            "the critic out"
        )
    return torch.cat([torch.from_numpy(np.stack(known)), value_BT.unsqueeze(-1)], -1)
