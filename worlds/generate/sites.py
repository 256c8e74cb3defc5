"""Where structures stand: level ground is made for them before the land is filled with blocks. X Y Z blocks."""

from dataclasses import dataclass

import numpy as np

from worlds.blocks import NUM_STATES, build_block_tables
from worlds.generate.biome import SEA_LEVEL
from worlds.generate.blueprint import Blueprint
from worlds.generate.buildings import NUM_VARIANTS, blueprint
from worlds.generate.land import Land
from worlds.generate.noise import hash_unit
from worlds.generate.palette import kind_mask

# Values of reserved_XZ: a slope that leads up to a structure (no trees, caves, boulders), its own columns, a way.
FREE, SLOPE, BUILT, WAY = range(4)

_SLOPE_BLOCKS = 4
_TRIES = 12
_MAX_RELIEF_BLOCKS = 6
_MAX_SITES_A_128_WORLD, _MAX_SITES = 4, 10
# Ground is what a body walks on without climbing onto a structure: whole cubes, and what is a little lower.
_IS_GROUND = build_block_tables().collision.is_cube_S | kind_mask("farmland", "grass_path", "soul_sand")
assert len(_IS_GROUND) == NUM_STATES


@dataclass(frozen=True, slots=True, eq=False)
class Site:
    """A structure with its place."""

    name: str
    plan: Blueprint
    corner_xz: tuple[int, int]  # lowest x and z, wrapped into the world
    level: int  # y of the ground
    front_xz: tuple[int, int]  # the column before the middle of its front


def choose_sites(land: Land, ground_XZ: np.ndarray, reserved_XZ: np.ndarray) -> list[Site]:
    """Return the structures of this world; their ground is levelled and reserved."""
    size_x, size_z = ground_XZ.shape
    if not land.biome.structures:
        return []
    most = min(_MAX_SITES, round(_MAX_SITES_A_128_WORLD * size_x * size_z / 128**2))
    key = land.key("sites")
    sites: list[Site] = []
    for number in range(int((most + 1) * hash_unit(key, 0, 0, 0))):
        draws = [hash_unit(key, number, 0, index) for index in range(1, 4)]
        name = land.biome.structures[int(len(land.biome.structures) * draws[0])]
        if number and name != "lamp_post" and name in {site.name for site in sites}:
            name = "lamp_post" if "lamp_post" in land.biome.structures else name
        quarters = int(4 * draws[1])
        plan = blueprint(name, land.biome.wood, int(NUM_VARIANTS * draws[2]), quarters)
        for attempt in range(_TRIES):
            corner_xz = (
                int(size_x * hash_unit(key, number, attempt, 4)),
                int(size_z * hash_unit(key, number, attempt, 5)),
            )
            level = _level(ground_XZ, reserved_XZ, plan, corner_xz)
            if level is not None:
                sites.append(Site(name, plan, corner_xz, level, _front(plan, corner_xz, quarters)))
                break
    return sites


def _level(ground_XZ: np.ndarray, reserved_XZ: np.ndarray, plan: Blueprint, corner_xz: tuple[int, int]) -> int | None:
    """Level the ground for a plan and return its y; None, and nothing changed, where it does not fit."""
    around = _columns(ground_XZ, plan, corner_xz, _SLOPE_BLOCKS)
    near_XZ = ground_XZ[around]
    inner_XZ = near_XZ[_SLOPE_BLOCKS:-_SLOPE_BLOCKS, _SLOPE_BLOCKS:-_SLOPE_BLOCKS]
    lowest = int(near_XZ.min())
    if max(near_XZ.shape) > min(ground_XZ.shape) or lowest < SEA_LEVEL or reserved_XZ[around].any():
        return None
    if inner_XZ.max() - inner_XZ.min() > _MAX_RELIEF_BLOCKS:
        return None
    level = int(np.sort(inner_XZ, axis=None)[inner_XZ.size // 2])
    # y = 63 is the top of the world; a bridgehead of one block stays free above the roof.
    if level + plan.block_XZY.shape[2] - plan.depth > 62 or level - plan.depth < 2:
        return None
    away_X, away_Z = (
        np.maximum(0, np.maximum(_SLOPE_BLOCKS - np.arange(side), np.arange(side) - (side - 1 - _SLOPE_BLOCKS)))
        for side in near_XZ.shape
    )
    away_XZ = np.maximum(away_X[:, None], away_Z[None, :]).astype(np.int16)
    ground_XZ[around] = np.clip(near_XZ, level - away_XZ, level + away_XZ)
    reserved_XZ[around] = np.where(away_XZ == 0, BUILT, SLOPE)
    return level


def _columns(field_XZ: np.ndarray, plan: Blueprint, corner_xz: tuple[int, int], margin: int) -> tuple:
    """Return the index of a plan's columns, and `margin` more on every side."""
    x, z = (
        (corner - margin + np.arange(side + 2 * margin)) & (size - 1)
        for corner, side, size in zip(corner_xz, plan.block_XZY.shape[:2], field_XZ.shape[:2], strict=True)
    )
    return np.ix_(x, z)


def _front(plan: Blueprint, corner_xz: tuple[int, int], quarters: int) -> tuple[int, int]:
    side_x, side_z = plan.block_XZY.shape[:2]
    x, z = ((side_x // 2, side_z), (-1, side_z // 2), (side_x // 2, -1), (side_x, side_z // 2))[quarters]
    return corner_xz[0] + x, corner_xz[1] + z


def build(sites: list[Site], block_XZY: np.ndarray, ground_XZ: np.ndarray) -> None:
    """Build every structure on its site; ground_XZ follows where a structure is dug into the ground."""
    for site in sites:
        plan_XZY = site.plan.block_XZY
        lowest = site.level - site.plan.depth
        columns = _columns(ground_XZ, site.plan, site.corner_xz, 0)
        x, z = columns
        cells = (x[..., None], z[..., None], np.arange(lowest, lowest + plan_XZY.shape[2]))
        block_XZY[cells] = np.where(plan_XZY >= 0, plan_XZY, block_XZY[cells])
        is_ground_XZY = _IS_GROUND[block_XZY[columns][..., site.level :: -1]]
        ground_XZ[columns] = site.level - is_ground_XZY.argmax(axis=2)
