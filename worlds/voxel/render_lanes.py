"""The renderer, sixteen rays at a time: the fast twin of worlds.voxel.render. V views, W worlds, H W C image.

A tile of 4 x 4 pixels is drawn in lockstep: march through the free cells (trace_lanes), look at the cells where the
rays have stopped, let those that are no full cubes be met or passed (trace_shapes), colour, and lay mobs and items over
it (trace_entities).
"""

import numba
import numpy as np

from worlds.blocks import AIR
from worlds.spec import BLOCK_MASK
from worlds.voxel.free_boxes import BOX_BITS
from worlds.voxel.render import CPU_KERNELS, CPU_OPTIONS
from worlds.voxel.render_shapes import MISSED
from worlds.voxel.render_view import LOOK_TEXTURE_SET, WORLD_HEIGHT, View
from worlds.voxel.scene import DRAW_ELEMENTS, DRAW_FLUID, BlockLooks, ModelLooks, Picture, Scene
from worlds.voxel.shading import Whole, i32, u32
from worlds.voxel.trace_colors import color
from worlds.voxel.trace_entities import FIRST_ROW, LAST_ROW, NUM_PART_COLUMNS, cover, list_parts, num_parts_of
from worlds.voxel.trace_lanes import (
    COLOR,
    DISTANCE,
    INSTANCE,
    MAX_STEPS,
    MET_DISTANCE,
    NUM_LANES,
    NUM_ROWS,
    TILE_HEIGHT_PX,
    TILE_WIDTH_PX,
    Torus,
    aim,
    fetch_codes,
    inlined,
    step,
)
from worlds.voxel.trace_shapes import classify, resolve

GROUP_ROWS, GROUP_COLUMNS = 2, 2  # of tiles on their way together: while one waits for memory, others compute
NUM_GROUPS = GROUP_ROWS * GROUP_COLUMNS

_label_target = CPU_KERNELS["label_target"]
_make_view, _draw_view = CPU_KERNELS["make_view"], CPU_KERNELS["draw_view"]


@inlined
def _start(view: View, code: Whole, row: int, column: int, whole_RL: np.ndarray, real_RL: np.ndarray) -> None:
    """Set the lanes off to the pixels of a tile, given by its row and column among the tiles."""
    aim(view, code, row * TILE_HEIGHT_PX, column * TILE_WIDTH_PX, whole_RL, real_RL)
    for lane in range(NUM_LANES):
        real_RL[MET_DISTANCE, lane] = MISSED


@inlined
def _store(
    picture: Picture,
    words_N: np.ndarray,
    v: int,
    first_row: int,
    column: int,
    whole_RL: np.ndarray,
    real_RL: np.ndarray,
) -> None:
    """Write a tile into the picture; `words_N` is the view's image as uint32, empty if its rows are no whole words."""
    has_depth = picture.depth_VHW.shape[0] > 0
    _, height_px, width_px = picture.instance_VHW.shape
    image_HWC, instance_HW = picture.image_VHWC[v], picture.instance_VHW[v]
    if column >= width_px:
        return
    num_columns = min(TILE_WIDTH_PX, width_px - column)
    for tile_row in range(min(TILE_HEIGHT_PX, height_px - first_row)):
        row, lane = first_row + tile_row, tile_row * TILE_WIDTH_PX
        for n in range(num_columns):
            instance_HW[row, column + n] = whole_RL[INSTANCE, lane + n]
        if len(words_N) > 0:
            # Four pixels are three words.
            word = ((row * width_px + column) * 3) >> 2
            color_0, color_1 = u32(whole_RL[COLOR, lane]), u32(whole_RL[COLOR, lane + 1])
            color_2, color_3 = u32(whole_RL[COLOR, lane + 2]), u32(whole_RL[COLOR, lane + 3])
            words_N[word] = color_0 | (color_1 << u32(24))
            words_N[word + 1] = (color_1 >> u32(8)) | (color_2 << u32(16))
            words_N[word + 2] = (color_2 >> u32(16)) | (color_3 << u32(8))
        else:
            for n in range(num_columns):
                packed = whole_RL[COLOR, lane + n]
                image_HWC[row, column + n, 0] = packed & 255
                image_HWC[row, column + n, 1] = (packed >> 8) & 255
                image_HWC[row, column + n, 2] = (packed >> 16) & 255
        if has_depth:
            for n in range(num_columns):
                picture.depth_VHW[v, row, column + n] = real_RL[DISTANCE, lane + n]


@inlined
def _first_code(block_XZY: np.ndarray, field_XZY: np.ndarray, looks: BlockLooks, view: View) -> Whole:
    """Return the code of the free box around the eye: 0 where its own cell has something to draw."""
    x, z = view.cell_x & (block_XZY.shape[0] - 1), view.cell_z & (block_XZY.shape[1] - 1)
    state = block_XZY[x, z, view.cell_y] & BLOCK_MASK
    draw = looks.draw_S[state]
    if state != AIR and (draw == DRAW_ELEMENTS or draw == DRAW_FLUID):
        return i32(0)
    # A cube around the eye is never drawn: a ray leaves it even if it holds a block.
    return max(i32(1), i32(field_XZY[x, z, view.cell_y] & BOX_BITS))


@numba.njit(**CPU_OPTIONS)
def _list_by_row(part_PF: np.ndarray, num_parts: int, index_TP: np.ndarray, count_T: np.ndarray) -> None:
    """Write the rows of the parts that may touch each row of tiles."""
    for tile_row in range(len(count_T)):
        count = 0
        for n in range(num_parts):
            if part_PF[n, FIRST_ROW] <= tile_row <= part_PF[n, LAST_ROW]:
                index_TP[tile_row, count] = n
                count += 1
        count_T[tile_row] = count


@numba.njit(**CPU_OPTIONS)
def _draw_view_lanes(
    scene: Scene, block_looks: BlockLooks, model_looks: ModelLooks, view: View, world: int, v: int, picture: Picture
) -> None:
    """Draw view v for an eye inside the world and out of water; see render_scalar."""
    _, height_px, width_px = picture.instance_VHW.shape
    num_rows = (height_px + TILE_HEIGHT_PX - 1) // TILE_HEIGHT_PX
    num_columns = (width_px + TILE_WIDTH_PX - 1) // TILE_WIDTH_PX
    block_XZY, field_XZY = scene.block_WXZY[world], scene.field_WXZY[world]
    atlas_N = scene.atlas_AN[int(scene.look_WL[world, LOOK_TEXTURE_SET])]
    size_x, size_z, size_y = block_XZY.shape
    torus = Torus(i32(size_x - 1), i32(size_z - 1), i32(size_z * size_y), i32(size_y))
    block_N, field_N, packed_N = block_XZY.reshape(-1), field_XZY.reshape(-1), block_looks.packed_S8.reshape(-1)
    first_code = _first_code(block_XZY, field_XZY, block_looks, view)
    max_parts = num_parts_of(scene, model_looks, world)
    part_PF, index_TP = np.empty((max_parts, NUM_PART_COLUMNS), np.float32), np.empty((num_rows, max_parts), np.int64)
    count_T = np.zeros(num_rows, np.int64)
    if max_parts > 0:
        num_parts = list_parts(scene, model_looks, view, world, height_px, width_px, part_PF)
        _list_by_row(part_PF, num_parts, index_TP, count_T)
    byte_N = picture.image_VHWC[v].reshape(-1)
    words_N = byte_N[: len(byte_N) if width_px % TILE_WIDTH_PX == 0 else 0].view(np.uint32)
    whole_GRL = np.empty((NUM_GROUPS, NUM_ROWS, NUM_LANES), np.int32)
    real_GRL = whole_GRL.view(np.float32)
    is_flying_G, is_open_G = np.empty(NUM_GROUPS, np.bool_), np.empty(NUM_GROUPS, np.bool_)
    for first_row in range(0, num_rows, GROUP_ROWS):
        for first_column in range(0, num_columns, GROUP_COLUMNS):
            for group in range(NUM_GROUPS):
                row, column = first_row + group // GROUP_COLUMNS, first_column + group % GROUP_COLUMNS
                _start(view, first_code, row, column, whole_GRL[group], real_GRL[group])
                is_flying_G[group] = is_open_G[group] = True
            num_flying = NUM_GROUPS
            for _ in range(MAX_STEPS):
                for _ in range(MAX_STEPS):
                    for group in range(NUM_GROUPS):
                        if is_flying_G[group]:
                            fetch_codes(torus, field_N, whole_GRL[group])
                    for group in range(NUM_GROUPS):
                        if is_flying_G[group] and step(view.range_blocks, whole_GRL[group], real_GRL[group]) == 0:
                            is_flying_G[group] = False
                            num_flying -= 1
                    if num_flying == 0:
                        break
                for group in range(NUM_GROUPS):
                    if is_open_G[group]:
                        num_pending = classify(torus, view, block_N, packed_N, whole_GRL[group], real_GRL[group])
                        is_open_G[group] = num_pending > 0
                for group in range(NUM_GROUPS):
                    if is_open_G[group]:
                        resolve(torus, view, block_looks, block_N, atlas_N, whole_GRL[group], real_GRL[group])
                        is_flying_G[group] = True
                        num_flying += 1
                if num_flying == 0:
                    break
            for group in range(NUM_GROUPS):
                row, column = first_row + group // GROUP_COLUMNS, first_column + group % GROUP_COLUMNS
                color(torus, view, field_N, atlas_N, whole_GRL[group], real_GRL[group])
                if row < num_rows and count_T[row] > 0:
                    cover(
                        view, part_PF, index_TP[row], count_T[row], column, atlas_N, whole_GRL[group], real_GRL[group]
                    )  # fmt: skip
                _store(
                    picture, words_N, v, row * TILE_HEIGHT_PX, column * TILE_WIDTH_PX, whole_GRL[group],
                    real_GRL[group],
                )  # fmt: skip


@numba.njit(parallel=True, cache=True, **CPU_OPTIONS)
def render_lanes(
    scene: Scene,
    block_looks: BlockLooks,
    model_looks: ModelLooks,
    world_index_V: np.ndarray,
    eye_V5: np.ndarray,
    target_instance_V: np.ndarray,
    view_range_blocks: float,
    picture: Picture,
) -> None:
    """Draw V views; arguments and results are those of worlds.voxel.render.render_scalar."""
    _, height_px, width_px = picture.instance_VHW.shape
    for n in numba.prange(len(world_index_V)):
        v = np.int64(n)  # unsigned in a parallel loop, so that all that takes it would be compiled once more
        world = world_index_V[v]
        view = _make_view(scene, block_looks, world, eye_V5[v], view_range_blocks, height_px, width_px)
        # The field counts a fluid as blocks and ends at the top of the world.
        if view.see_through == AIR and 0 <= view.cell_y < WORLD_HEIGHT:
            _draw_view_lanes(scene, block_looks, model_looks, view, world, v, picture)
        else:
            _draw_view(scene, block_looks, model_looks, view, world, v, picture)
        _label_target(picture.instance_VHW[v], target_instance_V[v], picture.target_V7[v])
