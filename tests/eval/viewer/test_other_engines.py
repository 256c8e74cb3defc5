"""Other engines, in processes of their own: pictures are shown, faults are sentences, nothing is left over."""

from pathlib import Path

import numpy as np
import pytest

import tests.worlds.adapters.flat_engine
from eval.viewer.engine_menu import EngineMenu
from tests.eval.viewer.made_goals import mark_ground
from worlds.adapters.backend import ProcessBackend
from worlds.adapters.engine_choice import EngineChoice


def maker(engine: str, **options):
    """What starts an engine in a process of its own."""

    def make(size_blocks, side_px):
        choice = EngineChoice(engine=engine, options=options)
        return ProcessBackend(1, choice, size_blocks=size_blocks, image_px=(side_px, side_px))

    return make


@pytest.fixture
def flat(session):
    """A session with a goal that plays on a flat world elsewhere."""
    mark_ground(session, skill="approach")
    session.run.use_engine("flat", maker(tests.worlds.adapters.flat_engine.__file__))
    yield session
    session.close()


def test_another_engine_shows_its_pictures_and_a_person_plays_in_it(flat):
    flat.run.reset()
    assert flat.run.run.voxel is None
    pitch_deg = int(flat.goal.draft.start.pitch_deg)
    assert (flat.run.frame().image_HWC == pitch_deg).all()
    flat.run.hold(["forward"])
    flat.run.turn(0.0, 20.0)
    flat.run.step()
    assert (flat.run.frame().image_HWC == int(flat.goal.draft.start.pitch_deg + 20)).all()
    assert flat.run.view((96, 128)).shape == (96, 128, 3)
    flat.run.play()
    for index in range(12):
        flat.tick(0.05 * index)
    assert flat.run.frame().ticks == 13
    assert flat.scene().agent.z == pytest.approx(flat.goal.draft.start.z + 1.3)
    # Its blocks are not to be had: the goal's own world stays where one clicks.
    assert flat.engine is flat.goal.desk.engine


def test_policies_play_elsewhere_by_whole_decisions_and_the_expert_does_not(flat):
    flat.run.choose_player("small")
    flat.run.play()
    assert flat.tick(0.0) == 4
    assert flat.tick(0.1) == 0
    assert flat.tick(0.2) == 4
    assert flat.run.frame().belief is not None
    with pytest.raises(ValueError, match="built-in engine"):
        flat.run.write_video(Path("nowhere"))
    with pytest.raises(ValueError, match="another target"):
        flat.run.send_goal()
    flat.run.choose_player("expert")
    with pytest.raises(ValueError, match="built-in engine only"):
        flat.run.reset()
    flat.run.use_engine("", None)
    flat.run.reset()
    assert flat.run.run.voxel is not None


@pytest.mark.parametrize("at", ["start", "reset"])
def test_an_engine_that_fails_is_a_sentence_and_the_session_goes_on(session, at):
    mark_ground(session)
    session.run.use_engine("flat", maker(tests.worlds.adapters.flat_engine.__file__, fault="exit", at=at))
    try:
        session.run.reset()
        session.run.step()
    except ValueError as error:
        refusal = str(error)
    else:
        refusal = session.run.frame().reason
    assert "engine" in refusal
    session.run.use_engine("", None)
    session.run.choose_player("noop")
    session.run.step()
    assert session.run.frame().ticks == 4


def test_a_page_chooses_among_engines_of_the_menu_and_starts_no_other_program(session):
    given = EngineChoice(engine=tests.worlds.adapters.flat_engine.__file__, options={})
    session.shared.engines = EngineMenu({"/home/me/flat.py": given})
    assert session.shared.engines.names[0] == session.run.engine_name == "voxel"
    assert {"luanti", "vizdoom", "/home/me/flat.py"} <= set(session.shared.engines.names)
    with pytest.raises(ValueError, match="is none of"):
        session.run.choose_engine("/bin/true")
    mark_ground(session)
    session.run.choose_engine("/home/me/flat.py")
    session.run.reset()
    assert session.run.run.voxel is None
    session.run.choose_engine("voxel")
    session.run.reset()
    assert session.run.run.voxel is not None
    session.close()


@pytest.mark.slow
def test_our_engine_in_a_process_of_its_own_plays_the_same_episode(session):
    mark_ground(session)
    session.run.use_engine("voxel", maker("voxel"))
    session.rival.choose_player("random")
    session.run.choose_player("random")
    session.play_both()
    session.run.pause()
    session.rival.pause()
    np.testing.assert_array_equal(session.run.frame().goal.image_HWC, session.rival.frame().goal.image_HWC)
    np.testing.assert_array_equal(session.run.frame().goal.mask_HW, session.rival.frame().goal.mask_HW)
    for _ in range(10):
        if not session.run.run.is_over:
            session.run.step()
            session.rival.step()
        np.testing.assert_array_equal(session.run.frame().image_HWC, session.rival.frame().image_HWC)
    assert session.run.frame().outcome == session.rival.frame().outcome
    session.close()
