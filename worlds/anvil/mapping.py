"""Block states of a save to block states of the engine, with an account of what became of each."""

from collections import Counter
from collections.abc import Iterable
from typing import Literal, NamedTuple

from worlds.anvil import fallback
from worlds.anvil.chunk import SavedState
from worlds.blocks import BLOCK_ID, BLOCKS, STATES, state_of

How = Literal["same", "table", "family", "pattern", "unknown"]
_SIDES = ("north", "east", "south", "west")


class Mapped(NamedTuple):
    """What a saved state became."""

    state: str  # canonical, as in STATE_ID
    how: How  # same name; a line of a table; the nearest material, wood or colour; a pattern of names; no rule


class MappedRow(NamedTuple):
    """One line of a report."""

    saved: str
    state: str
    how: How
    num_cells: int


class MappingReport(NamedTuple):
    """What was mapped to what, the most frequent first."""

    rows: tuple[MappedRow, ...]
    min_data_version: int  # of the chunks read
    max_data_version: int

    def num_cells(self, how: How) -> int:
        """Return how many cells were mapped in one way."""
        return sum(row.num_cells for row in self.rows if row.how == how)

    def by_kind(self) -> list[MappedRow]:
        """Return the rows without properties, added up, the most frequent first."""
        counts: Counter[tuple[str, str, How]] = Counter()
        for row in self.rows:
            counts[row.saved.partition("[")[0], row.state.partition("[")[0], row.how] += row.num_cells
        return [MappedRow(*key, num_cells=count) for key, count in counts.most_common()]


def map_state(saved: SavedState) -> Mapped:
    """Return the engine's state for a saved one; always one, however strange the name."""
    name = saved.name.partition(":")[2] or saved.name
    properties = dict(saved.properties)
    if name in ("grass_block", "podzol", "mycelium") and properties.get("snowy") == "true":
        return Mapped(_state("snowy_grass_block", {}), "same" if name == "grass_block" else "table")
    kind, how = _kind(name)
    if kind == "air" and properties.get("waterlogged") == "true":
        kind = "water"  # what cannot be shown leaves the water that it stood in
    return Mapped(_state(kind, properties), how)


def _state(kind: str, properties: dict[str, str]) -> str:
    """Return the state of `kind` with these properties; what it lacks is as in the default state."""
    given = _translated(kind, properties)
    fitting = {name: given[name] for name, values in _properties(kind) if given.get(name) in values}
    return STATES[state_of(kind, **fitting)].name


def _properties(kind: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return BLOCKS[BLOCK_ID[kind]].properties


def _translated(kind: str, properties: dict[str, str]) -> dict[str, str]:
    """Return the properties under the engine's names and values."""
    names = [name for name, _ in _properties(kind)]
    if "links" in names:
        linked = [properties.get(side, "false") not in ("false", "none") for side in _SIDES]
        return {"links": str(sum(bit << i for i, bit in enumerate(linked)))}
    if kind == "vine" and "facing" not in properties:
        # A vine names the sides that it hangs on; facing is away from the wall, as of a ladder.
        held = next((i for i, side in enumerate(_SIDES) if properties.get(side) == "true"), 2)
        return {"facing": _SIDES[(held + 2) % 4]}
    if properties.get("face") == "floor":
        return properties | {"facing": "up"}  # levers and buttons
    return properties


def _known(candidates: Iterable[str]) -> str | None:
    return next((name for name in candidates if name in BLOCK_ID), None)


def _kind(name: str) -> tuple[str, How]:
    """Return the kind that stands for a block name, and how it was found."""
    if name in BLOCK_ID:
        return name, "same"
    for candidate in _renamed(name):
        if found := _known((candidate,)) or _known(fallback.KINDS.get(candidate, ())):
            return found, "table"
        if found := _known(_relatives(candidate)):
            return found, "family"
    for pattern, candidates in fallback.PATTERNS:
        if pattern.search(name) and (found := _known(candidates)):
            return found, "pattern"
    return fallback.UNKNOWN, "unknown"


def _renamed(name: str) -> list[str]:
    """Return the name and what it is called without what makes no difference, the nearest first."""
    names = [name]
    for candidate in names:
        for pattern, replacement in fallback.RENAMES:
            shorter = pattern.sub(replacement, candidate)
            if shorter not in names:
                names.append(shorter)
    return names


def _relatives(name: str) -> list[str]:
    """Return blocks of the same shape in the nearest wood, stone or colour, the nearest first."""
    for color in fallback.COLORS:
        make = name.removeprefix(f"{color}_")
        if make != name and (make in fallback.COLORED or make in fallback.COLORED_MAKES):
            makes = (make, *fallback.COLORED.get(make, ()))
            colors = (color, *fallback.COLORS[color], fallback.LAST_COLOR)
            return [f"{other}_{kind}" for kind in makes for other in colors] + list(fallback.COLORED.get(make, ()))
    for shape in fallback.WOODEN_SHAPES:
        material = name.removesuffix(f"_{shape}")
        if material != name and material in fallback.WOODS:
            return [f"{wood}_{shape}" for wood in fallback.WOODS[material]]
    for shape in fallback.STONE_SHAPES:
        material = name.removesuffix(f"_{shape}")
        if material != name and material in fallback.STONES:
            return [f"{stone}_{shape}" for stone in fallback.STONES[material]]
    material = name.removesuffix("_wall")
    return list(fallback.WALLS.get(material, fallback.OTHER_WALL)) if material != name else []
