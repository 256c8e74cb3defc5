"""A scan of a game before 1.13, whose names say neither variant nor half: what can be told from the blocks around."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from worlds.adapters.engine import Scan
from worlds.adapters.engines.before_flattening import new_block


def scan_of_old_names(names: Mapping[str, int], index_XZY: np.ndarray) -> Scan:
    """Return the scan under the names of today; `names` gives each old name's number in `index_XZY`, [X, Z, Y].

    Of two doors or tall plants on each other the upper one is the upper half. A variant is the commonest one: a log is
    of oak, stone is stone; what has a facing looks north.
    """
    states = [new_block(name) for name in names]
    index_XZY = index_XZY.copy()
    for number, state in enumerate(tuple(states)):
        if not (state == "tall_grass" or state.endswith("_door")):
            continue
        is_there_XZY = index_XZY == number
        is_upper_XZY = np.zeros_like(is_there_XZY)
        for y in range(1, index_XZY.shape[2]):
            is_upper_XZY[:, :, y] = is_there_XZY[:, :, y] & is_there_XZY[:, :, y - 1] & ~is_upper_XZY[:, :, y - 1]
        index_XZY[is_upper_XZY] = len(states)
        states.append(f"{state}[half=upper]")
    return Scan(states, index_XZY)
