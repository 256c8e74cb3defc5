"""Text read as JSON: whatever cannot be read of it is one kind of error."""

import json
import sys
from collections.abc import Callable
from typing import Any


def parse_json(text: str, *, object_pairs_hook: Callable[[list[tuple[str, Any]]], Any] | None = None) -> Any:
    """Return what the text says; `object_pairs_hook` makes an object of its fields, as for json.loads.

    Raises:
        ValueError: the text is no JSON, ends too early, is nested deeper than Python reads or has an integer of more
            digits than that. The words say why; the caller puts the file before them and the fix behind.
    """
    try:
        return json.loads(text, object_pairs_hook=object_pairs_hook)
    except json.JSONDecodeError as error:
        line = f"line {error.lineno}, " if error.lineno > 1 or "\n" in text.strip() else ""
        what = error.msg.removesuffix(" at")  # "Unterminated string starting at"
        raise ValueError(f"{what} at {line}column {error.colno}") from None
    except RecursionError:
        raise ValueError("it is nested too deep") from None
    except ValueError:  # of int(), which takes no text that would cost it minutes
        raise ValueError(f"it has an integer of more than {sys.get_int_max_str_digits()} digits") from None
