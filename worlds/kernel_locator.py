"""What numba asks for the place of a kernel's compiled code; see worlds.kernel_cache. Imported by numba alone."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from numba.core.caching import CacheImpl, UserProvidedCacheLocator

from worlds.compile_sign import tell_when_compiling
from worlds.kernel_cache import folder_of

tell_when_compiling()  # every process that has a kernel to compile imports this file, once


class KernelLocator(UserProvidedCacheLocator):  # type: ignore[misc]  # numba has no types
    """Keeps a kernel in the folder of its sources.

    Functions of other packages are left to numba's own rule, and all where the home folder cannot be written.
    """

    def __init__(self, py_func: Callable[..., Any], py_file: str) -> None:
        super().__init__(py_func, py_file)
        self._cache_path = str(folder_of(Path(py_file)) / Path(py_file).stem)

    def get_source_stamp(self) -> str:
        """Return what never differs within a folder: its name already says which sources it belongs to."""
        return ""

    @classmethod
    def from_function(cls, py_func: Callable[..., Any], py_file: str) -> Any:
        """Return the locator of a function, or one of numba's own kinds."""
        locator = None
        with suppress(ValueError, OSError):
            locator = super().from_function(py_func, py_file)
        kinds: list[Any] = CacheImpl._locator_classes
        own = (kind.from_function(py_func, py_file) for kind in kinds)
        return locator or next((found for found in own if found is not None), None)
