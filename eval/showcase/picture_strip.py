"""The picture strip of the README: a task of each skill, goal view with its mask above, what the agent sees below.

Made by `python -m eval.showcase.picture_strip eval/pictures/strip.jpg` from a frozen suite: of each skill the first
task whose target is neither tiny in the goal view nor out of sight at the start. H W C image.
"""

import sys
from pathlib import Path

import cv2
import numpy as np

from eval.episodes.picture_file import write_picture
from eval.library.task_pictures import task_pictures
from eval.suites.suites import load_suite
from task_synthesis.skills import SKILLS
from task_synthesis.task import TaskSpec
from worlds.voxel.backend import VoxelBackend

_SUITE = "unseen_seeds"
_LEAST_GOAL_AREA = 0.01
_PICTURE_PX = 200
_GAP_PX = 4
_TITLE_PX = 20
_JPEG_QUALITY = 88


def shown_tasks() -> list[TaskSpec]:
    """Return one task a skill, in the order of the skills."""
    tasks = load_suite(_SUITE)
    return [
        next(
            task
            for task in tasks
            if task.skill == skill
            and task.difficulty.visible_at_start
            and task.difficulty.goal_area >= _LEAST_GOAL_AREA
        )
        for skill in SKILLS
    ]


def column_of(task: TaskSpec, backend: VoxelBackend) -> np.ndarray:
    """Return the skill's name, the goal view with outlined target and the start view, one above the other."""
    pictures = task_pictures(task, backend)
    title_HWC = np.full((_TITLE_PX, _PICTURE_PX, 3), 255, np.uint8)
    words = task.family.replace("item:", "").replace("_", " ").replace("/", ": ")
    cv2.putText(title_HWC, words, (2, 15), cv2.FONT_HERSHEY_SIMPLEX, 0.45, (40, 40, 40), 1, cv2.LINE_AA)
    gap_HWC = np.full((_GAP_PX, _PICTURE_PX, 3), 255, np.uint8)
    return np.concatenate([title_HWC, pictures.goal_HWC, gap_HWC, pictures.start_HWC])


def main(path: Path) -> None:
    """Write the strip."""
    tasks = shown_tasks()
    backend = VoxelBackend(1, size_blocks=tasks[0].world.size_blocks, image_px=(_PICTURE_PX, _PICTURE_PX))
    columns: list[np.ndarray] = []
    for task in tasks:
        columns += [
            column_of(task, backend),
            np.full((_TITLE_PX + 2 * _PICTURE_PX + _GAP_PX, _GAP_PX, 3), 255, np.uint8),
        ]
    strip_HWC = np.concatenate(columns[:-1], axis=1)
    write_picture(path, strip_HWC[..., ::-1], [cv2.IMWRITE_JPEG_QUALITY, _JPEG_QUALITY])


if __name__ == "__main__":
    main(Path(sys.argv[1]))
