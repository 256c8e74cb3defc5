"""Claims about the voxel engine as a whole: mining, determinism, resets and what it refuses."""

import hashlib
import subprocess
import sys

import numpy as np
import pytest

from tests.worlds.conformance import BackendConformance
from worlds.blocks import BLOCK_ID, BLOCKS, break_damage_per_tick
from worlds.spec import Episode, Placement, WorldSpec
from worlds.types import BUTTON_INDEX, EVENT_BLOCK_BROKEN, ActionBatch, Pose
from worlds.voxel.backend import VoxelBackend

SIDE = 64
SIZE = (SIDE, 64, SIDE)


def make_backend(num_envs: int = 2, renderer="lanes") -> VoxelBackend:
    return VoxelBackend(num_envs, size_blocks=SIZE, image_px=(32, 32), renderer=renderer)


def standing_episode(backend: VoxelBackend, *, seed: int = 3, tool: str = "", **fields) -> Episode:
    """An episode that stands on dry ground of a plains world, looking straight down."""
    spec = WorldSpec(seed=seed, biome="plains", size_blocks=SIZE, detail="plain")
    backend.reset([0], [Episode(world=spec, start=Pose(0.5, 60, 0.5, 0, 0))])
    block_XZY = backend.state.terrain.block_EXZY[0]
    for x, z in np.ndindex(SIDE, SIDE):
        y = int(backend.ground_EXZ[0, x, z]) + 1
        if block_XZY[x, z, y] == 0 and block_XZY[x, z, y + 1] == 0:
            inventory = ((tool, 1),) if tool else ()
            return Episode(world=spec, start=Pose(x + 0.5, y, z + 0.5, 0.0, 90.0), inventory=inventory, **fields)
    raise AssertionError("no dry column")


class TestVoxelBackend(BackendConformance):
    def make(self):
        return make_backend()

    def episode(self, seed):
        return standing_episode(make_backend(1), seed=seed)


def test_one_env_can_be_kept_before_another_has_begun():
    backend = make_backend(2)
    backend.reset([0], [standing_episode(make_backend(1))])
    assert len(backend.snapshot([0]).ground_NXZ) == 1
    with pytest.raises(ValueError, match="env 1 has no episode yet"):
        backend.snapshot([0, 1])


def press(backend: VoxelBackend, *names: str) -> ActionBatch:
    actions = ActionBatch.noop(backend.num_envs)
    for name in names:
        actions.buttons_EB[:, BUTTON_INDEX[name]] = True
    return actions


@pytest.mark.parametrize(
    ("kind", "tool", "ticks"),
    [
        ("dirt", "", 15),
        ("stone", "", 150),
        ("stone", "wooden_pickaxe", 23),
        ("stone", "diamond_pickaxe", 6),
        ("oak_log", "", 60),
        ("oak_log", "diamond_axe", 8),
        ("gold_block", "stone_pickaxe", 75),
        ("diamond_block", "diamond_pickaxe", 19),
        ("tnt", "", 1),
    ],
)
def test_a_block_breaks_after_the_published_number_of_ticks(kind, tool, ticks):
    damage = break_damage_per_tick(tool)[BLOCK_ID[kind]]
    assert int(np.ceil(round(1.0 / damage, 9))) == ticks


def test_mining_breaks_the_marked_block_after_its_time_and_says_so():
    backend = make_backend(1)
    plain = standing_episode(backend, tool="diamond_pickaxe")
    feet = (int(plain.start.x), int(plain.start.y) - 1, int(plain.start.z))
    placement = Placement(kind="diamond_block", position=feet)
    backend.reset(
        [0],
        [
            Episode(
                world=plain.world,
                start=plain.start,
                inventory=(("diamond_pickaxe", 1),),
                placements=(placement,),
                target_index=0,
            )
        ],
    )
    attack = press(backend, "attack")
    for tick in range(1, 25):  # noqa: B007 - read after the loop
        events = backend.step(attack).event_EN4[0]
        if events[0, 0] == EVENT_BLOCK_BROKEN:
            break
    assert tick == 19
    assert events[0, 1] == BLOCK_ID["diamond_block"]
    assert events[0, 2] == 1
    assert backend.state.terrain.block_EXZY[0, feet[0], feet[2], feet[1]] == 0


def test_letting_go_of_attack_forgets_the_progress():
    backend = make_backend(1)
    backend.reset([0], [standing_episode(backend, tool="diamond_pickaxe")])
    backend.step(press(backend, "attack"))
    assert backend.state.hands.mine_progress_E[0] > 0
    backend.step(ActionBatch.noop(1))
    assert backend.state.hands.mine_progress_E[0] == 0


def test_bedrock_cannot_be_broken():
    assert break_damage_per_tick("diamond_pickaxe")[BLOCK_ID["bedrock"]] == 0


def test_every_block_that_breaks_takes_a_positive_finite_time():
    damage_K = break_damage_per_tick("diamond_pickaxe")
    for index, kind in enumerate(BLOCKS):
        assert (damage_K[index] > 0) == (kind.hardness >= 0)


def test_reset_of_one_env_restores_its_world_and_leaves_the_others():
    backend = make_backend(2)
    episode = standing_episode(make_backend(1), tool="diamond_shovel")
    backend.reset([0, 1], [episode, episode])
    untouched = backend.state.terrain.block_EXZY[0].copy()
    for _ in range(30):
        backend.step(press(backend, "attack"))
    dug = backend.state.terrain.block_EXZY[1].copy()
    backend.reset([0], [episode])
    assert np.array_equal(backend.state.terrain.block_EXZY[0], untouched)
    assert np.array_equal(backend.state.terrain.block_EXZY[1], dug)
    assert not np.array_equal(dug, untouched)


def test_observing_one_env_draws_it_as_all_are_drawn_and_leaves_the_other_picture():
    backend = make_backend(2)
    backend.reset([0, 1], [standing_episode(make_backend(1), seed=seed) for seed in (1, 2)])
    before = backend.step(press(backend, "attack"), num_ticks=3).image_EHWC.copy()
    backend.reset([1], [standing_episode(make_backend(1), seed=3)])
    backend.state.bodies.pitch_deg_E[:] = (10.0, 40.0)
    seen = backend.observe_only([1])
    image_EHWC, instance_EHW = seen.image_EHWC.copy(), seen.instance_EHW.copy()
    assert np.array_equal(image_EHWC[0], before[0])
    all_seen = backend.observe()
    assert np.array_equal(image_EHWC[1], all_seen.image_EHWC[1])
    assert np.array_equal(instance_EHW[1], all_seen.instance_EHW[1])
    assert not np.array_equal(image_EHWC[0], all_seen.image_EHWC[0])


def test_stepping_before_reset_is_refused_in_one_sentence():
    with pytest.raises(ValueError, match="call reset for every env first"):
        make_backend().step(ActionBatch.noop(2))


def test_a_world_of_another_size_is_refused():
    backend = make_backend(1)
    with pytest.raises(ValueError, match="make a backend of that size"):
        backend.reset([0], [Episode(world=WorldSpec(seed=1), start=Pose(0, 40, 0, 0, 0))])


def test_envs_and_episodes_that_do_not_match_are_refused_before_one_begins():
    backend = make_backend()
    episode = Episode(world=WorldSpec(seed=1, size_blocks=SIZE, detail="plain"), start=Pose(0, 40, 0, 0, 0))
    with pytest.raises(ValueError, match="2 envs and 1 episodes"):
        backend.reset([0, 1], [episode])
    with pytest.raises(ValueError, match="call reset for every env first"):
        backend.observe()


def test_a_world_source_outside_ascii_is_refused():
    with pytest.raises(ValueError, match="must be ASCII"):
        WorldSpec(seed=1, source="anvil:é")


@pytest.mark.parametrize("seed", [-1, 2**31])
def test_a_world_seed_out_of_range_is_refused(seed):
    with pytest.raises(ValueError, match="choose a seed inside that range"):
        WorldSpec(seed=seed)


HASH_SCRIPT = """
import hashlib, sys, numba, numpy as np
numba.set_num_threads(int(sys.argv[1]))
sys.path.insert(0, {root!r})
from tests.worlds.voxel.test_backend import frame_hash
print(frame_hash())
"""


def frame_hash() -> str:
    """The hash of 20 frames of 4 envs under random actions from a fixed seed."""
    rng = np.random.default_rng(5)
    backend = make_backend(4)
    backend.reset(range(4), [standing_episode(make_backend(1), seed=seed) for seed in range(4)])
    digest = hashlib.sha256()
    for _ in range(20):
        actions = ActionBatch(
            buttons_EB=rng.random((4, 20)) < 0.4, camera_deg_E2=rng.uniform(-20, 20, (4, 2)).astype(np.float32)
        )
        tick = backend.step(actions, num_ticks=3)
        for array in (tick.image_EHWC, tick.instance_EHW, tick.pose_E5, tick.target_E7):
            digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def test_same_seed_gives_byte_equal_frames_on_one_and_two_threads(pytestconfig):
    root = str(pytestconfig.rootpath)
    hashes = [
        subprocess.run(
            [sys.executable, "-c", HASH_SCRIPT.format(root=root), threads],
            capture_output=True,
            text=True,
            check=True,
            cwd=root,
        ).stdout
        for threads in ("1", "2")
    ]
    assert hashes[0] == hashes[1]
    assert len(hashes[0].strip()) == 64
