"""Which spot of a world an object can stand on, and which way it faces there."""

import numpy as np

from task_synthesis.placement.targets import FULL, OBSTACLE, footing_table, surface_y
from task_synthesis.skills import base_kind, type_of
from worlds.blocks import AIR, BLOCK_ID, BLOCKS, fluid_table
from worlds.spec import BLOCK_MASK, Placement, World
from worlds.voxel.engine_tables import engine_tables

_STEP = {"north": (0, -1), "east": (1, 0), "south": (0, 1), "west": (-1, 0)}
# A mob that wanders a little must not drown or fall: the ground around is dry and about level.
_MOB_RANGE_BLOCKS, _MOB_MAX_STEP_BLOCKS = 3, 2
# What has a front that people use: that side stays free.
_FRONTED = frozenset(("chest", "furnace", "barrel"))
_ON_FLOOR = frozenset(("lever", "stone_button"))


class Sites:
    """Finds spots for objects by the rules of their kind. Draws nothing but the facing of devices."""

    def __init__(self) -> None:
        """Read the engine's tables."""
        blocks = engine_tables().blocks
        self.footing_S, self.is_fluid_S = footing_table(), fluid_table()
        self._is_cube_S = blocks.collision.is_cube_S
        # What an object may take the place of: air, and low plants and snow that have no second half.
        self._is_vacant_S = blocks.is_replaceable_S & ~self.is_fluid_S & (blocks.pair_S3 == 0).all(axis=1)

    def ground(self, world: World, x: int, z: int) -> int:
        """Return the y of the feet of a body standing on column (x, z), which may be unwrapped; -1 where none can."""
        size_x, _, size_z = world.spec.size_blocks
        x, z = x % size_x, z % size_z
        return surface_y(world.block_XZY, self.footing_S, self.is_fluid_S, int(world.ground_XZ[x, z]), x, z)

    def place(self, rng: np.random.Generator, world: World, kind: str, x: int, z: int) -> Placement | None:
        """Return an object of `kind` standing on column (x, z), or None where it cannot."""
        size_x, _, size_z = world.spec.size_blocks
        x, z = x % size_x, z % size_z
        y = self.ground(world, x, z)
        if y <= 0:
            return None
        below, feet, head = (int(cell) & BLOCK_MASK for cell in world.block_XZY[x, z, y - 1 : y + 2])
        if not self._is_cube_S[below] or not self._is_vacant_S[feet]:
            return None
        sort = type_of(kind)
        if sort != "block" and feet != AIR:
            return None  # grass would hide an item, and stands through a mob's legs
        if sort == "mob" and not self._is_pasture(world, x, y, z):
            return None
        if base_kind(kind).endswith("_door") and not self._is_vacant_S[head]:
            return None
        state = self._state(rng, world, kind, x, y, z) if sort == "block" else kind
        return Placement(kind=state, position=(x, y, z)) if state else None

    def _state(self, rng: np.random.Generator, world: World, kind: str, x: int, y: int, z: int) -> str:
        """Return the kind with a drawn facing where it is a device that has one; "" where it has no free front."""
        if kind in _ON_FLOOR:
            return f"{kind}[facing=up]"
        names = [name for name, _ in BLOCKS[BLOCK_ID[kind]].properties]
        if "facing" not in names or not BLOCKS[BLOCK_ID[kind]].use:
            return kind
        facings = [facing for facing in _STEP if kind not in _FRONTED or self._is_open(world, x, y, z, _STEP[facing])]
        return f"{kind}[facing={facings[rng.integers(len(facings))]}]" if facings else ""

    def _is_open(self, world: World, x: int, y: int, z: int, step: tuple[int, int]) -> bool:
        """Tell whether a body finds room beside a cell."""
        size_x, _, size_z = world.spec.size_blocks
        cells_2 = world.block_XZY[(x + step[0]) % size_x, (z + step[1]) % size_z, y : y + 2] & BLOCK_MASK
        return not self.footing_S[cells_2].any()

    def _is_pasture(self, world: World, x: int, y: int, z: int) -> bool:
        """Tell whether a mob has room on all sides, and neither water, cliff nor danger near it."""
        size_x, _, size_z = world.spec.size_blocks
        around = np.arange(-_MOB_RANGE_BLOCKS, _MOB_RANGE_BLOCKS + 1)
        low = max(0, y - _MOB_MAX_STEP_BLOCKS - 1)
        state_NNY = world.block_XZY[(x + around)[:, None] % size_x, (z + around) % size_z, low : y + 2] & BLOCK_MASK
        footing_NNY = self.footing_S[state_NNY]
        beside = slice(_MOB_RANGE_BLOCKS - 1, _MOB_RANGE_BLOCKS + 2)
        feet_NNY = footing_NNY[beside, beside, y - low :] > 0
        feet_NNY[1, 1] = False  # the mob's own cells
        if feet_NNY.any():
            return False
        state_NNY, footing_NNY = state_NNY[:, :, : y + 1 - low], footing_NNY[:, :, : y + 1 - low]
        has_floor = ((footing_NNY > 0) & (footing_NNY <= FULL)).any(axis=2)
        is_danger = (self.is_fluid_S[state_NNY] | (footing_NNY == OBSTACLE)).any()
        return bool(has_floor.all() and not is_danger)
