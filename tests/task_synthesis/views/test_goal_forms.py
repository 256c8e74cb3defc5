"""Claims about the goal forms: what each shows, and that nothing but the goal differs."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from task_synthesis.goal import CrossViewGoal
from task_synthesis.interaction import Interaction
from task_synthesis.playing.gym_env import CrossViewVectorEnv
from task_synthesis.skills import SKILLS
from task_synthesis.views.goal_forms import GOAL_FORMS, check_goal_form, shown_goal, words_of
from tests.task_synthesis.fixtures import some_tasks
from worlds.spec import Placement

CARDS = ("kind_card", "word_card")


def task_of(skill: str, kind: str):
    """A task with that family; nobody plays it, so where the target stands does not matter."""
    task = some_tasks()[0]
    target = Placement(kind=kind, position=task.placements[0].position)
    return dataclasses.replace(task, family=f"{skill}/{kind}", placements=(target,), target_index=0, task_id="")


def goal_with_mask(rows: slice, columns: slice, size_px: int = 32) -> CrossViewGoal:
    mask_HW = np.zeros((size_px, size_px), bool)
    mask_HW[rows, columns] = True
    image_HWC = np.random.default_rng(0).integers(1, 256, (size_px, size_px, 3), np.uint8)
    image_HWC[mask_HW] = 0
    return CrossViewGoal(image_HWC, mask_HW, Interaction.BREAK)


GOAL = goal_with_mask(slice(5, 9), slice(20, 26))


@pytest.mark.parametrize("form", GOAL_FORMS)
@pytest.mark.parametrize("size_px", [16, 32, 64])
def test_every_form_keeps_sizes_types_and_interaction_and_repeats_itself(form, size_px):
    goal = goal_with_mask(slice(3, 6), slice(2, 9), size_px)
    shown, again = (shown_goal(form, goal, task_of("break", "gold_block")) for _ in range(2))
    assert shown.image_HWC.shape == goal.image_HWC.shape
    assert shown.image_HWC.dtype == np.uint8
    assert shown.mask_HW.shape == goal.mask_HW.shape
    assert shown.mask_HW.dtype == bool
    assert shown.interaction == goal.interaction
    assert np.array_equal(shown.image_HWC, again.image_HWC)
    assert np.array_equal(shown.mask_HW, again.mask_HW)


def test_a_blank_goal_says_nothing_but_the_interaction():
    shown = shown_goal("blank", GOAL, task_of("break", "gold_block"))
    assert not shown.image_HWC.any()
    assert not shown.mask_HW.any()


@pytest.mark.parametrize("size_px", [16, 64])
def test_the_cards_of_all_kinds_differ(size_px):
    goal = goal_with_mask(slice(3, 6), slice(2, 9), size_px)
    for skill in SKILLS.values():
        tasks = [task_of(skill.name, kind) for kind in skill.kinds]
        for form in CARDS:
            cards = {shown_goal(form, goal, task).image_HWC.tobytes() for task in tasks}
            assert len(cards) == len(tasks), (skill.name, form)


@pytest.mark.parametrize("form", CARDS)
def test_a_card_knows_nothing_of_the_picture(form):
    task = task_of("break", "gold_block")
    other = goal_with_mask(slice(10, 30), slice(1, 3))
    assert np.array_equal(shown_goal(form, GOAL, task).image_HWC, shown_goal(form, other, task).image_HWC)
    assert not shown_goal(form, GOAL, task).mask_HW.any()


def test_a_kind_card_is_the_same_for_every_skill_and_state_of_the_kind():
    cards = {
        shown_goal("kind_card", GOAL, task).image_HWC.tobytes()
        for task in (task_of("break", "gold_block"), task_of("approach", "gold_block"), task_of("place", "gold_block"))
    }
    assert len(cards) == 1


def test_words_shared_between_tasks_look_the_same_in_their_cells():
    gold = shown_goal("word_card", goal_with_mask(slice(0, 1), slice(0, 1), 27), task_of("break", "gold_block"))
    diamond = shown_goal("word_card", goal_with_mask(slice(0, 1), slice(0, 1), 27), task_of("break", "diamond_block"))
    same_HW = (gold.image_HWC == diamond.image_HWC).all(axis=2)
    assert same_HW[:9, :9].all()  # break
    assert not same_HW[:9, 9:18].all()  # gold, diamond
    assert same_HW[:9, 18:].all()  # block
    assert gold.image_HWC[:9, 18:].any()
    assert not gold.image_HWC[9:].any()


def test_words_leave_out_what_a_person_would_not_say():
    assert words_of(task_of("pick_up", "item:gold_block")) == ("pick", "up", "gold", "block")
    assert words_of(task_of("hunt", "cow")) == ("hunt", "cow")


@given(top=st.integers(0, 31), left=st.integers(0, 31), height=st.integers(1, 32), width=st.integers(1, 32))
def test_a_close_up_shows_all_of_the_target_and_larger(top, left, height, width):
    goal = goal_with_mask(slice(top, top + height), slice(left, left + width))
    shown = shown_goal("close_up", goal, task_of("break", "gold_block"))
    # The picture is 0 exactly on the target.
    assert np.array_equal(shown.image_HWC.any(axis=2), ~shown.mask_HW)
    assert shown.mask_HW.sum() >= goal.mask_HW.sum()
    rows, columns = np.nonzero(goal.mask_HW)
    longer = max(np.ptp(rows), np.ptp(columns)) + 1
    if longer <= 16:
        num_long = max(shown.mask_HW.any(axis=0).sum(), shown.mask_HW.any(axis=1).sum())
        assert 32 * longer / (longer + 2 * max(1, 0.2 * longer)) - 2 <= num_long < 32


def test_a_close_up_of_nothing_is_blank():
    goal = goal_with_mask(slice(0, 0), slice(0, 0))
    assert not shown_goal("close_up", goal, task_of("break", "gold_block")).image_HWC.any()


def test_an_unknown_form_is_refused_by_name():
    with pytest.raises(ValueError, match=r"env.goal_form must be one of cross_view, blank, .*got 'oracle'"):
        check_goal_form("oracle", where="env.goal_form")


def test_an_env_shows_its_form_and_changes_nothing_else():
    tasks = some_tasks()[:4]
    seen = {}
    for form in ("cross_view", "word_card"):
        env = CrossViewVectorEnv(tasks, num_envs=4, split="train", image_px=32, goal_form=form)
        seen[form], _ = env.reset(seed=0)
        env.close()
    assert np.array_equal(seen["cross_view"]["image"], seen["word_card"]["image"])
    assert np.array_equal(seen["cross_view"]["interaction"], seen["word_card"]["interaction"])
    assert seen["cross_view"]["goal_mask"].any()
    assert not seen["word_card"]["goal_mask"].any()
