"""A contestant of ours for tests: `python -m tests.eval.benches.honest_driver SEED NAME` burns a little CPU time."""

import os
import sys
import time

from eval.peers import turns


def iterate(num_iterations: int) -> int:
    """Say that every iteration was a frame."""
    end_s = time.process_time() + 0.05
    while time.process_time() < end_s:
        pass
    return num_iterations


if __name__ == "__main__":
    assert turns.seed() == 7
    turns.take_turns(iterate, {sys.argv[2]: "1", "threads": os.environ["OMP_NUM_THREADS"]})
