"""What grows on the ground, at the water and in it, and the snow on top. X Y Z blocks, P plants, S block states."""

import functools
from dataclasses import dataclass

import numba
import numpy as np

from worlds.blocks import BLOCK_ID, NUM_STATES, state_of
from worlds.generate.biome import SEA_LEVEL, Growth
from worlds.generate.land import Land
from worlds.generate.noise import hash_bits, hash_unit
from worlds.generate.palette import kind_mask, state_ids

# Soils as bits: what may grow where.
_GRASSY, _SANDY, _SNOWY, _MYCELIUM = 1, 2, 4, 8
# Places as ids.
_ANYWHERE, _IN_SHADE, _AT_WATER, _ON_WATER, _IN_WATER = range(5)
_SHADE_BLOCKS = 14  # a roof this far above a mushroom still shades it


@dataclass(frozen=True, kw_only=True, slots=True)
class Plant:
    """One kind of plant."""

    lower: str
    upper: str = ""  # block on top of it: tall plants
    soils: int = _GRASSY
    place: int = _ANYWHERE
    tallest: int = 1  # stacked up to so high: sugar cane


def _tall(name: str) -> Plant:
    return Plant(lower=f"{name}[half=lower]", upper=f"{name}[half=upper]")


PLANTS: dict[str, Plant] = {
    **{
        name: Plant(lower=name)
        for name in (
            "dandelion", "poppy", "blue_orchid", "allium", "azure_bluet", "oxeye_daisy", "cornflower",
            "lily_of_the_valley", "red_tulip", "oak_sapling", "birch_sapling", "pumpkin", "melon",
        )
    },
    **{name: _tall(name) for name in ("tall_grass", "large_fern", "sunflower", "rose_bush", "lilac")},
    "grass": Plant(lower="grass", soils=_GRASSY | _SNOWY),
    "fern": Plant(lower="fern", soils=_GRASSY | _SNOWY),
    "spruce_sapling": Plant(lower="spruce_sapling", soils=_GRASSY | _SNOWY),
    "sweet_berry_bush": Plant(lower="sweet_berry_bush", soils=_GRASSY | _SNOWY),
    "dead_bush": Plant(lower="dead_bush", soils=_SANDY),
    "brown_mushroom": Plant(lower="brown_mushroom", soils=_GRASSY | _MYCELIUM, place=_IN_SHADE),
    "red_mushroom": Plant(lower="red_mushroom", soils=_GRASSY | _MYCELIUM, place=_IN_SHADE),
    "brown_mushroom_in_light": Plant(lower="brown_mushroom", soils=_MYCELIUM),
    "red_mushroom_in_light": Plant(lower="red_mushroom", soils=_MYCELIUM),
    "sugar_cane": Plant(lower="sugar_cane", soils=_GRASSY | _SANDY, place=_AT_WATER, tallest=3),
    "lily_pad": Plant(lower="lily_pad", place=_ON_WATER),
    "seagrass": Plant(lower="seagrass", place=_IN_WATER),
}  # fmt: skip

_SOIL_S = np.zeros(NUM_STATES, np.uint8)
for _bit, _names in (
    (_GRASSY, ("grass_block", "dirt", "podzol", "coarse_dirt")),
    (_SANDY, ("sand", "red_sand", "terracotta", "coarse_dirt")),
    (_SNOWY, ("snowy_grass_block",)),
    (_MYCELIUM, ("mycelium", "podzol")),
):
    _SOIL_S[kind_mask(*_names)] |= _bit

# Snow lies on whole cubes and leaves, not on water, ice or what is thin.
_BEARS_SNOW = kind_mask(
    "grass_block", "snowy_grass_block", "dirt", "coarse_dirt", "podzol", "stone", "andesite", "diorite", "granite",
    "gravel", "sand", "snow_block", "cobblestone", "mossy_cobblestone", "coal_ore", "iron_ore", "gold_ore",
    "diamond_ore", "redstone_ore", "lapis_ore", "oak_leaves", "birch_leaves", "spruce_leaves", "oak_planks",
    "spruce_planks", "stone_bricks",
)  # fmt: skip
_SNOW_WAVELENGTH = 13.0
_SNOW_LAYERS = state_ids(*(f"snow[layers={layers}]" for layers in range(1, 5)))


def grow_plants(land: Land, block_XZY: np.ndarray, ground_XZ: np.ndarray, reserved_XZ: np.ndarray) -> None:
    """Grow the biome's plants on every free column that suits them, one a column."""
    growths = land.biome.plants
    if not growths:
        return
    key = land.key("plants")
    row_P5, share_P2 = _rows(growths)
    shift_P2 = np.array([[256 * hash_unit(key, number, 0, axis) for axis in (1, 2)] for number in range(len(growths))])
    row_P7 = np.concatenate([row_P5, shift_P2.astype(np.int64)], axis=1)
    _grow_plants(
        block_XZY, ground_XZ, reserved_XZ, key, land.noise_XZ("patches", 17.0), row_P7, share_P2, _SOIL_S,
        BLOCK_ID["water"], SEA_LEVEL,
    )  # fmt: skip


@functools.cache
def _rows(growths: tuple[Growth, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Return rows (lower, upper, soils, place, tallest), int64 [P, 5], and (chance, patches_above), float64 [P, 2]."""
    plants = [PLANTS[growth.plant] for growth in growths]
    row_P5 = [
        (state_of(plant.lower), state_of(plant.upper) if plant.upper else 0, plant.soils, plant.place, plant.tallest)
        for plant in plants
    ]
    share_P2 = [(0.001 * growth.density, growth.patches_above) for growth in growths]
    return np.array(row_P5, np.int64), np.array(share_P2)


def cover_with_snow(land: Land, block_XZY: np.ndarray) -> None:
    """Lay snow on what is under the open sky, in drifts."""
    drift_XZ = land.noise_XZ("drifts", _SNOW_WAVELENGTH)
    _cover_with_snow(block_XZY, land.key("snow"), drift_XZ, _SNOW_LAYERS, _BEARS_SNOW)


@numba.njit(cache=True, nogil=True)
def _grow_plants(
    block_XZY: np.ndarray,
    ground_XZ: np.ndarray,
    reserved_XZ: np.ndarray,
    key: np.uint64,
    noise_XZ: np.ndarray,
    row_P7: np.ndarray,
    share_P2: np.ndarray,
    soil_S: np.ndarray,
    water: int,
    sea_level: int,
) -> None:
    size_x, size_z, size_y = block_XZY.shape
    for x in range(size_x):
        for z in range(size_z):
            ground = int(ground_XZ[x, z])
            if reserved_XZ[x, z] > 1 or ground > size_y - 6:
                continue
            above = block_XZY[x, z, ground + 1]
            if above != 0 and above != water:
                continue
            draw = hash_unit(key, x, z, 3)
            for plant in range(len(row_P7)):
                # Every kind reads the same noise at a place of its own, so that patches of two kinds differ.
                noise = noise_XZ[(x + row_P7[plant, 5]) & (size_x - 1), (z + row_P7[plant, 6]) & (size_z - 1)]
                if noise <= share_P2[plant, 1]:
                    continue
                draw -= share_P2[plant, 0]
                if draw < 0.0:
                    _grow_one(block_XZY, x, ground, z, key, row_P7[plant], soil_S, water, sea_level)
                    break


@numba.njit(cache=True, nogil=True)
def _grow_one(
    block_XZY: np.ndarray,
    x: int,
    ground: int,
    z: int,
    key: np.uint64,
    row_7: np.ndarray,
    soil_S: np.ndarray,
    water: int,
    sea_level: int,
) -> None:
    column_Y = block_XZY[x, z]
    place = row_7[3]
    if place == _IN_WATER:
        if column_Y[ground + 1] == water and column_Y[ground + 2] == water:
            column_Y[ground + 1] = row_7[0]
        return
    if place == _ON_WATER:
        if ground < sea_level and column_Y[sea_level] == water and column_Y[sea_level + 1] == 0:
            column_Y[sea_level + 1] = row_7[0]
        return
    if column_Y[ground + 1] != 0 or soil_S[column_Y[ground]] & row_7[2] == 0:
        return
    mask_x, mask_z = block_XZY.shape[0] - 1, block_XZY.shape[1] - 1
    if place == _IN_SHADE:
        is_shaded = False
        for y in range(ground + 2, min(ground + _SHADE_BLOCKS, len(column_Y))):
            is_shaded = is_shaded or column_Y[y] != 0
        if not is_shaded:
            return
    elif place == _AT_WATER and not (
        block_XZY[(x + 1) & mask_x, z, ground] == water
        or block_XZY[(x - 1) & mask_x, z, ground] == water
        or block_XZY[x, (z + 1) & mask_z, ground] == water
        or block_XZY[x, (z - 1) & mask_z, ground] == water
    ):
        return
    height = 1 + int(hash_bits(key, x, z, 4) & np.uint64(0xFF)) % row_7[4]
    if row_7[1] != 0:
        height = 2
    for step in range(height):
        if column_Y[ground + 1 + step] != 0:
            if row_7[1] != 0:
                column_Y[ground + 1] = 0
            return
        column_Y[ground + 1 + step] = row_7[1] if step == 1 and row_7[1] != 0 else row_7[0]


@numba.njit(cache=True, nogil=True)
def _cover_with_snow(
    block_XZY: np.ndarray, key: np.uint64, drift_XZ: np.ndarray, layers_L: np.ndarray, bears_snow_S: np.ndarray
) -> None:
    size_x, size_z, size_y = block_XZY.shape
    for x in range(size_x):
        for z in range(size_z):
            # Bare patches too: every layer costs the renderer time, and the ground is white already.
            drift = drift_XZ[x, z] + 0.5 * (hash_unit(key, x, z, 0) - 0.5)
            if drift < 0.25:
                continue
            y = size_y - 2
            while block_XZY[x, z, y] == 0:
                y -= 1
            if bears_snow_S[block_XZY[x, z, y]]:
                layers = min(int((drift - 0.25) * 6.0), len(layers_L) - 1)
                block_XZY[x, z, y + 1] = layers_L[layers]
