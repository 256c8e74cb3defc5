"""Putting blocks into worlds on a GPU. N envs, K puts each."""

from worlds.voxel import free_boxes
from worlds.voxel.cuda.kernels import cuda, for_device
from worlds.voxel.free_boxes import BOX_BITS, MOST_CELLS
from worlds.voxel.link import link

PUT_THREADS = 256
_REACH = MOST_CELLS - 1
_SIDE = 2 * _REACH + 1  # of the cube of cells whose boxes may hold a cell
_narrower_code = link(free_boxes.SOURCES, for_device(), {})["narrower_code"]


@cuda.jit(cache=True)
def put_blocks(block_EXZY, field_EXZY, env_index_N, put_NK4, count_N):  # type: ignore[no-untyped-def]
    """Put blocks (x, y, z, value) into worlds one after the other; no free box of a field holds them any more.

    One block of threads a world, which share the cells around a put; see worlds.voxel.free_boxes.narrow_boxes.
    """
    n, thread = cuda.blockIdx.x, cuda.threadIdx.x
    e = env_index_N[n]
    mask_x, mask_z, size_y = field_EXZY.shape[1] - 1, field_EXZY.shape[2] - 1, field_EXZY.shape[3]
    for k in range(count_N[n]):
        x, y, z = put_NK4[n, k, 0], put_NK4[n, k, 1], put_NK4[n, k, 2]
        for place in range(thread, _SIDE * _SIDE * _SIDE, PUT_THREADS):
            step_x, step_z = place // (_SIDE * _SIDE) - _REACH, place // _SIDE % _SIDE - _REACH
            other_y = y + place % _SIDE - _REACH
            if 0 <= other_y < size_y:
                cell_x, cell_z = (x + step_x) & mask_x, (z + step_z) & mask_z
                value = int(field_EXZY[e, cell_x, cell_z, other_y])
                narrower = _narrower_code(value & BOX_BITS, max(abs(step_x), abs(step_z)), y - other_y)
                field_EXZY[e, cell_x, cell_z, other_y] = (value & ~BOX_BITS & 255) | narrower
        if thread == 0:
            block_EXZY[e, x, z, y] = put_NK4[n, k, 3]
        cuda.syncthreads()
