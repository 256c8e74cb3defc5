"""What sessions share: several threads at once play what each would play alone."""

import os
import subprocess
import sys
import threading

import numpy as np
import pytest

from eval.viewer.session import ViewerSession
from eval.viewer.shared import Shared
from policies.shipped import shipped_folder
from tests.eval.viewer.made_goals import WORLD, mark_ground


def last_view(shared: Shared, name: str) -> np.ndarray:
    """Make a goal, measure it, and play some decisions."""
    with shared.turn():
        session = ViewerSession(shared, world=WORLD)
        mark_ground(session)
    with shared.turn():
        assert session.goal.report().fault == ""
        session.run.choose_player(name)
        session.run.reset(seed=4)
    for _ in range(10):
        with shared.turn():
            session.run.step()
    return session.run.frame().image_HWC


def in_threads(shared: Shared, names: tuple[str, ...]) -> list[np.ndarray | None]:
    views: list[np.ndarray | None] = [None] * len(names)

    def play(index: int) -> None:
        views[index] = last_view(shared, names[index])

    threads = [threading.Thread(target=play, args=(index,)) for index in range(len(names))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return views


@pytest.mark.slow
def test_sessions_at_once_play_what_each_would_play_alone(shared):
    names = ("expert", "small", "random")
    together = in_threads(shared, names)
    for name, view_HWC in zip(names, together, strict=True):
        np.testing.assert_array_equal(view_HWC, last_view(shared, name))


@pytest.mark.slow
def test_sessions_take_turns_where_numba_s_threads_cannot_run_side_by_side():
    code = (
        "from tests.eval.viewer.test_shared import in_threads\n"
        "from eval.viewer.shared import Shared\n"
        "import numba\n"
        "views = in_threads(Shared(), ('expert', 'random', 'expert'))\n"
        "assert (views[0] == views[2]).all()\n"
        "print(numba.threading_layer())\n"
    )
    env = os.environ | {"NUMBA_THREADING_LAYER": "workqueue", "NUMBA_NUM_THREADS": "2"}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.strip() == "workqueue"


def test_a_checkpoint_that_was_written_anew_is_read_anew(shared, tmp_path):
    for name in ("small", "keen"):
        for path in shipped_folder(name).iterdir():
            (tmp_path / path.name).write_bytes(path.read_bytes())
        loaded = shared.policy(str(tmp_path))
        assert loaded.config.preset == shared.policy(name).config.preset
        assert shared.policy(str(tmp_path)) is loaded


def test_of_many_policies_the_one_that_was_read_first_makes_room(monkeypatch, tmp_path):
    monkeypatch.setattr("eval.viewer.shared._MAX_POLICIES", 2)
    for path in shipped_folder("small").iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    alone = Shared()
    first, second = alone.policy("small"), alone.policy("keen")
    assert alone.policy("small") is first
    alone.policy(str(tmp_path))
    assert alone.policy("keen") is second
    assert alone.policy("small") is not first
    assert len(alone._policies) == 2


def test_a_checkpoint_that_lacks_what_says_whose_it_is_is_refused_with_what_helps(shared, tmp_path):
    (tmp_path / "checkpoints" / "final").mkdir(parents=True)
    with pytest.raises(ValueError, match=r"state\.json: missing or not JSON; use another checkpoint"):
        shared.policy(str(tmp_path))
