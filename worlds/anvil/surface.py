"""Where in a save a good world can be cut out. X Z Y blocks, N columns or windows."""

from collections.abc import Iterator

import numpy as np

from worlds.anvil.chunk import SECTION_BLOCKS, Chunk
from worlds.anvil.cut_out import Palette, section_numbers
from worlds.anvil.ground import highest_ground, is_ground_table
from worlds.anvil.save import Save
from worlds.blocks import STATE_ID

_SURFACE_LEVEL = 28  # of the cut-out: where the middle of the surface is put, sky for trees and hills above it
_MAX_WINDOWS = 32
_SMALLEST_BLOCKS = 32  # side of a cut-out


def suggest_origin(save: Save, size_blocks: tuple[int, int, int] = (128, 64, 128)) -> tuple[int, int, int]:
    """Return WorldSpec.origin_blocks of a good cut-out: near the middle of the save, the surface in its lower half.

    Raises:
        ValueError: the save has no part of that size in which every chunk was generated and can be read.
    """
    smaller = " or choose a smaller size" if min(size_blocks[0], size_blocks[2]) > _SMALLEST_BLOCKS else ""
    return suggest_origins(save, size_blocks, most=1, fix=f"explore more of the world{smaller}")[0]


def suggest_origins(
    save: Save, size_blocks: tuple[int, int, int], *, most: int, fix: str = "explore more of the world"
) -> list[tuple[int, int, int]]:
    """Return origins of up to `most` cut-outs that do not overlap, see `suggest_origin`; at least one.

    Parts of the save that cannot be read are passed over.

    Raises:
        ValueError: the save has no part of that size in which every chunk was generated and can be read. Where
            nothing could be read the sentence is that of the first broken chunk, else it ends with `fix`.
    """
    num_x, num_z = -(-size_blocks[0] // SECTION_BLOCKS), -(-size_blocks[2] // SECTION_BLOCKS)
    origins: dict[tuple[int, int], tuple[int, int, int]] = {}
    num_looked_at, useless = 0, dict[tuple[int, int], ValueError | None]()
    for chunk_x, chunk_z in _windows(save, num_x, num_z):
        if any(abs(chunk_x - x) < num_x and abs(chunk_z - z) < num_z for x, z in origins):
            continue
        if any(0 <= x - chunk_x < num_x and 0 <= z - chunk_z < num_z for x, z in useless):
            continue
        if len(origins) >= most or num_looked_at >= _MAX_WINDOWS * most:
            break
        num_looked_at += 1
        try:
            levels = _sampled_levels(save, chunk_x, chunk_z, num_x, num_z)
        except _UselessError as found:
            useless[found.chunk] = found.reason
            continue
        middle = int(np.median(levels)) if len(levels) else _SURFACE_LEVEL
        origins[chunk_x, chunk_z] = chunk_x * SECTION_BLOCKS, middle - _SURFACE_LEVEL, chunk_z * SECTION_BLOCKS
    if not origins:
        for reason in useless.values():
            if reason is not None:
                raise reason
        raise ValueError(
            f"{save.folder}: no {size_blocks[0]} x {size_blocks[2]} blocks of it were generated as a whole; {fix}"
        )
    return list(origins.values())


def _windows(save: Save, num_x: int, num_z: int) -> Iterator[tuple[int, int]]:
    """Yield first chunks of windows in which all chunks exist, the nearest to the middle of the save first."""
    has_XZ = save.has_chunk_XZ
    if has_XZ.shape[0] < num_x or has_XZ.shape[1] < num_z:
        return
    total_XZ = np.pad(has_XZ.astype(np.int64).cumsum(axis=0).cumsum(axis=1), ((1, 0), (1, 0)))
    count_XZ = (
        total_XZ[num_x:, num_z:] - total_XZ[:-num_x, num_z:] - total_XZ[num_x:, :-num_z] + total_XZ[:-num_x, :-num_z]
    )
    start_N2 = np.argwhere(count_XZ == num_x * num_z)
    middle_2 = np.argwhere(has_XZ).mean(axis=0) - (num_x / 2, num_z / 2)
    order_N = np.argsort(((start_N2 - middle_2) ** 2).sum(axis=1), kind="stable")
    # One at a time: few are looked at, and a large save has millions.
    for index in order_N:
        x, z = start_N2[index].tolist()
        yield x + save.min_chunk[0], z + save.min_chunk[1]


class _UselessError(Exception):
    """A chunk of a window is unfinished, or cannot be read."""

    def __init__(self, chunk: tuple[int, int], reason: ValueError | None) -> None:
        super().__init__()
        self.chunk, self.reason = chunk, reason


def _sampled_levels(save: Save, chunk_x: int, chunk_z: int, num_x: int, num_z: int) -> np.ndarray:
    """Return the surface's level in columns of some chunks of a window, int64 [N]; _UselessError for a bad chunk."""
    palette, levels = Palette(), []
    sampled_xs = {chunk_x, chunk_x + num_x // 2, chunk_x + num_x - 1}
    sampled_zs = {chunk_z, chunk_z + num_z // 2, chunk_z + num_z - 1}
    window = [(x, z) for x in range(chunk_x, chunk_x + num_x) for z in range(chunk_z, chunk_z + num_z)]
    # The sampled ones first, corners among them: what is amiss mostly reaches one of these.
    for x, z in sorted(window, key=lambda at: (at[0] not in sampled_xs or at[1] not in sampled_zs, at)):
        try:
            found = save.read_chunk(x, z)
            if found is None or not found[0].is_finished:
                raise _UselessError((x, z), None)
            if x in sampled_xs and z in sampled_zs:
                levels.append(_column_levels(found[0], palette))
        except ValueError as error:
            raise _UselessError((x, z), error) from None
    return np.concatenate(levels)


def _column_levels(chunk: Chunk, palette: Palette) -> np.ndarray:
    """Return the level of the highest ground in every column that has one, int64 [N]."""
    level_XZ = np.zeros((SECTION_BLOCKS, SECTION_BLOCKS), np.int64)
    is_found_XZ = np.zeros(level_XZ.shape, bool)
    for y in reversed(chunk.section_ys):
        number_XZY = section_numbers(chunk, y, palette)
        is_ground_N = is_ground_table()[[STATE_ID[mapped.state] for mapped in palette.mapped]]
        highest_XZ = highest_ground(is_ground_N[number_XZY])
        is_new_XZ = ~is_found_XZ & (highest_XZ >= 0)
        level_XZ[is_new_XZ] = highest_XZ[is_new_XZ] + y * SECTION_BLOCKS
        is_found_XZ |= is_new_XZ
        if is_found_XZ.all():
            break
    return level_XZ[is_found_XZ]
