"""A policy's passes by torch.compile."""

import os
import shutil
from collections.abc import Callable

import torch

from policies.interface import Evaluation, Policy


def check_compiler() -> None:
    """Raise ValueError where torch.compile could not work: without a GPU it needs a C++ compiler."""
    compiler = os.environ.get("CXX", "g++")
    if not torch.cuda.is_available() and shutil.which(compiler) is None:
        raise ValueError(
            f"learner.compiles: no GPU here, and on a CPU torch.compile needs the C++ compiler {compiler}, which is "
            "missing; install g++ or leave learner.compiles off"
        )


def compiled_evaluate(policy: Policy) -> Callable[..., Evaluation]:
    """Return `policy.evaluate` compiled at its first call, to the same numbers up to rounding.

    The number of goals differs from minibatch to minibatch: it is a symbol from the second one on, so that there are
    two compilations and not one a minibatch.
    """
    check_compiler()
    return torch.compile(policy.evaluate)
