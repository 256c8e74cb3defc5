"""Pictures of a task for people: what is seen at the start, and the goal view with its mask outlined. H W C image."""

import base64
from dataclasses import dataclass

import cv2
import numpy as np

from task_synthesis.task import TaskSpec
from worlds.types import EYE_HEIGHT_BLOCKS, INSTANCE_FIRST_OBJECT
from worlds.voxel.backend import VoxelBackend

_OUTLINE_RGB = (255, 0, 220)


@dataclass(frozen=True, slots=True, eq=False)
class TaskPictures:
    """The two views of a task."""

    start_HWC: np.ndarray  # uint8 RGB
    goal_HWC: np.ndarray  # uint8 RGB, the mask outlined


def task_pictures(task: TaskSpec, backend: VoxelBackend) -> TaskPictures:
    """Begin the task in env 0 of `backend` and draw its views."""
    backend.reset([0], [task.episode()])
    start_5 = np.array(task.start, np.float64)
    start_5[1] += EYE_HEIGHT_BLOCKS
    views = backend.render_views([0, 0], np.array([start_5, task.goal_view]))
    goal_HWC = outlined(views.image_VHWC[1], views.instance_VHW[1] == INSTANCE_FIRST_OBJECT + task.target_index)
    return TaskPictures(start_HWC=views.image_VHWC[0], goal_HWC=goal_HWC)


def outlined(image_HWC: np.ndarray, mask_HW: np.ndarray) -> np.ndarray:
    """Return a copy of an RGB picture with a line of a pixel around the mask, uint8 [H, W, 3]."""
    inside_HW = mask_HW.astype(np.uint8)
    line_HW = cv2.dilate(inside_HW, np.ones((3, 3), np.uint8)) - inside_HW
    shown_HWC = image_HWC.copy()
    shown_HWC[line_HW > 0] = _OUTLINE_RGB
    return shown_HWC


def jpeg_uri(image_HWC: np.ndarray, *, quality: int = 86) -> str:
    """Return an RGB picture as a JPEG data URI: a fifth of the bytes of PNG where many pictures share a page."""
    is_written, encoded = cv2.imencode(
        ".jpg", np.ascontiguousarray(image_HWC[..., ::-1]), [cv2.IMWRITE_JPEG_QUALITY, quality]
    )
    if not is_written:
        raise RuntimeError("opencv cannot encode JPEG here")
    return f"data:image/jpeg;base64,{base64.b64encode(encoded.tobytes()).decode('ascii')}"


def png_uri(image_HWC: np.ndarray) -> str:
    """Return an RGB picture as a PNG data URI, for a page that needs nothing beside it."""
    is_written, encoded = cv2.imencode(".png", np.ascontiguousarray(image_HWC[..., ::-1]))
    if not is_written:
        raise RuntimeError("opencv cannot encode PNG here")
    return f"data:image/png;base64,{base64.b64encode(encoded.tobytes()).decode('ascii')}"
