"""Ways in which a game fails its client, for drills."""

import enum
from dataclasses import dataclass


class FaultKind(enum.Enum):
    """What goes wrong."""

    HANG = "hang"  # no answer ever
    HALF = "half"  # half of a message, then silence
    SIZE = "size"  # a frame of another size
    GARBAGE = "garbage"  # bytes that are no message
    CLOSE = "close"  # the connection is closed
    JSON = "json"  # observations that are no JSON


@dataclass
class Fault:
    """A failure that waits for its moment and happens once."""

    kind: FaultKind
    verb: str  # beginning of the message that it answers: "<StepClient", "<Peek", "<MissionInit"
    num_before: int = 0  # such messages that are answered well before

    def is_due(self, message: str) -> bool:
        """Tell whether it happens at this message, and count it."""
        if self.num_before < 0 or not message.startswith(self.verb):
            return False
        self.num_before -= 1
        return self.num_before < 0
