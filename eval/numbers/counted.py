"""Counts in words: "1 task", "12 tasks"."""


def counted(count: int, noun: str) -> str:
    """Return a count with its noun, which takes an s unless it is one."""
    return f"{count} {noun}{'' if count == 1 else 's'}"
