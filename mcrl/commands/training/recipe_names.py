"""Recipes by name, as the command line takes them."""

import dataclasses

from mcrl.commands.options import nearest
from mcrl.config import TrainConfig
from mcrl.recipes import RECIPES
from task_synthesis.task import BANDS, SKILLS


def recipe_config(name: str) -> TrainConfig:
    """Return the config of a recipe; ValueError names the nearest one.

    Every skill and band is there with its share, 0 where the recipe leaves it out, so that each has an option.
    """
    if name not in RECIPES:
        raise ValueError(f"{name}: no such recipe; {nearest(name, list(RECIPES))}")
    config = RECIPES[name]()
    if config.recipe != name:
        raise ValueError(
            f"mcrl/recipes.py: recipe {name} calls itself {config.recipe}; give it recipe={name!r} and a run_dir of "
            "its own"
        )
    tasks = dataclasses.replace(
        config.tasks,
        skills=dict.fromkeys(SKILLS, 0.0) | config.tasks.skills,
        bands=dict.fromkeys(BANDS, 0.0) | config.tasks.bands,
    )
    return dataclasses.replace(config, tasks=tasks)
