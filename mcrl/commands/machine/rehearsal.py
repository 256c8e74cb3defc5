"""A program that has the engine compiled by using it: `tasks` makes tasks, `play` has policy and expert play them."""

import dataclasses
import sys
from collections.abc import Callable
from contextlib import closing

from eval.library.gallery import gallery_page
from mcrl.assembly import PRODUCT
from mcrl.config import TrainConfig
from mcrl.recipes import workstation
from mcrl.rollout.episodes import TaskListSource, run_episodes
from policies.agent import PolicyAgent
from policies.threads import use_threads
from task_synthesis.placement.sites import Sites
from task_synthesis.placement.survey import Survey
from task_synthesis.skills import SKILLS
from task_synthesis.task import TaskSpec
from worlds.anvil.nbt import TAG_COMPOUND, TAG_END, NbtDocument
from worlds.generate.biomes import BIOMES
from worlds.generate.terrain import generate
from worlds.spec import WorldSpec
from worlds.voxel.backend import VoxelBackend
from worlds.voxel.compile_tick import end_with_input
from worlds.voxel.world_cache import prepare

# Of all skills, in bare and in full worlds, a few with companions: all that synthesis does is done.
_NUM_TASKS = 2 * len(SKILLS)
_NUM_ENVS = 2
_NUM_DECISIONS = 2  # the second after a tick
_NUM_PX = 64
_WORLD_BLOCKS = (32, 64, 32)
_EMPTY_COMPOUND = bytes((TAG_COMPOUND, 0, 0, TAG_END))


def main() -> None:
    """Do the part that is named."""
    end_with_input()
    use_threads(1)
    parts: dict[str, Callable[[], object]] = {"tasks": _tasks, "play": _play}
    parts[sys.argv[1]]()


def _config() -> TrainConfig:
    config = workstation()
    skills = dict.fromkeys(SKILLS, 1.0)
    # The preset that does all that a policy compiles.
    return dataclasses.replace(config, preset="keener", tasks=dataclasses.replace(config.tasks, skills=skills))


def _tasks() -> list[TaskSpec]:
    # Some land is made in a way of its own, badlands are striped; and few biomes are among so few tasks.
    for biome in BIOMES:
        generate(WorldSpec(seed=0, biome=biome, size_blocks=_WORLD_BLOCKS))
    _read_a_save()
    return PRODUCT.make_tasks(_config(), "train", _NUM_TASKS, lambda num_done: None)


def _read_a_save() -> None:
    """Use what saves are read by, and a world as theirs are: nobody may write there, to a compiler another type."""
    NbtDocument(_EMPTY_COMPOUND, where="rehearsal")
    world = generate(WorldSpec(seed=0, size_blocks=_WORLD_BLOCKS))
    world.block_XZY.setflags(write=False)
    prepare(world)
    Sites().ground(world, 0, 0)


def _play() -> None:
    config, tasks = _config(), _tasks()
    with closing(PRODUCT.make_env(config, TaskListSource(tasks), _NUM_ENVS)) as env:
        policy = PolicyAgent(PRODUCT.make_policy(config), _NUM_ENVS, seed=0)
        observation = env.reset()
        for _ in range(_NUM_DECISIONS):
            observation = env.step(policy.act(observation)).observation
    # To their end: of every skill the expert does much in a way of its own, and the judge asks last.
    with closing(PRODUCT.make_env(config, TaskListSource(tasks), _NUM_ENVS)) as env:
        run_episodes(PRODUCT.make_expert(env), env, tasks)
    gallery_page(tasks[:1], title="")  # with the map that reports have too
    _measure(tasks[0])


def _measure(task: TaskSpec) -> None:
    """Measure a task as it is done where one is made by hand."""
    backend = VoxelBackend(1, size_blocks=task.world.size_blocks, image_px=(_NUM_PX, _NUM_PX), with_depth=True)
    Survey(backend).measure(task.episode(), task.goal_view)


if __name__ == "__main__":
    main()
