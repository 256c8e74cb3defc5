"""The rows of a report: their names, their order, which of them is judged, and which are held against which."""

from collections.abc import Sequence

ROW_RANDOM, ROW_NOOP, ROW_EXPERT = "random", "noop", "expert"
ROW_SHUFFLED, ROW_BLANK = "shuffled goal", "blank goal"
ROW_IMITATION, ROW_DAGGER, ROW_IMITATION_LONG, ROW_RL = "imitation", "dagger", "imitation-long", "rl"
ROW_START = "start"  # of a run that began with another's checkpoint, in place of its imitation

# Rows that say how good no policy and the judged policy without its goal are, and how good one can be.
BASELINES = (ROW_RANDOM, ROW_NOOP, ROW_SHUFFLED, ROW_BLANK, ROW_EXPERT)

# Floor first; rows of other names come before the expert in the order they were played.
_FIRST = (
    ROW_RANDOM,
    ROW_NOOP,
    ROW_SHUFFLED,
    ROW_BLANK,
    ROW_START,
    ROW_IMITATION,
    ROW_DAGGER,
    ROW_IMITATION_LONG,
    ROW_RL,
)


def in_order(rows: Sequence[str]) -> list[str]:
    """Return the rows as every table lists them: floors, policies, expert."""
    known = [row for row in _FIRST if row in rows]
    return known + [row for row in rows if row not in known and row != ROW_EXPERT] + [ROW_EXPERT] * (ROW_EXPERT in rows)


def main_row(rows: Sequence[str]) -> str:
    """Return the row that the report is about: the last stage of training, else the first policy, else any."""
    policies = [row for row in rows if row not in BASELINES]
    return next(
        (row for row in (ROW_RL, ROW_IMITATION_LONG, ROW_DAGGER, ROW_IMITATION, ROW_START) if row in rows),
        next(iter([*policies, *rows])),
    )


def claims_of(rows: Sequence[str]) -> list[tuple[str, str]]:
    """Return the claims that a report tests, (A, B) for "A solves more than B": the judged row against all but chance.

    The expert is the ceiling, not a rival, and that a policy beats chance needs no test.
    """
    judged = main_row(rows)
    rivals = [row for row in in_order(rows) if row not in (judged, ROW_RANDOM, ROW_NOOP, ROW_EXPERT)]
    return [(judged, rival) for rival in rivals] if judged not in BASELINES else []
