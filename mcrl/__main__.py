"""`python -m mcrl`: the command line, where the folder of its script is not on the PATH."""

import sys

from mcrl.cli import main

if __name__ == "__main__":
    sys.exit(main())
