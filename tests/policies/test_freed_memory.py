"""Claims about freed memory: it is kept while computing goes on, and given back when asked to."""

import platform
import subprocess
import sys

import pytest

# Recordings are taken from the heap once one was freed, and what is taken last keeps the heap from shrinking by itself.
_PROGRAM = """
import gc
import numpy as np
from policies.freed_memory import give_back_freed_memory

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


# As activations are in a backward pass: many at once, and all of them freed before the next step takes as many.
_STEPS = """
import resource
import numpy as np
from policies.threads import use_threads

use_threads(1)

def step():
    return [np.ones(20_000_000, np.uint8) for _ in range(10)]

step()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(5):
    step()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""

_ON_LINUX = pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="glibc's allocator alone is told")


@_ON_LINUX
def test_who_computes_has_the_pages_of_a_step_mapped_once():
    ended = subprocess.run([sys.executable, "-c", _STEPS], capture_output=True, text=True, check=True)
    assert int(ended.stdout) < 1000  # five steps touch 244,000 pages


@_ON_LINUX
def test_freed_recordings_are_given_back():
    ended = subprocess.run([sys.executable, "-c", _PROGRAM], capture_output=True, text=True, check=True)
    assert int(ended.stdout) > 150
