"""Making a goal: what is clicked is what is marked, every change is whole, and undo restores exactly."""

import dataclasses

import numpy as np
import pytest

from eval.viewer.draft import GoalDraft, History
from eval.viewer.goal_editor import GOAL_PX
from eval.viewer.pointer import pixel_directions
from eval.viewer.scene_place import Ground
from eval.viewer.session import ViewerSession
from tests.eval.viewer.made_goals import WORLD, eye_over_start, mark_ground, place_cow
from worlds.types import INSTANCE_FIRST_OBJECT, Pose


def test_a_clicked_block_of_the_terrain_is_marked_exactly_and_the_world_looks_the_same(session):
    eye = eye_over_start(session)
    before = session.goal.goal_from_here(eye)
    session.goal.click_goal(150, 128)
    after = session.goal.view()
    np.testing.assert_array_equal(after.image_HWC, before.image_HWC)
    views = session.goal.desk.views(eye, (GOAL_PX, GOAL_PX))
    np.testing.assert_array_equal(after.mask_HW, views.instance_VHW[0] == INSTANCE_FIRST_OBJECT)
    assert after.is_exact
    assert after.mask_HW[150, 128]


def test_every_kind_of_terrain_can_be_adopted_and_looks_the_same(session):
    session.open_world(dataclasses.replace(session.goal.draft.world, detail="full", biome="forest"))
    eye = eye_over_start(session)
    before = session.goal.goal_from_here(eye)
    is_sky_HW = session.goal.desk.views(eye, (GOAL_PX, GOAL_PX)).depth_VHW[0] >= 32.0
    kinds = set()
    for row in range(70, 250, 24):
        for column in range(4, 250, 24):
            if is_sky_HW[row, column] or session.goal.desk.hit_in_view(eye, row, column, GOAL_PX).is_under_water:
                continue
            session.goal.click_goal(row, column)
            view = session.goal.view()
            assert session.goal.draft.target is not None
            kinds.add(session.goal.draft.target.kind)
            np.testing.assert_array_equal(view.image_HWC, before.image_HWC)
    assert len(kinds) >= 3


def test_a_clicked_animal_is_marked_and_asks_for_the_hunt(session):
    place_cow(session)
    view = session.click(*_ray_to_pixel(session, 140, 128))
    assert session.goal.draft.target.kind == "cow"
    assert session.goal.draft.skill == "hunt"
    assert view.mask_HW.sum() > 20
    session.goal.choose_skill("archery")
    assert session.goal.draft.carried[0][0] == "bow"
    with pytest.raises(ValueError, match="choose one of hunt, archery"):
        session.goal.choose_skill("break")


def test_undo_and_redo_restore_exactly(session):
    drafts = [session.goal.draft]
    changes = [
        lambda: session.goal.goal_from_here(eye_over_start(session)),
        lambda: session.goal.click_goal(150, 128),
        lambda: session.goal.choose_skill("place"),
        lambda: session.goal.paint(140, 120, radius_px=9.0),
        lambda: session.goal.sample_start("near", seed=3),
        lambda: session.goal.click_goal(200, 40),
        lambda: session.goal.reset_mask(),
    ]
    pictures = [None]
    for change in changes:
        change()
        drafts.append(session.goal.draft)
        pictures.append(session.goal.view())
    for draft, picture in zip(drafts[-2::-1], pictures[-2::-1], strict=True):
        session.goal.undo()
        assert session.goal.draft == draft
        if picture is not None:
            np.testing.assert_array_equal(session.goal.view().mask_HW, picture.mask_HW)
            np.testing.assert_array_equal(session.goal.view().image_HWC, picture.image_HWC)
    with pytest.raises(ValueError, match="undo: nothing"):
        session.goal.undo()
    for draft in drafts[1:]:
        session.goal.redo()
        assert session.goal.draft == draft
    with pytest.raises(ValueError, match="redo: nothing"):
        session.goal.redo()


def test_a_stroke_of_the_brush_is_taken_back_as_one(session):
    mark_ground(session)
    session.goal.paint(150, 40, radius_px=5.0)
    before_HW = session.goal.view().mask_HW
    session.goal.paint(150, 40, is_eraser=True)
    for column in (46, 52):
        session.goal.paint(150, column, is_eraser=True, goes_on=True)
    after_HW = session.goal.view().mask_HW
    assert after_HW.sum() < before_HW.sum()
    session.goal.undo()
    np.testing.assert_array_equal(session.goal.view().mask_HW, before_HW)
    session.goal.redo()
    np.testing.assert_array_equal(session.goal.view().mask_HW, after_HW)
    # What goes on where nothing began, as after an undo, is a stroke of its own.
    session.goal.undo()
    session.goal.paint(150, 52, goes_on=True)
    session.goal.undo()
    np.testing.assert_array_equal(session.goal.view().mask_HW, before_HW)


def test_the_brush_adds_and_erases_and_growing_takes_in_one_kind_that_hangs_together(session):
    mark_ground(session)
    exact_HW = session.goal.view().mask_HW
    session.goal.paint(150, 40, radius_px=5.0)
    assert session.goal.view().mask_HW.sum() > exact_HW.sum()
    assert not session.goal.view().is_exact
    session.goal.paint(150, 40, radius_px=5.0, is_eraser=True)
    np.testing.assert_array_equal(session.goal.view().mask_HW, exact_HW)
    session.goal.grow_to_same_kind()
    grown_HW = session.goal.view().mask_HW
    assert grown_HW.sum() > 3 * exact_HW.sum()
    assert (grown_HW & exact_HW).sum() == exact_HW.sum()
    assert not grown_HW[
        session.goal.desk.views(session.goal.draft.goal_view, (GOAL_PX,) * 2).instance_VHW[0] == 0
    ].any()
    session.goal.reset_mask()
    np.testing.assert_array_equal(session.goal.view().mask_HW, exact_HW)


def test_a_start_is_put_where_a_body_can_stand_and_drawn_in_the_band(session):
    mark_ground(session)
    target, start = session.goal.draft.target.position, session.goal.draft.start
    assert 5 <= np.hypot(start.x - target[0] - 0.5, start.z - target[2] - 0.5) <= 13
    eye = eye_over_start(session)
    hit = session.hit(tuple(eye[:3]), (0.0, -1.0, 0.01))
    session.goal.place_start(hit, yaw_deg=450.0)
    assert session.goal.draft.start[:3] == (hit.cell[0] + 0.5, hit.cell[1] + 1.0, hit.cell[2] + 0.5)
    assert session.goal.draft.start.yaw_deg == 90.0
    with pytest.raises(ValueError, match="band 'nearby' is unknown"):
        session.goal.sample_start("nearby", seed=0)


def test_a_task_that_begins_farther_away_than_it_did_has_the_time_for_it(session):
    mark_ground(session)
    near = session.goal.task()
    session.goal.open_task(near)
    session.goal.sample_start("easy", seed=1)
    assert (near.band, session.goal.task().band) == ("near", "easy")
    assert session.goal.task().max_ticks > near.max_ticks


def test_the_report_says_how_hard_it_is_and_what_may_go_wrong(session):
    report = session.goal.report()
    assert "no target yet" in report.fault
    assert report.difficulty is None
    mark_ground(session)
    report = session.goal.report()
    assert report.fault == ""
    assert report.is_reachable
    assert report.band == "near"
    assert report.difficulty == session.goal.task().difficulty
    assert any("breaking any other grass_block" in warning for warning in report.warnings)
    session.goal.choose_skill("interact")
    assert any("does nothing" in warning for warning in session.goal.report().warnings)


def test_a_camera_that_turns_away_is_reported_and_cannot_be_played(session):
    mark_ground(session)
    eye = session.goal.draft.goal_view
    session.goal.goal_from_here(eye._replace(yaw_deg=eye.yaw_deg + 180.0))
    assert "not in the picture" in session.goal.report().fault
    with pytest.raises(ValueError, match="nothing is marked"):
        session.goal.plan(64)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda s: s.click((0.0, 60.0, 0.0), (0.0, 1.0, 0.0)), "only sky"),
        (lambda s: s.click((0.0, 60.0, 0.0), (0.0, 0.0, 0.0)), "is none"),
        (lambda s: s.click((np.nan, 60.0, 0.0), (0.0, 1.0, 0.0)), "is none"),
        (lambda s: s.goal.goal_from_here(Pose(3.0, 2.5, 3.0, 0.0, 0.0)), "inside a block"),
        (lambda s: s.goal.goal_from_here(Pose(np.inf, 2.5, 3.0, 0.0, 0.0)), "finite"),
        (lambda s: s.goal.click_goal(999, 0), "outside the picture"),
        (lambda s: s.goal.paint(-1, 0), "outside the picture"),
        (lambda s: s.goal.paint(3, 3, radius_px=0.0), "radius"),
        (lambda s: s.goal.choose_skill("fly"), "cannot be asked for"),
        (lambda s: s.goal.add_object("unicorn", s.hit((32.0, 60.0, 32.0), (0.0, -1.0, 0.0))), "no block"),
        (lambda s: s.goal.remove_object(0), "there is no number 0"),
        (lambda s: s.goal.set_conditions(max_ticks=-1), "not be negative"),
        (lambda s: s.goal.set_conditions(inventory=(("excalibur", 1),)), "no item"),
    ],
)
def test_what_cannot_be_is_one_sentence_and_changes_nothing(session, change, expected):
    mark_ground(session)
    draft, mask_HW = session.goal.draft, session.goal.view().mask_HW
    with pytest.raises(ValueError, match=expected):
        change(session)
    assert session.goal.draft == draft
    np.testing.assert_array_equal(session.goal.view().mask_HW, mask_HW)


def test_objects_come_and_go_and_the_target_stays_the_same_thing(session):
    mark_ground(session)
    target = session.goal.draft.target
    session.goal.add_object("pumpkin", session.hit((20.5, 60.0, 20.5), (0.0, -1.0, 0.0)))
    assert session.goal.draft.target == target
    assert session.goal.draft.target_index == 1
    session.goal.remove_object(0)
    assert session.goal.draft.target == target
    whole = Ground(session.goal.draft.world.size_blocks, (0, 0))
    for index in range(13):
        place = 2.5 + 4 * index
        session.goal.add_object("pumpkin", session.hit((place, 60.0, 2.5), (0.0, -1.0, 0.0), ground=whole))
    with pytest.raises(ValueError, match="at most 14"):
        session.goal.add_object("pumpkin", session.hit((20.5, 60.0, 40.5), (0.0, -1.0, 0.0)))


def test_what_was_put_there_is_taken_away_with_a_click_and_nothing_else(session):
    mark_ground(session)
    down, before = (0.0, -1.0, 0.0), session.goal.draft
    x, _, z = before.target.position
    cow, pumpkin = (24.5, 60.0, 20.5), (20.5, 60.0, 20.5)
    assert session.hit((x + 0.5, 60.0, z + 0.5), down).object_index == len(before.objects)  # the adopted target
    for place in (pumpkin, (x + 0.5, 60.0, z + 0.5)):
        with pytest.raises(ValueError, match="was not put there; click on a thing that was"):
            session.take_away(place, down)
    assert session.goal.draft is before
    session.goal.add_object("cow", session.hit(cow, down))
    session.goal.add_object("pumpkin", session.hit(pumpkin, down))
    session.run.reset()
    session.goal.remove_object(0)
    session.take_away(pumpkin, down)  # it is shown as the run's world is, where it was the second
    assert session.goal.draft.objects == ()
    assert session.goal.draft.target == before.target


def test_sessions_do_not_disturb_each_other(shared, session):
    other = ViewerSession(shared, world=session.goal.draft.world)
    blocks_XZY = other.state_XZY()
    mark_ground(session)
    session.run.choose_player("expert")
    session.run.reset()
    while not session.run.run.is_over:
        session.run.step()
    assert session.run.frame().outcome == "success"
    np.testing.assert_array_equal(other.state_XZY(), blocks_XZY)
    assert other.goal.draft.target is None


def _ray_to_pixel(session, row, column):
    eye = session.goal.draft.goal_view
    ray_3 = pixel_directions(eye, np.array(row), np.array(column), size_px=(GOAL_PX, GOAL_PX), fov_deg=70.0)
    return tuple(eye[:3]), tuple(ray_3.tolist())


def test_a_world_opens_with_animals_that_can_be_hunted(session):
    session.open_world(WORLD, num_animals=4)
    animals = session.scene().bodies
    assert len(animals) == 4
    assert {body.object_index for body in animals} == {0, 1, 2, 3}
    x, y, z = animals[0].feet
    session.click((x, y + 8.0, z), (0.0, -1.0, 0.0), eye=Pose(x, y + 5.0, z - 4.0, 0.0, 45.0))
    assert session.goal.draft.target.kind == animals[0].kind
    assert session.goal.draft.skill == "hunt"
    with pytest.raises(ValueError, match="0 to 10 animals"):
        session.open_world(WORLD, num_animals=11)


def test_what_is_clicked_in_a_run_is_meant_also_where_the_goal_has_got_other_things_since(session):
    mark_ground(session)
    target = session.goal.draft.target
    x, y, z = target.position
    session.run.choose_player("noop")
    session.run.reset()
    session.goal.add_object("pumpkin", session.hit((20.5, 60.0, 20.5), (0.0, -1.0, 0.0)))
    session.click((x + 0.5, y + 8.0, z + 0.5), (0.0, -1.0, 0.0))
    assert session.goal.draft.target == target
    session.run.reset()
    session.goal.add_object("cow", session.hit((24.5, 60.0, 20.5), (0.0, -1.0, 0.0)))
    session.goal.remove_object(0)
    with pytest.raises(ValueError, match="there is no pumpkin"):  # but in the run's world
        session.click((20.5, 60.0, 20.5), (0.0, -1.0, 0.0))


def test_a_hundred_changes_are_kept_and_the_last_ones():
    first = GoalDraft(world=WORLD, start=Pose(1.0, 2.0, 3.0, 0.0, 0.0))
    history = History(first)
    for number in range(1, 251):
        history.add(first.changed(max_ticks=number))
    num_undone = 0
    while history.can_undo:
        history.undo()
        num_undone += 1
    assert (num_undone, history.present.max_ticks) == (99, 151)
