"""Small real tasks, synthesised once for all tests."""

from functools import cache

from task_synthesis.synthesis_config import SynthesisConfig, at_scale
from task_synthesis.synthesize import Synthesizer
from task_synthesis.task import TaskSpec

SIDE = 64  # of the worlds of all tasks here, in blocks


@cache
def some_tasks(split: str = "train", seed: int = 0, num_tasks: int = 24) -> list[TaskSpec]:
    """Tasks of both skills and both bands in a few 64 x 64 x 64 worlds."""
    config = SynthesisConfig(tasks_per_world=4)
    return Synthesizer(config, split=split, seed=seed, num_parallel=8, num_threads=1).run(num_tasks)


@cache
def tasks_of_all_skills() -> tuple[list[TaskSpec], dict[str, int]]:
    """Tasks of every skill in full worlds of 64 blocks, and why attempts failed."""
    config = at_scale(
        side_blocks=SIDE, bands={"near": 1.0, "easy": 1.0, "medium": 1.0}, tasks_per_world=12, image_px=64
    )
    synthesizer = Synthesizer(config, split="train", seed=1, num_parallel=8, num_threads=1)
    return synthesizer.run(72), dict(synthesizer.rejections)
