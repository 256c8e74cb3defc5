"""Small real tasks, synthesised once for all tests."""

from functools import cache

from task_synthesis.synthesis_config import SynthesisConfig
from task_synthesis.synthesize import Synthesizer
from task_synthesis.task import TaskSpec


@cache
def some_tasks(split: str = "train", seed: int = 0, num_tasks: int = 24) -> list[TaskSpec]:
    """Tasks of both skills and both bands in a few 64 x 64 x 64 worlds."""
    config = SynthesisConfig(tasks_per_world=4)
    return Synthesizer(config, split=split, seed=seed, num_parallel=8, num_threads=1).run(num_tasks)
