from types import SimpleNamespace

import numpy as np
import pytest

from eval.judging.baselines import BlankGoalAgent, OtherGoalAgent, goals_of, shuffled_partners
from eval.judging.run_suite import run_suite
from eval.judging.suite_row import SuiteRow
from eval.judging.suite_rows import suite_rows
from eval.judging.unit import play_unit
from mcrl.rollout.episodes import TaskListSource, run_episodes
from task_synthesis.playing.task_env import TaskEnv
from tests.eval.suite_fixtures import CONFIG, make_plan, make_tasks, save_checkpoint, simple_row
from worlds.types import ActionBatch
from worlds.voxel.backend import VoxelBackend


@pytest.fixture(scope="module")
def tasks():
    return make_tasks("held_out", 8)


def _env(tasks) -> TaskEnv:
    return TaskEnv(VoxelBackend(4, size_blocks=(32, 64, 32), image_px=(32, 32)), TaskListSource(tasks), action_repeat=6)


class _GoalSpy:
    """Does nothing, and notes which goal it is shown with which task."""

    def __init__(self) -> None:
        self.shown: dict[str, object] = {}

    def act(self, observation) -> ActionBatch:
        for task, goal in zip(observation.tasks, observation.goals, strict=True):
            self.shown.setdefault(task.task_id, goal)
        return ActionBatch.noop(len(observation.tasks))


def test_shuffled_partners_never_keep_their_own_goal_and_use_each_once(tasks):
    partner_of = shuffled_partners(tasks, seed=0)
    skill_of = {task.task_id: task.skill for task in tasks}
    assert sorted(partner_of.values()) == sorted(partner_of) == sorted(skill_of)
    assert all(own != other and skill_of[own] == skill_of[other] for own, other in partner_of.items())
    assert partner_of == shuffled_partners(tasks, seed=0)


def test_a_skill_with_one_task_cannot_be_shuffled(tasks):
    one_of_each = list({task.skill: task for task in tasks}.values())
    with pytest.raises(ValueError, match="at least two tasks"):
        shuffled_partners(one_of_each, seed=0)


def test_goals_are_those_of_the_episodes(tasks):
    goal_of = goals_of(_env(tasks), len(tasks))
    spy = _GoalSpy()
    run_episodes(spy, _env(tasks), tasks)
    assert goal_of.keys() == spy.shown.keys()
    assert all((goal_of[i].mask_HW == spy.shown[i].mask_HW).all() for i in goal_of)
    assert all((goal_of[i].image_HWC == spy.shown[i].image_HWC).all() for i in goal_of)


def test_other_goal_agent_is_shown_its_partners_goal(tasks):
    partner_of = shuffled_partners(tasks, seed=0)
    goal_of = goals_of(_env(tasks), len(tasks))
    shown_of = {task_id: goal_of[partner] for task_id, partner in partner_of.items()}
    spy = _GoalSpy()
    run_episodes(OtherGoalAgent(spy, shown_of), _env(tasks), tasks)
    assert all(spy.shown[task_id] is goal for task_id, goal in shown_of.items())


def test_a_blank_goal_names_the_interaction_and_shows_nothing(tasks):
    spy = _GoalSpy()
    run_episodes(BlankGoalAgent(spy), _env(tasks), tasks)
    for task in tasks:
        goal = spy.shown[task.task_id]
        assert goal.interaction == task.interaction
        assert goal.image_HWC.shape == (32, 32, 3)
        assert not np.any(goal.image_HWC)
        assert not np.any(goal.mask_HW)


def test_the_records_name_the_goal_that_was_shown(tasks, tmp_path):
    folder = save_checkpoint(tmp_path / "checkpoint")
    rows = suite_rows({"rl": (folder, CONFIG)}, main_row="rl", extra_rows=["blank_goal"])
    plan = make_plan(tasks[:6], [row for row in rows if row.agent == "policy"])
    judged = run_suite(plan, tmp_path / "out", split="held_out", num_workers=1)
    assert [e.goal_task_id for e in judged["rl"].episodes] == [task.task_id for task in tasks[:6]]
    assert {e.task_id: e.goal_task_id for e in judged["shuffled goal"].episodes} == plan.partner_of
    assert {e.goal_task_id for e in judged["blank goal"].episodes} == {""}


def test_a_row_plays_with_the_goals_that_it_is_said_to_be_shown(tasks, monkeypatch):
    plan = make_plan(tasks[:4], [simple_row(goals, goals=goals) for goals in ("own", "shuffled", "blank")])
    picture_of = {task_id: goal.image_HWC.tobytes() for task_id, goal in goals_of(_env(tasks), len(tasks)).items()}
    seen = {}
    for unit in plan.units():
        spy = _GoalSpy()
        monkeypatch.setattr(SuiteRow, "make_agent", lambda *_, spy=spy, **__: spy)
        play_unit(unit)
        seen[unit.row.name] = {task_id: goal.image_HWC.tobytes() for task_id, goal in spy.shown.items()}
    own = {task.task_id: picture_of[task.task_id] for task in plan.tasks}
    assert len(set(own.values())) == 4
    assert seen["own"] == own
    assert seen["shuffled"] == {task_id: picture_of[other] for task_id, other in plan.partner_of.items()}
    assert seen["blank"] == {task_id: bytes(len(picture)) for task_id, picture in own.items()}


def test_rows_that_draw_as_one_draw_alike_and_units_and_seeds_apart():
    def drawn(row, *, seed=0, unit=0):
        return row.make_agent(SimpleNamespace(num_envs=8), None, seed=seed, unit=unit).act(None).buttons_EB.tolist()

    one, other = simple_row("a", "random"), simple_row("b", "random", draws_as="a")
    assert drawn(one) == drawn(other)
    assert drawn(one) not in (drawn(simple_row("b", "random")), drawn(one, unit=1), drawn(one, seed=1))


def test_rows_that_differ_by_the_goal_alone_draw_the_same(tmp_path):
    folder = save_checkpoint(tmp_path / "checkpoint")
    rows = suite_rows({"rl": (folder, CONFIG)}, main_row="rl", extra_rows=["blank_goal"])
    assert {row.draws_as or row.name for row in rows if row.agent == "policy"} == {"rl"}


@pytest.mark.parametrize("name", ["random", "expert", "shuffled goal", "noop"])
def test_a_checkpoint_cannot_take_the_name_of_a_row_that_is_played_anyway(tmp_path, name):
    folder = save_checkpoint(tmp_path / "checkpoint")
    with pytest.raises(ValueError, match=f"--also {name}=...: the row '{name}' is played anyway"):
        suite_rows({name: (folder, CONFIG)}, main_row=name)


@pytest.mark.parametrize("name", ["random", "shuffled_goal", "expert", "rl"])
def test_who_asks_for_a_row_that_is_played_anyway_is_told_so(tmp_path, name):
    folder = save_checkpoint(tmp_path / "checkpoint")
    with pytest.raises(ValueError, match=f"--rows {name}: is played anyway; more rows are noop, blank_goal"):
        suite_rows({"rl": (folder, CONFIG)}, main_row="rl", extra_rows=[name])


def test_unknown_extra_rows_are_refused(tmp_path):
    folder = save_checkpoint(tmp_path / "checkpoint")
    with pytest.raises(ValueError, match="--rows blank: no such row; there are noop, blank_goal"):
        suite_rows({"rl": (folder, CONFIG)}, main_row="rl", extra_rows=["blank"])
