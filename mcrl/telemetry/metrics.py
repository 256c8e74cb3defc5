"""metrics.jsonl: one JSON object a line, one line an update; the record every run has, wandb or not."""

import json
import math
import os
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

import numpy as np

from mcrl.rollout.fragment import Fragment
from task_synthesis.json_reader import MisfitError, reader_of
from task_synthesis.json_text import parse_json
from task_synthesis.playing.milestones import REWARD_PARTS
from task_synthesis.playing.task_env import Outcome

# Values of a line: numbers, or None where a number was not finite or could not be measured.
Metrics = Mapping[str, float]
_MAX_LINE_BYTES = 2**16  # the longest have some two hundred values
_READ_VALUE = reader_of(float | None)
_READERS = {"stage": reader_of(str), "step": reader_of(int)}


def number_of(value: object) -> float:
    """Return a value of a line, 0 where there is none or it was not finite."""
    return float(value) if isinstance(value, int | float) else 0.0


class MetricsLog:
    """Appends lines to a run's metrics.jsonl."""

    def __init__(self, path: Path) -> None:
        """Append to `path`; the file is made with the first line."""
        self.path = path

    def write(self, stage: str, step: int, metrics: Metrics) -> None:
        """Append one line, in place of one cut short before. NaN and infinity become null, because JSON has neither."""
        line: dict[str, object] = {"stage": stage, "step": step, "time_s": round(time.time(), 3)}
        line |= {name: float(value) if math.isfinite(value) else None for name, value in metrics.items()}
        with self.path.open("ab+") as file:
            _end_last_line(file)
            file.write((json.dumps(line) + "\n").encode("ascii"))

    def discard_after(self, stage: str, step: int, *, name: str | None = None) -> None:
        """Remove lines of `stage` beyond `step`, or those of them with a value called `name`.

        A run that goes on from a checkpoint writes them again.
        """
        if self.path.exists():
            lines = read_metrics(self.path)
            self._keep([line for line in lines if not _is_of(line, stage, name) or _step_of(line) <= step])

    def discard_after_last(self, *names: str) -> None:
        """Remove all lines beyond the last with a value called as one of `names`; all where there is none."""
        if self.path.exists():
            lines = read_metrics(self.path)
            num_kept = max(
                (number for number, line in enumerate(lines, 1) if not line.keys().isdisjoint(names)), default=0
            )
            self._keep(lines[:num_kept])

    def has(self, stage: str, step: int, *, name: str) -> bool:
        """Return whether a line of `stage` and `step` with a value called `name` was written."""
        lines = read_metrics(self.path) if self.path.exists() else []
        return any(_is_of(line, stage, name) and _step_of(line) == step for line in lines)

    def count(self, stage: str) -> int:
        """Return how many lines of `stage` there are."""
        lines = read_metrics(self.path) if self.path.exists() else []
        return sum(line["stage"] == stage for line in lines)

    def _keep(self, lines: list[dict[str, object]]) -> None:
        partial = self.path.with_suffix(".partial")
        partial.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="ascii")
        partial.replace(self.path)


def _end_last_line(file: BinaryIO) -> None:
    """Remove a last line that was cut short, as on a full disk: the next one would be a part of it."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - _MAX_LINE_BYTES))
    tail = file.read().rpartition(b"\n")[2]
    if not tail:
        return
    try:
        parse_json(tail.decode("ascii"))
        file.write(b"\n")  # nothing is missing but this
    except ValueError:
        file.truncate(size - len(tail))


def read_metrics(path: Path) -> list[dict[str, object]]:
    """Read the lines back. A last line cut short by a crash is left out; any other broken line raises ValueError."""
    lines = path.read_bytes().splitlines()
    read = []
    for number, text in enumerate(lines, start=1):
        try:
            line = parse_json(text.decode("ascii"))
        except ValueError:
            if number == len(lines):
                break
            raise ValueError(f"{path}:{number}: not a line of JSON; delete the line") from None
        try:
            _check_line(line)
        except ValueError as error:
            raise ValueError(f"{path}:{number}: not a line of metrics ({error}); delete the line") from None
        read.append(line)
    return read


def _check_line(line: object) -> None:
    """Raise ValueError for what `MetricsLog.write` does not write."""
    if not isinstance(line, dict) or not {"stage", "step"} <= line.keys():
        raise ValueError("a stage and a step are wanted")
    for name, value in line.items():
        try:
            _READERS.get(name, _READ_VALUE)(value)
        except MisfitError as misfit:
            raise ValueError(f"{name}{misfit}") from None


def rollout_metrics(fragments: Sequence[Fragment]) -> dict[str, float]:
    """Return how the episodes that ended in these fragments went; without any, only their number.

    Early in a run they are biased to short episodes, since long ones have not ended yet. Episodes that the engine
    failed are counted apart and in no rate.
    """
    outcomes: Counter[int] = Counter()
    ended_of: Counter[str] = Counter()
    succeeded_of: Counter[str] = Counter()
    for fragment in fragments:
        is_end_T = fragment.terminated_T | fragment.truncated_T
        for step in is_end_T.nonzero()[0]:
            outcome = int(fragment.outcome_T[step])
            outcomes[outcome] += 1
            if outcome != Outcome.FAULT:
                skill = fragment.families[int(fragment.goal_index_T[step])].partition("/")[0]
                ended_of[skill] += 1
                succeeded_of[skill] += outcome == Outcome.SUCCESS
    num_judged = sum(ended_of.values())
    metrics = {"episodes": float(num_judged), "faults": float(outcomes[Outcome.FAULT])}
    if num_judged:
        metrics |= _reward_parts(fragments, num_judged)
        metrics["success"] = outcomes[Outcome.SUCCESS] / num_judged
        for outcome in (Outcome.WRONG_OBJECT, Outcome.DEATH, Outcome.TIME_LIMIT):
            metrics[outcome.name.lower()] = outcomes[outcome] / num_judged
        metrics |= {f"success/{skill}": succeeded_of[skill] / ended_of[skill] for skill in sorted(ended_of)}
    return metrics


def _reward_parts(fragments: Sequence[Fragment], num_episodes: int) -> dict[str, float]:
    """Return each part of the rewards an episode, where there is more than success."""
    parts = [fragment.reward_parts_TP.sum(0) for fragment in fragments if fragment.reward_parts_TP is not None]
    if not parts:
        return {}
    sums = np.sum(parts, axis=0) / num_episodes
    return {f"reward/{name}": float(value) for name, value in zip(REWARD_PARTS, sums, strict=True)}


def _is_of(line: dict[str, object], stage: str, name: str | None) -> bool:
    return line["stage"] == stage and (name is None or name in line)


def _step_of(line: dict[str, object]) -> int:
    step = line["step"]
    assert isinstance(step, int)
    return step
