"""Claims about engines that fail: what becomes of the episode, of the engine, and of everything that it had started.

The engine is a light one that fails as it is told (flat_engine.py); times are generous, for machines that are busy.
"""

import dataclasses
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from task_synthesis.playing.success import Judge, Outcome
from task_synthesis.skills import SKILLS
from tests.worlds.adapters.flat_engine import FAULTS
from worlds.adapters import process as process_module
from worlds.adapters.backend import ProcessBackend
from worlds.adapters.engine_choice import EngineChoice, EngineFaultError, Limits
from worlds.adapters.process import EngineProcess
from worlds.spec import Episode, WorldSpec
from worlds.types import ActionBatch, Pose

ENGINE = str(Path(__file__).with_name("flat_engine.py"))
ROOT = Path(__file__).parents[3]
LIMITS = Limits(start_s=60, reset_s=5, answer_s=5, pulse_s=5, close_s=5)
IN_TIME_S = 30.0
EPISODE = Episode(
    world=WorldSpec(seed=1, source="flat", origin_blocks=(100, 0, -50)), start=Pose(5.5, 4.0, 5.5, 0.0, 10.0)
)
MESSAGES = {
    "exit": "java.lang.OutOfMemoryError: Java heap space",
    "kill": "ended during",
    "hang": "did not answer",
    "stop": "did not answer|no sign of life",
    "garbage": "is no message",
    "half": "half a message",
    "wrong_size": "wanted is uint8",
    "error": "the server kicked the player; log in again",
    "disk_full": "No space left on device",
    "bad_event": "event 'won' is none of",
    "wrong_kind": "answered 'lines'",
    "too_long": "too long",
    "no_number": "strange answer to step (a place is nan",
}


def backend(num_envs=1, *, limits=LIMITS, **options) -> ProcessBackend:
    choice = EngineChoice(engine=ENGINE, options=options)
    return ProcessBackend(num_envs, choice, image_px=(16, 16), limits=limits, max_faults_in_row=3)


def is_alive(pid: int) -> bool:
    """Tell whether a process is there and no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def gone_within(seconds: float, *pids: int) -> bool:
    until_s = time.monotonic() + seconds
    while time.monotonic() < until_s:
        if not any(is_alive(pid) for pid in pids):
            return True
        time.sleep(0.05)
    return False


def test_every_fault_has_a_sentence_to_be_known_by():
    assert set(MESSAGES) == set(FAULTS)


def in_slow_lane(names, fast):
    return [name if name in fast else pytest.param(name, marks=pytest.mark.slow) for name in names]


@pytest.mark.parametrize("fault", in_slow_lane(FAULTS, ("kill", "garbage", "wrong_size", "no_number")))
def test_a_fault_in_a_step_is_a_truncation_in_time_and_the_next_reset_has_a_fresh_engine(fault, caplog, tmp_path):
    limits = Limits(start_s=60, reset_s=5, answer_s=1.0, pulse_s=1.0, close_s=5)
    played = backend(limits=limits, fault=fault, at="step", once=str(tmp_path / "failed"))
    try:
        played.reset([0], [EPISODE])
        image_EHWC = played.observe().image_EHWC.copy()
        begun_s = time.monotonic()
        tick = played.step(ActionBatch.noop(1))
        assert time.monotonic() - begun_s < IN_TIME_S
        assert tick.is_fault_E.tolist() == [True]
        assert np.array_equal(tick.image_EHWC, image_EHWC)
        assert not tick.event_EN4.any()
        assert any(_has(record.getMessage(), MESSAGES[fault]) for record in caplog.records), caplog.text
        played.reset([0], [EPISODE])
        assert played.step(ActionBatch.noop(1)).is_fault_E.tolist() == [False]
    finally:
        played.close()


def _has(text: str, pattern: str) -> bool:
    return any(part in text for part in pattern.split("|"))


@pytest.mark.parametrize("fault", in_slow_lane(("kill", "half", "error"), ("kill",)))
def test_a_fault_in_a_reset_ends_the_episode_with_its_first_step(fault, tmp_path):
    limits = Limits(start_s=60, reset_s=1, answer_s=5, pulse_s=1, close_s=5)
    played = backend(2, limits=limits, fault=fault, at="reset", once=str(tmp_path / "failed"))
    try:
        played.reset([0, 1], [EPISODE, EPISODE])
        tick = played.step(ActionBatch.noop(2))
        assert sorted(tick.is_fault_E.tolist()) == [False, True]
        views = played.render_views([0, 1], np.array([[5.5, 8.0, 5.5, 0.0, 40.0]] * 2))
        assert sorted(int(image.max()) for image in views.image_VHWC) == [0, 40]
        played.reset([0, 1], [EPISODE, EPISODE])
        assert not played.step(ActionBatch.noop(2)).is_fault_E.any()
    finally:
        played.close()


def test_who_was_interrupted_while_waiting_never_takes_that_answer_for_another(monkeypatch):
    def interrupt(process):
        raise KeyboardInterrupt

    played = backend()
    elsewhere = dataclasses.replace(EPISODE, start=EPISODE.start._replace(x=9.5))
    try:
        played.reset([0], [EPISODE])
        with monkeypatch.context() as patch:
            patch.setattr(EngineProcess, "_wait_for_words", interrupt)
            with pytest.raises(KeyboardInterrupt):
                played.step(ActionBatch.noop(1))
        played.reset([0], [elsewhere])  # the answer to the step is still on its way
        assert played.observe().is_fault_E.tolist() == [True]
        played.reset([0], [elsewhere])
        assert played.observe().pose_E5[0, 0] == elsewhere.start.x
        assert not played.observe().is_fault_E[0]
    finally:
        played.close()


def test_a_judge_calls_a_fault_a_fault_and_neither_failure_nor_success(tmp_path):
    played = backend(fault="kill", at="step", once=str(tmp_path / "failed"))
    try:
        played.reset([0], [EPISODE])
        tick = played.step(ActionBatch.noop(1))
        assert "approach" in SKILLS
        assert Judge(played).outcomes(tick, ActionBatch.noop(1), num_ticks=1).tolist() == [Outcome.FAULT]
    finally:
        played.close()


def test_too_many_faults_in_a_row_stop_with_one_sentence():
    played = backend(fault="error", at="reset")
    try:
        for _ in range(2):
            played.reset([0], [EPISODE])
            played.step(ActionBatch.noop(1))
        with pytest.raises(EngineFaultError, match=r"log in again; that was fault 3 in a row of env 0") as caught:
            played.reset([0], [EPISODE])
        assert "\n" not in str(caught.value)
    finally:
        played.close()


@pytest.mark.parametrize(
    ("choice", "sentence"),
    [
        (EngineChoice(engine=ENGINE, options={"fault": "exit", "at": "start"}), "ended during start.*Java heap space"),
        (EngineChoice(engine=ENGINE, python=Path("/no/such/python")), "cannot be started.*--engine-python"),
        (EngineChoice(engine="no_such_engine"), "no_such_engine"),
        pytest.param(
            EngineChoice(engine=ENGINE, options={"fault": "hang", "at": "start"}),
            "did not answer start in time",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_an_engine_that_does_not_start_says_why_and_leaves_nothing(choice, sentence):
    with pytest.raises(EngineFaultError, match=sentence):
        ProcessBackend(1, choice, image_px=(16, 16), limits=Limits(start_s=5, close_s=5))


def test_what_an_engine_has_to_do_and_leaves_alone_is_named(tmp_path):
    (tmp_path / "bare.py").write_text("from worlds.adapters.engine import Engine\n\n\nclass Bare(Engine):\n    pass\n")
    choice = EngineChoice(engine=str(tmp_path / "bare.py"))
    played = ProcessBackend(1, choice, image_px=(16, 16), limits=LIMITS, max_faults_in_row=1)
    try:
        with pytest.raises(EngineFaultError, match=r"bare.*: reset\(\) is left alone; write it") as caught:
            played.reset([0], [EPISODE])
    finally:
        played.close()
    assert "\n" not in str(caught.value)


def test_no_room_for_frames_is_said_in_one_sentence(monkeypatch):
    def full(image_px):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(process_module, "open_memory", full)
    with pytest.raises(EngineFaultError, match="no shared memory for its frames .No space left on device"):
        backend()


def started(tmp_path: Path, *, limits=LIMITS, **options) -> tuple[EngineProcess, list[int], Path]:
    """Return a running engine, the processes it consists of, and its temporary folder."""
    note = tmp_path / "note"
    engine = EngineProcess(EngineChoice(engine=ENGINE, options={"file": str(note), **options}), (16, 16), limits)
    engine.hello()
    pid, helper_pid, folder = note.read_text().split()
    assert Path(folder).is_dir()
    return engine, [*engine.pids, int(pid), int(helper_pid)], Path(folder)


@pytest.mark.parametrize("end", in_slow_lane(("close", "kill", "kill_engine", "kill_keeper", "deaf"), ("kill_engine",)))
def test_whatever_ends_the_engine_leaves_no_process_and_no_folder(end, tmp_path):
    engine, pids, folder = started(tmp_path, **({"fault": "deaf_to_close"} if end == "deaf" else {}))
    keeper_pid, engine_pid, *_ = engine.pids
    if end == "kill_engine":
        os.kill(engine_pid, 9)
    elif end == "kill_keeper":
        os.kill(keeper_pid, 9)
    elif end == "kill":
        engine.kill()
    if end in ("close", "deaf"):
        engine.close()
    assert gone_within(IN_TIME_S, *[pid for pid in pids if pid != keeper_pid])
    until_s = time.monotonic() + IN_TIME_S
    while folder.exists() and time.monotonic() < until_s:
        time.sleep(0.05)
    assert not folder.exists()
    engine.kill()
    assert not is_alive(keeper_pid)


def test_a_keeper_that_does_not_answer_is_killed_with_its_own_and_with_nobody_else(tmp_path):
    stranger = subprocess.Popen(["sleep", "600"], start_new_session=True)
    try:
        engine, pids, _ = started(tmp_path, limits=Limits(close_s=1), claims_pid=stranger.pid)
        os.kill(engine.pids[0], signal.SIGSTOP)
        engine.kill()
        assert gone_within(IN_TIME_S, *pids)
        assert is_alive(stranger.pid)
    finally:
        stranger.kill()
        stranger.wait()


def test_an_engine_is_watched_whatever_process_it_says_it_is(tmp_path):
    limits = Limits(answer_s=60, pulse_s=2)
    engine, _, _ = started(tmp_path, limits=limits, fault="stop", at="observe", claims_pid=0)
    try:
        engine.ask("observe")
        with pytest.raises(EngineFaultError, match="no sign of life for 2 s"):
            engine.moment()
    finally:
        engine.kill()


PARENT = """
import sys, time
from pathlib import Path
from worlds.adapters.engine_choice import EngineChoice
from worlds.adapters.process import EngineProcess
engine = EngineProcess(EngineChoice(engine=sys.argv[1], options={"file": sys.argv[2]}), (16, 16))
engine.hello()
print(*engine.pids, flush=True)
time.sleep(600)
"""


def test_kill_9_of_our_process_leaves_no_engine_and_no_folder(tmp_path):
    note = tmp_path / "note"
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, ENGINE, str(note)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    assert parent.stdout is not None
    pids = [int(pid) for pid in parent.stdout.readline().split()]
    engine_pid, helper_pid, folder = note.read_text().split()
    parent.kill()
    parent.wait()
    parent.stdout.close()
    assert gone_within(IN_TIME_S, *pids, int(engine_pid), int(helper_pid))
    assert not Path(folder).parent.exists()
