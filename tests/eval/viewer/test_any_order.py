"""Random sequences of calls: whatever a person does, in whatever order, the session answers and stays whole."""

import dataclasses

import numpy as np
import pytest

from eval.viewer.goal_editor import GOAL_PX
from eval.viewer.session import ViewerSession
from policies.decoding import Decoding
from task_synthesis.task import BANDS, from_json_line, to_json_line
from tests.eval.viewer.made_goals import WORLD, eye_over_start
from worlds.types import BUTTONS

_NAMES = ("expert", "small", "random", "noop", "human", "nobody")


def calls_of(session: ViewerSession, rng: np.random.Generator, path):
    """Return everything that a person can do, with random arguments, some of them nonsense."""

    def pixel() -> int:
        return int(rng.integers(-3, GOAL_PX + 3))

    def ray():
        x, z = rng.uniform(-10.0, 74.0, 2).tolist()
        return (x, 50.0, z), tuple(rng.normal(size=3).tolist())

    def eye():
        return eye_over_start(session, height_blocks=float(rng.uniform(-3, 9)), pitch_deg=float(rng.uniform(-20, 90)))

    def buttons():
        return [BUTTONS[index] for index in rng.integers(0, len(BUTTONS), 2)]

    goal, run, rival = session.goal, session.run, session.rival
    return [
        lambda: goal.goal_from_here(eye()),
        lambda: goal.goal_from_here(eye()),
        lambda: session.click(*ray()),
        lambda: session.click(*ray(), eye=eye()),
        lambda: goal.click_goal(pixel(), pixel()),
        lambda: goal.click_goal(pixel(), pixel()),
        lambda: goal.paint(pixel(), pixel(), radius_px=float(rng.uniform(-1, 20)), is_eraser=bool(rng.integers(2))),
        goal.grow_to_same_kind,
        goal.reset_mask,
        lambda: goal.choose_skill(str(rng.choice(["break", "approach", "interact", "place", "hunt", "archery"]))),
        lambda: goal.use_picture(rng.integers(0, 256, (GOAL_PX, GOAL_PX, 3), np.uint8)),
        lambda: goal.upload(rng.bytes(200)),
        lambda: goal.place_start(session.hit(*ray())),
        lambda: goal.sample_start(str(rng.choice(list(BANDS))), seed=int(rng.integers(9))),
        lambda: goal.add_object(str(rng.choice(["cow", "pumpkin", "item:apple", "oak_door"])), session.hit(*ray())),
        lambda: goal.remove_object(int(rng.integers(-1, 3))),
        lambda: session.take_away(*ray()),
        lambda: goal.set_conditions(max_ticks=int(rng.integers(0, 90)), episode_seed=int(rng.integers(9))),
        goal.undo,
        goal.undo,
        goal.redo,
        goal.report,
        lambda: goal.save(path),
        lambda: session.open_place(f"{path}:{rng.integers(1, 4)}"),
        lambda: run.choose_player(str(rng.choice(_NAMES))),
        lambda: rival.choose_player(str(rng.choice(_NAMES))),
        run.reset,
        run.play,
        run.play,
        run.pause,
        run.step,
        run.step,
        rival.reset,
        session.pair.play,
        session.pair.pause,
        session.pair.step,
        session.pair.reset,
        lambda: session.pair.seek(int(rng.integers(9))),
        lambda: session.pair.choose_player(str(rng.choice(_NAMES))),
        lambda: run.decode(Decoding(temperature=float(rng.uniform(0, 2)))),
        run.take_over,
        run.hand_back,
        lambda: run.hold(buttons()),
        lambda: run.turn(*rng.uniform(-200, 200, 2).tolist()),
        run.clear_memory,
        run.send_goal,
        run.send_goal,
        lambda: run.seek(int(rng.integers(9))),
        lambda: run.set_speed(float(rng.uniform(0, 25))),
        lambda: session.tick(float(rng.uniform(0, 99))),
        session.leave,
    ]


def check_whole(session: ViewerSession) -> None:
    """What must hold after every call."""
    draft = session.goal.draft
    assert session.goal.desk.draft == draft
    assert draft.target_index is None or 0 <= draft.target_index < len(draft.placements)
    assert draft.adopted is None or draft.target_index == len(draft.objects)
    assert draft.task is None or from_json_line(to_json_line(draft.task)) == draft.task
    scene = session.scene()
    assert (scene.target_kind == "") == (session.shown.target is None)
    assert session.state_XZY().shape == (64, 64, 64)
    if draft.goal_view is not None or draft.picture is not None:
        view = session.goal.view()
        assert view.image_HWC.shape == (GOAL_PX, GOAL_PX, 3)
        assert view.mask_HW.shape == (GOAL_PX, GOAL_PX)
    if session.run.run is not None:
        frame = session.run.frame()
        assert (frame.outcome == "") == (frame.reason == "")
        assert frame.ticks <= frame.max_ticks + session.run.run.ticks_per_decision
        assert len(scene.path) == frame.ticks + 1
        assert not (frame.outcome and frame.is_playing)


def play_randomly(shared, path, *, seed: int, num_calls: int) -> tuple[int, int]:
    """Return how many calls did something and how many were refused."""
    rng = np.random.default_rng(seed)
    session = ViewerSession(shared, world=WORLD)
    num_done = num_refused = 0
    for _ in range(num_calls):
        calls = calls_of(session, rng, path)
        before, can_undo = session.goal.draft, session.goal.can_undo
        refusal: str | None = None
        try:
            calls[rng.integers(len(calls))]()
        except ValueError as error:
            refusal = str(error)
        if refusal is None:
            num_done += 1
        else:
            num_refused += 1
            assert refusal.strip()
            assert "\n" not in refusal
            # Whether it is a task was found out before something else was refused.
            assert dataclasses.replace(session.goal.draft, task=before.task) == before
            assert session.goal.can_undo == can_undo
        check_whole(session)
    return num_done, num_refused


def test_random_calls_never_break_a_session(shared, tmp_path):
    num_done, num_refused = play_randomly(shared, tmp_path / "mine.jsonl", seed=0, num_calls=50)
    assert num_done > 10
    assert num_refused > 5


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 7))
def test_many_random_calls_never_break_a_session(shared, tmp_path, seed):
    play_randomly(shared, tmp_path / "mine.jsonl", seed=seed, num_calls=400)
