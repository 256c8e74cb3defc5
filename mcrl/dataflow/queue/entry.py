"""What a queue keeps of one row."""

import dataclasses
from dataclasses import dataclass, field
from typing import Any

from mcrl.dataflow.queue.rows import FRAGMENT, Row
from mcrl.dataflow.queue.state import TRAIN, RowState


@dataclass(kw_only=True, slots=True)
class Entry:
    """A row without its payloads, these by column, and who has it in hand or is through with it."""

    row: Row
    payloads: dict[str, Any]
    leases: dict[str, int] = field(default_factory=dict)  # by consumer
    done: set[str] = field(default_factory=set)  # consumers that are through with it

    @property
    def waits(self) -> bool:
        """Return whether nobody trains on it or has trained on it."""
        return TRAIN not in self.done and TRAIN not in self.leases

    @property
    def is_lost(self) -> bool:
        """Return whether its fragment is gone: nobody new can be handed it."""
        return FRAGMENT not in self.payloads

    def handed_out(self) -> Row:
        """Return the row with its payloads."""
        return dataclasses.replace(self.row, payloads=dict(self.payloads))

    def state(self) -> RowState:
        """Return everything but the payloads."""
        return RowState(
            row=self.row,
            columns=tuple(self.payloads),
            empty_columns=tuple(name for name, value in self.payloads.items() if value is None),
            leases=tuple(self.leases.items()),
            done=tuple(sorted(self.done)),
        )
