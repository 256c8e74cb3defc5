"""CPU time of a process with all that it started. Linux only: it is read from /proc."""

import os
from collections import defaultdict
from pathlib import Path


def tree_cpu_s(pid: int) -> float:
    """Return the CPU seconds so far, user and system, of process `pid` and its descendants, ended ones included.

    Raises:
        ValueError: this system has no /proc, or the process is gone.
    """
    if not Path("/proc/self/stat").exists():
        raise ValueError("CPU time of other processes is read from /proc, which this system lacks; measure on Linux")
    ticks_of: dict[int, int] = {}
    children_of: dict[int, list[int]] = defaultdict(list)
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            text = Path(f"/proc/{entry}/stat").read_text(encoding="utf-8", errors="replace")
        except OSError:  # it ended meanwhile
            continue
        # The name stands in parentheses and may hold anything.
        fields = text.rpartition(")")[2].split()
        ticks_of[int(entry)] = sum(map(int, fields[11:15]))  # its own, and that of children it has waited for
        children_of[int(fields[1])].append(int(entry))
    if pid not in ticks_of:
        raise ValueError(f"process {pid} is gone; look at what it printed last")
    total, waiting = 0, [pid]
    while waiting:
        process = waiting.pop()
        total += ticks_of.get(process, 0)
        waiting += children_of[process]
    return total / os.sysconf("SC_CLK_TCK")
