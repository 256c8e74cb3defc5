"""Claims about the example engine: a film is seen frame by frame, and every action is written down."""

import json

import numpy as np
import pytest

from worlds.adapters.backend import ProcessBackend
from worlds.adapters.catalogue import choice_of
from worlds.adapters.engine_choice import EngineFaultError
from worlds.spec import Episode, WorldSpec
from worlds.types import BUTTON_INDEX, ActionBatch, Pose

cv2 = pytest.importorskip("cv2", reason="opencv cannot be imported here", exc_type=ImportError)
EPISODE = Episode(world=WorldSpec(seed=0, source="video"), start=Pose(0.0, 0.0, 0.0, 0.0, 0.0))


def test_a_film_is_seen_and_every_action_is_written_down(tmp_path):
    film = str(tmp_path / "film.avi")
    writer = cv2.VideoWriter(film, cv2.VideoWriter_fourcc(*"MJPG"), 20.0, (64, 48))
    for level in range(0, 240, 20):
        writer.write(np.full((48, 64, 3), (0, 0, level), np.uint8))  # ever more red
    writer.release()
    log = tmp_path / "actions.jsonl"
    backend = ProcessBackend(1, choice_of("video", options=[f"video={film}", f"actions={log}"]), image_px=(16, 16))
    try:
        backend.reset([0], [EPISODE])
        reds = [int(backend.observe().image_EHWC[0, 8, 8, 0])]
        actions = ActionBatch.noop(1)
        actions.buttons_EB[0, BUTTON_INDEX["forward"]] = True
        actions.camera_deg_E2[0] = (-1.0, 2.5)
        for _ in range(3):
            tick = backend.step(actions, num_ticks=2)
            reds.append(int(tick.image_EHWC[0, 8, 8, 0]))
        assert not tick.is_fault_E.any()
        assert not tick.instance_EHW.any()
    finally:
        backend.close()
    assert np.allclose(reds, [0, 40, 80, 120], atol=12)
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert lines == [{"ahead": 1, "right": 0, "turn_deg": [5.0, -2.0], "grip": 0}] * 3


def test_a_film_that_is_not_there_is_one_sentence(tmp_path):
    choice = choice_of("video", options=[f"video={tmp_path / 'none.mp4'}", f"actions={tmp_path / 'actions.jsonl'}"])
    with pytest.raises(EngineFaultError, match=r"none.mp4 cannot be opened; name a film or a camera with video="):
        ProcessBackend(1, choice, image_px=(16, 16))


def test_a_film_without_a_frame_is_one_sentence(tmp_path):
    film = tmp_path / "film.y4m"  # a header, and nothing after it
    film.write_bytes(b"YUV4MPEG2 W64 H48 F20:1 Ip A1:1 C420jpeg\n")
    options = [f"video={film}", f"actions={tmp_path / 'actions.jsonl'}"]
    backend = ProcessBackend(1, choice_of("video", options=options), image_px=(16, 16), max_faults_in_row=1)
    try:
        with pytest.raises(EngineFaultError, match=r"video: the film has no frame that can be read; name another"):
            backend.reset([0], [EPISODE])
    finally:
        backend.close()
