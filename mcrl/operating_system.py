"""Which operating systems the commands run on."""

import sys


def check_operating_system() -> None:
    """Do nothing on Linux and its like; ValueError on Windows, which has not what engines and locks of files need."""
    if sys.platform == "win32":
        raise ValueError("mcrl does not run on Windows itself; install it in WSL 2, where it runs as on Linux")
