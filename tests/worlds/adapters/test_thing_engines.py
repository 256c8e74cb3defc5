"""Claims about ViZDoom and MiniWorld behind the backend contract: masks, cameras, the mapping of actions."""

import dataclasses

import numpy as np
import pytest

from tests.worlds.adapters.thing_engines import (
    ENGINES,
    choice_or_skip,
    largest_room,
    make_backend,
    python_with,
    room_episode,
)
from tests.worlds.conformance import BackendConformance
from worlds.adapters.engine_choice import EngineFaultError
from worlds.adapters.engines.floor_plan import floor_plan
from worlds.adapters.process import EngineProcess
from worlds.adapters.thing_worlds import THING_KINDS, THING_WORLDS
from worlds.spec import Placement
from worlds.types import BUTTON_INDEX, INSTANCE_FIRST_OBJECT, ActionBatch

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", params=ENGINES)
def engine(request):
    if python_with(request.param) is None:
        choice_or_skip(request.param)
    return request.param


@pytest.fixture(scope="module")
def shared_backend(engine):
    """Engines start once for all tests; every test resets them."""
    backend = make_backend(engine, 2)
    yield backend
    backend.close()


class TestThingEngines(BackendConformance):
    @pytest.fixture(autouse=True)
    def _backend(self, engine, shared_backend):
        self.engine, self.backend = engine, shared_backend

    def make(self):
        return self.backend

    def episode(self, seed):
        return room_episode(self.engine, seed)


def shown(backend, episode):
    """Return image [H, W, 3] and ids [H, W] of the first view."""
    backend.reset([0], [episode])
    tick = backend.observe_only([0])
    assert not tick.is_fault_E[0]
    return tick.image_EHWC[0].astype(int), tick.instance_EHW[0].copy()


def grown(mask_HW):
    """Return the mask and its eight neighbours."""
    padded = np.pad(mask_HW, 1)
    height, width = mask_HW.shape
    return np.any([padded[y : y + height, x : x + width] for y in range(3) for x in range(3)], axis=0)


def test_a_mask_is_where_the_picture_changes_when_the_object_is_taken_away(engine, shared_backend):
    kinds = [kind for each in THING_WORLDS[engine][:1] for kind in each.kinds]
    num_masks = 0
    for first in range(0, len(kinds) - 2, 3):
        episode = room_episode(engine, 4, kinds=tuple(kinds[first : first + 3]))
        image_HWC, id_HW = shown(shared_backend, episode)
        for index in range(3):
            mask_HW = id_HW == INSTANCE_FIRST_OBJECT + index
            if mask_HW.sum() < 12:
                continue
            rest = tuple(p for other, p in enumerate(episode.placements) if other != index)
            without_HWC, _ = shown(shared_backend, dataclasses.replace(episode, placements=rest, target_index=-1))
            changed_HW = np.abs(image_HWC - without_HWC).max(axis=2) > 0
            kind = episode.placements[index].kind
            # A pixel on the object may by chance be as what is behind it; one beside it is partly covered.
            assert changed_HW[mask_HW].mean() > 0.97, kind
            # What is narrower than a pixel, such as a flame's tip, shows beside the mask and is not in it.
            assert (changed_HW & ~grown(mask_HW)).sum() <= 0.08 * mask_HW.sum() + 1, kind
            num_masks += 1
    assert num_masks >= 10


def test_looking_around_changes_nothing_in_the_episode(engine, shared_backend):
    frames = []
    for looks in (False, True):
        shared_backend.reset([0, 1], [room_episode(engine, 1), room_episode(engine, 2)])
        rng = np.random.default_rng(0)
        for _ in range(8):
            actions = ActionBatch(
                buttons_EB=rng.random((2, 20)) < 0.4, camera_deg_E2=rng.uniform(-9, 9, (2, 2)).astype(np.float32)
            )
            tick = shared_backend.step(actions, num_ticks=4)
            if looks:
                eye_V5 = tick.pose_E5 + np.array([0.3, 1.0, 0.4, 33.0, 5.0])
                views = shared_backend.render_views([0, 1], eye_V5)
                assert views.image_VHWC.any()
        frames.append((tick.image_EHWC.tobytes(), tick.instance_EHW.tobytes(), tick.pose_E5.tobytes()))
    assert frames[0] == frames[1]


def test_a_camera_sees_the_target_from_behind(engine, shared_backend):
    episode = room_episode(engine, 4)
    shared_backend.reset([0], [episode])
    x, y, z = episode.placements[0].position
    eye_V5 = np.array([[x + 0.5, y + 1.6, z + 3.5, 180.0, 20.0], [x + 0.5, y + 1.6, z + 3.5, 0.0, 20.0]])
    views = shared_backend.render_views([0, 0], eye_V5)
    assert 0.005 < views.target_V7[0, 0] < 0.3
    assert abs(views.target_V7[0, 1] - 0.5) < 0.1
    assert views.target_V7[1, 0] == 0


def test_the_agent_walks_and_turns_as_in_minecraft(engine, shared_backend):
    long_seed = next(seed for seed in range(100) if largest_room(seed).z1 - largest_room(seed).z0 >= 11)
    episode = room_episode(engine, long_seed, kinds=())
    shared_backend.reset([0, 1], [episode, episode])
    actions = ActionBatch.noop(2)
    actions.buttons_EB[:, BUTTON_INDEX["forward"]] = True
    start_5 = shared_backend.step(actions, num_ticks=28).pose_E5[0].copy()
    walked_5 = shared_backend.step(actions, num_ticks=12).pose_E5[0] - start_5
    assert walked_5[2] == pytest.approx(4.317 * 12 / 20, rel=0.04)
    assert abs(walked_5[0]) < 0.01
    turn = ActionBatch.noop(2)
    turn.camera_deg_E2[:] = (-2.0, 7.5)
    before_5 = shared_backend.observe().pose_E5[0].copy()
    turned_5 = shared_backend.step(turn, num_ticks=4).pose_E5[0] - before_5
    assert turned_5[3:].tolist() == pytest.approx([30.0, -8.0], abs=0.1)


def test_a_line_is_clear_until_a_wall_or_another_thing_is_in_it(engine, shared_backend):
    episode = room_episode(engine, 4)
    first, second, _ = episode.placements
    x, y, z = first.position
    shared_backend.reset([0], [episode])
    eye_3 = (x + 0.5, y + 0.6, z - 2.5)
    beside_3 = (x - 1.5, y + 0.6, z + 0.5)
    far_cell = (0, y, 0)  # in the margin around all rooms
    clear_V = shared_backend.is_line_clear(
        [0, 0, 0], np.array([eye_3, beside_3, eye_3]), np.array([first.position, second.position, far_cell])
    )
    assert clear_V.tolist() == [True, False, False]


def test_what_an_engine_does_not_have_is_named(engine):
    process = EngineProcess(choice_or_skip(engine), (64, 64))
    try:
        process.hello()
        episode = dataclasses.asdict(room_episode(engine, 1))
        process.ask_reset(episode | {"placements": [{"kind": "gold_block", "position": (9, 0, 9)}]})
        with pytest.raises(EngineFaultError, match="it has no 'gold_block'"):
            process.moment()
    finally:
        process.close()


def test_a_scan_of_the_rooms_is_their_plan(engine):
    process = EngineProcess(choice_or_skip(engine), (64, 64))
    try:
        process.hello()
        process.ask_reset(dataclasses.asdict(room_episode(engine, 3, kinds=())))
        process.moment()
        is_free_XZ = floor_plan(3).is_free_XZ
        size = (is_free_XZ.shape[0], 8, is_free_XZ.shape[1])
        process.ask("scan", {"lowest": (0, -2, 0), "size": size})
        scan = process.scanned(size)
    finally:
        process.close()
    is_air_XZY = np.array(scan.names)[scan.index_XZY] == "air"
    assert not is_air_XZY[:, :, :2].any()
    assert np.array_equal(is_air_XZY[:, :, 2], is_free_XZ)
    assert not is_air_XZY[:, :, 7].any()


def test_every_thing_can_be_placed(engine, shared_backend):
    for kind in sorted(THING_KINDS):
        if kind.startswith(f"{engine}:"):
            episode = room_episode(engine, 4, kinds=(kind,))
            x, y, z = episode.placements[0].position
            placed = dataclasses.replace(episode, placements=(Placement(kind=kind, position=(x + 2, y, z)),))
            assert (shown(shared_backend, placed)[1] == INSTANCE_FIRST_OBJECT).sum() > 8, kind
