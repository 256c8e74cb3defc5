"""The interactions a goal can ask for, with the ids of the public ROCKET checkpoints."""

from enum import IntEnum

# Rows of an interaction embedding: ids -1 .. 8 are rows 0 .. 9.
NUM_INTERACTION_ROWS = 10


class Interaction(IntEnum):
    """What to do with the marked object. `row` is its place in an embedding table."""

    NONE = -1
    HUNT = 0
    BREAK = 2
    INTERACT = 3
    CRAFT = 4
    SWITCH = 5
    APPROACH = 6
    PICK_UP = 7
    PLACE = 8

    @property
    def row(self) -> int:
        """Return the row of this interaction in an embedding table."""
        return int(self) + 1
