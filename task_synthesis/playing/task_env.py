"""E tasks played in lockstep on one backend: observations, rewards, ends, and the next task when one is over."""

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from task_synthesis.goal import CrossViewGoal
from task_synthesis.playing.engine_state import EngineKeeper
from task_synthesis.playing.milestones import PartialCredit
from task_synthesis.playing.saved_state import SavedState
from task_synthesis.playing.situation import situations
from task_synthesis.playing.success import Judge, Outcome
from task_synthesis.playing.task_sampler import LOOKAHEAD_TASKS
from task_synthesis.task import TaskSpec, from_json_line, to_json_line
from task_synthesis.views.goal_forms import GoalForm, check_goal_form, shown_goal
from worlds.arrays import copied
from worlds.backend import EnvBackend
from worlds.types import INSTANCE_FIRST_OBJECT, ActionBatch, TickBatch

__all__ = ["Observation", "Outcome", "TaskEnv", "TaskSource", "Transition", "Whereabouts"]


@dataclass(kw_only=True, slots=True)
class Observation:
    """What E agents see before they act. Arrays are overwritten by the next step: copy what must live longer."""

    image_EHWC: np.ndarray  # uint8 [E, H, W, 3] RGB; a tensor on the GPU where the engine draws there
    first_E: np.ndarray  # bool [E], this is the first view of an episode
    goals: list[CrossViewGoal]  # one an env; a new object whenever first_E is true
    tasks: list[TaskSpec]  # one an env
    target_E7: np.ndarray  # float32 [E, 7], labels for auxiliary losses, see worlds.types.TARGET_LABELS
    situation_EP: np.ndarray | None = None  # float32 [E, P], for a privileged critic, see situation.SITUATION


@dataclass(frozen=True, kw_only=True, slots=True)
class Whereabouts:
    """Where agents and targets are after a step, before any reset; for those who watch, not for agents."""

    feet_E3: np.ndarray  # float64 [E, 3] x, y, z of the agent in blocks
    target_E3: np.ndarray  # float64 [E, 3] centre of the target's floor: a mob's feet, else where the task put it
    target_area_E: np.ndarray  # float32 [E], share of the agent's view that shows the target, 0 out of view


@dataclass(kw_only=True, slots=True)
class Transition:
    """What E actions led to. Where an episode ended, `observation` already shows the next one."""

    observation: Observation
    reward_E: np.ndarray  # float32 [E], 1 on success, else 0; with partial credit the sum of the parts below
    terminated_E: np.ndarray  # bool [E], success, wrong object or death: nothing is worth anything beyond
    truncated_E: np.ndarray  # bool [E], time limit or engine fault: the world would have gone on
    outcome_E: np.ndarray  # int64 [E], values of Outcome
    episode_ticks_E: np.ndarray  # int64 [E], age of the episode after this step, counted before any reset
    final_image_EHWC: np.ndarray  # uint8 [E, H, W, 3], the view after the action; differs from observation only at ends
    is_valid_E: np.ndarray  # bool [E], false where the engine failed: leave this step out of learning
    reward_parts_EP: np.ndarray | None = None  # float32 [E, P], see milestones.REWARD_PARTS; None: success is all
    whereabouts: Whereabouts | None = None  # None: the engine does not say
    final_situation_EP: np.ndarray | None = None  # float32 [E, P], after the action and before any reset
    reset_ns: int = 0  # of the wall time of this step, spent on beginning the next episodes


# Called with the env's index whenever it needs a task; see task_synthesis.playing.curriculum. A source that also has
# `upcoming(num_tasks)` lets the engine make the worlds of its next tasks before they are needed, and one that has
# `report(task, is_success=...)` hears how every episode ended that the engine did not fail.
TaskSource = Callable[[int], TaskSpec]


class TaskEnv:
    """E tasks in lockstep. A step holds its action for `action_repeat` ticks; an ended episode is replaced at once."""

    def __init__(
        self,
        backend: EnvBackend,
        source: TaskSource,
        *,
        action_repeat: int = 4,
        partial_credit: PartialCredit | None = None,
        goal_form: GoalForm = "cross_view",
        keeper: EngineKeeper | None = None,
        tells_situations: bool = False,
    ) -> None:
        """Play what `source` hands out on `backend`; one step is `action_repeat` ticks of 50 ms.

        Without `partial_credit` the reward is success alone. Goals are shown in `goal_form`. Without a `keeper` of the
        backend the env cannot be saved. With `tells_situations` it says what a privileged critic may know.
        """
        if action_repeat < 1:
            raise ValueError(f"env.action_repeat must be at least 1, got {action_repeat}")
        check_goal_form(goal_form, where="env.goal_form")
        self._goal_form = goal_form
        self.backend = backend
        self.num_envs = backend.num_envs
        self.action_repeat = action_repeat
        self._source = source
        self._partial_credit = partial_credit
        self._keeper = keeper
        self._tells_situations = tells_situations
        self._judge = Judge(backend)
        self._tasks: list[TaskSpec] = []
        self._goals: list[CrossViewGoal] = []
        self._ticks_E = np.zeros(self.num_envs, np.int64)
        self._max_ticks_E = np.zeros(self.num_envs, np.int64)
        self._first_E = np.ones(self.num_envs, bool)
        self._target_E3 = np.zeros((self.num_envs, 3))
        self._target_slot_E = np.zeros(self.num_envs, np.int64)

    @property
    def tasks(self) -> list[TaskSpec]:
        """Return the task each env plays now."""
        return self._tasks

    def reset(self) -> Observation:
        """Start a fresh task in every env."""
        envs = list(range(self.num_envs))
        self._tasks = [self._source(e) for e in envs]
        self._goals = [None] * self.num_envs  # type: ignore[list-item]  # filled in below
        self._begin(envs)
        tick = self.backend.observe()
        if self._partial_credit is not None:
            self._partial_credit.begin(envs, self._tasks, tick)
        return self._observation(tick, self._situations(tick))

    def step(self, actions: ActionBatch) -> Transition:
        """Act, judge, and begin the next task where one ended."""
        if not self._tasks:
            raise ValueError("task_env: step was called before reset; call reset once first")
        tick = self.backend.step(actions, num_ticks=self.action_repeat)
        self._ticks_E += self.action_repeat
        outcome_E = self._judge.outcomes(tick, actions, num_ticks=self.action_repeat)
        is_late_E = (outcome_E == Outcome.RUNNING) & (self._ticks_E >= self._max_ticks_E)
        outcome_E[is_late_E] = Outcome.TIME_LIMIT
        terminated_E = (
            (outcome_E == Outcome.SUCCESS) | (outcome_E == Outcome.WRONG_OBJECT) | (outcome_E == Outcome.DEATH)
        )
        truncated_E = (outcome_E == Outcome.TIME_LIMIT) | (outcome_E == Outcome.FAULT)
        reward_E = (outcome_E == Outcome.SUCCESS).astype(np.float32)
        reward_parts_EP = None
        if self._partial_credit is not None:
            paid_E2 = self._partial_credit.pay(tick, actions, outcome_E)
            reward_parts_EP = np.concatenate([reward_E[:, None], paid_E2], axis=1)
            reward_E = reward_parts_EP.sum(1)
        ended = np.flatnonzero(terminated_E | truncated_E)
        final_image_EHWC = tick.image_EHWC
        episode_ticks_E = self._ticks_E.copy()
        self._first_E[:] = False
        whereabouts = self._whereabouts(tick)
        situation_EP = final_situation_EP = self._situations(tick)
        reset_ns = 0
        if len(ended):
            begin_ns = time.monotonic_ns()
            # The next view is drawn over the last one, which bootstrapping and videos still need.
            final_image_EHWC = copied(tick.image_EHWC)
            self._report(ended, outcome_E)
            for e in ended:
                self._tasks[e] = self._source(int(e))
            self._begin(ended.tolist())
            tick = self.backend.observe_only(ended.tolist())
            situation_EP = self._situations(tick, since=(final_situation_EP, ended))
            if self._partial_credit is not None:
                self._partial_credit.begin(ended.tolist(), [self._tasks[e] for e in ended], tick)
            reset_ns = time.monotonic_ns() - begin_ns
        return Transition(
            observation=self._observation(tick, situation_EP),
            reward_E=reward_E,
            terminated_E=terminated_E,
            truncated_E=truncated_E,
            outcome_E=outcome_E,
            episode_ticks_E=episode_ticks_E,
            final_image_EHWC=final_image_EHWC,
            is_valid_E=outcome_E != Outcome.FAULT,
            reward_parts_EP=reward_parts_EP,
            whereabouts=whereabouts,
            final_situation_EP=final_situation_EP,
            reset_ns=reset_ns,
        )

    def close(self) -> None:
        """End the engine."""
        self.backend.close()

    def saved(self) -> SavedState | None:
        """Return the present of all envs, for `load_saved`; None where the engine cannot be saved.

        Where the source of tasks is in its order is not in here: that is the source's to say.
        """
        if self._keeper is None or not self._tasks:
            return None
        parts = {"engine": self._keeper.saved([task.episode() for task in self._tasks]), "judge": self._judge.saved()}
        if self._partial_credit is not None:
            parts["partial_credit"] = self._partial_credit.saved()
        parts["clock"] = SavedState(arrays={name: array.copy() for name, array in self._clock().items()})
        return SavedState.of_parts(parts, tasks=[to_json_line(task) for task in self._tasks])

    def load_saved(self, state: SavedState) -> Observation:
        """Bring back what an env made alike returned, in place of `reset`. The same actions give the same bytes.

        Every episode begins again, which draws its goal, and is then set forward to where it was. ValueError: the
        state is of another number of envs, of worlds of another size, or damaged.
        """
        if self._keeper is None:
            raise state.misfit("this run's engine cannot be set to what was saved")
        lines = state.strings("tasks")
        if len(lines) != self.num_envs:
            raise state.misfit(f"holds {len(lines)} envs, this run has {self.num_envs}")
        self._keeper.check(state.part("engine"))
        envs = list(range(self.num_envs))
        self._tasks = [from_json_line(line, where=f"{state.where}: tasks") for line in lines]
        self._goals = [None] * self.num_envs  # type: ignore[list-item]  # filled in below
        self._begin(envs)
        if self._partial_credit is not None:
            self._partial_credit.begin(envs, self._tasks, self.backend.observe())
            self._partial_credit.load_saved(state.part("partial_credit"))
        self._judge.load_saved(state.part("judge"))
        state.part("clock").read_into(self._clock())
        self._keeper.load_saved(state.part("engine"))
        # What is seen follows from the state, so that no picture needs to be kept.
        tick = self.backend.observe()
        return self._observation(tick, self._situations(tick))

    def _clock(self) -> dict[str, np.ndarray]:
        """Return what TaskEnv itself knows of the running episodes beyond their tasks."""
        return {"ticks": self._ticks_E, "first": self._first_E, "target": self._target_E3}

    def _whereabouts(self, tick: TickBatch) -> Whereabouts:
        """Note where the targets are now, and return copies of what the next episodes would overwrite."""
        is_target_EM = (tick.mob_EM6[:, :, 0] >= 0) & (tick.mob_EM6[:, :, 1] == self._target_slot_E[:, None])
        env_N, mob_N = np.nonzero(is_target_EM)
        self._target_E3[env_N] = tick.mob_EM6[env_N, mob_N, 2:5]
        return Whereabouts(
            feet_E3=tick.pose_E5[:, :3].copy(),
            target_E3=self._target_E3.copy(),
            target_area_E=tick.target_E7[:, 0].copy(),
        )

    def _report(self, ended: np.ndarray, outcome_E: np.ndarray) -> None:
        """Tell the source how episodes ended, before it is asked for the next tasks."""
        report = getattr(self._source, "report", None)
        if report is None:
            return
        for e in ended:
            if outcome_E[e] != Outcome.FAULT:
                report(self._tasks[e], is_success=bool(outcome_E[e] == Outcome.SUCCESS))

    def _begin(self, envs: list[int]) -> None:
        tasks = [self._tasks[e] for e in envs]
        self.backend.reset(envs, [task.episode() for task in tasks])
        views = self.backend.render_views(envs, np.array([task.goal_view for task in tasks], np.float64))
        for row, (e, task) in enumerate(zip(envs, tasks, strict=True)):
            goal = CrossViewGoal(
                image_HWC=views.image_VHWC[row],
                mask_HW=views.instance_VHW[row] == INSTANCE_FIRST_OBJECT + task.target_index,
                interaction=task.interaction,
            )
            self._goals[e] = shown_goal(self._goal_form, goal, task)
            self._judge.begin(e, task)
            self._target_slot_E[e] = task.target_index + 1
            self._target_E3[e] = np.add(task.placements[task.target_index].position, (0.5, 0.0, 0.5))
            self._ticks_E[e], self._max_ticks_E[e] = 0, task.max_ticks
            self._first_E[e] = True
        if hasattr(self._source, "upcoming"):
            self.backend.announce([task.world for task in self._source.upcoming(LOOKAHEAD_TASKS)])

    def _observation(self, tick: TickBatch, situation_EP: np.ndarray | None) -> Observation:
        return Observation(
            image_EHWC=tick.image_EHWC,
            first_E=self._first_E.copy(),
            goals=list(self._goals),
            tasks=list(self._tasks),
            target_E7=tick.target_E7,
            situation_EP=situation_EP,
        )

    def _situations(
        self, tick: TickBatch, *, since: tuple[np.ndarray | None, np.ndarray] | None = None
    ) -> np.ndarray | None:
        """Return the situations of all envs; `since` others were told, and in which envs they have changed."""
        if not self._tells_situations:
            return None
        elapsed_E = self._ticks_E / np.maximum(self._max_ticks_E, 1)
        if since is None or since[0] is None:
            return situations(self._judge.objects, tick, elapsed_E)
        situation_EP, changed_N = since[0].copy(), since[1]
        objects, numbers = self._judge.objects.of(changed_N), tick.numbers_of(changed_N)
        situation_EP[changed_N] = situations(objects, numbers, elapsed_E[changed_N])
        return situation_EP
