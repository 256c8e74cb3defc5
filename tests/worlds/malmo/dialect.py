"""How a version of the game calls blocks, items and mobs: before 1.13 by name and number, since then by state."""

import functools
from typing import Protocol

from worlds.adapters.engines.before_flattening import new_item, old_block, old_item, old_mob
from worlds.anvil.chunk import SavedState
from worlds.anvil.mapping import map_state
from worlds.blocks import STATE_ID, STATES
from worlds.mobs.kinds import MOBS


class Dialect(Protocol):
    """The names of one version; ids are those of our engine."""

    version: str

    def block_name(self, state: int) -> str:
        """Return the registry name of a block state, as observations show it."""
        ...

    def kind_name(self, kind: str) -> str:
        """Return the registry name of a block kind."""
        ...

    def read_block(self, words: list[str]) -> tuple[int, int]:
        """Return the state that a command's words begin with, and how many words it took.

        Raises:
            ValueError: there is no such block.
        """
        ...

    def item_name(self, item: str) -> tuple[str, int]:
        """Return the registry name and metadata of an item."""
        ...

    def read_item(self, name: str, data: int) -> str:
        """Return our name of an item that a command names."""
        ...

    def mob_name(self, kind: str) -> str:
        """Return what a mob is called in observations."""
        ...

    def read_mob(self, name: str) -> str:
        """Return our name of a mob that a command names."""
        ...


class OldNames:
    """Minecraft 1.11.2, the game of minerl 0.4.4: "log" with data 1."""

    version = "1.11.2"

    def block_name(self, state: int) -> str:
        """See Dialect.block_name; the variant is lost, as in the game's own grid observation."""
        return old_block(STATES[state].name).name

    def kind_name(self, kind: str) -> str:
        """See Dialect.kind_name."""
        return old_block(kind).name

    def read_block(self, words: list[str]) -> tuple[int, int]:
        """See Dialect.read_block: NAME [DATA]."""
        name = words[0].removeprefix("minecraft:")
        has_data = len(words) > 1 and words[1].isdecimal()
        found = _state_by_old_name().get((name, int(words[1]) if has_data else 0))
        if found is None:
            raise ValueError(f"There is no such block with name minecraft:{name}")
        return found, 1 + has_data

    def item_name(self, item: str) -> tuple[str, int]:
        """See Dialect.item_name."""
        return old_item(item)

    def read_item(self, name: str, data: int) -> str:
        """See Dialect.read_item."""
        return new_item(name.removeprefix("minecraft:"), data)

    def mob_name(self, kind: str) -> str:
        """See Dialect.mob_name: "Cow"."""
        return old_mob(kind)[1] or kind

    def read_mob(self, name: str) -> str:
        """See Dialect.read_mob."""
        bare = name.removeprefix("minecraft:").lower()
        return next((kind.name for kind in MOBS if old_mob(kind.name)[0] == bare), bare)


class NewNames:
    """Minecraft 1.16.5, the game of MineStudio and of MineRL 1.0: "birch_log[axis=y]"."""

    version = "1.16.5"

    def block_name(self, state: int) -> str:
        """See Dialect.block_name."""
        return STATES[state].kind.name

    def kind_name(self, kind: str) -> str:
        """See Dialect.kind_name."""
        return kind

    def read_block(self, words: list[str]) -> tuple[int, int]:
        """See Dialect.read_block: NAME[PROPERTIES], refused where the game has no such property or value."""
        name, _, inside = words[0].removeprefix("minecraft:").rstrip("]").partition("[")
        properties = dict(part.split("=", 1) for part in inside.split(",") if part)
        _refuse_ours(name, properties)
        mapped = map_state(SavedState(f"minecraft:{name}", tuple(sorted(properties.items()))))
        if mapped.how != "same":
            raise ValueError(f"Unknown block type 'minecraft:{name}'")
        return STATE_ID[mapped.state], 1

    def item_name(self, item: str) -> tuple[str, int]:
        """See Dialect.item_name."""
        return item, 0

    def read_item(self, name: str, data: int) -> str:
        """See Dialect.read_item."""
        return name.removeprefix("minecraft:")

    def mob_name(self, kind: str) -> str:
        """See Dialect.mob_name."""
        return kind

    def read_mob(self, name: str) -> str:
        """See Dialect.read_mob."""
        return name.removeprefix("minecraft:")


def _refuse_ours(name: str, properties: dict[str, str]) -> None:
    """Raise ValueError for what our states say and Minecraft's do not."""
    ours = {"links"} | ({"open"} if name.endswith("chest") else set()) | ({"facing"} if name == "vine" else set())
    if wrong := sorted(ours & properties.keys()):
        raise ValueError(f"Block minecraft:{name} does not have property '{wrong[0]}'")
    if (name == "lever" or name.endswith("_button")) and properties.get("facing", "north") in ("up", "down"):
        raise ValueError(f"Block minecraft:{name} does not accept '{properties['facing']}' for facing property")
    if name == "snowy_grass_block":
        raise ValueError(f"Unknown block type 'minecraft:{name}'")


@functools.cache
def _state_by_old_name() -> dict[tuple[str, int], int]:
    """Return our state of every old name and data; where several share them, the first of our tables.

    A kind that has its own name in both versions comes before one for which that name only stands in.
    """
    table: dict[tuple[str, int], int] = {}
    for is_own in (True, False):
        for state, block in enumerate(STATES):
            old = old_block(block.name)
            if (old.name == block.kind.name) == is_own:
                table.setdefault(tuple(old), state)
    return table
