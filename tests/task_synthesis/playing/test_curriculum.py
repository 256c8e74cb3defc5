"""Claims about which task comes next. The tasks are made of numbers: nothing here looks into a world."""

import dataclasses
import itertools
import json
from collections import Counter

import numpy as np
import pytest

from task_synthesis.playing.curriculum import AdaptiveTasks, MixedTasks, ShuffledTasks, TaskSampler, family_namer
from tests.mcrl.corridor import make_task

KINDS = ("gold_block", "pumpkin")
SKILLS = ("approach", "break")
BANDS = ("near", "easy")


def make_tasks(per_family: int = 3):
    """`per_family` tasks of each skill, band and kind."""
    tasks = []
    for skill, band, kind in itertools.product(SKILLS, BANDS, KINDS):
        for _ in range(per_family):
            plain = make_task(len(tasks))
            (placement,) = plain.placements
            placements = (dataclasses.replace(placement, kind=kind),)
            tasks.append(
                dataclasses.replace(plain, family=f"{skill}/{kind}", band=band, placements=placements, task_id="")
            )
    return tasks


TASKS = make_tasks()


def make_sampler(name: str, seed: int = 3) -> TaskSampler:
    if name == "shuffled":
        return ShuffledTasks(TASKS, split="train", seed=seed)
    if name == "mixed":
        return MixedTasks(TASKS, split="train", seed=seed, shares={"near": 2.0, "easy": 1.0})
    return AdaptiveTasks(TASKS, split="train", seed=seed)


every_sampler = pytest.mark.parametrize("name", ["shuffled", "mixed", "adaptive"])


@every_sampler
def test_what_was_announced_is_what_comes_next(name):
    source = make_sampler(name)
    source(0)
    announced = source.upcoming(3)
    assert len(announced) == 3
    assert [source(0) for _ in announced] == announced


@every_sampler
def test_asking_what_comes_changes_nothing(name):
    quiet, curious = make_sampler(name), make_sampler(name)
    rng = np.random.default_rng(0)
    for _ in range(100):
        curious.upcoming(5)
        one, other = quiet(0), curious(0)
        assert one.task_id == other.task_id
        is_success = bool(rng.random() < 0.5)
        quiet.report(one, is_success=is_success)
        curious.report(other, is_success=is_success)


@every_sampler
def test_another_seed_gives_another_order(name):
    orders = [[source(0).task_id for _ in range(20)] for source in (make_sampler(name, 1), make_sampler(name, 2))]
    assert orders[0] != orders[1]


@every_sampler
def test_tasks_of_another_split_are_refused(name):
    kinds = {"shuffled": ShuffledTasks, "adaptive": AdaptiveTasks}
    make = kinds.get(name, lambda *args, **kwargs: MixedTasks(*args, shares={"near": 1.0}, **kwargs))
    with pytest.raises(ValueError, match="is in split 'train', but this is a 'val' set"):
        make(TASKS, split="val", seed=0)
    with pytest.raises(ValueError, match="there are no tasks"):
        make([], split="train", seed=0)


def test_shuffled_tasks_all_come_before_any_comes_again():
    source = make_sampler("shuffled")
    for _ in range(3):
        assert sorted(source(0).task_id for _ in TASKS) == sorted(task.task_id for task in TASKS)


def test_a_fixed_ratio_holds_at_every_moment_whatever_the_list_holds():
    shares = {"near": 1.0, "easy": 1.0}
    tasks = [task for task in TASKS if task.band == "near"] + [t for t in TASKS if t.band == "easy"][:1]
    source = MixedTasks(tasks, split="train", seed=0, shares=shares)
    seen: Counter[str] = Counter()
    for _ in range(300):
        seen[source(0).band] += 1
        assert abs(seen["near"] - seen["easy"]) <= 1


def test_a_family_of_three_times_the_share_comes_three_times_as_often_at_every_moment():
    source = MixedTasks(TASKS, split="train", seed=0, shares={"near": 3.0, "easy": 1.0})
    num_near = 0
    for num_tasks in range(1, 301):
        num_near += source(0).band == "near"
        assert abs(num_near - 0.75 * num_tasks) <= 1


def test_workers_beside_each_other_begin_with_different_families():
    shares = {"near": 1.0, "easy": 1.0}
    assert {MixedTasks(TASKS, split="train", seed=seed, shares=shares)(0).band for seed in range(20)} == {*shares}


def test_mixed_families_without_a_task_or_a_share_are_refused_by_name():
    with pytest.raises(ValueError, match="'hard' has a share but no task"):
        MixedTasks(TASKS, split="train", seed=0, shares={"near": 1.0, "hard": 1.0})
    with pytest.raises(ValueError, match="must be positive"):
        MixedTasks(TASKS, split="train", seed=0, shares={"near": 0.0})
    with pytest.raises(ValueError, match="'colour' of key"):
        family_namer("skill/colour")


def test_knowing_nothing_the_adaptive_sampler_plays_the_mix_of_the_list():
    doubled = TASKS + [
        dataclasses.replace(task, max_ticks=99, task_id="") for task in TASKS if task.family == "break/pumpkin"
    ]
    chances = AdaptiveTasks(doubled, split="train", seed=0, key="skill/kind").probabilities()
    assert chances == pytest.approx(
        {"approach/gold_block": 0.2, "approach/pumpkin": 0.2, "break/gold_block": 0.2, "break/pumpkin": 0.4}
    )


def play(source: AdaptiveTasks, rate_of: dict[str, float], num_episodes: int, seed: int = 0) -> Counter[str]:
    rng = np.random.default_rng(seed)
    seen: Counter[str] = Counter()
    for _ in range(num_episodes):
        task = source(0)
        seen[task.family] += 1
        source.report(task, is_success=bool(rng.random() < rate_of[task.family]))
    return seen


RATES = {"approach/gold_block": 1.0, "approach/pumpkin": 0.5, "break/gold_block": 0.0, "break/pumpkin": 0.9}


def test_what_is_sometimes_solved_is_played_most_and_nothing_is_given_up():
    source = AdaptiveTasks(TASKS, split="train", seed=0, key="skill/kind", exploration=0.2)
    play(source, RATES, 1000)
    seen = play(source, RATES, 2000, seed=1)
    assert seen["approach/pumpkin"] > seen["break/pumpkin"] > max(seen["break/gold_block"], seen["approach/gold_block"])
    assert min(source.probabilities().values()) >= 0.2 * 0.25
    assert source.success_rates()["approach/pumpkin"] == pytest.approx(0.5, abs=0.15)
    assert source.success_rates()["break/gold_block"] < 0.05


def test_an_old_outcome_is_forgotten():
    source = AdaptiveTasks(TASKS, split="train", seed=0, key="skill", memory_episodes=20)
    task = next(task for task in TASKS if task.skill == "break")
    for is_success in [False] * 200 + [True] * 60:
        source.report(task, is_success=is_success)
    assert source.success_rates()["break"] > 0.85
    assert source.success_rates()["approach"] == 0.5


def test_a_long_memory_counts_every_outcome_alike():
    source = AdaptiveTasks(TASKS, split="train", seed=0, key="skill", memory_episodes=1e9)
    task = next(task for task in TASKS if task.skill == "break")
    for is_success in [False] * 200 + [True] * 60:
        source.report(task, is_success=is_success)
    assert source.success_rates()["break"] == pytest.approx(61 / 262)


def test_who_only_explores_plays_the_mix_of_the_list_whatever_is_solved():
    source = AdaptiveTasks(TASKS, split="train", seed=0, key="skill/kind", exploration=1.0)
    play(source, RATES, 200)
    assert source.probabilities() == pytest.approx(dict.fromkeys(RATES, 0.25))


def test_statistics_of_families_without_a_task_here_are_left_out():
    source = AdaptiveTasks(TASKS, split="train", seed=0, key="skill")
    source.load_statistics({"key": "skill", "families": {"shoot": [3, 4], "break": [1, 4]}})
    assert source.success_rates() == {"approach": 0.5, "break": pytest.approx(2 / 6)}


def test_statistics_survive_as_json_and_the_same_reports_give_the_same_tasks():
    one, other = (AdaptiveTasks(TASKS, split="train", seed=5) for _ in range(2))
    rates = dict.fromkeys((task.family for task in TASKS), 0.3)
    play(one, rates, 200)
    play(other, rates, 200)
    assert [one(0).task_id for _ in range(50)] == [other(0).task_id for _ in range(50)]
    fresh = AdaptiveTasks(TASKS, split="train", seed=6)
    fresh.load_statistics(json.loads(json.dumps(one.statistics())))
    assert fresh.probabilities() == one.probabilities()
    fresh.load_statistics({})
    assert set(fresh.success_rates().values()) == {0.5}


def test_statistics_of_another_key_or_impossible_ones_are_refused():
    source = AdaptiveTasks(TASKS, split="train", seed=0)
    with pytest.raises(ValueError, match="resume with the key"):
        source.load_statistics({"key": "skill", "families": {}})
    with pytest.raises(ValueError, match="3 successes in 2 episodes"):
        source.load_statistics({"key": "skill/band/kind", "families": {"approach/near/pumpkin": [3, 2]}})
    for families, said in (
        (5, "families must be an object, got int"),
        ({"a": 1}, "families.a must be a list, got int"),
        ({"a": [1]}, "families.a must be a list of 2, got 1"),
        ({"a": ["x", None]}, r"families.a\[0\] must be a finite float, got 'x'"),
    ):
        with pytest.raises(ValueError, match=said):
            source.load_statistics({"key": "skill/band/kind", "families": families})


def test_a_sampler_of_ones_own_is_a_draw_method():
    class HardestFirst(TaskSampler):
        def __init__(self, tasks):
            super().__init__()
            self._tasks = sorted(tasks, key=lambda task: -task.max_ticks)
            self._next = 0

        def draw(self):
            self._next += 1
            return self._tasks[(self._next - 1) % len(self._tasks)]

    tasks = [dataclasses.replace(TASKS[0], max_ticks=ticks, task_id="") for ticks in (10, 30, 20)]
    source = HardestFirst(tasks)
    assert [source(0).max_ticks for _ in range(4)] == [30, 20, 10, 30]
    assert [task.max_ticks for task in source.upcoming(2)] == [20, 10]
    source.report(tasks[0], is_success=True)
    assert source.statistics() == source.metrics() == {}
