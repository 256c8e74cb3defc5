"""What the leader of a learner group sends its helpers, and what they do with it. B fragments, N rows, T steps.

kind        from the leader to each helper                        the helper
state       weights, buffers and the optimizer's moments          takes them over
snapshot    its rows of the batch                                 answers with what the present weights say of them
epoch       its rows of every minibatch, and the update's terms   takes the epoch's steps together with all others

A helper holds nothing that the leader does not: it is ended by a signal, at any time.
"""

import dataclasses
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor, nn

from mcrl.config import PPOConfig
from mcrl.learning.batch import FragmentBatch
from mcrl.learning.forward import Forward
from mcrl.learning.gradient_step import GradientStep, NonFiniteStepError, UpdateTerms
from mcrl.learning.group import LearnerGroup, Message
from mcrl.learning.lesson import Lesson, Share, as_rows, split_evenly
from mcrl.learning.optimizer import read_moments, write_moments
from mcrl.learning.snapshot import take_snapshot
from mcrl.learning.targets import Snapshot
from mcrl.settings.learner_config import LearnerConfig
from policies.interface import Policy
from policies.precision import Precision

_WEIGHT, _MOMENT = "weight/", "moment/"


class Lead:
    """The leader's side. Every method raises LearnerLostError when a helper is gone."""

    def __init__(self, group: LearnerGroup) -> None:
        self.group = group

    def send_state(self, policy: nn.Module, optimizer: torch.optim.Adam) -> None:
        """Make every helper's weights and optimizer those of this process."""
        tensors = {f"{_WEIGHT}{name}": tensor for name, tensor in policy.state_dict().items()}
        tensors |= {f"{_MOMENT}{name}": tensor for name, tensor in read_moments(optimizer, policy).items()}
        for rank in range(1, self.group.size):
            self.group.send(Message(kind="state", tensors=tensors), to=rank)

    def snapshot(self, forward: Forward, batch: FragmentBatch, pass_sequences: int) -> Snapshot:
        """Return what the present weights say of the batch, each process asked about a part of its rows."""
        own, *others = split_evenly(batch.num_sequences, self.group.size)
        for rank, rows in enumerate(others, start=1):
            asked = batch.select(as_rows(rows)).tensors()
            message = Message(kind="snapshot", numbers={"pass_sequences": pass_sequences}, tensors=asked)
            self.group.send(message, to=rank)
        parts = [take_snapshot(forward, batch.select(as_rows(own)), pass_sequences)]
        parts += [Snapshot(**self.group.receive(sender=rank).tensors) for rank in range(1, self.group.size)]
        return Snapshot(
            log_prob_BT=torch.cat([part.log_prob_BT for part in parts]),
            value_BT=torch.cat([part.value_BT for part in parts]),
        )

    def send_epoch(self, lesson: Lesson, minibatches: Sequence[Tensor], terms: UpdateTerms) -> None:
        """Send every helper its rows of each of the minibatches, given as rows of `lesson`."""
        sizes = {
            "num_sequences": [len(row_N) for row_N in minibatches],
            "num_valid": [int(lesson.part.is_valid_BT[row_N].sum()) for row_N in minibatches],
        }
        for rank in range(1, self.group.size):
            rows = [row_N[as_rows(split_evenly(len(row_N), self.group.size)[rank])] for row_N in minibatches]
            message = Message(
                kind="epoch", numbers=dataclasses.asdict(terms) | sizes, tensors=lesson.rows(torch.cat(rows)).tensors()
            )
            self.group.send(message, to=rank)

    def share(self, lesson: Lesson, row_N: Tensor) -> Share:
        """Return the leader's own share of the minibatch of rows row_N."""
        own = split_evenly(len(row_N), self.group.size)[0]
        return Share(
            lesson=lesson.rows(row_N[as_rows(own)]),
            num_valid=int(lesson.part.is_valid_BT[row_N].sum()),
            num_sequences=len(row_N),
            first_row=own.start,
        )


class Helper:
    """A helper's side: its copy of the policy and of the optimizer."""

    def __init__(
        self, policy: Policy, config: PPOConfig, learner: LearnerConfig, group: LearnerGroup, *, precision: Precision
    ) -> None:
        self.policy = policy
        self._group = group
        self._step = GradientStep(policy, config, learner, precision=precision)

    def serve(self) -> None:
        """Do what the leader asks, until a step that is not finite ends the run.

        Raises:
            LearnerLostError: another process is gone.
        """
        while True:
            message = self._group.receive(is_idle=True)
            match message.kind:
                case "state":
                    self._take_over(message)
                case "snapshot":
                    self._answer(message)
                case "epoch":
                    try:
                        self._take_epoch(message)
                    except NonFiniteStepError:
                        return  # the leader has the same and says so, with the whole batch
                case _:
                    raise AssertionError(f"no such message: {message.kind}")

    def _take_over(self, message: Message) -> None:
        weights = {name.removeprefix(_WEIGHT): x for name, x in message.tensors.items() if name.startswith(_WEIGHT)}
        moments = {name.removeprefix(_MOMENT): x for name, x in message.tensors.items() if name.startswith(_MOMENT)}
        self.policy.load_state_dict(weights)
        write_moments(self._step.optimizer, self.policy, moments, where=Path("the leader's state"))

    def _answer(self, message: Message) -> None:
        (pass_sequences,) = (int(number) for number in message.numbers.values())  # type: ignore[arg-type]
        part = FragmentBatch.from_tensors(message.tensors)
        snapshot = take_snapshot(self._step.forward, part, pass_sequences)
        answer = {"log_prob_BT": snapshot.log_prob_BT, "value_BT": snapshot.value_BT}
        self._group.send(Message(kind="snapshot", tensors=answer), to=0)

    def _take_epoch(self, message: Message) -> None:
        numbers = dict(message.numbers)
        sizes: list[tuple[int, int]] = list(zip(numbers.pop("num_sequences"), numbers.pop("num_valid"), strict=True))  # type: ignore[arg-type]
        lesson = Lesson.from_tensors(message.tensors)
        self._step.begin_update(UpdateTerms(**numbers))  # type: ignore[arg-type]
        start = 0
        for num_sequences, num_valid in sizes:
            place = split_evenly(num_sequences, self._group.size)[self._group.rank]
            share = Share(
                lesson=lesson.rows(torch.arange(start, start + len(place))),
                num_valid=num_valid,
                num_sequences=num_sequences,
                first_row=place.start,
            )
            start += len(place)
            self._step.take(share, self._group)
        self._step.end_update()
