"""Where compiled kernels are kept: a folder named after the sources they were compiled from.

numba notices a change of the file a kernel stands in, but not of the files whose functions it calls: after an update it
would go on with old code, silently. A folder for every state of the sources cannot be stale.
"""

import hashlib
import os
import shutil
import sys
from pathlib import Path

# Packages that hold kernels.
_PACKAGES = ("worlds", "task_synthesis", "policies")
_MAX_FOLDERS = 4


def _digest(root: Path) -> str:
    digest = hashlib.blake2b(digest_size=8)
    for package in _PACKAGES:
        for path in sorted((root / package).rglob("*.py")):
            digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()


def use_cache_of_these_sources() -> None:
    """Point numba's cache at this state of the sources; a NUMBA_CACHE_DIR that is set already is left alone.

    Where the home folder cannot be written, numba's own place (beside the sources) stays.
    """
    if "NUMBA_CACHE_DIR" in os.environ:
        return
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "mcrl" / "kernels"
    folder = home / _digest(Path(__file__).resolve().parents[1])
    try:
        folder.mkdir(parents=True, exist_ok=True)
        folder.touch()
    except OSError:
        return
    for old in sorted(home.iterdir(), key=lambda path: path.stat().st_mtime)[:-_MAX_FOLDERS]:
        shutil.rmtree(old, ignore_errors=True)
    os.environ["NUMBA_CACHE_DIR"] = str(folder)
    if "numba" in sys.modules:
        sys.modules["numba"].config.CACHE_DIR = str(folder)
