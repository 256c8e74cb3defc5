"""Other engines, in processes of their own: pictures are shown, faults are sentences, nothing is left over."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest

import tests.worlds.adapters.flat_engine
import tests.worlds.adapters.pillar_engine
from eval.viewer.app_state import page_state
from eval.viewer.engine_menu import EngineMenu
from eval.viewer.session import ViewerSession
from eval.viewer.shared import Shared
from mcrl.tasks.engine_tasks import engine_tasks
from tests.eval.viewer.made_goals import WORLD, mark_ground
from worlds.adapters.backend import ProcessBackend
from worlds.adapters.catalogue import ENGINES, choice_of
from worlds.adapters.engine_choice import EngineChoice
from worlds.blocks import STATE_ID
from worlds.spec import WorldSpec


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


def test_a_page_chooses_among_engines_of_the_menu_and_starts_no_other_program(session, monkeypatch):
    given = EngineChoice(engine=tests.worlds.adapters.flat_engine.__file__, options={})
    monkeypatch.setattr(session.shared, "engines", EngineMenu({"/home/me/flat.py": given}))
    assert session.shared.engines.names[0] == session.run.engine_name == "voxel"
    assert {"luanti", "minerl", "/home/me/flat.py"} <= set(session.shared.engines.names)
    with pytest.raises(ValueError, match="is none of"):
        session.run.choose_engine("/bin/true")
    with pytest.raises(ValueError, match="is none of"):
        session.run.choose_engine("vizdoom")
    monkeypatch.setattr(session.shared, "engines", EngineMenu({"vizdoom": EngineChoice(engine="vizdoom")}))
    with pytest.raises(ValueError, match="cannot draw the rooms of vizdoom; `mcrl play --backend vizdoom --task"):
        session.run.choose_engine("vizdoom")
    monkeypatch.setattr(session.shared, "engines", EngineMenu({"/home/me/flat.py": given}))
    mark_ground(session)
    session.run.choose_engine("/home/me/flat.py")
    session.run.reset()
    assert session.run.run.voxel is None
    session.run.choose_engine("voxel")
    session.run.reset()
    assert session.run.run.voxel is not None
    session.close()


@pytest.fixture(scope="module")
def pillars():
    """An engine of one's own with blocks, a task in its world, and what a viewer shares that was told of it."""
    path = tests.worlds.adapters.pillar_engine.__file__
    choice = choice_of(path)
    (task,) = engine_tasks(path, choice, 1, split="held_out", seed=0, skills=("approach",), bands=("near",))
    return path, task, Shared(engines=EngineMenu({path: choice}))


def test_a_task_of_another_engine_is_shown_in_its_own_world_and_played_there(pillars):
    path, task, shared = pillars
    session = ViewerSession(shared, world=WORLD)
    session.goal.open_task(task)
    grass = STATE_ID["grass_block"]
    assert (session.state_XZY()[1:, 1:] == grass).any(axis=2).all()  # nothing else grows in the pillars' world
    assert session.goal.view().mask_HW.any()
    session.run.choose_engine(path)
    session.run.step()
    assert session.run.run.voxel is None
    assert session.run.frame().goal.mask_HW.any()
    session.run.choose_engine("voxel")
    session.run.choose_player("expert")
    session.run.play()
    for index in range(task.max_ticks):
        session.tick(0.05 * index)
    assert session.run.frame().outcome == "success"
    session.close()


def test_worlds_of_engines_that_nobody_named_are_refused(pillars):
    _, task, _ = pillars
    session = ViewerSession(Shared(), world=WORLD)
    with pytest.raises(ValueError, match="draws no world of 'own:pillar_engine'; an engine of your own is"):
        session.goal.open_task(task)
    assert session.shown.world == WORLD


def test_an_engine_that_cannot_show_its_world_is_a_sentence_and_the_page_stays(tmp_path, pillars):
    _, task, _ = pillars
    broken = tmp_path / "pillar_engine.py"
    broken.write_text("import a_package_that_is_not_here\n")
    session = ViewerSession(Shared(engines=EngineMenu({str(broken): choice_of(str(broken))})), world=WORLD)
    with pytest.raises(ValueError, match="view: pillar_engine: .*a_package_that_is_not_here"):
        session.goal.open_task(task)
    assert session.shown.world == session.goal.desk.draft.world == WORLD


def test_an_engine_with_worlds_of_its_own_does_not_play_in_ours(session):
    mark_ground(session)
    session.run.use_engine("luanti", maker(tests.worlds.adapters.flat_engine.__file__))
    with pytest.raises(
        ValueError, match="luanti plays in worlds of its own, and this is none of them; open one by its"
    ):
        session.run.reset()
    assert page_state(session)["banner"].startswith("The goal is ready, but luanti plays in worlds of its own")
    engines = session.shared.engines
    assert engines.world("luanti", seed=7, biome="plains").source == ENGINES["luanti"].source
    for ours in ("voxel", "voxel-process", "video"):
        engines.check_world(ours, WORLD)
        assert engines.world(ours, seed=7, biome="plains") == WorldSpec(seed=7, biome="plains")


@pytest.mark.slow
def test_our_engine_in_a_process_of_its_own_plays_the_same_episode(session):
    mark_ground(session)
    session.run.use_engine("voxel", maker("voxel"))
    session.rival.choose_player("random")
    session.run.choose_player("random")
    session.run.reset()
    session.rival.reset()
    np.testing.assert_array_equal(session.run.frame().goal.image_HWC, session.rival.frame().goal.image_HWC)
    np.testing.assert_array_equal(session.run.frame().goal.mask_HW, session.rival.frame().goal.mask_HW)
    for _ in range(10):
        if not session.run.run.is_over:
            session.run.step()
            session.rival.step()
        np.testing.assert_array_equal(session.run.frame().image_HWC, session.rival.frame().image_HWC)
    assert session.run.frame().outcome == session.rival.frame().outcome
    session.close()


def test_a_run_of_another_engine_that_had_to_make_room_for_one_that_cannot_begin_is_given_up(session):
    begin, num_made = maker(tests.worlds.adapters.flat_engine.__file__), 0

    def make_once(size_blocks, side_px):
        nonlocal num_made
        num_made += 1
        if num_made > 1:
            raise OSError("it starts once only")
        return begin(size_blocks, side_px)

    mark_ground(session, skill="approach")
    session.run.use_engine("flat", make_once)
    session.run.play()
    session.goal.open_world(dataclasses.replace(WORLD, size_blocks=(128, 64, 128)))
    mark_ground(session, skill="approach")
    with pytest.raises(ValueError, match="run: it starts once only"):
        session.run.reset()
    assert session.run.run is None
    assert not session.run.is_playing
    assert session.tick(1.0) == 0
    session.close()


def test_what_is_clicked_beside_a_run_elsewhere_is_a_thing_of_the_goal(flat):
    flat.run.reset()
    places = {"pumpkin": (20.5, 60.0, 20.5), "cow": (24.5, 60.0, 20.5)}
    for kind, place in places.items():
        flat.goal.add_object(kind, flat.hit(place, (0.0, -1.0, 0.0)))
    for index, (kind, place) in enumerate(places.items()):
        flat.click(place, (0.0, -1.0, 0.0))
        assert (flat.goal.draft.target.kind, flat.goal.draft.target_index) == (kind, index)


def test_slow_play_of_whole_decisions_is_not_taken_for_a_clock_that_went_back(flat):
    flat.run.choose_player("small")
    flat.run.set_speed(0.1)  # a decision of 0.2 s lasts 2 s
    flat.run.play()
    assert [flat.tick(0.5 * index) for index in range(9)] == [4, 0, 0, 0, 4, 0, 0, 0, 4]
    assert flat.tick(-1000.0) == 4


def test_a_recording_that_an_engine_cannot_play_leaves_what_was_shown(judged):
    judged.run.use_engine("luanti", maker(tests.worlds.adapters.flat_engine.__file__))
    judged.run.choose_player("noop")
    before = judged.goal.draft
    with pytest.raises(ValueError, match="luanti plays in worlds of its own"):
        judged.replay(1, "rl", beside="expert")
    assert judged.goal.draft is before
    assert (judged.run.player, judged.rival.player) == ("noop", "human")


def children() -> list[str]:
    return [pid for file in Path("/proc/self/task").glob("*/children") for pid in file.read_text().split()]


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="asks Linux for the children of this process")
def test_an_engine_ends_once_its_world_was_scanned_or_nobody_plays_on_it_any_more(pillars, tmp_path, monkeypatch):
    path, task, _ = pillars
    monkeypatch.setattr("eval.viewer.engine_menu.scan_folder", lambda choice: tmp_path)
    session = ViewerSession(Shared(engines=EngineMenu({path: choice_of(path)})), world=WORLD)
    before = children()
    session.goal.open_task(task)
    assert list(tmp_path.iterdir())
    assert children() == before
    for leave in (lambda: session.run.choose_engine("voxel"), session.close):
        session.run.choose_engine(path)
        session.run.reset()
        assert len(children()) == len(before) + 1
        leave()
        assert children() == before
