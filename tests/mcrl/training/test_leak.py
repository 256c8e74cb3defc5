"""The leak test: nothing that evaluation holds out ever reaches the training of any recipe."""

import dataclasses

import numpy as np
import pytest

from mcrl.assembly import make_sampler, make_tasks
from mcrl.config import TrainConfig
from mcrl.recipes import RECIPES
from mcrl.settings.task_config import TaskConfig
from task_synthesis.held_out import HELD_OUT_BIOMES, held_out_reason
from task_synthesis.playing.curriculum import ShuffledTasks
from task_synthesis.task import TaskSpec
from task_synthesis.world_stream import world_seeds
from worlds.spec import Split, split_of

# Seven skills in four bands, among those with companions and those without.
NUM_TASKS = 64
# Of each recipe; with the seven recipes there are, more than a million in all. The fast test draws a twentieth of one.
NUM_DRAWS = {"shuffled": 90_000, "mixed": 60_000, "adaptive": 6_000}


# Of recipes that differ in how many tasks they make and not in which.
_made: dict[str, list[TaskSpec]] = {}


def tasks_of(config: TrainConfig, split: Split, num_tasks: int) -> list[TaskSpec]:
    same = dataclasses.replace(config.tasks, num_train_tasks=1, num_val_tasks=1, num_eval_tasks=1)
    key = repr((split, num_tasks, config.seed, config.env.backend, same))
    if key not in _made:
        _made[key] = make_tasks(config, split, num_tasks, lambda num_done: None)
    return _made[key]


# Fast tests look at the recipe of every day; making the tasks of all takes half a minute.
BY_RECIPE = [pytest.param(name, marks=[] if name == "laptop" else pytest.mark.slow) for name in RECIPES]


@pytest.fixture(scope="module", params=BY_RECIPE)
def recipe_tasks(request):
    config = RECIPES[request.param]()
    return config, tasks_of(config, "train", NUM_TASKS)


@pytest.mark.parametrize("share", [0.05, pytest.param(1.0, marks=pytest.mark.slow)])
@pytest.mark.parametrize("order", NUM_DRAWS)
def test_the_task_stream_of_a_recipe_never_holds_what_is_held_out(recipe_tasks, order, share):
    config, tasks = recipe_tasks
    curriculum = dataclasses.replace(config.tasks.curriculum, order=order)
    config = dataclasses.replace(config, tasks=dataclasses.replace(config.tasks, curriculum=curriculum))
    sampler = make_sampler(config, tasks, seed=7)
    rng = np.random.default_rng(7)
    clean = {id(task) for task in tasks if held_out_reason(task) is None}
    assert len(clean) == len(tasks)
    for index in range(int(share * NUM_DRAWS[order])):
        task = sampler(index % 32)
        assert id(task) in clean, held_out_reason(task)
        if order == "adaptive" and index % 8 == 0:
            sampler.report(task, is_success=bool(rng.random() < 0.5))


def test_the_recipes_draw_more_than_a_million_tasks_here():
    assert len(RECIPES) * sum(NUM_DRAWS.values()) > 1_000_000


def test_demonstrations_and_validation_never_hold_what_is_held_out(recipe_tasks):
    config, train_tasks = recipe_tasks
    val_tasks = tasks_of(config, "val", 16)
    for split, tasks in (("train", train_tasks), ("val", val_tasks)):
        stream = ShuffledTasks(tasks, split=split, seed=0)
        assert all(held_out_reason(stream(0)) is None for _ in range(2 * len(tasks)))


def test_the_worlds_of_training_are_never_held_out():
    for split, num_seeds in (("train", 20_000), ("val", 2_000)):
        seeds = world_seeds(split, 3)
        assert all(split_of("generated", next(seeds)) == split for _ in range(num_seeds))


@pytest.mark.parametrize("biome", HELD_OUT_BIOMES)
def test_a_recipe_that_names_a_held_out_biome_fails_at_once(biome):
    with pytest.raises(ValueError, match=f"tasks.biomes: biome '{biome}' is held out of training; choose from plains"):
        TaskConfig(biomes=("plains", biome))


def test_a_recipe_that_names_an_unknown_biome_fails_at_once():
    with pytest.raises(ValueError, match=r"tasks.biomes: biome 'moon' is unknown; choose from"):
        TaskConfig(biomes=("moon",))
