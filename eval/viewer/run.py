"""One episode being played, a tick of 50 ms at a time. E is 1 throughout, D decisions, T ticks, H W C image."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from eval.episodes.action_archive import EpisodeActions
from eval.viewer.draft import GoalDraft
from eval.viewer.keys import HeldButtons
from eval.viewer.players import Belief, Casting
from task_synthesis.goal import CrossViewGoal
from task_synthesis.playing.milestones import MILESTONES, PartialCredit, RewardConfig
from task_synthesis.playing.success import Judge, Outcome
from task_synthesis.playing.task_env import Observation
from task_synthesis.skills import SKILLS
from task_synthesis.task import TaskSpec
from task_synthesis.views.goal_forms import shown_goal
from worlds.backend import EnvBackend
from worlds.blocks import state_of
from worlds.spec import BLOCK_BITS, BLOCK_MASK
from worlds.types import (
    EVENT_NONE,
    EYE_HEIGHT_BLOCKS,
    INSTANCE_FIRST_OBJECT,
    MAX_EVENTS,
    SNEAK_EYE_HEIGHT_BLOCKS,
    ActionBatch,
    Pose,
    TickBatch,
)
from worlds.voxel.backend import VoxelBackend
from worlds.voxel.engine_tables import engine_tables
from worlds.voxel.episode_start import target_instance
from worlds.voxel.log import push_event
from worlds.voxel.state import Log

FREE_TICKS = 1200  # a minute, for goals without a target in this world


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Plan:
    """What is to be played."""

    draft: GoalDraft
    task: TaskSpec | None
    """None where there is no target in this world: then nothing is judged."""
    goal: CrossViewGoal
    """At the picture size of the player, before the player's goal form."""
    max_ticks: int


@dataclass(slots=True)
class Trace:
    """What happened, decision by decision."""

    buttons: list[np.ndarray] = field(default_factory=list)  # bool [20] each
    turns_deg: list[np.ndarray] = field(default_factory=list)  # float32 [2] (pitch, yaw) a tick
    beliefs: list[Belief | None] = field(default_factory=list)
    is_by_hand: list[bool] = field(default_factory=list)
    goals: list[CrossViewGoal] = field(default_factory=list)
    """What the player was shown; the same object as long as it did not change."""
    places: list[tuple[float, float, float]] = field(default_factory=list)
    """Feet after every tick, the start first."""

    def actions(self, ticks_per_decision: int) -> EpisodeActions:
        """Return what was done, for playing it again."""
        num_decisions = len(self.buttons)
        return EpisodeActions(
            buttons_DB=np.array(self.buttons, bool).reshape(num_decisions, -1),
            camera_deg_D2=np.array(self.turns_deg, np.float32).reshape(num_decisions, 2),
            ticks_per_decision=ticks_per_decision,
        )


class Run:
    """An episode and who plays it. It stands where it ended, until somebody begins another one."""

    def __init__(self, plan: Plan, casting: Casting, engine: EnvBackend, *, seed: int) -> None:
        """Begin in env 0 of `engine`, which draws pictures of the player's size.

        Every other engine than ours plays whole decisions, and shows the goal as it sees it itself where it can.

        Raises:
            ValueError: the player cannot play this, or the world cannot be made.
            OSError: another engine failed.
        """
        self.plan, self.casting, self._seed = plan, casting, seed
        self.ticks_per_decision = casting.ticks_per_decision
        self.engine = engine
        self.voxel = engine if isinstance(engine, VoxelBackend) else None
        """The same where it is ours, which shows its blocks and can be drawn from anywhere; None for others."""
        self.episode = plan.draft.episode()
        self.engine.reset([0], [self.episode])
        self.held = HeldButtons()
        self.trace = Trace()
        self.ticks = 0
        self.outcome = Outcome.RUNNING
        self.is_by_hand = casting.name == "human"
        self._ticks_left = 0  # of the running decision
        self._actions = ActionBatch.noop(1)
        self._log = Log(np.zeros((1, MAX_EVENTS, 4), np.int32), np.zeros(1, np.int32))
        self._is_first = True
        self._credit = PartialCredit(RewardConfig(), 1, discount=1.0)
        self._judge = Judge(self.engine)
        self._tick = self.engine.observe()
        self._set_plan(plan if self.voxel is not None else dataclasses.replace(plan, goal=self._own_goal(plan)))
        self.player = casting.player(self.engine, seed=seed, has_task=plan.task is not None)
        self._note_place()

    @property
    def is_over(self) -> bool:
        """Return whether the episode has ended."""
        return self.outcome != Outcome.RUNNING

    @property
    def num_decisions(self) -> int:
        """Return how many decisions have been made."""
        return len(self.trace.buttons)

    @property
    def is_between_decisions(self) -> bool:
        """Return whether the next tick begins a decision."""
        return self._ticks_left == 0

    @property
    def actions(self) -> ActionBatch:
        """Return what is being done, or was done last."""
        return self._actions

    @property
    def last(self) -> TickBatch:
        """Return what the last tick led to. Its arrays are overwritten by the next."""
        return self._tick

    @property
    def eye(self) -> Pose:
        """Return the agent's eye."""
        x, y, z, yaw_deg, pitch_deg = (float(value) for value in self._tick.pose_E5[0])
        is_sneaking = self.voxel is not None and bool(self.voxel.state.bodies.is_sneaking_E[0])
        return Pose(x, y + (SNEAK_EYE_HEIGHT_BLOCKS if is_sneaking else EYE_HEIGHT_BLOCKS), z, yaw_deg, pitch_deg)

    @property
    def milestones(self) -> dict[str, bool]:
        """Return which of the skill's milestones have been reached; empty without a target."""
        task = self.plan.task
        if task is None:
            return {}
        reached = dict(zip(MILESTONES, self._credit.is_reached_EM[0].tolist(), strict=True))
        if SKILLS[task.skill].first_hit is None:
            del reached["first_hit"]  # a success pays it too, but nothing is hit
        return reached

    def tick(self) -> None:
        """Play one tick of 50 ms, on other engines a decision; nothing happens when the episode is over."""
        if self.is_over:
            return
        if self._ticks_left == 0:
            self._decide()
        num_ticks = 1 if self.voxel is not None else self._ticks_left
        tick = self.engine.step(self._actions, num_ticks=num_ticks)
        self._ticks_left -= num_ticks
        self.ticks += num_ticks
        for kind, subject, amount, cell in tick.event_EN4[0]:
            if kind != EVENT_NONE:
                # As in one step of several ticks, also when the log is full.
                push_event(0, self._log, int(kind), int(subject), int(amount), int(cell))
        tick.event_EN4 = self._log.event_EN4
        self._tick = tick
        self._note_place()
        if self._ticks_left == 0:
            self._end_decision()

    def decide_and_play(self) -> None:
        """Play to the end of a decision: the running one, or a whole one."""
        self.tick()
        while self._ticks_left > 0:
            self.tick()

    def clear_memory(self) -> None:
        """Make the player forget what it has seen."""
        self._is_first = True

    def exchange_goal(self, plan: Plan) -> None:
        """Go on in the same world with another goal. ValueError: its objects are not those of this world."""
        mine = self.plan.draft
        if plan.draft.world != mine.world or plan.draft.objects != mine.objects:
            raise ValueError(
                "goal: it is of another world, or other things were put into it; reset to play it from its start"
            )
        self._mark_target(plan.draft)
        self._set_plan(plan)
        self.player.heed_goal(self._observation())

    def exchange_player(self, casting: Casting) -> None:
        """Go on in the same world with another player, which has seen nothing yet. ValueError: it cannot play this."""
        if self._ticks_left:
            raise ValueError("player: a decision is under way; step to its end first")
        if casting.image_px != self.casting.image_px or casting.goal_form != self.casting.goal_form:
            raise ValueError(
                f"player: {casting.name} sees pictures of {casting.image_px} px, this run shows "
                f"{self.casting.image_px} px; reset to begin with it"
            )
        player = casting.player(self.engine, seed=self._seed, has_task=self.plan.task is not None)
        if casting.ticks_per_decision != self.ticks_per_decision:
            raise ValueError(
                f"player: {casting.name} holds an action for {casting.ticks_per_decision} ticks, this run for "
                f"{self.ticks_per_decision}; reset to begin with it"
            )
        self.casting, self.player, self._is_first = casting, player, True
        self.is_by_hand = casting.name == "human"

    def _mark_target(self, draft: GoalDraft) -> None:
        """Make the running world tell the draft's target from everything else."""
        if self.voxel is None:
            raise ValueError("goal: this engine cannot be told of another target; reset to begin with the new goal")
        snapshot = self.voxel.snapshot([0])
        block_XZY = snapshot.state.terrain.block_EXZY[0]
        if draft.adopted is not None:
            slot, (x, y, z) = len(draft.placements), draft.adopted.position
            state = state_of(draft.adopted.kind)
            if block_XZY[x, z, y] & BLOCK_MASK != state:
                raise ValueError(f"goal: the block at {x}, {y}, {z} has changed since; reset, or choose another target")
            block_XZY[block_XZY >> BLOCK_BITS == slot] &= BLOCK_MASK  # the target before, if it was terrain too
            dx, dy, dz = (int(step) for step in engine_tables().blocks.pair_S3[state])
            size_x, _, size_z = self.voxel.size_blocks
            for cell in {(x, z, y), ((x + dx) % size_x, (z + dz) % size_z, y + dy)}:
                block_XZY[cell] |= slot << BLOCK_BITS
        looks = ((draft.look, target_instance(draft.episode())),)
        self.voxel.restore([0], dataclasses.replace(snapshot, looks=looks))
        self._tick = self.engine.observe()

    def _own_goal(self, plan: Plan) -> CrossViewGoal:
        """Return the goal as this engine shows it; the plan's where it cannot, or does not find the target."""
        draft = plan.draft
        if draft.picture is not None or draft.goal_view is None or draft.target_index is None:
            return plan.goal
        try:
            views = self.engine.render_views([0], np.array([draft.goal_view], np.float64))
        except NotImplementedError:
            return plan.goal
        mask_HW = views.instance_VHW[0] == INSTANCE_FIRST_OBJECT + draft.target_index
        return CrossViewGoal(views.image_VHWC[0], mask_HW, plan.goal.interaction) if mask_HW.any() else plan.goal

    def _set_plan(self, plan: Plan) -> None:
        """Play and judge by `plan` from now on."""
        self.plan = plan
        goal = plan.goal
        if plan.task is not None:
            self._judge.begin(0, plan.task)
            self._credit.begin([0], [plan.task], self._tick)
            goal = shown_goal(self.casting.goal_form, goal, plan.task)
        self.goal = goal

    def _decide(self) -> None:
        actions = self.player.act(self._observation())
        if self.is_by_hand:
            actions = self.player.note(self.held.take(self.ticks_per_decision))
        self._actions = actions
        self._is_first = False
        self._ticks_left = self.ticks_per_decision
        self._log.event_EN4[:], self._log.num_events_E[:] = 0, 0
        self.trace.buttons.append(actions.buttons_EB[0].copy())
        self.trace.turns_deg.append(actions.camera_deg_E2[0].copy())
        self.trace.beliefs.append(self.player.belief)
        self.trace.is_by_hand.append(self.is_by_hand)
        self.trace.goals.append(self.goal)

    def _end_decision(self) -> None:
        task = self.plan.task
        if task is not None:
            outcome_E = self._judge.outcomes(self._tick, self._actions, num_ticks=self.ticks_per_decision)
            self._credit.pay(self._tick, self._actions, outcome_E)
            self.outcome = Outcome(int(outcome_E[0]))
        elif self._tick.health_E[0] <= 0:
            self.outcome = Outcome.DEATH
        if self.outcome == Outcome.RUNNING and self.ticks >= self.plan.max_ticks:
            self.outcome = Outcome.TIME_LIMIT

    def _observation(self) -> Observation:
        tick = self._tick
        tasks: Sequence[TaskSpec] = () if self.plan.task is None else (self.plan.task,)
        return Observation(
            image_EHWC=tick.image_EHWC,
            first_E=np.array([self._is_first]),
            goals=[self.goal],
            tasks=list(tasks),
            target_E7=tick.target_E7,
        )

    def _note_place(self) -> None:
        x, y, z = (float(value) for value in self._tick.pose_E5[0, :3])
        self.trace.places.append((x, y, z))
