"""Claims about dealing tasks: each once a round, in random order, and the worlds of neighbours few enough to keep."""

import dataclasses

import numpy as np
import pytest

from task_synthesis.playing import task_deck
from task_synthesis.playing.curriculum import AdaptiveTasks, MixedTasks, ShuffledTasks
from task_synthesis.playing.task_deck import TaskDeck, WorldWindows
from tests.task_synthesis.fixtures import some_tasks
from worlds.spec import split_of

NUM_WORLDS, TASKS_PER_WORLD = 600, 8
WINDOW = 128  # worlds of 64 x 64 x 64 blocks


@pytest.fixture(scope="module")
def tasks():
    """Many tasks in many worlds; nobody plays them, so one task does for all."""
    one = some_tasks()[0]
    seeds = [seed for seed in range(2 * NUM_WORLDS) if split_of("generated", seed) == "train"][:NUM_WORLDS]
    worlds = [dataclasses.replace(one.world, seed=seed) for seed in seeds]
    return [
        dataclasses.replace(one, task_id="", world=world, episode_seed=index)
        for world in worlds
        for index in range(TASKS_PER_WORLD)
    ]


def deck_of(tasks, seed=0):
    rng = np.random.default_rng(seed)
    return TaskDeck(tasks, rng, WorldWindows(tasks, rng))


def misses(dealt, capacity: int) -> int:
    """Count the worlds that a cache of the last `capacity` ones has to make."""
    kept: dict = {}
    num_made = 0
    for task in dealt:
        num_made += kept.pop(task.world, None) is None
        kept[task.world] = True
        if len(kept) > capacity:
            del kept[next(iter(kept))]
    return num_made


def test_a_round_deals_every_task_once_and_the_next_in_another_order(tasks):
    deck = deck_of(tasks)
    rounds = [[deck.next().task_id for _ in tasks] for _ in range(2)]
    assert sorted(rounds[0]) == sorted(rounds[1]) == sorted(task.task_id for task in tasks)
    assert rounds[0] != rounds[1]


def test_the_cache_of_a_backend_makes_hardly_any_world_twice_in_a_round(tasks):
    deck = deck_of(tasks)
    assert misses([deck.next() for _ in tasks], 2 * WINDOW) == NUM_WORLDS
    shuffled = np.random.default_rng(0).permutation(len(tasks))
    assert misses([tasks[index] for index in shuffled], 2 * WINDOW) > 0.5 * len(tasks)


def test_the_worlds_of_a_window_change_from_round_to_round(tasks):
    deck = deck_of(tasks)
    num_worlds = NUM_WORLDS % WINDOW  # in the window that is dealt first, the one that is not full
    first, second = (
        {task.world for task in [deck.next() for _ in tasks][: num_worlds * TASKS_PER_WORLD]} for _ in range(2)
    )
    assert len(first) == len(second) == num_worlds
    # By chance: each of 88 worlds is in the second window with probability 88 / 600.
    assert len(first & second) < num_worlds / 3


def test_neighbours_in_the_order_are_seldom_of_one_world(tasks):
    deck = deck_of(tasks)
    dealt = [deck.next().world for _ in tasks]
    num_same = sum(one == other for one, other in zip(dealt, dealt[1:], strict=False))
    assert num_same < 2 * len(tasks) / WINDOW


def test_larger_worlds_make_smaller_windows(tasks):
    wide = [
        dataclasses.replace(task, task_id="", world=dataclasses.replace(task.world, size_blocks=(128, 64, 128)))
        for task in tasks[:800]
    ]
    windows = WorldWindows(wide, np.random.default_rng(0)).of_round(0)
    assert np.bincount(windows).max() * 4 * 128 * 64 * 128 == task_deck._WINDOW_BYTES


@pytest.mark.parametrize("kind", ["shuffled", "mixed", "adaptive"])
def test_every_order_keeps_to_few_worlds_at_a_time(tasks, kind):
    near = [dataclasses.replace(task, task_id="", band="near") for task in tasks]
    easy = [dataclasses.replace(task, task_id="", band="easy", max_ticks=7) for task in tasks]
    both = near + easy
    sampler = {
        "shuffled": lambda: ShuffledTasks(both, split="train", seed=0),
        "mixed": lambda: MixedTasks(both, split="train", seed=0, shares={"near": 1.0, "easy": 1.0}),
        "adaptive": lambda: AdaptiveTasks(both, split="train", seed=0, key="band"),
    }[kind]()
    dealt = [sampler(0) for _ in both]
    assert misses(dealt, 2 * WINDOW) < 1.3 * NUM_WORLDS


def test_an_order_that_is_brought_back_keeps_its_windows(tasks):
    sampler, other = (ShuffledTasks(tasks, split="train", seed=seed) for seed in (0, 1))
    for _ in range(100):
        sampler(0)
    other.load_saved(sampler.saved())
    dealt, again = ([order(0).task_id for _ in range(len(tasks) + 100)] for order in (sampler, other))
    assert again == dealt
