"""Where compiled kernels are kept: in folders named after the sources that they were compiled from.

numba notices a change of the file a kernel stands in, but not of the files whose functions it calls: after an update it
would go on with old code, silently. A folder for every state of the sources cannot be stale, and serves every checkout
of that state. The engine is one state, since its kernels call each other all over the place; a kernel of another
package depends on the engine and on the files that its own file imports.
"""

import functools
import hashlib
import os
import re
import shutil
import sys
from pathlib import Path

from worlds.cache_home import cache_home

# In the environment: the file that a process makes when it compiles, for one that waits; see worlds.compile_sign.
COMPILE_SIGN_VARIABLE = "MCRL_COMPILE_SIGN"
COMPILE_WORD = (
    "mcrl: first use of a part of these sources: the engine is compiled, each part once, when it is needed, in one to "
    "two minutes in all; meanwhile progress may stand still"
)
_ENGINE = "worlds"
_FOREIGN = "adapters"  # in it, of engines that are not ours: without kernels, and none of ours knows of it
# Packages with kernels that call the engine's.
_OTHERS = ("task_synthesis", "policies")
_ROOT = Path(__file__).resolve().parents[1]
_MAX_FOLDERS = 64
# The names that are imported may stand on lines of their own, in parentheses.
_IMPORT = re.compile(
    r"^\s*(?:from|import) +((?:" + "|".join(_OTHERS) + r")[\w.]*)(?: +import +(\([^)]*\)|.*))?", re.MULTILINE
)


def use_cache_of_these_sources() -> None:
    """Tell numba where to keep kernels; a NUMBA_CACHE_DIR or locator that is set already is left alone.

    Where the home folder cannot be written, numba's own place (beside the sources) stays. A numba without locators of
    its users' own (before 0.62) gets one folder for the state of all packages.
    """
    if "NUMBA_CACHE_DIR" in os.environ or "NUMBA_CACHE_LOCATOR_CLASSES" in os.environ:
        return
    values = {"CACHE_LOCATOR_CLASSES": "worlds.kernel_locator.KernelLocator"}
    try:
        folder = _folder("all", _digest(tuple(_files_of(_ENGINE, *_OTHERS))))
    except OSError:
        pass  # the locator asks numba then, see there
    else:
        _clear_old(folder.parent)
        values["CACHE_DIR"] = str(folder)
    for name, value in values.items():
        os.environ[f"NUMBA_{name}"] = value
        if "numba" in sys.modules:
            setattr(sys.modules["numba"].config, name, value)


def are_kernels_kept() -> bool:
    """Return whether kernels of these sources were compiled before; True too where that is not for us to know."""
    if not are_kernels_ours():
        return True
    try:
        return any(folder_of(Path(__file__)).rglob("*.nbi"))
    except OSError:
        return True


def are_kernels_ours() -> bool:
    """Return whether kernels are kept in a folder of these sources, and not where numba or its user has them."""
    return "worlds.kernel_locator" in os.environ.get("NUMBA_CACHE_LOCATOR_CLASSES", "")


def has_kernels(module: str) -> bool:
    """Tell whether a module, by its name, is of a package whose kernels are kept here."""
    return module.partition(".")[0] in (_ENGINE, *_OTHERS)


def folder_of(path: Path) -> Path:
    """Return the folder, made where it was missing, of the kernels in the source file `path`; ValueError: not ours."""
    package = path.resolve().relative_to(_ROOT).parts[0]
    if not has_kernels(package):
        raise ValueError(f"{path} is in none of {', '.join((_ENGINE, *_OTHERS))}")
    files = _files_of(_ENGINE)
    if package != _ENGINE:
        files = sorted({*files, *_imported(path.resolve())})
    return _folder(f"{package}_{path.stem}" if package != _ENGINE else package, _digest(tuple(files)))


def _folder(name: str, digest: str) -> Path:
    folder = cache_home("kernels") / f"{name}_{digest}"
    folder.mkdir(parents=True, exist_ok=True)
    folder.touch()
    return folder


def _files_of(*packages: str) -> list[Path]:
    files = (path for package in packages for path in (_ROOT / package).rglob("*.py"))
    return sorted(path for path in files if not path.is_relative_to(_ROOT / _ENGINE / _FOREIGN))


@functools.cache
def _digest(files: tuple[Path, ...]) -> str:
    digest = hashlib.blake2b(digest_size=8)
    for path in files:
        digest.update(path.relative_to(_ROOT).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()


def _imported(path: Path) -> set[Path]:
    """Return the file and all files outside the engine that it imports, and those import, and so on."""
    found: set[Path] = set()
    waiting = [path]
    while waiting:
        file = waiting.pop()
        if file not in found:
            found.add(file)
            waiting += _imports_of(file)
    return found


@functools.cache
def _imports_of(path: Path) -> tuple[Path, ...]:
    files = []
    for module, names in _IMPORT.findall(path.read_text(encoding="utf-8")):
        # "from package import module" names a file too; names of functions match none and fall away.
        for name in (module, *(f"{module}.{name}" for name in re.findall(r"\w+", names))):
            base = _ROOT.joinpath(*name.split("."))
            files += [file for file in (base.with_suffix(".py"), base / "__init__.py") if file.is_file()]
    return tuple(files)


def _clear_old(home: Path) -> None:
    """Remove the folders that were not asked for in longest, and what earlier versions of this file left."""
    folders = sorted((path for path in home.iterdir() if path.is_dir()), key=_time_s)
    for old in folders[:-_MAX_FOLDERS]:
        shutil.rmtree(old, ignore_errors=True)


def _time_s(folder: Path) -> float:
    """Return when a folder was asked for last; 0 for one that another process, which begins too, has just removed."""
    try:
        return folder.stat().st_mtime
    except OSError:
        return 0.0
