"""The claim about freed memory: the system has it back."""

import subprocess
import sys

import pytest

# Recordings are taken from the heap once one was freed, and what is taken last keeps the heap from shrinking by itself.
_PROGRAM = """
import gc
import numpy as np
from mcrl.freed_memory import give_back_freed_memory

def resident_mb():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS")) // 1024

def record():
    return [np.ones(25_000_000, np.uint8) for _ in range(8)]

record()
recordings, last = record(), [bytes(100_000) for _ in range(20)]
del recordings
gc.collect()
before = resident_mb()
give_back_freed_memory()
print(before - resident_mb())
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks Linux what a process holds")
def test_freed_recordings_are_given_back():
    ended = subprocess.run([sys.executable, "-c", _PROGRAM], capture_output=True, text=True, check=True)
    assert int(ended.stdout) > 150
