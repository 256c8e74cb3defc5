"""Random play in many worlds: whatever the keys, the state stays sane."""

import numpy as np
import pytest

from tests.worlds.voxel.free_box_promises import broken_promises
from worlds.blocks import NUM_STATES
from worlds.generate.biomes import BIOMES
from worlds.items import ITEMS
from worlds.mobs.kinds import MOBS
from worlds.spec import BLOCK_MASK, Episode, WorldSpec
from worlds.types import BUTTON_INDEX, BUTTONS, EVENT_ITEM_DROPPED, EVENT_NONE, ActionBatch, Pose
from worlds.voxel.backend import VoxelBackend
from worlds.voxel.engine_tables import engine_tables
from worlds.voxel.free_boxes import BOX_BITS

SIDE = 64
KITS = (
    (("diamond_pickaxe", 1), ("cobblestone", 64), ("oak_door", 3), ("torch", 16)),
    (("bow", 1), ("arrow", 64), ("oak_stairs", 32), ("ladder", 16)),
    (("diamond_sword", 1), ("oak_fence", 32), ("glass_pane", 16), ("apple", 5)),
    (("iron_shovel", 1), ("oak_slab", 32), ("red_bed", 1), ("oak_trapdoor", 8)),
)


def episodes(first: int, number: int, rng: np.random.Generator) -> list[Episode]:
    names = sorted(BIOMES)
    return [
        Episode(
            world=WorldSpec(seed=n, biome=names[n % len(names)], size_blocks=(SIDE, 64, SIDE)),
            start=Pose(rng.uniform(0, SIDE), 62.0, rng.uniform(0, SIDE), rng.uniform(-180, 180), 0.0),
            inventory=KITS[n % len(KITS)],
            seed=n,
            num_ambient_mobs=8,
        )
        for n in range(first, first + number)
    ]


def random_actions(num_envs: int, rng: np.random.Generator) -> ActionBatch:
    """Keys held with chances of their own, so that agents get around, dig in and build."""
    chance_B = np.full(len(BUTTONS), 0.02)
    for name, chance in {"forward": 0.7, "jump": 0.3, "attack": 0.5, "use": 0.35, "sprint": 0.3, "sneak": 0.1}.items():
        chance_B[BUTTON_INDEX[name]] = chance
    return ActionBatch(
        buttons_EB=rng.random((num_envs, len(BUTTONS))) < chance_B,
        camera_deg_E2=rng.normal(0.0, (6.0, 12.0), (num_envs, 2)).astype(np.float32),
    )


def check_agents_and_mobs(backend: VoxelBackend) -> None:
    state, tables = backend.state, engine_tables()
    for group in state[1:6]:
        for name, array in zip(group._fields, group, strict=True):
            assert np.isfinite(array).all(), name
    bodies, mobs = state.bodies, state.mobs
    assert ((bodies.health_E >= 0) & (bodies.health_E <= 20)).all()
    assert (np.abs(bodies.pitch_deg_E) <= 90).all()
    for axis, side in ((0, SIDE), (2, SIDE)):
        assert ((bodies.position_E3[:, axis] >= 0) & (bodies.position_E3[:, axis] < side)).all()
        assert ((mobs.position_EM3[..., axis] >= 0) & (mobs.position_EM3[..., axis] < side)).all()
    assert ((mobs.kind_EM >= -1) & (mobs.kind_EM < len(MOBS))).all()
    hands = state.hands
    assert ((hands.item_ES >= -1) & (hands.item_ES < len(ITEMS))).all()
    is_filled = hands.item_ES >= 0
    assert (hands.count_ES[is_filled] >= 1).all()
    assert (hands.count_ES[is_filled] <= tables.items.max_stack_I[hands.item_ES[is_filled]]).all()
    assert (state.terrain.block_EXZY & BLOCK_MASK < NUM_STATES).all()


def body_cells(position_N3: np.ndarray, height: float):
    """Yield the cells that the inside of bodies 0.6 wide touches, as index arrays."""
    for dx in (-0.29, 0.29):
        for dz in (-0.29, 0.29):
            for dy in (0.01, height / 2, height - 0.01):
                cell = np.floor(position_N3 + (dx, dy, dz)).astype(int)
                yield cell[:, 0] % SIDE, cell[:, 2] % SIDE, cell[:, 1]


def check_nobody_is_in_a_cube(backend: VoxelBackend) -> None:
    is_cube_S = engine_tables().blocks.collision.is_cube_S
    block_EXZY = backend.state.terrain.block_EXZY & BLOCK_MASK
    envs = np.arange(backend.num_envs)
    for x, z, y in body_cells(backend.state.bodies.position_E3, 1.5):
        is_in_world = (y >= 0) & (y < 64)
        assert not is_cube_S[block_EXZY[envs, x, z, np.clip(y, 0, 63)]][is_in_world].any()
    mobs = backend.state.mobs
    for e, m in np.argwhere(mobs.kind_EM >= 0):
        x, y, z = np.floor(mobs.position_EM3[e, m] + (0, 0.3, 0)).astype(int)
        if 0 <= y < 64:
            assert not is_cube_S[block_EXZY[e, x % SIDE, z % SIDE, y]], (e, m)


def check_events(event_EN4: np.ndarray) -> None:
    kind_EN = event_EN4[..., 0]
    assert ((kind_EN >= EVENT_NONE) & (kind_EN <= EVENT_ITEM_DROPPED)).all()
    assert (event_EN4[kind_EN == EVENT_NONE] == 0).all()
    # No gap: after the first empty row all are empty.
    assert ((kind_EN[:, 1:] == 0) | (kind_EN[:, :-1] != 0)).all()


def check_free_boxes(backend: VoxelBackend) -> None:
    for block_XZY, field_XZY in zip(backend.state.terrain.block_EXZY, backend.state.terrain.field_EXZY, strict=True):
        assert len(broken_promises(field_XZY & BOX_BITS, block_XZY)) == 0


def play(*, num_worlds: int, envs_at_once: int, ticks: int) -> None:
    rng = np.random.default_rng(0)
    backend = VoxelBackend(envs_at_once, size_blocks=(SIDE, 64, SIDE), image_px=(4, 4))
    for first in range(0, num_worlds, envs_at_once):
        backend.reset(range(envs_at_once), episodes(first, envs_at_once, rng))
        for step in range(ticks // 5):
            tick = backend.step(random_actions(envs_at_once, rng), num_ticks=5)
            check_events(tick.event_EN4)
            if step % 40 == 0:
                check_agents_and_mobs(backend)
                check_nobody_is_in_a_cube(backend)
        check_free_boxes(backend)


def test_random_play_keeps_the_state_sane():
    play(num_worlds=16, envs_at_once=16, ticks=300)


@pytest.mark.slow
def test_a_million_random_ticks_in_200_worlds_keep_the_state_sane():
    play(num_worlds=200, envs_at_once=50, ticks=5000)
