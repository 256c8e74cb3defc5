"""The process that trains a run of an ablation, stopped in order when the ablation is no more."""

import os
import signal
import sys
import threading
import time

from mcrl.cli import main

_LOOK_EVERY_S = 1.0


def _stop_without(parent_pid: int) -> None:
    """Send ourselves SIGTERM, by which a run saves itself, once the parent is gone, killed outright or not."""
    # Not Linux's signal at a parent's death: of a parent with threads it comes several times, and the second one ends
    # what the first asked to save.
    while os.getppid() == parent_pid:
        time.sleep(_LOOK_EVERY_S)
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    threading.Thread(target=_stop_without, args=(int(sys.argv[1]),), daemon=True).start()
    sys.exit(main(["train", "--resume", sys.argv[2], "--no-report"]))
