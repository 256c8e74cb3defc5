"""A word to whoever runs the engine for the first time: it is compiled then, and nothing else seems to happen."""

import sys


def announce_compiling() -> None:
    """Say on stderr that the engine will be compiled, where no kernel of these sources is kept yet."""
    from worlds.kernel_cache import are_kernels_kept

    if not are_kernels_kept():
        print("mcrl: first use of these sources: the engine is compiled, once, in one to two minutes", file=sys.stderr)
