"""Claims about the copy of an engine's world that fills in what the engine does not draw: it keeps step."""

from pathlib import Path

import numpy as np
import pytest

from tests.worlds.adapters.test_scanned_worlds import SPEC, make_scan
from worlds.adapters.backend import ProcessBackend
from worlds.adapters.engine import Scan
from worlds.adapters.engine_choice import EngineChoice
from worlds.adapters.mirror import Mirror
from worlds.adapters.names import state_id
from worlds.adapters.scanned_worlds import ScannedWorlds
from worlds.spec import BLOCK_BITS, BLOCK_MASK, Episode, Placement, WorldSpec
from worlds.types import BUTTON_INDEX, ActionBatch, Pose

# After three steps a block stands two blocks and a half ahead. It is told of by an event in its neighbourhood, or not.
ENGINE = """
import numpy as np
from worlds.adapters.engine import Engine, Event, Moment, Scan, Sight

class Growing(Engine):
    can_rescan = True

    def reset(self, episode):
        self.num_steps, self.pose = 0, tuple(episode["start"])
        return self.observe()

    def step(self, buttons, camera_deg, num_ticks):
        self.num_steps += 1
        tells = self.options.get("tells") and self.num_steps == 3
        return self.observe([Event("block_used", "lever", 0, (15, 4, 15))] if tells else [])

    def observe(self, events=()):
        return Moment(sight=Sight(np.zeros((*self.image_px, 3), np.uint8)), pose=self.pose, events=list(events))

    def scan(self, lowest, size):
        index_XZY = np.zeros((size[0], size[2], size[1]), np.uint16)
        index_XZY[:, :, : max(0, 4 - lowest[1])] = 1
        place = (16 - lowest[0], 19 - lowest[2], 5 - lowest[1])
        if self.num_steps >= 3 and all(0 <= part < side for part, side in zip(place, index_XZY.shape)):
            index_XZY[place] = 1
        return Scan(["air", "stone"], index_XZY)
"""
MIDDLE = 8  # row and column of the picture's middle


@pytest.fixture
def growing(tmp_path, monkeypatch):
    """Return a function that starts the engine with options and an agent that looks at a pitch."""
    monkeypatch.setattr("worlds.adapters.backend.scan_folder", lambda choice: Path("/proc/nowhere"))
    (tmp_path / "growing.py").write_text(ENGINE)
    started = []

    def start(*, pitch_deg=0.0, **options):
        choice = EngineChoice(engine=str(tmp_path / "growing.py"), options=options)
        backend = ProcessBackend(1, choice, size_blocks=SPEC.size_blocks, image_px=(16, 16), with_depth=True)
        started.append(backend)
        world = WorldSpec(seed=1, size_blocks=SPEC.size_blocks, source="own:growing")
        backend.reset([0], [Episode(world=world, start=Pose(16.5, 4.0, 16.5, 0.0, pitch_deg))])
        return backend

    yield start
    for backend in started:
        backend.close()


@pytest.mark.parametrize(("tells", "num_blind"), [(True, 2), (False, 31)])
def test_what_changes_shows_in_the_copy_at_the_next_event_or_after_a_while(growing, tells, num_blind):
    backend = growing(tells=tells)
    depths = [backend.step(ActionBatch.noop(1)).depth_EHW[0, MIDDLE, MIDDLE] for _ in range(num_blind + 1)]
    assert min(depths[:-1]) > 10.0
    assert depths[-1] == pytest.approx(2.5, abs=0.05)


def test_who_sneaks_looks_from_lower_in_the_copy_too(growing):
    backend, sneak = growing(pitch_deg=90.0), ActionBatch.noop(1)
    sneak.buttons_EB[:, BUTTON_INDEX["sneak"]] = True
    standing = float(backend.step(ActionBatch.noop(1)).depth_EHW[0, MIDDLE, MIDDLE])
    sneaking = float(backend.step(sneak).depth_EHW[0, MIDDLE, MIDDLE])
    assert standing - sneaking == pytest.approx(0.35, abs=0.02)


def test_a_placed_door_that_was_opened_is_still_the_object_and_what_takes_its_place_is_not():
    mirror = Mirror(1, ScannedWorlds(make_scan), size_blocks=SPEC.size_blocks, image_px=(8, 8))
    door = Placement(kind="oak_door[facing=north,half=lower,hinge=left,open=false]", position=(10, 32, 10))
    mirror.begin(0, Episode(world=SPEC, start=Pose(16.5, 32.0, 16.5, 0.0, 0.0), placements=(door,)))
    block_XZY = mirror._backend.state.terrain.block_EXZY[0]
    slots = [int(block_XZY[10, 10, 32]) >> BLOCK_BITS]
    for name in (door.kind.replace("open=false", "open=true"), "stone"):
        mirror.patch(0, door.position, Scan([name], np.zeros((1, 1, 1), np.uint16)))
        assert int(block_XZY[10, 10, 32]) & BLOCK_MASK == state_id(name)
        slots.append(int(block_XZY[10, 10, 32]) >> BLOCK_BITS)
    mirror.close()
    assert slots == [1, 1, 0]
