"""A world as chunks of textured mesh, each made again only when something in or beside it has changed.

X Z Y blocks, F quads. A chunk is 16 x 16 columns; its GLB lies at its own lower corner.
"""

import functools
import hashlib
from dataclasses import dataclass

import numpy as np

from eval.viewer.mesh_faces import WorldFaces, visible_faces
from eval.viewer.mesh_glb import glb_of_quads
from eval.viewer.mesh_store import MeshStore
from eval.viewer.mesh_table import MeshTable, build_mesh_table
from worlds.spec import Look
from worlds.textures.atlas import own_atlas, texture_rows
from worlds.voxel.daylight import darkness, daylight
from worlds.voxel.field import FULL_LIGHT
from worlds.voxel.looks import build_block_looks
from worlds.voxel.render_view import NIGHT_HUE
from worlds.voxel.scene import BlockLooks

CHUNK_BLOCKS = 16

ChunkIndex = tuple[int, int]  # along x, along z


@dataclass(frozen=True, kw_only=True, slots=True)
class MeshStyle:
    """What all chunks of a world share: how its blocks look."""

    looks: BlockLooks
    atlas_N: np.ndarray  # uint32 [T * 341] of the texture set
    table: MeshTable
    tint_3: np.ndarray  # float64 [3], colours of the terrain are multiplied with it
    sky_level: int  # light level under the open sky
    variant: int  # of our own textures

    @classmethod
    def of_look(cls, look: Look) -> "MeshStyle":
        """Return the style of a look; a resource pack's textures are shown as our own."""
        kind, _, variant = look.textures.partition(":")
        number = int(variant) if kind == "own" and variant else 0
        looks, table = _tables(number)
        night = 1.0 - daylight(look)
        hue_3 = look.brightness * (1.0 + (np.array(NIGHT_HUE) - 1.0) * night)
        return cls(
            looks=looks,
            atlas_N=own_atlas(number),
            table=table,
            tint_3=hue_3 * np.array(look.tint),
            sky_level=FULL_LIGHT - darkness(look),
            variant=number,
        )

    def digest(self, *arrays: np.ndarray) -> bytes:
        """Return what tells a world of these arrays in this style from every other."""
        begun = hashlib.blake2b(repr((self.variant, self.sky_level)).encode(), digest_size=16)
        for array in (self.tint_3, *arrays):
            begun.update(repr(array.shape).encode())
            begun.update(np.ascontiguousarray(array).data)
        return begun.digest()


@functools.lru_cache(maxsize=8)
def _tables(variant: int) -> tuple[BlockLooks, MeshTable]:
    """Return how blocks look in a variant of our own textures: 0.3 s of work, once a process."""
    looks = build_block_looks(texture_rows())
    return looks, build_mesh_table(looks, own_atlas(variant))


class WorldMesh:
    """The chunks of one world."""

    def __init__(
        self, block_XZY: np.ndarray, field_XZY: np.ndarray, style: MeshStyle, *, store: MeshStore | None = None
    ) -> None:
        """Begin with nothing shown.

        Args:
            block_XZY: uint16 [X, Z, 64] cells; copied.
            field_XZY: uint8 [X, Z, 64], see worlds.voxel.field; copied.
            style: how blocks look.
            store: keeps chunks in which nothing has changed, for others who show the same world.
        """
        self.style = style
        self._block_XZY, self._field_XZY = block_XZY.copy(), field_XZY.copy()
        self._store = store
        self._digest = b"" if store is None else style.digest(block_XZY, field_XZY)
        self._changed: set[ChunkIndex] = set()

    @property
    def chunk_indices(self) -> list[ChunkIndex]:
        """Return every chunk of the world."""
        size_x, size_z, _ = self._block_XZY.shape
        return [(i, j) for i in range(size_x // CHUNK_BLOCKS) for j in range(size_z // CHUNK_BLOCKS)]

    def nearest_first(self, x: float, z: float) -> list[ChunkIndex]:
        """Return every chunk, those nearest to a place first, the shorter way round the torus."""
        sizes = self._block_XZY.shape[:2]

        def distance(chunk: ChunkIndex) -> float:
            gaps = [
                (CHUNK_BLOCKS * (index + 0.5) - at) % size for index, at, size in zip(chunk, (x, z), sizes, strict=True)
            ]
            return sum(min(gap, size - gap) ** 2 for gap, size in zip(gaps, sizes, strict=True))

        return sorted(self.chunk_indices, key=distance)

    def faces(self, chunk: ChunkIndex) -> WorldFaces:
        """Return what can be seen of a chunk."""
        return visible_faces(
            self._block_XZY,
            self._field_XZY,
            self.style.table,
            self.style.looks.emission_S,
            columns=(_columns(chunk[0]), _columns(chunk[1])),
            sky_level=self.style.sky_level,
        )

    def glb(self, chunk: ChunkIndex) -> bytes | None:
        """Return a chunk as a GLB file in blocks from its lower corner, or None when nothing of it can be seen."""
        if self._store is None or chunk in self._changed:
            return self._make_glb(chunk)
        return self._store.get((self._digest, chunk), lambda: self._make_glb(chunk))

    def _make_glb(self, chunk: ChunkIndex) -> bytes | None:
        faces = self.faces(chunk)
        if not len(faces.quad_F):
            return None
        table = self.style.table
        corner = np.array((CHUNK_BLOCKS * chunk[0], 0, CHUNK_BLOCKS * chunk[1]))
        return glb_of_quads(
            table.corner_Q43[faces.quad_F] + (faces.cell_F3 - corner)[:, None].astype(np.float32),
            table.uv_Q42[faces.quad_F],
            table.row_Q[faces.quad_F],
            faces.brightness_F,
            self.style.atlas_N,
            tint_3=self.style.tint_3,
        )

    def update(self, block_XZY: np.ndarray, field_XZY: np.ndarray) -> list[ChunkIndex]:
        """Take over the present of the world and return the chunks that look different now.

        A changed block also shows or hides faces of its neighbours, so a chunk beside it may be among them. The light
        of the engine's field is that of the episode's start; only blocks change.
        """
        changed = np.argwhere(block_XZY != self._block_XZY)
        if not len(changed):
            return []
        self._block_XZY[:], self._field_XZY[:] = block_XZY, field_XZY
        size_x, size_z, _ = block_XZY.shape
        chunks: set[ChunkIndex] = set()
        for x, z in {(int(x), int(z)) for x, z, _ in changed}:
            for dx, dz in ((0, 0), (-1, 0), (1, 0), (0, -1), (0, 1)):
                chunks.add(((x + dx) % size_x // CHUNK_BLOCKS, (z + dz) % size_z // CHUNK_BLOCKS))
        self._changed |= chunks
        return sorted(chunks)


def _columns(index: int) -> slice:
    return slice(CHUNK_BLOCKS * index, CHUNK_BLOCKS * (index + 1))
