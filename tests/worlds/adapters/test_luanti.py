"""Claims about Luanti as an engine. Those that play in it need it installed, and skip with a reason where it is not."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from tests.worlds.conformance import BackendConformance
from worlds.adapters.backend import ProcessBackend
from worlds.adapters.engine import EngineError
from worlds.adapters.engine_choice import EngineChoice
from worlds.adapters.engines import luanti_files
from worlds.adapters.engines.luanti import Luanti
from worlds.adapters.engines.luanti_places import Places
from worlds.spec import Episode, Placement, WorldSpec
from worlds.types import BUTTON_INDEX, EVENT_BLOCK_BROKEN, ActionBatch, Pose

IMAGE_PX = (64, 64)
SEED = 7


def test_places_come_back_as_they_went():
    places = Places((-320, -18, -321))
    assert places.cell(places.node((3, 4, 5))) == (3, 4, 5)
    # The middle of a node is a whole number, the middle of a cell is not.
    assert places.point((3.5, 4.5, 5.5)) == places.node((3, 4, 5))
    pose = (3.25, 30.0, 100.5, 200.0, -20.0)
    assert places.ours(places.theirs(pose), near_yaw_deg=190.0) == pytest.approx(pose)
    low, high = places.box((0, 0, 0), (16, 8, 4))
    assert [b - a + 1 for a, b in zip(low, high, strict=True)] == [16, 8, 4]


def test_shaders_of_another_version_are_refused(tmp_path):
    for name in ("nodes_shader", "object_shader"):
        folder = tmp_path / "share/client/shaders" / name
        folder.mkdir(parents=True)
        (folder / "opengl_fragment.glsl").write_text("void main(void) {}")
    with pytest.raises(EngineError, match=r"not that of Luanti 5\.6"):
        luanti_files.write_shaders(str(tmp_path / "share"), tmp_path / "shaders")


def test_a_machine_without_luanti_is_told_the_command_that_installs_it(monkeypatch):
    monkeypatch.setattr(luanti_files, "SHARES", (Path("/nowhere"),))
    with pytest.raises(EngineError, match=r"share not found; install it with `apt-get install .*minetest"):
        luanti_files.find_programs()


def luanti_backend(num_envs, **fields) -> ProcessBackend:
    skip_without_luanti()
    choice = EngineChoice(engine="luanti", options={"seed": SEED})
    return ProcessBackend(num_envs, choice, size_blocks=(64, 64, 64), image_px=IMAGE_PX, **fields)


def skip_without_luanti():
    try:
        luanti_files.find_programs()
    except EngineError as error:
        pytest.skip(str(error))


def world(seed=SEED):
    return WorldSpec(seed=seed, source="luanti:v7", origin_blocks=(-32, -28, -32), size_blocks=(64, 64, 64))


# A platform over the tree tops, so that a test knows its ground: gold 3 blocks ahead, and what a test adds.
FLOOR_Y = 50
FLOOR = tuple(Placement(kind="white_wool", position=(32, FLOOR_Y, z)) for z in range(30, 36))


def platform_episode(*placements, seed=0, target_index=-1, inventory=(), yaw_deg=0.0):
    return Episode(
        world=world(),
        placements=(*placements, *FLOOR),
        start=Pose(32.5, FLOOR_Y + 1.0, 30.5, yaw_deg, 10.0),
        target_index=target_index,
        inventory=inventory,
        seed=seed,
    )


GOLD = Placement(kind="gold_block", position=(32, FLOOR_Y + 1, 34))


@pytest.fixture(scope="module")
def two_envs():
    backend = luanti_backend(2)
    yield backend
    backend.close()


@pytest.fixture(scope="module")
def one_env():
    backend = luanti_backend(1, with_depth=True)
    yield backend
    backend.close()


def act(*buttons, camera_deg=(0.0, 0.0)):
    actions = ActionBatch.noop(1)
    actions.buttons_EB[0, [BUTTON_INDEX[name] for name in buttons]] = True
    actions.camera_deg_E2[0] = camera_deg
    return actions


@pytest.mark.slow
class TestLuantiBackend(BackendConformance):
    is_realtime = True
    pose_blocks, pose_deg = 0.02, 0.05

    @pytest.fixture(autouse=True)
    def _backend(self, two_envs):
        self.backend = two_envs

    def make(self):
        return self.backend

    def episode(self, seed):
        return platform_episode(seed=seed)


@pytest.mark.slow
def test_no_time_passes_between_requests(one_env):
    one_env.reset([0], [platform_episode(GOLD, target_index=0)])
    one_env.step(act("forward", "jump"), num_ticks=3)  # in the air
    first = one_env.observe()
    image_HWC, pose_5 = first.image_EHWC.copy(), first.pose_E5.copy()
    time.sleep(0.5)
    again = one_env.observe()
    assert np.array_equal(again.image_EHWC, image_HWC)
    assert np.array_equal(again.pose_E5, pose_5)


@pytest.mark.slow
def test_a_picture_is_newer_than_the_turn_that_it_answers(one_env):
    one_env.reset([0], [platform_episode(GOLD, target_index=0)])
    seen = one_env.observe().target_E7[0, 0] > 0
    assert seen
    for _ in range(3):
        assert one_env.step(act(camera_deg=(0.0, 90.0))).target_E7[0, 0] == 0
        assert one_env.step(act(camera_deg=(0.0, -90.0))).target_E7[0, 0] > 0
    pose_5 = one_env.step(act(camera_deg=(2.0, 7.3)), num_ticks=4).pose_E5[0]
    assert pose_5[3:] == pytest.approx([29.2, 18.0], abs=0.05)


@pytest.mark.slow
def test_the_mask_is_what_differs_when_the_target_is_not_there(one_env):
    other = Placement(kind="pumpkin", position=(33, FLOOR_Y + 1, 35))
    eye_15 = np.array([[32.5, FLOOR_Y + 3.5, 29.5, 5.0, 25.0]])
    one_env.reset([0], [platform_episode(GOLD, other, target_index=0)])
    there = one_env.render_views([0], eye_15)
    one_env.reset([0], [platform_episode(other)])
    gone = one_env.render_views([0], eye_15)
    mask_HW = there.instance_VHW[0] == 2
    differs_HW = (there.image_VHWC[0] != gone.image_VHWC[0]).any(axis=2)
    # Outside the mask the block leaves its contact shadow, and inside a pixel may have the same colour by chance.
    assert mask_HW.sum() > 80
    assert differs_HW[mask_HW].mean() > 0.98
    depth_off_HW = np.abs(there.depth_VHW[0] - gone.depth_VHW[0]) > 0.02
    assert depth_off_HW[mask_HW].mean() > 0.95
    # An edge far away may fall to another pixel.
    assert depth_off_HW[~mask_HW].mean() < 0.002


@pytest.mark.slow
def test_depth_is_the_distance_along_the_ray(one_env):
    one_env.reset([0], [platform_episode(GOLD, target_index=0)])
    views = one_env.render_views([0], np.array([[32.5, FLOOR_Y + 1.5, 31.0, 0.0, 0.0]]))
    height, width = IMAGE_PX
    # The face of the gold is 3 blocks ahead of the eye.
    assert views.depth_VHW[0, height // 2, width // 2] == pytest.approx(3.0, abs=0.03)
    is_clear = one_env.is_line_clear(
        [0, 0], np.array([[32.5, FLOOR_Y + 1.5, 31.0]] * 2), [GOLD.position, (32, FLOOR_Y, 36)]
    )
    assert is_clear.tolist() == [True, False]


@pytest.mark.slow
def test_breaking_the_target_is_an_event_of_its_slot_and_a_reset_puts_it_back(one_env):
    near = Placement(kind="gold_block", position=(32, FLOOR_Y + 1, 32))
    episode = platform_episode(near, target_index=0, inventory=(("iron_pickaxe", 1),))
    one_env.reset([0], [episode])
    before = one_env.observe().image_EHWC.copy()
    events = []
    for _ in range(60):
        tick = one_env.step(act("attack", camera_deg=(1.5, 0.0) if tick_is_high(one_env) else (0.0, 0.0)), num_ticks=2)
        events += [tuple(row) for row in tick.event_EN4[0] if row[0]]
        if events:
            break
    assert [(kind, slot) for kind, _, slot, _ in events] == [(EVENT_BLOCK_BROKEN, 1)]
    assert tick.target_E7[0, 0] == 0
    one_env.reset([0], [episode])
    assert np.array_equal(one_env.observe().image_EHWC, before)


def tick_is_high(backend):
    return backend.observe().pose_E5[0, 4] < 40.0


@pytest.mark.slow
def test_a_fall_hurts(one_env):
    one_env.reset([0], [platform_episode(yaw_deg=90.0)])
    hurt = 0.0
    for _ in range(40):
        tick = one_env.step(act("forward"), num_ticks=3)
        hurt = 20.0 - tick.health_E[0]
        if hurt:
            break
    assert hurt > 0


@pytest.mark.slow
def test_a_world_has_the_same_blocks_whenever_and_after_whatever_it_is_opened():
    skip_without_luanti()
    low, size = (-64, -28, -64), (128, 64, 128)
    scans = []
    for boxes_before in ([], [(60, -28, 30)]):
        engine = Luanti(IMAGE_PX, {"seed": 3})  # of ruins, and of woods across borders
        try:
            for other in boxes_before:
                engine.scan(other, size)
            found = engine.scan(low, size)
        finally:
            engine.close()
        scans.append(np.array(found.names)[found.index_XZY])
    assert (np.char.find(scans[0], "log") >= 0).sum() > 1000
    assert np.array_equal(*scans)


@pytest.mark.slow
def test_nothing_is_left_of_it_when_its_owner_is_killed(tmp_path):
    skip_without_luanti()
    program = (
        "import os, signal; from tests.worlds.adapters.test_luanti import luanti_backend;"
        "backend = luanti_backend(1); print(*os.listdir(os.environ['TMPDIR'])); os.kill(os.getpid(), signal.SIGKILL)"
    )
    locks = set(Path("/tmp").glob(".X*"))
    done = subprocess.run(
        [sys.executable, "-c", program], env=dict(os.environ, TMPDIR=str(tmp_path)), stdout=subprocess.PIPE, timeout=200
    )
    assert done.stdout.split()
    deadline_s = time.monotonic() + 20
    while time.monotonic() < deadline_s and (processes_of(tmp_path) or list(tmp_path.iterdir())):
        time.sleep(0.2)
    assert processes_of(tmp_path) == {}
    assert list(tmp_path.iterdir()) == []
    assert set(Path("/tmp").glob(".X*")) <= locks


@pytest.mark.slow
def test_a_game_that_is_killed_is_a_fault_and_the_next_reset_brings_another(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    backend = luanti_backend(1)
    try:
        backend.reset([0], [platform_episode(GOLD, target_index=0)])
        (pid,) = [pid for pid, name in processes_of(tmp_path).items() if name == "minetest"]
        os.kill(pid, signal.SIGKILL)
        assert backend.step(act("forward")).is_fault_E[0]
        backend.reset([0], [platform_episode(GOLD, target_index=0)])
        tick = backend.step(act("forward"), num_ticks=5)
        assert not tick.is_fault_E[0]
        assert tick.target_E7[0, 0] > 0
        assert pid not in processes_of(tmp_path)
    finally:
        backend.close()
    assert processes_of(tmp_path) == {}


def processes_of(folder):
    """{pid: name} of what runs with this folder as its place for temporary files, Xvfb among them."""
    found = {}
    for environment in Path("/proc").glob("[0-9]*/environ"):
        try:
            if str(folder).encode() in environment.read_bytes():
                found[int(environment.parent.name)] = (environment.parent / "comm").read_text().strip()
        except OSError:
            continue  # it has just ended, or is another user's
    return found
