"""How one source becomes machine code for several targets.

Kernels are plain functions of scalars and arrays, without a decorator. Compiled code can only call code compiled for
the same target, so every target gets compiled copies of its own; the sources stay as they are.
"""

from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any

Kernel = Callable[..., Any]


def link(
    sources: Sequence[Kernel], compile_function: Callable[[Kernel], Kernel], known: dict[str, Kernel]
) -> dict[str, Kernel]:
    """Return `known` and the compiled sources by name.

    A function may call `known` ones and those before it in `sources`, whatever module they come from: names are unique
    over all kernel modules.
    """
    compiled = dict(known)
    for source in sources:
        assert isinstance(source, FunctionType)
        copy = FunctionType(source.__code__, {**source.__globals__, **compiled}, source.__name__)
        compiled[source.__name__] = compile_function(copy)
    return compiled
