"""Side environments: packages whose pins must not meet ours, each set in a virtual environment of its own.

Built once from a file of pinned requirements and kept in a folder NAME-HASH. Comments in that file steer
how: "# pip: FLAGS" are given to pip, "# first: PINS" are installed before the rest, "# environment: NAME=VALUE" is set
meanwhile, "# python: 3.10 3.11" are the versions that will do, where not every one does, and "# borrows: ..." lets the
packages of our own environment be found behind its own.
"""

import contextlib
import hashlib
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from task_synthesis.libraries.folder_lock import locked

# Written last: an environment without it was interrupted, and is built anew.
_STAMP = "complete"
_INSTALL_LIMIT_S = 3600.0
_TORCH_CPU_INDEX = "https://download.pytorch.org/whl/cpu"


class SideEnvError(RuntimeError):
    """A side environment cannot be had here; the message is one sentence with the reason."""


def side_env(
    name: str,
    *,
    requirements: Path,
    root: Path,
    on_build: Callable[[str], None] = lambda sentence: None,
    limit_s: float = _INSTALL_LIMIT_S,
) -> Path:
    """Return the Python interpreter of the side environment `name`, built first where there is none yet.

    Args:
        name: what its folder is called, and what sentences call it.
        requirements: file of pinned packages.
        root: folder of side environments.
        on_build: told before a build begins, which takes minutes.
        limit_s: how long a build may take.

    Raises:
        SideEnvError: it cannot be installed here.
    """
    pins = requirements.read_text(encoding="ascii")
    folder, python = _place(name, pins, root)
    if (folder / _STAMP).exists():
        if _directive(pins, "borrows"):
            _lend_ours(folder)  # the one that it borrowed from may be gone: of a checkout that was moved or deleted
        return python
    folder.parent.mkdir(parents=True, exist_ok=True)
    with locked(folder.parent, other="builds a side environment"):
        if not (folder / _STAMP).exists():  # else another process was done with it just now
            on_build(f"building the side environment {name} in {folder}: a few minutes, once")
            _build(folder, python, requirements, pins, _Installer(name, time.monotonic() + limit_s, limit_s))
    return python


def outside_environment() -> dict[str, str]:
    """Return the variables for a process in a side environment: ours, less what would bring our packages into it."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}


def _place(name: str, pins: str, root: Path) -> tuple[Path, Path]:
    """Return the folder of an environment, and the interpreter in it; machines of several kinds may share a home."""
    folder = root / f"{name}-{platform.machine()}-{_content_hash(pins)}"
    return folder, folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def _content_hash(pins: str) -> str:
    """Return what changes when the packages or the interpreter do."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    return hashlib.sha256(f"{version}\n{sys.platform}\n{pins}".encode("ascii")).hexdigest()[:12]


def _build(folder: Path, python: Path, path: Path, pins: str, installer: "_Installer") -> None:
    shutil.rmtree(folder, ignore_errors=True)
    try:
        installer.run([_interpreter(installer.name, _directive(pins, "python")), "-m", "venv", str(folder)])
        torch_pin = re.search(r"^torch==([\w.]+)$", pins, re.MULTILINE)
        if torch_pin:
            _install_torch(installer, python, torch_pin.group(1))
        first = _directive(pins, "first")
        if first:
            installer.run(_pip(python, *first))
        variables = dict(pair.split("=", 1) for pair in _directive(pins, "environment"))
        installer.run(_pip(python, *_directive(pins, "pip"), "-r", str(path)), variables)
        if _directive(pins, "borrows"):
            _lend_ours(folder)
        (folder / _STAMP).write_text(pins, encoding="ascii")
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _lend_ours(folder: Path) -> None:
    """Let our packages be found where the environment has none of that name; both run the same interpreter."""
    (site_packages,) = folder.glob("lib/python*/site-packages") if os.name != "nt" else [folder / "Lib/site-packages"]
    names = site_packages / "ours.pth"
    if names.exists() and all(Path(line).is_dir() for line in names.read_text(encoding="utf-8").splitlines()):
        return
    lent = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    names.write_text("\n".join(sorted(lent)) + "\n", encoding="utf-8")


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


def _install_torch(installer: "_Installer", python: Path, version: str) -> None:
    """Install torch for the CPU first, so that on Linux nobody fetches the gigabytes of the CUDA build."""
    if not sys.platform.startswith("linux"):
        return
    try:
        installer.run(_pip(python, f"torch=={version}+cpu"))
    except SideEnvError:
        # The usual indexes have no builds of that name; PyTorch's own does.
        installer.run(_pip(python, f"torch=={version}", "--index-url", _TORCH_CPU_INDEX))


def _pip(python: Path, *arguments: str) -> list[str]:
    return [str(python), "-m", "pip", "install", "--disable-pip-version-check", "--no-input", "-q", *arguments]


@dataclass(frozen=True, slots=True)
class _Installer:
    """Runs the commands that build one environment, all of them within one limit."""

    name: str
    deadline_s: float  # of time.monotonic
    limit_s: float

    def run(self, command: list[str], variables: Mapping[str, str] | None = None) -> None:
        """Run one command; SideEnvError says why it failed, or that there was no time left."""
        variables = outside_environment() | dict(variables or {})
        with tempfile.TemporaryFile() as output:
            try:
                process = subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    env=variables,
                    start_new_session=True,  # so that what it started can be ended with it
                )
            except OSError as error:
                raise SideEnvError(f"side environment {self.name} cannot be built: {error}") from None
            try:
                code = process.wait(max(0.0, self.deadline_s - time.monotonic()))
            except subprocess.TimeoutExpired:
                raise SideEnvError(
                    f"side environment {self.name} was not built within {self.limit_s:.0f} s; allow more time"
                ) from None
            finally:
                _end(process)
            output.seek(0)
            said = output.read().decode("utf-8", "replace")
        if code:
            raise SideEnvError(f"side environment {self.name} cannot be built: {_reason(said)}")


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End a process, if it goes on, with all that it started."""
    if os.name == "nt":
        process.kill()
    else:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _reason(output: str) -> str:
    """Return the last line that says what went wrong, as pip marks it, else the last line at all."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    marked = [line for line in lines if line.startswith("ERROR:")]
    return (marked or lines or ["it said nothing"])[-1].removeprefix("ERROR:").strip()
