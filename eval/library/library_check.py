"""Whether a library keeps its promises: its tasks are made again, twice, and the expert plays them.

E tasks at a time, H W C image.
"""

import dataclasses
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from eval.episodes.episode_track import EpisodeTracker
from eval.episodes.judged_episode import judged_episode
from eval.episodes.records import JudgedEpisode
from mcrl.rollout.episodes import TaskListSource, run_episodes
from policies.expert import ExpertAgent
from task_synthesis.playing.task_env import TaskEnv
from task_synthesis.task import TaskSpec, from_json_line, to_json_line
from worlds.spec import BLOCK_MASK, Episode
from worlds.types import INSTANCE_FIRST_OBJECT, ViewBatch
from worlds.voxel.backend import VoxelBackend

_NUM_ENVS = 16
_MASK_SIDES_PX = (64, 128, 224, 256)
_AREA_ROUNDING = 0.501e-5  # of the share of the picture that a task's line says, also where it lay just between two
_MOST_AREA_ERROR = 1e-4  # of that share: a pixel at 128, where another machine rounds differently
_PLAY_PX = 64  # side of what the expert sees, which only decides when it has seen its target


@dataclass(frozen=True, slots=True)
class Fault:
    """A promise that one task breaks."""

    task_id: str
    family: str
    what: str


@dataclass(frozen=True, slots=True)
class SkillLine:
    """What came of the tasks of one skill."""

    skill: str
    num_tasks: int
    num_exact: int
    """Tasks without a fault."""
    num_solved: int
    failures: str
    """The expert's failures by cause, most frequent first; see eval.episodes.records.CAUSES."""


@dataclass(slots=True)
class CheckReport:
    """What a check found."""

    tasks: Sequence[TaskSpec]
    faults: list[Fault] = field(default_factory=list)
    episodes: list[JudgedEpisode] = field(default_factory=list)
    """The expert's, in no order."""

    def by_skill(self) -> list[SkillLine]:
        """Return one line a skill, and one over all where there are several."""
        skills = sorted({task.skill for task in self.tasks})
        groups = [(skill, {skill}) for skill in skills]
        if len(skills) > 1:
            groups.append(("all", set(skills)))
        return [self._line(name, members) for name, members in groups]

    def failures(self) -> list[JudgedEpisode]:
        """Return the expert's failures, by skill and cause."""
        failed = [episode for episode in self.episodes if not episode.success]
        return sorted(failed, key=lambda episode: (episode.skill, episode.cause, episode.task_id))

    def _line(self, name: str, skills: set[str]) -> SkillLine:
        ids = {task.task_id for task in self.tasks if task.skill in skills}
        episodes = [episode for episode in self.episodes if episode.skill in skills]
        causes = Counter(episode.cause for episode in episodes if not episode.success)
        return SkillLine(
            skill=name,
            num_tasks=len(ids),
            num_exact=len(ids - {fault.task_id for fault in self.faults}),
            num_solved=sum(episode.success for episode in episodes),
            failures=", ".join(f"{cause} {count}" for cause, count in causes.most_common()) or "none",
        )


def mask_side_px(tasks: Sequence[TaskSpec]) -> int:
    """Return the side of the picture in which masks were measured: the smallest usual one at which they are as said.

    For tasks that come without a manifest, which says it. Where none is, it is the smallest that gives whole pixels: of
    the pictures of 128 pixels every fourth shows a target of as many pixels as are whole at 64.
    """
    area_N = np.array([task.difficulty.goal_area for task in tasks])
    whole = []
    for side_px in _MASK_SIDES_PX:
        pixels_N = area_N * side_px**2
        if (np.abs(pixels_N - np.round(pixels_N)) <= _AREA_ROUNDING * side_px**2).all():
            whole.append(side_px)
    if len(whole) > 1:
        some = tasks[:_NUM_ENVS]
        for side_px in whole:
            if all(abs(_goal_area(task, side_px) - task.difficulty.goal_area) <= _MOST_AREA_ERROR for task in some):
                return side_px
    return whole[0] if whole else _MASK_SIDES_PX[0]


def _goal_area(task: TaskSpec, side_px: int) -> float:
    """Return the share of a goal view of this side that shows the target."""
    backend = VoxelBackend(1, size_blocks=task.world.size_blocks, image_px=(side_px, side_px))
    backend.reset([0], [task.episode()])
    return float(backend.render_views([0], np.array([task.goal_view])).target_V7[0, 0])


def check_tasks(
    tasks: Sequence[TaskSpec], *, mask_px: int, on_progress: Callable[[int], None] | None = None
) -> CheckReport:
    """Check every task; `mask_px` is the side of the picture in which the library measured its masks.

    `on_progress` hears of each task twice: made again, and played.
    """
    report = CheckReport(tasks)
    num_done = 0
    for group in _by_size(tasks):
        for first in range(0, len(group), _NUM_ENVS):
            part = group[first : first + _NUM_ENVS]
            report.faults += _regenerated(part, mask_px)
            num_done += len(part)
            if on_progress:
                on_progress(num_done)
    for group in _by_size(tasks):
        report.episodes += _played(group)
        num_done += len(group)
        if on_progress:
            on_progress(num_done)
    return report


def _by_size(tasks: Sequence[TaskSpec]) -> list[list[TaskSpec]]:
    groups: dict[tuple[int, int, int], list[TaskSpec]] = {}
    for task in tasks:
        groups.setdefault(task.world.size_blocks, []).append(task)
    return list(groups.values())


def _played(tasks: Sequence[TaskSpec]) -> list[JudgedEpisode]:
    """Return the expert's episode of every task."""
    size_blocks, num_envs = tasks[0].world.size_blocks, min(_NUM_ENVS, len(tasks))
    backend = VoxelBackend(num_envs, size_blocks=size_blocks, image_px=(_PLAY_PX, _PLAY_PX))
    env = TaskEnv(backend, TaskListSource(tasks))
    tracker = EpisodeTracker(tasks, ticks_per_decision=env.action_repeat)
    records = run_episodes(ExpertAgent(env), env, tasks, on_step=tracker)
    return [
        judged_episode(task, record, tracker.track(index), row="expert", suite="", unit=0, goal_task_id=task.task_id)
        for index, (task, record) in enumerate(zip(tasks, records, strict=True))
    ]


def _backend(tasks: Sequence[TaskSpec], num_envs: int, image_px: int) -> VoxelBackend:
    """Return a backend with a world cache of its own: its worlds are made afresh."""
    return VoxelBackend(
        num_envs, size_blocks=tasks[0].world.size_blocks, image_px=(image_px, image_px), with_depth=True
    )


def _regenerated(tasks: Sequence[TaskSpec], mask_px: int) -> list[Fault]:
    """Make the tasks from their lines in two engines, compare, and look at the masks."""
    faults = []
    again = [from_json_line(to_json_line(task)) for task in tasks]
    faults += [
        _fault(task, "its line does not give it back")
        for task, other in zip(tasks, again, strict=True)
        if task != other
    ]
    first, second = _backend(tasks, len(tasks), mask_px), _backend(tasks, len(tasks), mask_px)
    seen_first = TaskEnv(first, TaskListSource(tasks)).reset()
    seen_second = TaskEnv(second, TaskListSource(again)).reset()
    for e, task in enumerate(tasks):
        goal, goal_again = seen_first.goals[e], seen_second.goals[e]
        if not np.array_equal(seen_first.image_EHWC[e], seen_second.image_EHWC[e]):
            faults.append(_fault(task, "the start frame differs when it is made again"))
        if not np.array_equal(goal.image_HWC, goal_again.image_HWC):
            faults.append(_fault(task, "the goal image differs when it is made again"))
        if not np.array_equal(goal.mask_HW, goal_again.mask_HW):
            faults.append(_fault(task, "the mask differs when it is made again"))
        area = float(goal.mask_HW.mean())
        if abs(area - task.difficulty.goal_area) > _MOST_AREA_ERROR:
            faults.append(_fault(task, f"goal_area says {task.difficulty.goal_area}, the mask covers {area:.5f}"))
    envs = list(range(len(tasks)))
    eyes_E5 = np.array([task.goal_view for task in tasks], np.float64)
    whole = first.render_views(envs, eyes_E5)
    second.reset(envs, [_without_target(task) for task in tasks])
    _clear_footprints(first, second)
    rest = second.render_views(envs, eyes_E5)
    for e, task in enumerate(tasks):
        num_strange = int((_changed_pixels(whole, rest, e, task.target_index) ^ seen_first.goals[e].mask_HW).sum())
        if num_strange:
            faults.append(_fault(task, f"removing the target changes {num_strange} pixels other than the mask's"))
    return faults


def _without_target(task: TaskSpec) -> Episode:
    """Return the task's episode with everything but its target."""
    episode = task.episode()
    rest = tuple(p for index, p in enumerate(episode.placements) if index != task.target_index)
    return dataclasses.replace(episode, placements=rest, target_index=-1)


def _clear_footprints(whole: VoxelBackend, rest: VoxelBackend) -> None:
    """Empty the cells of `rest` in which the targets stand in `whole`.

    A target takes the place of grass or snow, which comes back where it was never put: beside a thin door or a lever
    that grass would count as a change of what the mask does not cover.
    """
    whole_EXZY, rest_EXZY = whole.state.terrain.block_EXZY, rest.state.terrain.block_EXZY
    # Placed objects have moved up one slot, which is no change of what stands there.
    rest_EXZY[(whole_EXZY & BLOCK_MASK) != (rest_EXZY & BLOCK_MASK)] = 0


def _changed_pixels(whole: ViewBatch, rest: ViewBatch, e: int, target_index: int) -> np.ndarray:
    """Return bool [H, W]: where object or depth differ. Colour may: what the target shaded is bright without it."""
    instance_HW = rest.instance_VHW[e].copy()
    instance_HW[instance_HW >= INSTANCE_FIRST_OBJECT + target_index] += 1  # the objects behind it moved up one slot
    assert whole.depth_VHW is not None
    assert rest.depth_VHW is not None
    changed_HW: np.ndarray = (whole.instance_VHW[e] != instance_HW) | (whole.depth_VHW[e] != rest.depth_VHW[e])
    return changed_HW


def _fault(task: TaskSpec, what: str) -> Fault:
    return Fault(task.task_id, task.family, what)
