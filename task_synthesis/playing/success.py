"""Who did what: success, failure and death of E episodes, from events and state, never from pixels.

A same-kind wrong object ends the episode as a failure, so that walking up to everything of one colour does not pay.
So does the wrong deed on the target where it makes success impossible: a door that is broken cannot be opened.
Who has done nothing yet neither succeeds nor fails: monsters push an idle agent before its target, or onto an item.
"""

from enum import IntEnum
from functools import partial

import numpy as np

from task_synthesis.placement.targets import torus_delta
from task_synthesis.playing.saved_state import SavedState
from task_synthesis.playing.task_objects import TaskObjects
from task_synthesis.skills import SKILLS, Deed, Whom, base_kind
from task_synthesis.standing import Progress, Standing
from task_synthesis.task import TaskSpec
from worlds.backend import EnvBackend
from worlds.blocks import BLOCK_ID
from worlds.spec import MAX_OBJECTS
from worlds.types import (
    EVENT_BLOCK_PLACED,
    EVENT_DEATH,
    EVENT_ITEM_PICKED,
    EVENT_MOB_STRUCK,
    EYE_HEIGHT_BLOCKS,
    ActionBatch,
    TickBatch,
)
from worlds.voxel.engine_tables import engine_tables

_SKILLS = tuple(SKILLS.values())
_RULES: dict[int, Progress] = {i: skill.succeeds_where for i, skill in enumerate(_SKILLS) if skill.succeeds_where}
_WHOLE = 1.0 - 1e-9  # forty fortieths add up to less than one
_NO_KIND = -1  # of targets that are no blocks
_TOUCHES_TARGET, _TOUCHES_WRONG = 1, 2


class Outcome(IntEnum):
    """How an episode stands. Success, wrong object and death terminate; time limit and fault truncate."""

    RUNNING = 0
    SUCCESS = 1
    WRONG_OBJECT = 2
    DEATH = 3
    TIME_LIMIT = 4
    FAULT = 5


class Judge:
    """Knows the task of every env and reads each tick for what ends it (time limits aside)."""

    def __init__(self, backend: EnvBackend) -> None:
        """Judge what happens on `backend`."""
        num_envs = backend.num_envs
        self._backend = backend
        self._kind_S = engine_tables().blocks.kind_S
        # Objects of the target's kind decide; others never do.
        self.objects = TaskObjects(num_envs)
        self._target_block_E = np.full(num_envs, _NO_KIND, np.int64)
        self._size_E3 = np.ones((num_envs, 3), np.int64)  # x, y, z
        self._has_acted_E = np.zeros(num_envs, bool)
        # Of successes that are no events, with every object of the target's kind.
        self._progress_EN = np.zeros((num_envs, MAX_OBJECTS))
        self._from_feet_EN3 = np.full((num_envs, MAX_OBJECTS, 3), np.nan)  # a step ago, nan before an episode's first

    def begin(self, env_index: int, task: TaskSpec) -> None:
        """Judge env `env_index` by `task` from now on."""
        self.objects.begin(env_index, task)
        kind = base_kind(task.placements[task.target_index].kind)
        self._target_block_E[env_index] = BLOCK_ID.get(kind, _NO_KIND)
        self._size_E3[env_index] = task.world.size_blocks
        self._has_acted_E[env_index] = False
        self._progress_EN[env_index] = 0.0
        self._from_feet_EN3[env_index] = np.nan

    def saved(self) -> SavedState:
        """Return what the episodes so far have decided; the rest follows from the tasks."""
        return SavedState(arrays={name: array.copy() for name, array in self._decided().items()})

    def load_saved(self, state: SavedState) -> None:
        """Judge on; every env has just begun the task it had when a judge said `saved`."""
        state.read_into(self._decided())

    def outcomes(self, tick: TickBatch, actions: ActionBatch, *, num_ticks: int) -> np.ndarray:
        """Return int64 [E]: RUNNING, or what ended the episode in this step. Faults win, then death, then the deed.

        `actions` are what the agents did in the step of `num_ticks` ticks that led to `tick`.
        """
        self.objects.forget_tick()
        outcome_E = np.full(len(tick.pose_E5), int(Outcome.RUNNING), np.int64)
        self._has_acted_E |= actions.buttons_EB.any(axis=1) | (actions.camera_deg_E2 != 0).any(axis=1)
        self._judge_standing(tick, num_ticks, outcome_E)
        self._judge_events(tick.event_EN4, outcome_E)
        outcome_E[~self._has_acted_E] = Outcome.RUNNING
        is_dead_E = (tick.event_EN4[:, :, 0] == EVENT_DEATH).any(axis=1) | (tick.health_E <= 0)
        outcome_E[is_dead_E] = Outcome.DEATH
        outcome_E[tick.is_fault_E] = Outcome.FAULT
        return outcome_E

    def _decided(self) -> dict[str, np.ndarray]:
        return {
            "has_acted": self._has_acted_E,
            "progress": self._progress_EN,
            "from_feet": self._from_feet_EN3,
        }

    def _judge_standing(self, tick: TickBatch, num_ticks: int, outcome_E: np.ndarray) -> None:
        """Add up what stands for successes that are no events; what is whole with another object was the wrong one."""
        played = [index for index in np.unique(self.objects.skill_E).tolist() if index in _RULES]
        if not played:
            return
        from_feet_EN3 = self.objects.from_feet(tick, follows_mobs=True)
        yaw_E, pitch_E = np.radians(tick.pose_E5[:, 3]), np.radians(tick.pose_E5[:, 4])
        view_E3 = np.stack([-np.sin(yaw_E) * np.cos(pitch_E), -np.sin(pitch_E), np.cos(yaw_E) * np.cos(pitch_E)], 1)
        for index in played:
            is_judged_E = (self.objects.skill_E == index) & self._has_acted_E
            env_N, object_N = np.nonzero(self.objects.is_same_kind_EN & is_judged_E[:, None])
            now_N3, before_N3 = from_feet_EN3[env_N, object_N], self._from_feet_EN3[env_N, object_N]
            standing = Standing(
                num_ticks=num_ticks,
                from_feet_N3=now_N3,
                from_feet_before_N3=np.where(np.isnan(before_N3), now_N3, before_N3),
                view_N3=view_E3[env_N],
                clear=partial(self._is_clear, tick, env_N, object_N),
            )
            progress_N = self._progress_EN[env_N, object_N] + _RULES[index](standing)
            progress_N[~np.isfinite(progress_N)] = 0.0
            self._progress_EN[env_N, object_N] = progress_N
            is_target_N, is_whole_N = object_N == self.objects.target_index_E[env_N], np.abs(progress_N) >= _WHOLE
            outcome_E[env_N[is_whole_N & ~is_target_N]] = Outcome.WRONG_OBJECT
            outcome_E[env_N[is_whole_N & is_target_N]] = Outcome.SUCCESS
        self._from_feet_EN3[:] = from_feet_EN3

    def _is_clear(self, tick: TickBatch, env_N: np.ndarray, object_N: np.ndarray, pair_K: np.ndarray) -> np.ndarray:
        """Return bool [K]: whether nothing solid stands between the eye and the object of each pair."""
        env_K, object_K = env_N[pair_K], object_N[pair_K]
        eye_K3 = tick.pose_E5[env_K, :3] + np.array([0.0, EYE_HEIGHT_BLOCKS, 0.0])
        return self._backend.is_line_clear(env_K, eye_K3, self.objects.cells(tick)[env_K, object_K])

    def _judge_events(self, event_EN4: np.ndarray, outcome_E: np.ndarray) -> None:
        """The agent's own events decide all other skills; success wins over a wrong object in the same step."""
        if not event_EN4[:, :, 0].any():
            return
        whom = self._whom(event_EN4)
        for index in np.unique(self.objects.skill_E).tolist():
            is_played_E, skill = self.objects.skill_E == index, _SKILLS[index]
            for deeds, outcome in ((skill.fails_by, Outcome.WRONG_OBJECT), (skill.succeeds_by, Outcome.SUCCESS)):
                for deed in deeds:
                    outcome_E[is_played_E & _has_done(deed, event_EN4, whom)] = outcome

    def _whom(self, event_EN4: np.ndarray) -> dict[Whom, np.ndarray]:
        """Return bool [E, N] for each answer to whom an event was done."""
        event_EN, subject_EN = event_EN4[:, :, 0], event_EN4[:, :, 1]
        # Object slot + 1 of what the event is about: events of items name it last, all others third.
        slot_EN = np.where(event_EN == EVENT_ITEM_PICKED, event_EN4[:, :, 3], event_EN4[:, :, 2])
        is_target_EN = slot_EN == self.objects.target_index_E[:, None] + 1
        is_target_kind_EN = self._kind_S[np.clip(subject_EN, 0, len(self._kind_S) - 1)] == self._target_block_E[:, None]
        touched_EN = self._touched_objects(event_EN == EVENT_BLOCK_PLACED, event_EN4[:, :, 3])
        return {
            "target": is_target_EN,
            "other": self._is_same_kind_slot(slot_EN) & ~is_target_EN,
            "other_block": is_target_kind_EN & ~is_target_EN,
            "face_of_target": touched_EN == _TOUCHES_TARGET,
            "face_of_other": touched_EN == _TOUCHES_WRONG,
        }

    def _is_same_kind_slot(self, slot_EN: np.ndarray) -> np.ndarray:
        """Return bool [E, N]: whether object slot + 1 is a placed object of the target's kind."""
        index_EN = np.clip(slot_EN - 1, 0, MAX_OBJECTS - 1)
        is_slot_EN = (slot_EN >= 1) & (slot_EN <= MAX_OBJECTS)
        return np.take_along_axis(self.objects.is_same_kind_EN, index_EN, axis=1) & is_slot_EN

    def _touched_objects(self, is_placed_EN: np.ndarray, cell_EN: np.ndarray) -> np.ndarray:
        """Return int64 [E, N]: whether a placed block lies on a face of the target, of another of its kind, of none."""
        touched_EN = np.zeros(cell_EN.shape, np.int64)
        for e, n in zip(*np.nonzero(is_placed_EN), strict=True):
            size_x, size_y, size_z = self._size_E3[e]
            column, y = divmod(int(cell_EN[e, n]), int(size_y))
            delta_N3 = self.objects.position_EN3[e] - np.array([column // size_z, y, column % size_z])
            delta_N3[:, 0] = torus_delta(delta_N3[:, 0], int(size_x))
            delta_N3[:, 2] = torus_delta(delta_N3[:, 2], int(size_z))
            is_beside_N = (np.abs(delta_N3).sum(1) == 1) & self.objects.is_same_kind_EN[e]
            if is_beside_N[self.objects.target_index_E[e]]:
                touched_EN[e, n] = _TOUCHES_TARGET
            elif is_beside_N.any():
                touched_EN[e, n] = _TOUCHES_WRONG
        return touched_EN


def _has_done(deed: Deed, event_EN4: np.ndarray, whom: dict[Whom, np.ndarray]) -> np.ndarray:
    """Return bool [E]: in whose step the deed is among the events."""
    is_done_EN = (event_EN4[:, :, 0] == deed.event) & whom[deed.whom]
    if deed.by is not None:
        # A kill names last the event of the blow that was deadly.
        is_done_EN &= (event_EN4[:, :, 3] == EVENT_MOB_STRUCK) == (deed.by == "hand")
    return is_done_EN.any(axis=1)
