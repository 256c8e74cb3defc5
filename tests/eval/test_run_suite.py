"""Suites on real, tiny worlds: 32 px views, 32 blocks a side."""

import pytest

from eval.baselines import OtherGoalAgent, goals_of, shuffled_partners
from eval.recording import EpisodeRecorder, choose_for_show, keys_text
from eval.run_suite import SuiteRow, run_suite
from mcrl.episodes import TaskListSource
from policies.scripted import NoopAgent, RandomAgent
from task_synthesis.synthesis_config import SynthesisConfig
from task_synthesis.synthesize import Synthesizer
from task_synthesis.task_env import TaskEnv
from worlds.types import BUTTON_INDEX, ActionBatch
from worlds.voxel.backend import VoxelBackend

NUM_ENVS = 4


def _tasks(split: str, num_tasks: int):
    config = SynthesisConfig(side_blocks=32, image_px=32, bands={"near": 1.0})
    return Synthesizer(config, split=split, seed=1, num_parallel=8, num_threads=1).run(num_tasks)


@pytest.fixture(scope="module")
def held_out_tasks():
    return _tasks("held_out", 8)


def _make_env(source) -> TaskEnv:
    return TaskEnv(VoxelBackend(NUM_ENVS, size_blocks=(32, 64, 32), image_px=(32, 32)), source, action_repeat=6)


def _row(name: str, make_agent=None, **fields) -> SuiteRow:
    make_agent = make_agent or (lambda env: RandomAgent(env.num_envs, 0))
    return SuiteRow(name=name, source="", make_agent=make_agent, **fields)


class _GoalSpy:
    """Notes which goal it is shown with which task."""

    def __init__(self) -> None:
        self.shown: dict[str, object] = {}

    def act(self, observation) -> ActionBatch:
        for task, goal in zip(observation.tasks, observation.goals, strict=True):
            self.shown.setdefault(task.task_id, goal)
        return ActionBatch.noop(len(observation.tasks))


def test_every_row_plays_every_task_once_and_in_order(held_out_tasks):
    judged = run_suite([_row("a"), _row("b")], held_out_tasks, split="held_out", make_env=_make_env)
    ids = [task.task_id for task in held_out_tasks]
    assert [episode.task_id for episode in judged["a"].episodes] == ids
    assert [episode.task_id for episode in judged["b"].episodes] == ids


def test_the_same_agent_gets_the_same_verdicts_again(held_out_tasks):
    first = run_suite([_row("a")], held_out_tasks, split="held_out", make_env=_make_env)
    second = run_suite([_row("a")], held_out_tasks, split="held_out", make_env=_make_env)
    assert first["a"].episodes == second["a"].episodes


def test_doing_nothing_ends_at_the_time_limit(held_out_tasks):
    row = _row("noop", lambda env: NoopAgent(env.num_envs))
    judged = run_suite([row], held_out_tasks[:4], split="held_out", make_env=_make_env)
    assert [(e.outcome, e.success) for e in judged["noop"].episodes] == [("time_limit", False)] * 4


def test_train_worlds_are_refused():
    with pytest.raises(ValueError, match=r"split 'train', but this is a 'held_out' set"):
        run_suite([_row("a")], _tasks("train", 2), split="held_out", make_env=_make_env)


def test_rows_of_one_name_are_refused(held_out_tasks):
    with pytest.raises(ValueError, match="same name"):
        run_suite([_row("a"), _row("a")], held_out_tasks, split="held_out", make_env=_make_env)


def test_shuffled_partners_never_keep_their_own_goal_and_use_each_once(held_out_tasks):
    partner_of = shuffled_partners(held_out_tasks, seed=0)
    skill_of = {task.task_id: task.skill for task in held_out_tasks}
    assert sorted(partner_of.values()) == sorted(partner_of) == sorted(skill_of)
    assert all(own != other and skill_of[own] == skill_of[other] for own, other in partner_of.items())
    assert partner_of == shuffled_partners(held_out_tasks, seed=0)


def test_a_skill_with_one_task_cannot_be_shuffled(held_out_tasks):
    one_of_each = list({task.skill: task for task in held_out_tasks}.values())
    with pytest.raises(ValueError, match="at least two tasks"):
        shuffled_partners(one_of_each, seed=0)


def test_other_goal_agent_is_shown_its_partners_goal(held_out_tasks):
    partner_of = shuffled_partners(held_out_tasks, seed=0)
    goal_of = goals_of(_make_env(TaskListSource(held_out_tasks)), len(held_out_tasks))
    spy = _GoalSpy()
    row = _row("shuffled", lambda env: OtherGoalAgent(spy, partner_of, goal_of), goal_of_task=partner_of)
    judged = run_suite([row], held_out_tasks, split="held_out", make_env=_make_env)
    assert all(spy.shown[task_id] is goal_of[other] for task_id, other in partner_of.items())
    assert {e.task_id: e.goal_task_id for e in judged["shuffled"].episodes} == partner_of


def test_goals_are_those_of_the_episodes(held_out_tasks):
    goal_of = goals_of(_make_env(TaskListSource(held_out_tasks)), len(held_out_tasks))
    spy = _GoalSpy()
    run_suite([_row("spy", lambda env: spy)], held_out_tasks, split="held_out", make_env=_make_env)
    assert goal_of.keys() == spy.shown.keys()
    assert all((goal_of[i].mask_HW == spy.shown[i].mask_HW).all() for i in goal_of)
    assert all((goal_of[i].image_HWC == spy.shown[i].image_HWC).all() for i in goal_of)


def test_recorder_keeps_one_image_more_than_decisions(held_out_tasks):
    recorder = EpisodeRecorder(held_out_tasks, num_per_group=1, ticks_per_decision=6)
    judged = run_suite([_row("a", on_step=recorder)], held_out_tasks, split="held_out", make_env=_make_env)
    outcome_of = {episode.task_id: episode.outcome for episode in judged["a"].episodes}
    recordings = recorder.finished()
    assert len(recordings) == len({(task.skill, task.band) for task in held_out_tasks})
    for recording in recordings:
        assert len(recording.images) == len(recording.keys) + 1
        assert recording.outcome.replace(" ", "_") == outcome_of[recording.task.task_id]
    assert choose_for_show(recordings, 1) == recordings[:1]


def test_keys_are_named_in_words():
    action = ActionBatch.noop(1)
    action.buttons_EB[0, [BUTTON_INDEX["forward"], BUTTON_INDEX["jump"]]] = True
    action.camera_deg_E2[0] = (2.0, -5.0)
    assert (
        keys_text(action.buttons_EB[0], action.camera_deg_E2[0]) == "forward + jump + turn left 5 deg + look down 2 deg"
    )
    idle = ActionBatch.noop(1)
    assert keys_text(idle.buttons_EB[0], idle.camera_deg_E2[0]) == "nothing"


def test_progress_counts_every_episode(held_out_tasks):
    heard = []
    run_suite(
        [_row("a")], held_out_tasks, split="held_out", make_env=_make_env, on_progress=lambda *news: heard.append(news)
    )
    assert heard[-1] == ("a", len(held_out_tasks), len(held_out_tasks))
