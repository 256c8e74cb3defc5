"""Suites of one selection of tasks under names without it: said once, it need not stand in every heading."""

from collections.abc import Iterable


def shared_selection(suites: Iterable[str]) -> str:
    """Return the selection that all suites have in common, "approach; near"; "" where one has another or none.

    `suites` are names as judged folders have them, a selection's with what it selects behind: "unseen_seeds.v1
    (approach; near)".
    """
    selections = {parts_of(suite)[1] for suite in suites}
    return selections.pop() if len(selections) == 1 else ""


def without(suite: str, selection: str) -> str:
    """Return a suite's name without the selection that is said elsewhere."""
    return parts_of(suite)[0] if selection else suite


def selection_sentence(selection: str) -> str:
    """Return that only some tasks of every suite were played; "" where all were."""
    return f"Of every suite only the tasks of: {selection}." if selection else ""


def parts_of(suite: str) -> tuple[str, str]:
    """Return a suite's name and its selection, "" where there is none."""
    name, _, selection = suite.partition(" (")
    return (name, selection[:-1]) if selection.endswith(")") else (suite, "")
