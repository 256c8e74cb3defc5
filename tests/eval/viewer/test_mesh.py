"""The mesh shows what the engine shows, no face more and no face less."""

import json
import struct

import numpy as np
import pytest

from eval.viewer.mesh import CHUNK_BLOCKS, MeshStyle, WorldMesh
from eval.viewer.mesh_faces import WorldFaces, light_curve
from worlds.blocks import AIR, STATE_ID
from worlds.spec import BLOCK_MASK, Episode, Look, Placement, WorldSpec
from worlds.textures.atlas import NUM_FACE_TEXELS
from worlds.types import EYE_HEIGHT_BLOCKS, Pose
from worlds.voxel.backend import VoxelBackend
from worlds.voxel.shading import light_of_level

SIZE = (32, 64, 32)
IN_FRONT_BLOCKS = 0.004
SHARES = (np.arange(16) * 5 % 16 + 0.5) / 16
# Everything that is no cube: a plant, a slab, stairs, a door, a fence, a torch, glass, snow and a fluid.
SHAPES = (
    "oak_door[half=lower,open=true]", "oak_fence", "stone_slab", "oak_stairs", "torch", "glass", "poppy", "water",
    "chest", "snow[layers=2]", "cactus", "ladder",
)  # fmt: skip


@pytest.fixture(scope="module")
def small_world():
    """Return an engine with a small world of every shape, and its mesh."""
    backend = VoxelBackend(1, size_blocks=SIZE, image_px=(4, 4), with_depth=True)
    spec = WorldSpec(seed=7, biome="flower_forest", size_blocks=SIZE)
    placements = tuple(
        Placement(kind=kind, position=(4 + 2 * (i % 6), 50 + 3 * (i // 6), 6)) for i, kind in enumerate(SHAPES)
    )
    episode = Episode(world=spec, placements=placements, start=Pose(16, 60, 16, 0, 0), look=Look(fov_deg=20, fog=0.25))
    backend.reset([0], [episode])
    terrain = backend.state.terrain
    return backend, WorldMesh(terrain.block_EXZY[0], terrain.field_EXZY[0], MeshStyle.of_look(episode.look))


def _all_faces(mesh: WorldMesh) -> WorldFaces:
    parts = [mesh.faces(chunk) for chunk in mesh.chunk_indices]
    return WorldFaces(
        cell_F3=np.concatenate([part.cell_F3 for part in parts]),
        quad_F=np.concatenate([part.quad_F for part in parts]),
        brightness_F=np.concatenate([part.brightness_F for part in parts]),
    )


def _opaque_point(mesh: WorldMesh, quad: int) -> tuple[np.ndarray, int]:
    """Return a place in the middle of a texel of a quad that is no hole, and that texel; blocks from its cell."""
    table = mesh.style.table
    corner_43, uv_42 = table.corner_Q43[quad].astype(float), table.uv_Q42[quad].astype(float)
    texel_HW = mesh.style.atlas_N.reshape(-1, NUM_FACE_TEXELS)[table.row_Q[quad], :256].reshape(16, 16)
    across_3, up_3 = corner_43[1] - corner_43[0], corner_43[3] - corner_43[0]
    across_2, up_2 = uv_42[1] - uv_42[0], uv_42[3] - uv_42[0]
    for share_across in SHARES:
        for share_up in SHARES:
            u, v = uv_42[0] + share_across * across_2 + share_up * up_2
            texel = texel_HW[min(15, int(v * 16)), min(15, int(u * 16))]
            if texel >> 24 >= 128:
                return corner_43[0] + share_across * across_3 + share_up * up_3, int(texel)
    raise AssertionError(f"quad {quad} is all holes")


def test_every_face_of_the_mesh_is_met_by_the_engines_rays_with_its_colour(small_world):
    backend, mesh = small_world
    faces, table = _all_faces(mesh), mesh.style.table
    rng = np.random.default_rng(5)
    # Every kind of quad that is there, and a share of the many alike.
    _, first = np.unique(faces.quad_F, return_index=True)
    chosen = np.unique(np.concatenate([first, rng.choice(len(faces.quad_F), 1500, replace=False)]))
    eye_V5, wanted_V3 = np.empty((len(chosen), 5)), np.empty((len(chosen), 3))
    for row, f in enumerate(chosen):
        corner_43 = table.corner_Q43[faces.quad_F[f]].astype(float)
        normal = np.cross(corner_43[1] - corner_43[0], corner_43[2] - corner_43[0])
        normal /= np.linalg.norm(normal)
        point, texel = _opaque_point(mesh, int(faces.quad_F[f]))
        yaw, pitch = np.degrees(np.arctan2(normal[0], -normal[2])), np.degrees(np.arcsin(normal[1]))
        eye_V5[row] = (*(faces.cell_F3[f] + point + IN_FRONT_BLOCKS * normal), yaw, pitch)
        wanted_V3[row] = np.array([texel & 255, texel >> 8 & 255, texel >> 16 & 255]) * faces.brightness_F[f]
    views = backend.render_views(np.zeros(len(chosen), int), eye_V5)
    distance_V = views.depth_VHW[:, 1:3, 1:3].min(axis=(1, 2))
    missed = chosen[(distance_V > 2 * IN_FRONT_BLOCKS)]
    assert not len(missed), [(faces.cell_F3[f], int(faces.quad_F[f])) for f in missed[:5]]
    color_V3 = views.image_VHWC[:, 1, 1].astype(float)
    # An eye in water sees its fog besides.
    block_XZY = backend.state.terrain.block_EXZY[0] & BLOCK_MASK
    x, y, z = np.floor(eye_V5[:, :3]).astype(int).T
    is_dry_V = block_XZY[x % SIZE[0], z % SIZE[2], np.clip(y, 0, 63)] != STATE_ID["water"]
    off_V = np.abs(color_V3 - wanted_V3).max(axis=1)
    assert (off_V[is_dry_V] <= 4).mean() > 0.97, np.sort(off_V[is_dry_V])[-20:]


def test_what_the_engines_rays_meet_is_a_face_of_the_mesh(small_world):
    backend, mesh = small_world
    faces, table = _all_faces(mesh), mesh.style.table
    order = np.lexsort(faces.cell_F3.T)
    cells_F = [tuple(cell) for cell in faces.cell_F3[order].tolist()]
    by_cell: dict[tuple[int, ...], list[int]] = {}
    for cell, f in zip(cells_F, order, strict=True):
        by_cell.setdefault(cell, []).append(int(faces.quad_F[f]))
    rng = np.random.default_rng(6)
    ground_XZ = backend.ground_EXZ[0]
    num_views = 400
    x, z = rng.uniform(0, 32, num_views), rng.uniform(0, 32, num_views)
    y = ground_XZ[x.astype(int), z.astype(int)] + EYE_HEIGHT_BLOCKS + rng.uniform(0, 12, num_views)
    eye_V5 = np.stack([x, y, z, rng.uniform(0, 360, num_views), rng.uniform(-30, 80, num_views)], axis=1)
    # An eye inside a cube looks through it, which no walker's eye does.
    state_V = (
        backend.state.terrain.block_EXZY[0][x.astype(int), z.astype(int), np.minimum(y.astype(int), 63)] & BLOCK_MASK
    )
    eye_V5 = eye_V5[~table.is_cube_S[state_V]]
    views = backend.render_views(np.zeros(len(eye_V5), int), eye_V5)
    num_met = 0
    for eye_5, depth_HW in zip(eye_V5, views.depth_VHW, strict=True):
        for row, column, ray_3 in _rays(eye_5, fov_deg=20.0):
            distance = float(depth_HW[row, column])
            if distance >= backend.view_range_blocks - 0.01:
                continue
            num_met += 1
            hit_3 = eye_5[:3] + distance * ray_3
            # A grazing ray is behind the face only a little further on.
            cells = {tuple(np.floor(hit_3 + further * ray_3).astype(int)) for further in (1e-4, 1e-3, 1e-2)}
            found = [
                _is_on(hit_3 - cell, table.corner_Q43[quad].astype(float))
                for cell in cells
                for quad in by_cell.get((int(cell[0]) % 32, int(cell[1]), int(cell[2]) % 32), [])
            ]
            assert any(found), (hit_3, ray_3, cells)
    assert num_met > 2000


def _rays(eye_5, *, fov_deg):
    """Yield row, column and direction of the pixels of a 4 x 4 picture."""
    yaw, pitch = np.radians(eye_5[3:])
    half = np.tan(np.radians(fov_deg) / 2)
    ahead = np.array([-np.sin(yaw) * np.cos(pitch), -np.sin(pitch), np.cos(yaw) * np.cos(pitch)])
    right = np.array([-np.cos(yaw), 0, -np.sin(yaw)]) * half
    up = np.array([-np.sin(yaw) * np.sin(pitch), np.cos(pitch), np.cos(yaw) * np.sin(pitch)]) * half
    for row in range(4):
        for column in range(4):
            ray = ahead + right * ((column + 0.5) / 2 - 1) + up * (1 - (row + 0.5) / 2)
            yield row, column, ray / np.linalg.norm(ray)


def _is_on(point_3, corner_43) -> bool:
    normal = np.cross(corner_43[1] - corner_43[0], corner_43[3] - corner_43[0])
    normal /= np.linalg.norm(normal)
    low, high = corner_43.min(axis=0) - 2e-3, corner_43.max(axis=0) + 2e-3
    return abs((point_3 - corner_43[0]) @ normal) < 2e-3 and bool(((point_3 >= low) & (point_3 <= high)).all())


def test_light_of_the_mesh_is_the_renderers():
    assert light_curve() == pytest.approx([float(light_of_level(level)) for level in range(16)], abs=1e-5)


def test_only_chunks_with_or_beside_a_changed_block_are_made_again(small_world):
    backend, _ = small_world
    terrain = backend.state.terrain
    mesh = WorldMesh(terrain.block_EXZY[0], terrain.field_EXZY[0], MeshStyle.of_look(Look()))
    block_XZY = terrain.block_EXZY[0].copy()
    assert mesh.update(block_XZY, terrain.field_EXZY[0]) == []
    y = int(backend.ground_EXZ[0, 20, 20])
    before = [mesh.glb(chunk) for chunk in mesh.chunk_indices]
    block_XZY[20, 20, y] = AIR
    assert mesh.update(block_XZY, terrain.field_EXZY[0]) == [(1, 1)]
    after = [mesh.glb(chunk) for chunk in mesh.chunk_indices]
    assert [old != new for old, new in zip(before, after, strict=True)] == [False, False, False, True]
    # At the border of the torus all four chunks meet.
    block_XZY[0, 0, int(backend.ground_EXZ[0, 0, 0])] = AIR
    assert mesh.update(block_XZY, terrain.field_EXZY[0]) == [(0, 0), (0, 1), (1, 0)]


def test_a_chunk_is_a_glb_file_whose_vertices_keep_sixteenths(small_world):
    _, mesh = small_world
    content = mesh.glb((0, 0))
    magic, version, length = struct.unpack("<4sII", content[:12])
    assert (magic, version, length) == (b"glTF", 2, len(content))
    text_bytes = struct.unpack("<I", content[12:16])[0]
    document = json.loads(content[20 : 20 + text_bytes])
    start = 20 + text_bytes + 8
    place_V = np.frombuffer(content, "<u2", offset=start, count=document["accessors"][0]["count"] * 8).reshape(-1, 8)
    faces, table = mesh.faces((0, 0)), mesh.style.table
    wanted_V3 = (table.corner_Q43[faces.quad_F] + faces.cell_F3[:, None]).reshape(-1, 3)
    node = document["nodes"][0]
    assert np.abs(place_V[:, :3] * node["scale"][0] + node["translation"] - wanted_V3).max() < 6e-4
    assert wanted_V3[:, [0, 2]].max() <= CHUNK_BLOCKS
