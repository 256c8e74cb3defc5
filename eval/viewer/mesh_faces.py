"""Which quads of a world can be seen, and how bright they are: those that the engine's own rays may meet.

X Z Y blocks, S block states, F quads found. x and z wrap as in the engine; above the world is open sky, and what looks
down out of its floor is left out.
"""

from dataclasses import dataclass

import numpy as np

from eval.viewer.mesh_table import NOT_FLUSH, NUM_FACES, MeshTable
from worlds.blocks import AIR
from worlds.spec import BLOCK_MASK
from worlds.voxel.field import FULL_LIGHT, LIGHT_SHIFT
from worlds.voxel.shading import DIMMEST, LIFT

# x, y, z towards each face, in the order of worlds.types.FACES.
_STEP = ((-1, 0, 0), (1, 0, 0), (0, -1, 0), (0, 1, 0), (0, 0, -1), (0, 0, 1))


@dataclass(frozen=True, kw_only=True, slots=True)
class WorldFaces:
    """F quads of some columns of a world."""

    cell_F3: np.ndarray  # int32 [F, 3] x, y, z of the cell
    quad_F: np.ndarray  # int64 [F], row of the MeshTable
    brightness_F: np.ndarray  # float32 [F], share of full light: of the face and of the light around it


def light_curve() -> np.ndarray:
    """Return the share of full light at levels 0 .. 15, as worlds.voxel.shading.light_of_level; float32 [16]."""
    share = np.arange(FULL_LIGHT + 1, dtype=np.float32) / FULL_LIGHT
    plain = share / (4.0 - 3.0 * share)
    lit = plain + (1.0 - (1.0 - plain) ** 4 - plain) * float(LIFT)
    return (float(DIMMEST) + (1.0 - float(DIMMEST)) * lit).astype(np.float32)


def visible_faces(
    block_XZY: np.ndarray,
    field_XZY: np.ndarray,
    table: MeshTable,
    emission_S: np.ndarray,
    *,
    columns: tuple[slice, slice] = (slice(None), slice(None)),
    sky_level: int = FULL_LIGHT,
) -> WorldFaces:
    """Return the quads that can be seen in some columns of a world.

    Args:
        block_XZY: uint16 [X, Z, 64], cells of the whole world.
        field_XZY: uint8 [X, Z, 64], the engine's field: light is in its high nibble.
        table: the quads of all states.
        emission_S: uint8 [S], light that a state shows by itself.
        columns: which x and which z; slices with start and stop, or all.
        sky_level: light level above the world.
    """
    size_x, size_z, size_y = block_XZY.shape
    first_x, last_x, _ = columns[0].indices(size_x)
    first_z, last_z, _ = columns[1].indices(size_z)
    # One cell more on every side: the neighbours decide.
    x_N, z_N = np.arange(first_x - 1, last_x + 1) % size_x, np.arange(first_z - 1, last_z + 1) % size_z
    near_XZY = block_XZY[np.ix_(x_N, z_N)] & BLOCK_MASK
    state_XZY = near_XZY[1:-1, 1:-1]
    is_open_6 = np.stack([_is_open(near_XZY, state_XZY, face, table) for face in range(NUM_FACES)])
    is_drawn_XZY = (state_XZY != AIR) & (is_open_6.any(axis=0) | table.has_inner_S[state_XZY])
    x_M, z_M, y_M = np.nonzero(is_drawn_XZY)
    state_M = state_XZY[x_M, z_M, y_M]
    above_M = np.where(y_M + 1 < size_y, state_XZY[x_M, z_M, np.minimum(y_M + 1, size_y - 1)], AIR)
    is_deep_M = table.is_fluid_S[state_M] & (above_M == state_M)
    start_M = np.where(is_deep_M, table.deep_start_S[state_M], table.start_S[state_M])
    count_M = np.where(is_deep_M, table.deep_count_S[state_M], table.count_S[state_M])
    # The quads of cell m follow one another: number them 0 .. count_M[m] - 1 and add where its state's begin.
    index_F = np.repeat(np.arange(len(state_M)), count_M)
    quad_F = np.arange(len(index_F)) - np.repeat(np.cumsum(count_M) - count_M, count_M) + start_M[index_F]
    face_F = table.face_Q[quad_F]
    is_seen_F = (face_F == NOT_FLUSH) | is_open_6[face_F, x_M[index_F], z_M[index_F], y_M[index_F]]
    index_F, quad_F, face_F = index_F[is_seen_F], quad_F[is_seen_F], face_F[is_seen_F]
    x_F, z_F, y_F = x_M[index_F], z_M[index_F], y_M[index_F]
    own_XZY = (field_XZY[np.ix_(x_N, z_N)] >> LIGHT_SHIFT).astype(np.int16)
    step_63 = np.array((*_STEP, (0, 0, 0)))  # NOT_FLUSH, -1, is the last: its own cell
    front_y_F = y_F + step_63[face_F, 1]
    level_F = own_XZY[
        x_F + 1 + step_63[face_F, 0], z_F + 1 + step_63[face_F, 2], np.clip(front_y_F, 0, size_y - 1)
    ]  # fmt: skip
    level_F = np.where((front_y_F < 0) | (front_y_F >= size_y), sky_level, level_F)
    # A cube has no light but what it gives off itself; what does not fill its cell has the cell's too.
    is_cube_F = table.is_cube_S[state_M[index_F]]
    level_F = np.maximum(level_F, np.where(is_cube_F, 0, own_XZY[x_F + 1, z_F + 1, y_F]))
    level_F = np.maximum(level_F, emission_S[state_M[index_F]])
    return WorldFaces(
        cell_F3=np.stack([x_F + first_x, y_F, z_F + first_z], axis=1).astype(np.int32),
        quad_F=quad_F,
        brightness_F=table.light_Q[quad_F] * light_curve()[level_F],
    )


def _is_open(near_XZY: np.ndarray, state_XZY: np.ndarray, face: int, table: MeshTable) -> np.ndarray:
    """Tell for every cell whether a ray may come in through a face; bool [X, Z, Y]."""
    dx, dy, dz = _STEP[face]
    size_x, size_z, _ = state_XZY.shape
    beside_XZY = near_XZY[1 + dx : 1 + dx + size_x, 1 + dz : 1 + dz + size_z]
    if dy:
        other_XZY = np.roll(beside_XZY, -dy, axis=2)
        # Sky above; nobody stands below the floor.
        other_XZY[:, :, -1 if dy > 0 else 0] = AIR
    else:
        other_XZY = beside_XZY
    is_open_XZY = ~table.covers_S6[:, face ^ 1][other_XZY]
    is_open_XZY &= ~(table.is_fluid_S[state_XZY] & (other_XZY == state_XZY))
    if dy < 0:
        is_open_XZY[:, :, 0] = False
    return is_open_XZY
