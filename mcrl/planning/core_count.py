"""How many cores a machine really gives to processes that work side by side."""

import subprocess
import sys
from functools import partial

from mcrl.provenance import num_usable_cores

_MAX_PROCESSES = 32
# Prints (rounds, processor seconds, wall seconds) of work that stays in the first-level cache.
_BURN = """
import sys, time, zlib
block, rounds = bytes(range(256)) * 64, 0
end = time.perf_counter() + float(sys.argv[1])
cpu, begin = time.process_time(), time.perf_counter()
while not rounds or time.perf_counter() < end:  # one at least, also where other programs leave nothing
    for _ in range(50):
        zlib.crc32(block)
    rounds += 1
print(rounds, time.process_time() - cpu, time.perf_counter() - begin)
"""


def measure_cores(burn_s: float = 1.0) -> float:
    """Return the work done by a process on every core at once, in units of what one alone does in a CPU-second.

    Two threads of one core give about 1.2, and a core that other programs keep busy gives what they leave.
    """
    num_processes = min(num_usable_cores(), _MAX_PROCESSES)
    ((rounds, cpu_s, _),) = _burn(1, burn_s)
    alone_per_cpu_s = rounds / cpu_s
    together_per_s = sum(rounds / wall_s for rounds, _, wall_s in _burn(num_processes, burn_s))
    return min(float(num_usable_cores()), together_per_s / alone_per_cpu_s * num_usable_cores() / num_processes)


def _burn(num_processes: int, burn_s: float) -> list[tuple[float, float, float]]:
    command = [sys.executable, "-c", _BURN, str(burn_s)]
    # In sessions of their own: Ctrl-C is for us, who end them, and they would answer it with a traceback each.
    start = partial(subprocess.Popen, command, stdout=subprocess.PIPE, text=True, start_new_session=True)
    children = [start() for _ in range(num_processes)]
    try:
        results = []
        for child in children:
            printed, _ = child.communicate()
            rounds, cpu_s, wall_s = map(float, printed.split())
            results.append((rounds, cpu_s, wall_s))
        return results
    finally:
        for child in children:
            child.kill()
