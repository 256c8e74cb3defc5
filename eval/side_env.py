"""Side environments: packages whose pins must not meet ours, each set in a virtual environment of its own.

Built once from a pinned requirements file and kept under ~/.cache/mcrl/peers/NAME-HASH. Two comments in that file steer
how: "# pip: FLAGS" are given to pip, "# borrows: ..." lets the packages of our own environment be found behind its own.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path

from task_synthesis.folder_lock import locked

REQUIREMENTS_DIR = Path(__file__).resolve().parent / "peers" / "requirements"
# Written last: an environment without it was interrupted, and is built anew.
_STAMP = "complete"
_INSTALL_TIMEOUT_S = 3600
_TORCH_CPU_INDEX = "https://download.pytorch.org/whl/cpu"


class SideEnvError(RuntimeError):
    """A side environment cannot be had here; the message is one sentence with the reason."""


def side_env_names() -> list[str]:
    """Return the environments there are requirements for."""
    return sorted(path.stem for path in REQUIREMENTS_DIR.glob("*.txt"))


def side_env(
    name: str,
    *,
    requirements: Path | None = None,
    root: Path | None = None,
    on_build: Callable[[str], None] = lambda sentence: None,
) -> Path:
    """Return the Python interpreter of the side environment `name`, built first where there is none yet.

    Args:
        name: one of `side_env_names()`, or any name when `requirements` is given.
        requirements: file of pinned packages; None takes the one that ships with us.
        root: folder of all side environments; None is the user's cache.
        on_build: told before a build begins, which takes minutes.

    Raises:
        ValueError: there is no such environment.
        SideEnvError: it cannot be installed here.
    """
    path = requirements or REQUIREMENTS_DIR / f"{name}.txt"
    folder = _folder(name, path, root)
    python = _python(folder)
    if (folder / _STAMP).exists():
        return python
    folder.parent.mkdir(parents=True, exist_ok=True)
    with locked(folder.parent, other="builds a side environment"):
        if not (folder / _STAMP).exists():  # else another process was done with it just now
            on_build(f"building the side environment {name} in {folder}: a few minutes, once")
            _build(name, folder, python, path, path.read_text(encoding="ascii"))
    return python


def built_env(name: str, *, requirements: Path, root: Path | None = None) -> Path | None:
    """Return the interpreter of a side environment that is there already, else None."""
    folder = _folder(name, requirements, root)
    return _python(folder) if (folder / _STAMP).exists() else None


def _folder(name: str, requirements: Path, root: Path | None) -> Path:
    if not requirements.is_file():
        raise ValueError(f"side environment {name!r} is unknown; there are {', '.join(side_env_names())}")
    return (root or _default_root()) / f"{name}-{_content_hash(requirements.read_text(encoding='ascii'))}"


def _python(folder: Path) -> Path:
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def outside_environment() -> dict[str, str]:
    """Return the variables for a process in a side environment: ours, less what would bring our packages into it."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}


def _default_root() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "mcrl" / "peers"


def _content_hash(pins: str) -> str:
    """Return what changes when the packages or the interpreter do."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    return hashlib.sha256(f"{version}\n{sys.platform}\n{pins}".encode("ascii")).hexdigest()[:12]


def _build(name: str, folder: Path, python: Path, path: Path, pins: str) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    try:
        _run(name, [sys.executable, "-m", "venv", str(folder)])
        torch_pin = re.search(r"^torch==([\w.]+)$", pins, re.MULTILINE)
        if torch_pin:
            _install_torch(name, python, torch_pin.group(1))
        flags = re.search(r"^# pip: (.+)$", pins, re.MULTILINE)
        _run(name, _pip(python, *(flags.group(1).split() if flags else ()), "-r", str(path)))
        if re.search(r"^# borrows: ", pins, re.MULTILINE):
            _lend_ours(folder)
        (folder / _STAMP).write_text(pins, encoding="ascii")
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _lend_ours(folder: Path) -> None:
    """Let our packages be found where the environment has none of that name; both run the same interpreter."""
    (site_packages,) = folder.glob("lib/python*/site-packages") if os.name != "nt" else [folder / "Lib/site-packages"]
    lent = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    (site_packages / "ours.pth").write_text("\n".join(sorted(lent)) + "\n", encoding="utf-8")


def _install_torch(name: str, python: Path, version: str) -> None:
    """Install torch for the CPU first, so that on Linux nobody fetches the gigabytes of the CUDA build."""
    if not sys.platform.startswith("linux"):
        return
    try:
        _run(name, _pip(python, f"torch=={version}+cpu"))
    except SideEnvError:
        # The usual indexes have no builds of that name; PyTorch's own does.
        _run(name, _pip(python, f"torch=={version}", "--index-url", _TORCH_CPU_INDEX))


def _pip(python: Path, *arguments: str) -> list[str]:
    return [str(python), "-m", "pip", "install", "--disable-pip-version-check", "--no-input", "-q", *arguments]


def _run(name: str, command: list[str]) -> None:
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_INSTALL_TIMEOUT_S,
            env=outside_environment(),
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SideEnvError(f"side environment {name} cannot be built: {error}") from None
    if done.returncode:
        raise SideEnvError(f"side environment {name} cannot be built: {_reason(done.stdout + done.stderr)}")


def _reason(output: str) -> str:
    """Return the last line that says what went wrong, as pip marks it, else the last line at all."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    marked = [line for line in lines if line.startswith("ERROR:")]
    return (marked or lines or ["it said nothing"])[-1].removeprefix("ERROR:").strip()
