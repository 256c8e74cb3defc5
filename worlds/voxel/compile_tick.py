"""A program that compiles the tick and keeps it, for another that begins with other parts of the engine.

It ends with the program that started it, however that ends.
"""

import os
import threading

from worlds.voxel.engine_tables import engine_tables
from worlds.voxel.kernels import compile_ticks


def main() -> None:
    """Compile the tick, or find it compiled."""
    end_with_input()
    compile_ticks(engine_tables())


def end_with_input() -> None:
    """From now on, end this process when its standard input does: when whoever holds the other end is gone."""
    threading.Thread(target=_wait_for_end, daemon=True).start()


def _wait_for_end() -> None:
    os.read(0, 1)  # not through sys.stdin, whose lock would keep a finished program from ending
    os._exit(0)


if __name__ == "__main__":
    main()
