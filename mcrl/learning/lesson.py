"""What there is to learn from sequences, and the share of a minibatch that one process takes. N sequences, T steps."""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from mcrl.learning.batch import FragmentBatch
from policies.device import send

_TARGETS = ("advantage_NT", "head_target_NT", "proximal_log_prob_NT")


@dataclass(frozen=True, kw_only=True, slots=True)
class Lesson:
    """Sequences with what they teach; N may be 0."""

    part: FragmentBatch
    advantage_NT: Tensor  # float32 [N, T], normalised and weighted
    head_target_NT: Tensor  # float32 [N, T], what the value head should give
    proximal_log_prob_NT: Tensor | None  # float32 [N, T], of the weights at the start of the update, where a loss asks

    @property
    def num_sequences(self) -> int:
        """Return N."""
        return self.part.num_sequences

    @property
    def num_valid(self) -> int:
        """Return the number of valid steps."""
        return int(self.part.is_valid_BT.sum())

    def rows(self, row_N: Tensor) -> "Lesson":
        """Return the lesson of rows row_N (int64 [N])."""
        proximal = self.proximal_log_prob_NT
        return Lesson(
            part=self.part.select(row_N),
            advantage_NT=self.advantage_NT[row_N],
            head_target_NT=self.head_target_NT[row_N],
            proximal_log_prob_NT=None if proximal is None else proximal[row_N],
        )

    def to(self, device: torch.device) -> "Lesson":
        """Return the lesson on `device`."""
        return Lesson.from_tensors({name: send(tensor, device) for name, tensor in self.tensors().items()})

    def tensors(self) -> dict[str, Tensor]:
        """Return everything by name."""
        targets = {name: tensor for name in _TARGETS if (tensor := getattr(self, name)) is not None}
        return self.part.tensors() | targets

    @classmethod
    def from_tensors(cls, named: Mapping[str, Tensor]) -> "Lesson":
        """Return the lesson whose `tensors` these are."""
        return cls(part=FragmentBatch.from_tensors(named), **{name: named.get(name) for name in _TARGETS})  # type: ignore[arg-type]


@dataclass(frozen=True, kw_only=True, slots=True)
class Share:
    """The rows of a minibatch that one process takes.

    Every term of the loss is a mean over the valid steps of the minibatch. So a process multiplies the mean over its
    own valid steps by their share of `num_valid`, and the sum over the processes is the minibatch's mean: exact for
    any split, also one with nothing for some process.
    """

    lesson: Lesson
    num_valid: int  # valid steps of the whole minibatch
    num_sequences: int  # rows of the whole minibatch
    first_row: int  # place of this share in the minibatch

    @classmethod
    def whole(cls, lesson: Lesson) -> "Share":
        """Return the share of a process that learns alone."""
        return cls(lesson=lesson, num_valid=lesson.num_valid, num_sequences=lesson.num_sequences, first_row=0)


def split_evenly(num_rows: int, num_parts: int) -> list[range]:
    """Return `num_parts` ranges behind one another that cover `num_rows`, their lengths differing by at most 1."""
    bounds = [num_rows * part // num_parts for part in range(num_parts + 1)]
    return [range(low, high) for low, high in zip(bounds, bounds[1:], strict=False)]


def as_rows(rows: range) -> Tensor:
    """Return a range as int64 [N]."""
    return torch.arange(rows.start, rows.stop)
