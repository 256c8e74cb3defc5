"""The options that a user gives an engine: known ones alone, each of the type that the engine wants."""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Any

from worlds.adapters.engine import EngineError

# Sent by our side itself, to any engine, where depth is asked for.
_OF_ALL = "with_depth"


def read_options(given: Mapping[str, Any], known: Mapping[str, Callable[[Any], Any]]) -> dict[str, Any]:
    """Return the options that were given, each as its reader reads it.

    Args:
        given: by name, values of JSON.
        known: readers by name, such as those below. One returns the value as the engine uses it, and raises ValueError
            with what would be a value where it is none.

    Raises:
        EngineError: there is no option of that name, or its value is none.
    """
    readers = {_OF_ALL: truth, **known}
    options = {}
    for name, value in given.items():
        if name not in readers:
            close = get_close_matches(name, known, n=1)
            there_are = f"it has {', '.join(known)}" if known else "it has no options; leave it out"
            raise EngineError(f"no such option {name!r}; {f'did you mean {close[0]}?' if close else there_are}")
        try:
            options[name] = readers[name](value)
        except ValueError as wanted:
            raise EngineError(f"option {name} is {value!r:.80}, wanted is {wanted}") from None
    return options


def truth(value: Any) -> bool:
    """Return true or false."""
    if not isinstance(value, bool):
        raise ValueError("true or false")
    return value


def integer(value: Any) -> int:
    """Return an integer."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise ValueError("an integer")
    return value


def count(value: Any) -> int:
    """Return an integer of at least 1."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ValueError("an integer of at least 1")
    return value


def seconds(value: Any) -> float:
    """Return a duration."""
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not 0 < value < math.inf:
        raise ValueError("a number of seconds above 0")
    return float(value)


def text(value: Any) -> str:
    """Return a text."""
    if not isinstance(value, str) or not value:
        raise ValueError("a text")
    return value


def text_or_integer(value: Any) -> str | int:
    """Return a text or an integer."""
    if isinstance(value, bool) or not isinstance(value, (str, int)) or value == "":
        raise ValueError("a text or an integer")
    return value


def words(value: Any) -> list[str]:
    """Return the words of a command, which may come as one text, as for a shell."""
    try:
        found = shlex.split(value) if isinstance(value, str) else value
    except ValueError:  # a quotation that does not end
        found = None
    if not isinstance(found, list) or not found or not all(isinstance(word, str) for word in found):
        raise ValueError("a command, as one text or as a list of its words")
    return found
