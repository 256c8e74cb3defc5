"""Block states by name and as masks, and states turned with what they are built into. S block states."""

import functools

import numpy as np

from worlds.blocks import BLOCK_ID, NUM_STATES, STATES, state_of

_FACINGS = ("north", "east", "south", "west")


def kind_mask(*names: str) -> np.ndarray:
    """Return bool [S]: whether a state belongs to one of the kinds `names`."""
    unknown = [name for name in names if name not in BLOCK_ID]
    if unknown:
        raise ValueError(f"generate: no such blocks: {unknown}")
    return np.array([state.kind.name in names for state in STATES])


def state_ids(*names: str) -> np.ndarray:
    """Return uint16 [N]: the ids of states, given as "oak_log" or "oak_log[axis=x]"."""
    return np.array([state_of(name) for name in names], np.uint16)


@functools.cache
def turned_states() -> np.ndarray:
    """Return int32 [S]: what every state becomes when it is turned clockwise, north to east, seen from above."""
    turned_S = np.arange(NUM_STATES, dtype=np.int32)
    for index, state in enumerate(STATES):
        names = dict(state.properties)
        if names.get("facing") in _FACINGS:
            names["facing"] = _FACINGS[(_FACINGS.index(names["facing"]) + 1) % 4]
        if names.get("axis") in ("x", "z"):
            names["axis"] = "z" if names["axis"] == "x" else "x"
        if "links" in names:
            links = int(names["links"])
            names["links"] = str((links << 1 | links >> 3) & 15)
        turned_S[index] = state_of(state.kind.name, **names)
    return turned_S
