"""What stands and moves in the running world, for who draws it. N changed cells."""

from dataclasses import dataclass

import numpy as np

from worlds.items import ITEMS
from worlds.mobs.kinds import MOBS
from worlds.spec import BLOCK_MASK, ITEM_PREFIX
from worlds.voxel.backend import VoxelBackend


@dataclass(frozen=True, slots=True)
class Body:
    """An animal, a monster or an item on the ground."""

    kind: str
    """As in Placement.kind: "cow", "item:apple"."""
    feet: tuple[float, float, float]
    """x, y, z in blocks."""
    yaw_deg: float
    width_blocks: float
    height_blocks: float
    health: float
    """Half hearts; 0 for items."""
    object_index: int | None
    """Index into the episode's placements; None for what came later."""


@dataclass(frozen=True, slots=True, eq=False)
class BlockChanges:
    """Which cells are others than when they were last looked at."""

    is_new_world: bool
    """Everything is another world: build it anew; the arrays are empty then."""
    cell_N3: np.ndarray  # int64 [N, 3] x, y, z
    state_N: np.ndarray  # uint16 [N], index into worlds.blocks.STATES


class Scenery:
    """Looks at one engine after the other and says what is different."""

    def __init__(self) -> None:
        """Begin with nothing seen."""
        self._seen_XZY: np.ndarray | None = None
        self._world: object = None

    def changes(self, engine: VoxelBackend, world: object) -> BlockChanges:
        """Return which blocks of env 0 have changed since the last call; `world` is equal where the terrain is."""
        block_XZY = engine.state.terrain.block_EXZY[0]
        if self._seen_XZY is None or self._world != world or self._seen_XZY.shape != block_XZY.shape:
            self._seen_XZY, self._world = block_XZY.copy(), world
            return BlockChanges(True, np.zeros((0, 3), np.int64), np.zeros(0, np.uint16))
        # Whose object a block is changes nothing of how it looks.
        x_N, z_N, y_N = np.nonzero(block_XZY != self._seen_XZY)
        is_other_N = (block_XZY[x_N, z_N, y_N] ^ self._seen_XZY[x_N, z_N, y_N]) & BLOCK_MASK != 0
        x_N, z_N, y_N = x_N[is_other_N], z_N[is_other_N], y_N[is_other_N]
        np.copyto(self._seen_XZY, block_XZY)
        return BlockChanges(False, np.stack([x_N, y_N, z_N], axis=1), block_XZY[x_N, z_N, y_N] & BLOCK_MASK)


def bodies_of(engine: VoxelBackend) -> list[Body]:
    """Return the mobs and items of env 0."""
    mobs, drops = engine.state.mobs, engine.state.drops
    bodies = []
    for row in np.flatnonzero(mobs.kind_EM[0] >= 0):
        kind = MOBS[int(mobs.kind_EM[0, row])]
        bodies.append(
            Body(
                kind=kind.name,
                feet=_triple(mobs.position_EM3[0, row]),
                yaw_deg=float(mobs.yaw_deg_EM[0, row]),
                width_blocks=kind.width,
                height_blocks=kind.height,
                health=float(mobs.health_EM[0, row]),
                object_index=_index(mobs.object_EM[0, row]),
            )
        )
    for row in np.flatnonzero(drops.item_ED[0] >= 0):
        bodies.append(
            Body(
                kind=ITEM_PREFIX + ITEMS[int(drops.item_ED[0, row])].name,
                feet=_triple(drops.position_ED3[0, row]),
                yaw_deg=0.0,
                width_blocks=0.25,
                height_blocks=0.25,
                health=0.0,
                object_index=_index(drops.object_ED[0, row]),
            )
        )
    return bodies


def _triple(place_3: np.ndarray) -> tuple[float, float, float]:
    x, y, z = place_3.tolist()
    return x, y, z


def _index(slot: np.integer) -> int | None:
    return int(slot) - 1 if slot > 0 else None
