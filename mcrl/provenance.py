"""Which code ran, and on which machine: what every report, bench and checkpoint says about its origin."""

import os
import platform
import subprocess
from functools import cache
from importlib import metadata
from pathlib import Path

from mcrl import __version__

UNKNOWN = "unknown"
COMMIT_FILE = "commit.txt"
"""Beside this file in a wheel or sdist, where mcrl.build_commit wrote it; a checkout has none."""

# CPU features that decide how fast the engine and bf16 learning are.
_NOTABLE_FLAGS = ("avx2", "fma", "avx512f", "avx512_bf16", "amx_bf16")
_VERSIONED_PACKAGES = ("torch", "numba", "numpy")


def version() -> str:
    """Return our version, whether installed or run from a checkout."""
    return __version__


def package_version(name: str) -> str | None:
    """Return the version of an installed distribution without importing it, None when it is absent."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


@cache
def commit() -> str:
    """Return the git commit these sources are of, "-dirty" added when tracked files differ from it.

    It is looked for once in a process: what is checked out while it runs is not what it runs. An installed package
    says what it was built from; "unknown" where that was not known either.
    """
    written = Path(__file__).resolve().with_name(COMMIT_FILE)
    if written.is_file():
        return written.read_text(encoding="ascii").strip()
    root = written.parents[1]
    if not (root / ".git").exists():
        return UNKNOWN
    try:
        head = _git(root, "rev-parse", "--short=12", "HEAD")
        is_dirty = bool(_git(root, "status", "--porcelain", "--untracked-files=no"))
    except (OSError, subprocess.CalledProcessError, subprocess.TimeoutExpired):
        return UNKNOWN
    return f"{head}-dirty" if is_dirty else head


def _git(root: Path, *arguments: str) -> str:
    command = ["git", "-C", str(root), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=10).stdout.strip()


def hardware() -> dict[str, str | int | float | list[str]]:
    """Return what decides a measured speed: CPU, usable cores, flags of note, memory, versions."""
    fields: dict[str, str | int | float | list[str]] = {
        "cpu": _cpu_field("model name") or platform.processor() or platform.machine(),
        "num_cores": num_usable_cores(),
        "flags": [flag for flag in _NOTABLE_FLAGS if flag in (_cpu_field("flags") or "").split()],
        "memory_gib": round(memory_bytes()[0] / 2**30, 1),
        "platform": platform.platform(terse=True),
        "python": platform.python_version(),
    }
    fields.update({name: package_version(name) or "absent" for name in _VERSIONED_PACKAGES})
    return fields


def num_usable_cores() -> int:
    """Return the number of logical cores this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def memory_bytes() -> tuple[int, int]:
    """Return (total, available) bytes of main memory; zeros where the system does not say."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0, 0
    kib = {line.partition(":")[0]: int(line.split()[1]) for line in lines if line.endswith("kB")}
    return kib.get("MemTotal", 0) * 1024, kib.get("MemAvailable", 0) * 1024


def _cpu_field(name: str) -> str | None:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    for line in lines:
        key, _, value = line.partition(":")
        if key.strip() == name:
            return value.strip()
    return None
