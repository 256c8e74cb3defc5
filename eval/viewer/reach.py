"""Which files may be named: whoever has the viewer's token need not be whose files they are."""

import os
from collections.abc import Sequence
from pathlib import Path

from eval.suites.task_place import split_number


class Reach:
    """The folders below which sessions open and save files."""

    def __init__(self, beside: Sequence[str] | None = None) -> None:
        """Let files below the present folder be named, and below those where `beside` lie; None: every file."""
        # Not resolved: a link is as good as what else the owner of a folder has put there.
        folders = None if beside is None else [".", *map(_folder_of, beside)]
        self._folders = None if folders is None else list(dict.fromkeys(map(os.path.abspath, folders)))

    def of(self, place: str) -> str:
        """Return the place, without the ".." that leads out of a folder by a link. ValueError: it lies elsewhere."""
        if self._folders is None:
            return place
        name, number = split_number(place)
        plain = os.path.normpath(name)
        if not any(Path(os.path.abspath(plain)).is_relative_to(folder) for folder in self._folders):
            raise ValueError(
                f"{place}: with --token what lies below {' or '.join(self._folders)} is opened and saved; start "
                "`mcrl view` with --any-file to let its pages name any file"
            )
        return plain if number is None else f"{plain}:{number}"


def _folder_of(place: str) -> str:
    name, _ = split_number(place)  # "..:7" is of the folder above
    return name if os.path.basename(name) == ".." else os.path.dirname(name)
