"""A word to whoever runs the engine for the first time: it is compiled then, and nothing else seems to happen."""

import os
import sys
from pathlib import Path


def announce_compiling() -> None:
    """Say on stderr that the engine will be compiled, where no kernel of these sources is kept yet."""
    import worlds
    from worlds.kernel_cache import folder_of

    if "worlds.kernel_locator" not in os.environ.get("NUMBA_CACHE_LOCATOR_CLASSES", ""):
        return  # kept where the user says
    if not any(folder_of(Path(worlds.__file__)).rglob("*.nbi")):
        print("mcrl: first use of these sources: the engine is compiled, once, in one to two minutes", file=sys.stderr)
