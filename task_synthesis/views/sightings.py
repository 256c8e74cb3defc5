"""Scenes of tasks photographed from all around, with where each object is in each picture: what seeing is learned from.

Nobody plays: a scene is put up as its episode begins and looked at, some thousand pictures a second.
S scenes, G goal pictures, V views, N objects, H W pixels.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from task_synthesis.placement.sites import Sites
from task_synthesis.skills import base_kind
from task_synthesis.task import TaskSpec
from task_synthesis.views.viewpoints import draw_goal_view
from worlds.spec import MAX_OBJECTS, World
from worlds.types import EYE_HEIGHT_BLOCKS, INSTANCE_FIRST_OBJECT, Pose
from worlds.voxel.backend import VoxelBackend
from worlds.voxel.world_cache import WorldCache

VIEWS_PER_SCENE = 4
_NUM_PARALLEL = 64
# Views: as far off as tasks of the bands near and easy begin, and nearer; one of the target's kind not far from centre.
DISTANCE_BLOCKS = (3.0, 20.0)
_YAW_JITTER_DEG = 28.0
_PITCH_DEG = (-5.0, 20.0)
_PLACE_DRAWS = 8
# Goal pictures of other objects than the target: how they are taken, and what share of one the object may cover.
_STYLES = ("close", "human", "third_person")
_AREA = (0.003, 0.3)
_LEAST_PIXELS = 2  # of an object in a view; fewer are no sighting


@dataclass(frozen=True, kw_only=True, slots=True)
class Sightings:
    """Pictures of S scenes: goal pictures, each of one object of the kind that is asked for, and V = 4 S views."""

    goal_image_GHWC: np.ndarray  # uint8 [G, H, W, 3]
    goal_mask_GHW: np.ndarray  # bool [G, H, W]
    goal_interaction_G: np.ndarray  # int64 [G], ids of task_synthesis.interaction
    goal_scene_G: np.ndarray  # int64 [G]
    goal_object_G: np.ndarray  # int64 [G], index of the object that is marked
    view_image_SVHWC: np.ndarray  # uint8 [S, 4, H, W, 3]
    box_SVN5: np.ndarray  # float32 [S, 4, N, 5], share of the picture, left, top, right, bottom in 0 .. 1; or zeros
    is_same_kind_SN: np.ndarray  # bool [S, N], whether an object is of the kind that is asked for


def photograph(
    tasks: Sequence[TaskSpec],
    *,
    image_px: int,
    seed: int,
    distance_blocks: tuple[float, float] = DISTANCE_BLOCKS,
    num_threads: int = 1,
    on_progress: Callable[[int], None] | None = None,
) -> Sightings:
    """Return pictures of the scenes of `tasks`, which have one size and lie in generated worlds.

    Each scene has the task's own goal picture, and one of another object of its kind if there is one that can be
    photographed well. Views are taken from so far off one of these objects. `on_progress` hears how many scenes are
    done.
    """
    rng = np.random.default_rng(seed)
    sites = Sites()
    cache = WorldCache(num_threads=num_threads)
    backend = VoxelBackend(
        min(_NUM_PARALLEL, len(tasks)),
        size_blocks=tasks[0].world.size_blocks,
        image_px=(image_px, image_px),
        world_cache=cache,
    )
    parts: list[Sightings] = []
    # Scenes of one world beside one another, so that it is made once.
    order = sorted(range(len(tasks)), key=lambda index: (tasks[index].world.seed, index))
    for start in range(0, len(order), backend.num_envs):
        here = [tasks[index] for index in order[start : start + backend.num_envs]]
        worlds = [prepared.world for prepared in cache.get([task.world for task in here])]
        parts.append(_photograph_some(backend, worlds, sites, here, start, rng, distance_blocks))
        if on_progress is not None:
            on_progress(start + len(here))
    backend.close()
    return Sightings(
        **{name: np.concatenate([getattr(part, name) for part in parts]) for name in Sightings.__dataclass_fields__}
    )


def _photograph_some(
    backend: VoxelBackend,
    worlds: list[World],
    sites: Sites,
    tasks: list[TaskSpec],
    first_scene: int,
    rng: np.random.Generator,
    distance_blocks: tuple[float, float],
) -> Sightings:
    """Return the pictures of as many scenes as the backend has envs, or fewer."""
    backend.reset(range(len(tasks)), [task.episode() for task in tasks])
    is_same_SN = np.zeros((len(tasks), MAX_OBJECTS), bool)
    goal_envs: list[int] = []
    goal_objects: list[int] = []
    goal_eyes: list[Pose] = []
    view_eyes: list[Pose] = []
    for env, (task, world) in enumerate(zip(tasks, worlds, strict=True)):
        ground = partial(sites.ground, world)
        kind = base_kind(task.placements[task.target_index].kind)
        same = [index for index, placement in enumerate(task.placements) if base_kind(placement.kind) == kind]
        is_same_SN[env, same] = True
        eyes = [(task.target_index, task.goal_view)]
        others = [index for index in same if index != task.target_index]
        if others:
            other = others[rng.integers(len(others))]
            style = _STYLES[rng.integers(len(_STYLES))]
            eye = draw_goal_view(rng, style, kind, task.placements[other].position, ground)
            eyes += [(other, eye)] if eye else []
        for index, eye in eyes:
            goal_envs.append(env)
            goal_objects.append(index)
            goal_eyes.append(eye)
        for _ in range(VIEWS_PER_SCENE):
            of = task.placements[same[rng.integers(len(same))]].position
            view_eyes.append(_draw_view(rng, of, ground, distance_blocks))
    goals = backend.render_views(goal_envs, np.array(goal_eyes))
    mask_GHW = goals.instance_VHW == INSTANCE_FIRST_OBJECT + np.array(goal_objects)[:, None, None]
    is_kept_G = np.array(
        [
            object_index == tasks[env].target_index or _is_well_shown(mask_HW)
            for env, object_index, mask_HW in zip(goal_envs, goal_objects, mask_GHW, strict=True)
        ]
    )
    views = backend.render_views(np.repeat(np.arange(len(tasks)), VIEWS_PER_SCENE).tolist(), np.array(view_eyes))
    shape = (len(tasks), VIEWS_PER_SCENE)
    interaction_E = np.array([int(task.interaction) for task in tasks])
    return Sightings(
        goal_image_GHWC=goals.image_VHWC[is_kept_G],
        goal_mask_GHW=mask_GHW[is_kept_G],
        goal_interaction_G=interaction_E[goal_envs][is_kept_G],
        goal_scene_G=first_scene + np.array(goal_envs)[is_kept_G],
        goal_object_G=np.array(goal_objects)[is_kept_G],
        view_image_SVHWC=views.image_VHWC.reshape(*shape, *views.image_VHWC.shape[1:]),
        box_SVN5=object_boxes(views.instance_VHW).reshape(*shape, MAX_OBJECTS, 5),
        is_same_kind_SN=is_same_SN,
    )


def _draw_view(
    rng: np.random.Generator,
    of: tuple[int, int, int],
    ground: Callable[[int, int], int],
    distance_blocks: tuple[float, float],
) -> Pose:
    """Return the eye of somebody who stands some way off the cell `of` and roughly looks there."""
    for _ in range(_PLACE_DRAWS):
        distance, direction = rng.uniform(*distance_blocks), rng.uniform(0.0, 2 * math.pi)
        dx, dz = math.cos(direction) * distance, math.sin(direction) * distance
        x, z = of[0] + 0.5 + dx, of[2] + 0.5 + dz
        feet = ground(math.floor(x), math.floor(z))
        if feet >= 0:
            break
    else:
        feet = of[1]  # in the air, over water for instance
    yaw_deg = math.degrees(math.atan2(dx, -dz)) + rng.uniform(-_YAW_JITTER_DEG, _YAW_JITTER_DEG)
    return Pose(x, feet + EYE_HEIGHT_BLOCKS, z, yaw_deg, rng.uniform(*_PITCH_DEG))


def _is_well_shown(mask_HW: np.ndarray) -> bool:
    border = mask_HW[0].any() or mask_HW[-1].any() or mask_HW[:, 0].any() or mask_HW[:, -1].any()
    return _AREA[0] <= mask_HW.mean() <= _AREA[1] and not border


def object_boxes(instance_VHW: np.ndarray) -> np.ndarray:
    """Return float32 [V, N, 5] of instance ids: of each object its share of the picture and its box in 0 .. 1."""
    num_views, height, width = instance_VHW.shape
    box_VN5 = np.zeros((num_views, MAX_OBJECTS, 5), np.float32)
    for v, instance_HW in enumerate(instance_VHW):
        for instance in np.unique(instance_HW):
            index = int(instance) - INSTANCE_FIRST_OBJECT
            if not 0 <= index < MAX_OBJECTS:
                continue
            row, column = np.nonzero(instance_HW == instance)
            if len(row) >= _LEAST_PIXELS:
                box_VN5[v, index] = (
                    len(row) / (height * width),
                    column.min() / width,
                    row.min() / height,
                    (column.max() + 1) / width,
                    (row.max() + 1) / height,
                )
    return box_VN5
