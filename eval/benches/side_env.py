"""Side environments: packages whose pins must not meet ours, each set in a virtual environment of its own.

Built once from a pinned requirements file and kept under ~/.cache/mcrl/peers/NAME-HASH. Comments in that file steer
how: "# pip: FLAGS" are given to pip, "# first: PINS" are installed before the rest, "# environment: NAME=VALUE" is set
meanwhile, "# python: 3.10 3.11" are the versions that will do, where not every one does, and "# borrows: ..." lets the
packages of our own environment be found behind its own.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Mapping
from pathlib import Path

from task_synthesis.folder_lock import locked

REQUIREMENTS_DIR = Path(__file__).resolve().parents[1] / "peers" / "requirements"
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
    if not path.is_file():
        raise ValueError(f"side environment {name!r} is unknown; there are {', '.join(side_env_names())}")
    pins = path.read_text(encoding="ascii")
    folder, python = _place(name, pins, root)
    if (folder / _STAMP).exists():
        return python
    folder.parent.mkdir(parents=True, exist_ok=True)
    with locked(folder.parent, other="builds a side environment"):
        if not (folder / _STAMP).exists():  # else another process was done with it just now
            on_build(f"building the side environment {name} in {folder}: a few minutes, once")
            _build(name, folder, python, path, pins)
    return python


def outside_environment() -> dict[str, str]:
    """Return the variables for a process in a side environment: ours, less what would bring our packages into it."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}


def _place(name: str, pins: str, root: Path | None) -> tuple[Path, Path]:
    """Return the folder of an environment, and the interpreter in it."""
    folder = (root or _default_root()) / f"{name}-{_content_hash(pins)}"
    return folder, folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def _default_root() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "mcrl" / "peers"


def _content_hash(pins: str) -> str:
    """Return what changes when the packages or the interpreter do."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    return hashlib.sha256(f"{version}\n{sys.platform}\n{pins}".encode("ascii")).hexdigest()[:12]


def _build(name: str, folder: Path, python: Path, path: Path, pins: str) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    try:
        _run(name, [_interpreter(name, _directive(pins, "python")), "-m", "venv", str(folder)])
        torch_pin = re.search(r"^torch==([\w.]+)$", pins, re.MULTILINE)
        if torch_pin:
            _install_torch(name, python, torch_pin.group(1))
        first = _directive(pins, "first")
        if first:
            _run(name, _pip(python, *first))
        variables = dict(pair.split("=", 1) for pair in _directive(pins, "environment"))
        _run(name, _pip(python, *_directive(pins, "pip"), "-r", str(path)), variables)
        if _directive(pins, "borrows"):
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


def _directive(pins: str, name: str) -> list[str]:
    """Return the words of a "# name: ..." comment, none where there is no such comment."""
    found = re.search(rf"^# {name}: (.+)$", pins, re.MULTILINE)
    return found.group(1).split() if found else []


def _interpreter(name: str, versions: list[str]) -> str:
    """Return an interpreter of one of these versions: ours if it will do, else the first one on the PATH."""
    ours = f"{sys.version_info.major}.{sys.version_info.minor}"
    if not versions or ours in versions:
        return sys.executable
    found = next(filter(None, (shutil.which(f"python{version}") for version in reversed(versions))), None)
    if found is None:
        raise SideEnvError(
            f"side environment {name} needs Python {' or '.join(versions)}, this is {ours}; install one of them"
        )
    return found


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


def _run(name: str, command: list[str], variables: Mapping[str, str] | None = None) -> None:
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_INSTALL_TIMEOUT_S,
            env=outside_environment() | dict(variables or {}),
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
