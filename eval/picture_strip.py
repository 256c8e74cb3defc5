"""The picture strip of the README: tasks side by side, goal view with its mask above, what the agent sees below.

Made by `python -m eval.picture_strip eval/pictures/strip.png`. H W C image, N tasks.
"""

import sys
from pathlib import Path

import cv2
import numpy as np

from task_synthesis.synthesis_config import SynthesisConfig
from task_synthesis.synthesize import Synthesizer
from task_synthesis.task import TaskSpec
from worlds.types import EYE_HEIGHT_BLOCKS, INSTANCE_FIRST_OBJECT
from worlds.voxel.backend import VoxelBackend

_BIOMES = ("plains", "forest", "desert", "snowy_hills")
_PICTURE_PX = 240
_SIDE_BLOCKS = 128
_OUTLINE_RGB = (255, 0, 220)
_GAP_PX = 6


def task_in(biome: str, seed: int) -> TaskSpec:
    """Return a held-out task of one biome whose target the agent sees from its start."""
    config = SynthesisConfig(
        skills={"approach": 1.0}, bands={"near": 1.0}, biomes=(biome,), side_blocks=_SIDE_BLOCKS, goal_area=(0.01, 0.1)
    )
    tasks = Synthesizer(config, split="held_out", seed=seed, num_parallel=8).run(64)
    return next(task for task in tasks if task.difficulty.visible_at_start and task.difficulty.num_same_kind)


def pictures_of(task: TaskSpec) -> np.ndarray:
    """Return goal view with outlined target above the start view, uint8 [2 H, W, 3] RGB."""
    side = task.world.size_blocks[0]
    backend = VoxelBackend(1, size_blocks=(side, 64, side), image_px=(_PICTURE_PX, _PICTURE_PX))
    backend.reset([0], [task.episode()])
    start = np.array(task.start, np.float64)
    start[1] += EYE_HEIGHT_BLOCKS
    views = backend.render_views([0, 0], np.array([task.goal_view, start]))
    mask_HW = (views.instance_VHW[0] == INSTANCE_FIRST_OBJECT + task.target_index).astype(np.uint8)
    outline_HW = cv2.dilate(mask_HW, np.ones((5, 5), np.uint8)) - mask_HW
    goal_HWC = views.image_VHWC[0].copy()
    goal_HWC[outline_HW > 0] = _OUTLINE_RGB
    gap_HWC = np.full((_GAP_PX, _PICTURE_PX, 3), 255, np.uint8)
    return np.concatenate([goal_HWC, gap_HWC, views.image_VHWC[1]])


def main(path: Path) -> None:
    """Write the strip."""
    gap_HWC = np.full((2 * _PICTURE_PX + _GAP_PX, _GAP_PX, 3), 255, np.uint8)
    columns: list[np.ndarray] = []
    for biome in _BIOMES:
        columns += [pictures_of(task_in(biome, seed=1)), gap_HWC]
    strip_HWC = np.concatenate(columns[:-1], axis=1)
    path.parent.mkdir(parents=True, exist_ok=True)
    if not cv2.imwrite(str(path), strip_HWC[..., ::-1]):
        raise ValueError(f"{path}: could not be written; name a .png file in a folder that exists")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
