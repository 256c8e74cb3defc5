"""A corridor to learn on in seconds: small, real, and with every kind of end an episode can have.

The agent stands in the middle of 7 cells and sees itself as a lit column. The goal picture is red or green: walk to
the left end or to the right end. The wrong end fails, 10 decisions are the limit, and an env can be told to fault.
"""

import numpy as np

from eval.benches.unplayed_task import unplayed_task
from mcrl.dataflow.contracts import LockstepEnv
from task_synthesis.goal import CrossViewGoal
from task_synthesis.interaction import Interaction
from task_synthesis.playing.saved_state import SavedState
from task_synthesis.playing.situation import SITUATION
from task_synthesis.playing.task_env import Observation, Outcome, TaskSource, Transition
from task_synthesis.task import TaskSpec, from_json_line, to_json_line
from worlds.spec import split_of
from worlds.types import BUTTON_INDEX, ActionBatch

NUM_CELLS = 7
MAX_DECISIONS = 10
TICKS_PER_DECISION = 3
LEFT_KIND, RIGHT_KIND = "redstone_block", "emerald_block"


def make_task(index: int, split: str = "train") -> TaskSpec:
    """Return a task of that split; even indices lead left, odd ones right."""
    seed = next(seed for seed in range(index * 1000, index * 1000 + 1000) if split_of("generated", seed) == split)
    kind = LEFT_KIND if index % 2 == 0 else RIGHT_KIND
    return unplayed_task(kind, max_ticks=MAX_DECISIONS * TICKS_PER_DECISION, world_seed=seed)


class CorridorEnv(LockstepEnv):
    """E corridors. `fault_at_step` makes env 0 fail in that step, counted from the reset."""

    def __init__(self, source: TaskSource, num_envs: int, image_px: int = 16, fault_at_step: int | None = None) -> None:
        self.num_envs = num_envs
        self._source, self._image_px, self._fault_at_step = source, image_px, fault_at_step
        self._cell_E = np.zeros(num_envs, np.int64)
        self._age_E = np.zeros(num_envs, np.int64)
        self._first_E = np.ones(num_envs, bool)
        self._tasks: list[TaskSpec] = []
        self._goals: list[CrossViewGoal] = []
        self._image_EHWC = np.zeros((num_envs, image_px, image_px, 3), np.uint8)
        self._step = 0

    def reset(self) -> Observation:
        self._tasks = [self._source(env) for env in range(self.num_envs)]
        self._goals = [self._goal(task) for task in self._tasks]
        self._cell_E[:] = NUM_CELLS // 2
        self._first_E[:] = True
        self._age_E[:] = 0
        self._step = 0
        return self._observe()

    def step(self, actions: ActionBatch) -> Transition:
        left_E = actions.buttons_EB[:, BUTTON_INDEX["left"]]
        right_E = actions.buttons_EB[:, BUTTON_INDEX["right"]]
        self._cell_E = np.clip(self._cell_E + right_E - left_E, 0, NUM_CELLS - 1)
        self._age_E += 1
        goes_left_E = np.array([is_left(task) for task in self._tasks])
        is_at_left_E, is_at_right_E = self._cell_E == 0, self._cell_E == NUM_CELLS - 1
        outcome_E = np.full(self.num_envs, int(Outcome.RUNNING))
        outcome_E[self._age_E >= MAX_DECISIONS] = Outcome.TIME_LIMIT
        outcome_E[np.where(goes_left_E, is_at_right_E, is_at_left_E)] = Outcome.WRONG_OBJECT
        outcome_E[np.where(goes_left_E, is_at_left_E, is_at_right_E)] = Outcome.SUCCESS
        if self._step == self._fault_at_step:
            outcome_E[0] = Outcome.FAULT
        self._step += 1
        terminated_E = np.isin(outcome_E, (Outcome.SUCCESS, Outcome.WRONG_OBJECT))
        truncated_E = np.isin(outcome_E, (Outcome.TIME_LIMIT, Outcome.FAULT))
        final_image_EHWC = self._observe().image_EHWC.copy()
        final_situation_EP = self._situation()
        age_E = self._age_E.copy()
        self._first_E = terminated_E | truncated_E
        for env in np.flatnonzero(self._first_E):
            self._tasks[env] = self._source(int(env))
            self._goals[env] = self._goal(self._tasks[env])
            self._cell_E[env], self._age_E[env] = NUM_CELLS // 2, 0
        return Transition(
            observation=self._observe(),
            reward_E=(outcome_E == Outcome.SUCCESS).astype(np.float32),
            terminated_E=terminated_E,
            truncated_E=truncated_E,
            outcome_E=outcome_E,
            episode_ticks_E=age_E * TICKS_PER_DECISION,
            final_image_EHWC=final_image_EHWC,
            is_valid_E=outcome_E != Outcome.FAULT,
            final_situation_EP=final_situation_EP,
        )

    def saved(self) -> SavedState:
        arrays = {name: array.copy() for name, array in self._present().items()}
        values = {"step": self._step, "tasks": [to_json_line(task) for task in self._tasks]}
        return SavedState(values=values, arrays=arrays)

    def load_saved(self, state: SavedState) -> Observation:
        lines = state.strings("tasks")
        if len(lines) != self.num_envs:
            raise state.misfit(f"holds {len(lines)} envs, this run has {self.num_envs}")
        self._tasks = [from_json_line(line) for line in lines]
        self._goals = [self._goal(task) for task in self._tasks]
        self._step = state.value("step", int)
        state.read_into(self._present())
        return self._observe()

    def _present(self) -> dict[str, np.ndarray]:
        return {"cell": self._cell_E, "age": self._age_E, "first": self._first_E}

    def _goal(self, task: TaskSpec) -> CrossViewGoal:
        image_HWC = np.zeros((self._image_px, self._image_px, 3), np.uint8)
        image_HWC[..., 0 if is_left(task) else 1] = 255
        mask_HW = np.zeros((self._image_px, self._image_px), bool)
        mask_HW[2:10, 2:10] = True
        return CrossViewGoal(image_HWC=image_HWC, mask_HW=mask_HW, interaction=Interaction.APPROACH)

    def _observe(self) -> Observation:
        self._image_EHWC[:] = 0
        width = self._image_px // 8
        for env, cell in enumerate(self._cell_E):
            self._image_EHWC[env, :, cell * width : (cell + 1) * width] = 255
        target_E7 = np.zeros((self.num_envs, 7), np.float32)
        target_E7[:, :3] = 0.1, 0.5, 0.5
        return Observation(
            image_EHWC=self._image_EHWC,
            first_E=self._first_E.copy(),
            goals=list(self._goals),
            tasks=list(self._tasks),
            target_E7=target_E7,
            situation_EP=self._situation(),
        )

    def _situation(self) -> np.ndarray:
        """How far ahead the right end is, as a share of the corridor; the wrong one lies on the other side."""
        situation_EP = np.zeros((self.num_envs, len(SITUATION)), np.float32)
        goes_left_E = np.array([is_left(task) for task in self._tasks])
        situation_EP[:, 0] = np.where(goes_left_E, self._cell_E, NUM_CELLS - 1 - self._cell_E) / NUM_CELLS
        return situation_EP


class LampCorridorEnv(CorridorEnv):
    """Corridors with a goal picture that says nothing, and a lamp at the right edge that burns in the wrong half.

    Who knows the way never sees the lamp. Who does not has to go and see: a fork that no demonstration shows.
    """

    def _goal(self, task: TaskSpec) -> CrossViewGoal:
        goal = super()._goal(task)
        return CrossViewGoal(
            image_HWC=np.full_like(goal.image_HWC, 128), mask_HW=goal.mask_HW, interaction=goal.interaction
        )

    def _observe(self) -> Observation:
        observation = super()._observe()
        offset_E = np.sign(self._cell_E - NUM_CELLS // 2)
        for env, task in enumerate(self._tasks):
            if offset_E[env] == (1 if is_left(task) else -1):
                self._image_EHWC[env, :, -self._image_px // 8 :] = 255
        return observation


class CorridorExpert:
    """Walks to the right end at once."""

    def act(self, observation: Observation) -> ActionBatch:
        actions = ActionBatch.noop(len(observation.tasks))
        for env, task in enumerate(observation.tasks):
            actions.buttons_EB[env, BUTTON_INDEX["left" if is_left(task) else "right"]] = True
        return actions

    def note_actions(self, actions: ActionBatch) -> None:
        """Remembers nothing that others could have done."""


def is_left(task: TaskSpec) -> bool:
    return task.family.endswith(LEFT_KIND)
