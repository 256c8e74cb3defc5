"""Writes into a wheel or sdist which commit it was made from, for `mcrl --version`; pyproject.toml names its classes.

Nothing at run time imports it, so setuptools need not be there.
"""

import sys
from pathlib import Path

from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

ROOT = Path(__file__).resolve().parents[1]
# A build in an environment of its own does not look for modules in the sources.
sys.path.insert(0, str(ROOT))

from mcrl.provenance import COMMIT_FILE, UNKNOWN, commit  # noqa: E402


def write_commit(root: Path) -> None:
    """Write the commit of these sources beside mcrl.provenance in the tree `root`; nothing where it is unknown."""
    path = root / "mcrl" / COMMIT_FILE
    if path.exists():
        path.unlink()  # in an sdist it may be a hard link into the sources
    if commit() != UNKNOWN:
        path.write_text(commit() + "\n", encoding="ascii")


class BuildWithCommit(build_py):
    """Modules and package data, and the commit where they are copied; an editable install goes on to ask git."""

    def run(self) -> None:
        """Build."""
        super().run()
        if not self.editable_mode:
            write_commit(Path(self.build_lib))


class SdistWithCommit(sdist):
    """The sources and their commit: they are unpacked and built where there is no git."""

    def make_release_tree(self, base_dir: str, files: list[str]) -> None:
        """Fill the folder that is packed."""
        super().make_release_tree(base_dir, files)
        write_commit(Path(base_dir))
