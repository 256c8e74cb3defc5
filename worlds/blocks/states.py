"""Block states: every kind in each of its positions, under Minecraft's names such as "oak_door[half=upper,open=true]".

State ids: the default state of a kind is the kind's own index; further states follow after all kinds.
"""

import functools
import itertools
from dataclasses import dataclass
from difflib import get_close_matches

from worlds.blocks.cubes import FIRST_KINDS, MORE_CUBES
from worlds.blocks.fittings import FITTINGS
from worlds.blocks.kinds import BlockKind
from worlds.blocks.plants import PLANTS

AIR = 0
BLOCKS: tuple[BlockKind, ...] = (*FIRST_KINDS, *MORE_CUBES, *FITTINGS, *PLANTS)
BLOCK_ID: dict[str, int] = {kind.name: index for index, kind in enumerate(BLOCKS)}
NUM_BLOCKS = len(BLOCKS)


@dataclass(frozen=True, slots=True)
class BlockState:
    """A kind in one position."""

    kind: BlockKind
    properties: tuple[tuple[str, str], ...]  # (name, value), names in alphabetical order

    def get(self, name: str) -> str:
        """Return the value of a property that the kind has."""
        return dict(self.properties)[name]

    @property
    def name(self) -> str:
        """The canonical name: the kind, then all properties."""
        if not self.properties:
            return self.kind.name
        return f"{self.kind.name}[{','.join(f'{name}={value}' for name, value in self.properties)}]"


def _states_of_kind(kind: BlockKind) -> list[BlockState]:
    """Return its states, the default one first."""
    names = [name for name, _ in kind.properties]
    values = itertools.product(*(values for _, values in kind.properties))
    return [BlockState(kind, tuple(zip(names, row, strict=True))) for row in values]


def _all_states() -> tuple[BlockState, ...]:
    states_KN = [_states_of_kind(kind) for kind in BLOCKS]
    return (*(states[0] for states in states_KN), *(state for states in states_KN for state in states[1:]))


STATES: tuple[BlockState, ...] = _all_states()
NUM_STATES = len(STATES)
# Canonical names, and plain kind names for the default states.
STATE_ID: dict[str, int] = {**BLOCK_ID, **{state.name: index for index, state in enumerate(STATES)}}


@functools.cache
def _id_by_properties() -> dict[tuple[str, tuple[tuple[str, str], ...]], int]:
    return {(state.kind.name, state.properties): index for index, state in enumerate(STATES)}


def state_of(name: str, **properties: str) -> int:
    """Return the id of a state; properties that are not given have their default values.

    Args:
        name: "oak_door", or with properties: "oak_door[half=upper,open=true]".
        **properties: more of them; they win over those in the name.
    """
    kind_name, bracket, listed = name.partition("[")
    if kind_name not in BLOCK_ID:
        close = get_close_matches(kind_name, BLOCK_ID, n=1)
        hint = f"did you mean {close[0]}?" if close else "see worlds.blocks.BLOCKS for the names"
        raise ValueError(f"{kind_name!r} is no block of this engine; {hint}")
    if bracket and not listed.endswith("]"):
        raise ValueError(f"block {name!r}: the list of properties does not end; write it as kind[name=value,...]")
    given = dict(item.partition("=")[::2] for item in listed[:-1].split(",")) if listed[:-1] else {}
    given |= properties
    chosen = []
    for property_name, values in BLOCKS[BLOCK_ID[kind_name]].properties:
        value = given.pop(property_name, values[0])
        if value not in values:
            raise ValueError(f"block {name!r}: {property_name} is one of {', '.join(values)}; got {value!r}")
        chosen.append((property_name, value))
    if given:
        known = ", ".join(part for part, _ in BLOCKS[BLOCK_ID[kind_name]].properties) or "none"
        raise ValueError(f"block {name!r}: {kind_name} has no property {sorted(given)[0]!r}; it has {known}")
    return _id_by_properties()[kind_name, tuple(chosen)]
