"""An episode played again from its task and its recorded actions, at any picture size: same deeds, same end.

The engine is deterministic and pictures decide nothing, so no frame needs to be kept while a suite is judged.
T decisions, H W C image, E envs.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from eval.episodes.action_archive import EpisodeActions
from eval.episodes.action_text import keys_text
from eval.episodes.records import JudgedEpisode
from task_synthesis.goal import CrossViewGoal
from task_synthesis.playing.success import Judge, Outcome
from task_synthesis.task import TaskSpec
from worlds.anvil import Save
from worlds.types import EVENT_NONE, INSTANCE_FIRST_OBJECT, ActionBatch, TickBatch
from worlds.voxel.backend import VoxelBackend

# What a replay ends with when the recorded actions are used up and nothing has ended the episode.
UNFINISHED = "unfinished"

_NUM_ENVS = 8  # worlds of 128 blocks are 4 MB each
_BLIND_PX = 16  # the smallest picture worth asking for: stills are drawn apart


@dataclass(slots=True, eq=False)
class Replay:
    """One episode, seen again."""

    task: TaskSpec
    goal: CrossViewGoal
    """The task's own goal, drawn at the replay's picture size."""
    actions: EpisodeActions
    images: list[np.ndarray] = field(default_factory=list)
    """uint8 [H, W, 3] RGB: the view before each decision and the one that ended the episode; or first and last."""
    keys: list[str] = field(default_factory=list)
    """What was pressed in each decision, in words."""
    poses: list[np.ndarray] = field(default_factory=list)
    """float64 [5] feet and direction, before each decision and at the end."""
    events: list[tuple[int, tuple[int, ...]]] = field(default_factory=list)
    """(decision, (kind, subject, amount, cell)) of everything the agent did or suffered, see worlds.types.EVENT_*."""
    outcome: str = UNFINISHED
    """One of records.OUTCOMES, or UNFINISHED."""
    ticks: int = 0

    @property
    def ticks_per_decision(self) -> int:
        """Return how long each action was held."""
        return self.actions.ticks_per_decision

    @property
    def place_T2(self) -> np.ndarray:
        """Return the agent's x and z, float64 [T + 1, 2]."""
        return np.array(self.poses)[:, [0, 2]]


@dataclass(frozen=True, slots=True)
class Played:
    """What is to be played again."""

    task: TaskSpec
    actions: EpisodeActions


def replay(
    played: Sequence[Played],
    *,
    image_px: int,
    with_every_image: bool = True,
    saves: Sequence[Save] = (),
    on_progress: Callable[[int], None] | None = None,
) -> list[Replay]:
    """Play episodes again, several side by side, and return them in the order given.

    Args:
        played: episodes; worlds and decision lengths may differ.
        image_px: side of the pictures, a multiple of 4.
        with_every_image: False keeps the first and last view alone, in less time.
        saves: the real Minecraft worlds that tasks may be in.
        on_progress: hears how many episodes are over.

    Raises:
        ValueError: the engine cannot make a task's world here (a save or resource pack is missing).
    """
    groups: dict[tuple[tuple[int, int, int], int], list[int]] = defaultdict(list)
    for index, episode in enumerate(played):
        groups[episode.task.world.size_blocks, episode.actions.ticks_per_decision].append(index)
    replay_of: dict[int, Replay] = {}
    for (size_blocks, _), indices in groups.items():
        # Episodes of like length share a batch: it lasts as long as its longest.
        indices.sort(key=lambda index: len(played[index].actions.buttons_DB))
        num_envs = min(_NUM_ENVS, len(indices))
        engine_px = image_px if with_every_image else _BLIND_PX
        engine = camera = VoxelBackend(num_envs, size_blocks=size_blocks, image_px=(engine_px,) * 2, saves=saves)
        if not with_every_image:
            camera = VoxelBackend(1, size_blocks=size_blocks, image_px=(image_px,) * 2, saves=saves)
        try:
            for first in range(0, len(indices), num_envs):
                batch = indices[first : first + num_envs]
                seen = _play([played[index] for index in batch], engine, camera)
                replay_of.update(zip(batch, seen, strict=True))
                if on_progress is not None:
                    on_progress(len(replay_of))
        finally:
            engine.close()
            camera.close()
    return [replay_of[index] for index in range(len(played))]


def difference(seen: Replay, recorded: JudgedEpisode) -> str | None:
    """Return how a replay ended otherwise than recorded, in words; None when it ended the same way at the same tick."""
    if (seen.outcome, seen.ticks) == (recorded.outcome, recorded.ticks):
        return None
    return (
        f"replayed to {seen.outcome.replace('_', ' ')} after {seen.ticks} ticks, recorded as "
        f"{recorded.outcome.replace('_', ' ')} after {recorded.ticks}"
    )


def _play(batch: Sequence[Played], engine: VoxelBackend, camera: VoxelBackend) -> list[Replay]:
    """Play at most `engine.num_envs` episodes; `camera` draws stills when it is another backend."""
    # Envs without an episode of their own play the last one along unheeded.
    filled = [batch[min(e, len(batch) - 1)] for e in range(engine.num_envs)]
    engine.reset(range(engine.num_envs), [episode.task.episode() for episode in filled])
    judge = Judge(engine)
    for e, episode in enumerate(filled):
        judge.begin(e, episode.task)
    tick = engine.observe()
    seen = [
        Replay(
            task=episode.task,
            goal=_goal(episode.task, engine, camera, e),
            actions=episode.actions,
            images=[_view(engine, camera, tick, e)],
            poses=[tick.pose_E5[e].copy()],
        )
        for e, episode in enumerate(batch)
    ]
    ticks_per_decision = batch[0].actions.ticks_per_decision
    for decision in range(max(len(episode.actions.buttons_DB) for episode in batch)):
        actions = ActionBatch.noop(engine.num_envs)
        running = [
            e
            for e, episode in enumerate(batch)
            if seen[e].outcome == UNFINISHED and decision < len(episode.actions.buttons_DB)
        ]
        for e in running:
            actions.buttons_EB[e] = batch[e].actions.buttons_DB[decision]
            actions.camera_deg_E2[e] = batch[e].actions.camera_deg_D2[decision]
        tick = engine.step(actions, num_ticks=ticks_per_decision)
        outcome_E = judge.outcomes(tick, actions, num_ticks=ticks_per_decision)
        for e in running:
            one = seen[e]
            one.ticks += ticks_per_decision
            one.keys.append(keys_text(actions.buttons_EB[e], actions.camera_deg_E2[e]))
            one.poses.append(tick.pose_E5[e].copy())
            one.events += [
                (decision, tuple(int(number) for number in row)) for row in tick.event_EN4[e] if row[0] != EVENT_NONE
            ]
            if outcome_E[e] != Outcome.RUNNING:
                one.outcome = Outcome(int(outcome_E[e])).name.lower()
            elif one.ticks >= one.task.max_ticks:
                one.outcome = Outcome.TIME_LIMIT.name.lower()
            is_last = one.outcome != UNFINISHED or decision + 1 == len(batch[e].actions.buttons_DB)
            if camera is engine or is_last:
                one.images.append(_view(engine, camera, tick, e))
    return seen


def _view(engine: VoxelBackend, camera: VoxelBackend, tick: TickBatch, e: int) -> np.ndarray:
    """Return what the agent of env `e` sees now, uint8 [H, W, 3]."""
    if camera is not engine:
        camera.restore([0], engine.snapshot([e]))
        tick, e = camera.observe(), 0
    return tick.image_EHWC[e].copy()


def _goal(task: TaskSpec, engine: VoxelBackend, camera: VoxelBackend, e: int) -> CrossViewGoal:
    """Return the goal of the task that has just begun in env `e`."""
    if camera is not engine:
        camera.restore([0], engine.snapshot([e]))
        e = 0
    views = camera.render_views([e], np.array([task.goal_view], np.float64))
    return CrossViewGoal(
        image_HWC=views.image_VHWC[0],
        mask_HW=views.instance_VHW[0] == INSTANCE_FIRST_OBJECT + task.target_index,
        interaction=task.interaction,
    )
