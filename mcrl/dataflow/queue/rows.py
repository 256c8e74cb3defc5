"""A fragment as the queue knows it: a row of facts without pixels, and columns of payloads that others fill in."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from mcrl.rollout.fragment import Fragment
from mcrl.work import WorkKind, last_work, steps_of_kinds

# An environment's address: (worker id, env index).
EnvKey = tuple[int, int]

# The column that every row has from the start.
FRAGMENT = "fragment"


class RowId(NamedTuple):
    """The name of a fragment, the same wherever and however often it is handed in."""

    worker_id: int
    env_index: int
    sequence: int
    """0, 1, 2 ... for each (worker, env), without gaps."""

    @property
    def env_key(self) -> EnvKey:
        """Return the env that made it."""
        return self.worker_id, self.env_index


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """What samplers, gates and books ask of a fragment; some hundred bytes whatever the fragment weighs."""

    row_id: RowId
    min_version: int  # oldest weights that acted in it
    max_version: int  # newest
    num_steps: int
    duration_s: float  # wall time of its making, shared by all envs of a lockstep
    work: tuple[tuple[WorkKind, int], ...]  # steps of each kind of work
    last_work: tuple[WorkKind, int]  # kind of its last step and its length in steps: the best guess of what follows
    payloads: Mapping[str, Any]  # by completed column: the thing itself in process, a reference to it across processes

    @property
    def families(self) -> tuple[str, ...]:
        """Return the task families in it, each once, in order of appearance."""
        return tuple(dict.fromkeys(kind.family for kind, _ in self.work))

    def lag(self, version: int) -> int:
        """Return by how many updates the oldest weights in it are behind `version`."""
        return version - self.min_version


def row_of(fragment: Fragment, payload: Any) -> Row:
    """Return the row of a fragment, with `payload` (itself, or a reference to it) in its first column."""
    return Row(
        row_id=RowId(fragment.worker_id, fragment.env_index, fragment.sequence),
        min_version=fragment.min_version,
        max_version=fragment.max_version,
        num_steps=fragment.num_steps,
        duration_s=(fragment.end_ns - fragment.start_ns) / 1e9,
        work=tuple(steps_of_kinds(fragment).items()),
        last_work=last_work(fragment),
        payloads={FRAGMENT: payload},
    )
