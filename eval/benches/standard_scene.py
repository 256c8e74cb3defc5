"""The scene that the engine's speed is quoted for: `standard_v1`, frozen by a hash. E envs, X Y Z blocks.

16 worlds of 128 x 64 x 128 blocks in full detail, one or more of every biome, 8 mobs each around the agent. The agent
is put back to fixed poses in turn, so that the pictures do not depend on where it would walk, while physics, mobs and
hands run as in any episode.
"""

import hashlib
import math
from collections.abc import Sequence

import numpy as np

from worlds.blocks.states import STATES
from worlds.generate.biomes import BIOMES
from worlds.spec import BLOCK_MASK, Episode, WorldSpec
from worlds.types import BUTTON_INDEX, BUTTONS, ActionBatch, Pose
from worlds.voxel.backend import VoxelBackend
from worlds.voxel.engine_tables import engine_tables
from worlds.voxel.field import LIGHT_SHIFT

NAME = "standard_v1"
CONTENT_HASH = "4c133eff3081f2d1"
NUM_ENVS, NUM_POSES, NUM_MOBS = 16, 8, 8
SIDE_BLOCKS = 128
_KEY_CHANCE = {"forward": 0.6, "jump": 0.15, "sprint": 0.3, "left": 0.1, "right": 0.1, "attack": 0.3, "sneak": 0.05}
_PITCH_DEG = (-5.0, 8.0, 0.0, 15.0, -10.0, 5.0, 25.0, 0.0)


def standard_episodes() -> list[Episode]:
    """Return the 16 episodes."""
    names = list(BIOMES)
    return [
        Episode(
            world=WorldSpec(seed=1000 + e, biome=names[e % len(names)], size_blocks=(SIDE_BLOCKS, 64, SIDE_BLOCKS)),
            start=Pose(64.5, 63.0, 64.5, 0.0, 0.0),
            inventory=(("diamond_pickaxe", 1),),
            seed=e,
            num_ambient_mobs=NUM_MOBS,
        )
        for e in range(NUM_ENVS)
    ]


def standard_poses(backend: VoxelBackend) -> np.ndarray:
    """Return where the agents stand in turn: float64 [E, 8, 5] feet x, y, z, yaw, pitch.

    On the ground nearest to points on a ring of 12 blocks around the middle, looking all ways.
    """
    pose_EP5 = np.zeros((backend.num_envs, NUM_POSES, 5))
    is_solid_S = engine_tables().blocks.is_solid_S
    fluid_S = engine_tables().blocks.fluid_S
    for e in range(backend.num_envs):
        state_XZY = backend.state.terrain.block_EXZY[e] & 0xFFF
        for p in range(NUM_POSES):
            angle = 2.0 * math.pi * p / NUM_POSES
            x, z = int(64 + 12 * math.cos(angle)), int(64 + 12 * math.sin(angle))
            column_Y = state_XZY[x, z]
            # On the ground, not on a tree: the first free cell over what the generator calls the ground, or the water.
            y = int(backend.ground_EXZ[e, x, z]) + 1
            while y < 61 and (is_solid_S[column_Y[y]] or fluid_S[column_Y[y]] or is_solid_S[column_Y[y + 1]]):
                y += 1
            pose_EP5[e, p] = (x + 0.5, y, z + 0.5, (137.0 * p + 61.0 * e) % 360.0 - 180.0, _PITCH_DEG[p])
    return pose_EP5


def standard_actions(num_steps: int, *, seed: int) -> list[ActionBatch]:
    """Return random keys and small turns for every step."""
    rng = np.random.default_rng(seed)
    actions = []
    for _ in range(num_steps):
        buttons_EB = np.zeros((NUM_ENVS, len(BUTTONS)), bool)
        for name, chance in _KEY_CHANCE.items():
            buttons_EB[:, BUTTON_INDEX[name]] = rng.random(NUM_ENVS) < chance
        camera_deg_E2 = rng.normal(0.0, (1.0, 2.0), (NUM_ENVS, 2)).astype(np.float32)
        actions.append(ActionBatch(buttons_EB=buttons_EB, camera_deg_E2=camera_deg_E2))
    return actions


def put_at(backend: VoxelBackend, pose_E5: np.ndarray) -> None:
    """Put every agent at its pose, at rest."""
    bodies = backend.state.bodies
    bodies.position_E3[:] = pose_E5[:, :3]
    bodies.velocity_E3[:] = 0.0
    bodies.yaw_deg_E[:], bodies.pitch_deg_E[:] = pose_E5[:, 3], pose_E5[:, 4]
    bodies.fall_blocks_E[:] = 0.0
    bodies.health_E[:] = 20.0


def play(backend: VoxelBackend, pose_EP5: np.ndarray, actions: Sequence[ActionBatch]) -> None:
    """Step once for each action, from pose to pose: one tick of everything, then RGB and instance mask."""
    for step, action in enumerate(actions):
        put_at(backend, pose_EP5[:, step % NUM_POSES])
        backend.step(action)


def content_hash(backend: VoxelBackend, pose_EP5: np.ndarray) -> str:
    """Return the hash of what the freshly reset backend is about to show: blocks by name, light, mobs, poses."""
    digest = hashlib.sha256()
    state = backend.state
    name_S = np.array([int(hashlib.sha256(block.name.encode()).hexdigest()[:8], 16) for block in STATES], np.uint32)
    block_EXZY = name_S[state.terrain.block_EXZY & BLOCK_MASK]  # ids grow when a kind is added
    light_EXZY = state.terrain.field_EXZY >> LIGHT_SHIFT  # without the free boxes, which no picture shows
    for array in (block_EXZY, light_EXZY, state.mobs.kind_EM, state.mobs.position_EM3, pose_EP5):
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()[:16]


def shaped_share(backend: VoxelBackend, pose_EP5: np.ndarray) -> float:
    """Return the share of pixels on the 8 poses that show something other than full cubes, ground water and sky.

    Measured by drawing everything again without shapes and mobs: a pixel whose depth changes showed one of them.
    `backend` must have been made with depth; its worlds are changed.
    """
    boxes, fluid_S = engine_tables().blocks.outline, engine_tables().blocks.fluid_S
    is_shape_S = ~boxes.is_cube_S & (fluid_S == 0)
    is_shape_S[0] = False
    depths = []
    for is_bare in (False, True):
        if is_bare:
            block_EXZY = backend.state.terrain.block_EXZY
            block_EXZY[is_shape_S[block_EXZY & 0xFFF]] = 0
            backend.state.mobs.kind_EM[:] = -1
        shown = []
        for p in range(NUM_POSES):
            put_at(backend, pose_EP5[:, p])
            depth_EHW = backend.observe().depth_EHW
            assert depth_EHW is not None
            shown.append(depth_EHW.copy())
        depths.append(np.stack(shown))
    return float((np.abs(depths[0] - depths[1]) > 1e-3).mean())
