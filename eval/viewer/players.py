"""Who can play in the viewer: a policy, the expert, chance, nobody, a person at the keys, or a recording."""

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import torch

from eval.episodes.action_archive import EpisodeActions
from eval.episodes.records import JudgedEpisode
from eval.viewer.shared import LoadedPolicy, Shared
from mcrl.config import EnvConfig
from policies import action_codec
from policies.agent import PolicyAgent
from policies.decoding import AS_TRAINED, Decoding
from policies.expert import ExpertAgent
from policies.scripted import NoopAgent, RandomAgent
from policies.shipped import shipped_names
from task_synthesis.playing.task_env import Observation, TaskEnv
from task_synthesis.task import TaskSpec
from task_synthesis.views.goal_forms import GoalForm
from worlds.backend import EnvBackend
from worlds.types import ActionBatch

EXPERT, RANDOM, NOOP, HUMAN = "expert", "random", "noop", "human"
RECORDING = "recording"
_SCRIPTED = (EXPERT, RANDOM, NOOP, HUMAN)
_PLAIN_PX = 128  # of the agent view where no policy asks for another


@dataclass(frozen=True, slots=True, eq=False)
class Belief:
    """What a policy makes of the present view."""

    value: float
    """Expected return from here on."""
    visibility: float
    """Probability that the target is in view, 0 .. 1."""
    centre: tuple[float, float]
    """x, y of the target in the view, 0 .. 1 from the upper left corner; means little where it is not in view."""
    box: tuple[float, float, float, float]
    """left, top, right, bottom, likewise."""


class Player(Protocol):
    """Chooses what the agent does, decision by decision."""

    belief: Belief | None
    """Of the last observation; None where the player has none."""

    def act(self, observation: Observation) -> ActionBatch:
        """Choose for this observation. Called once a decision, also while a person plays instead."""
        ...

    def note(self, actions: ActionBatch) -> ActionBatch:
        """Hear what a person wants to do instead of the last choice; return what is carried out."""
        ...

    def heed_goal(self, observation: Observation) -> None:
        """Hear that the goal is another one, in the middle of an episode."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Casting:
    """Who plays, chosen but not begun."""

    name: str
    """"expert", "random", "noop", "human", "recording of ...", or what names a policy."""
    decoding: Decoding = AS_TRAINED
    """Of a policy."""
    loaded: LoadedPolicy | None = field(default=None, compare=False)
    recording: EpisodeActions | None = field(default=None, compare=False)
    recorded: JudgedEpisode | None = field(default=None, compare=False)
    """How the recording ended when it was made."""

    @property
    def image_px(self) -> int:
        """Return the side of the picture that the player sees."""
        return _PLAIN_PX if self.loaded is None else self.loaded.config.env.image_px

    @property
    def ticks_per_decision(self) -> int:
        """Return how long it holds an action."""
        if self.recording is not None:
            return self.recording.ticks_per_decision
        if self.name == HUMAN:
            return 1
        return (EnvConfig() if self.loaded is None else self.loaded.config.env).action_repeat_ticks

    @property
    def goal_form(self) -> GoalForm:
        """Return how the goal is shown to the player."""
        return "cross_view" if self.loaded is None else self.loaded.config.env.goal_form

    def can_hand_to(self, other: "Casting") -> bool:
        """Tell whether a running episode can go from this player to the other."""
        alike = ("image_px", "goal_form", "ticks_per_decision")
        return all(getattr(self, what) == getattr(other, what) for what in alike)

    def player(self, engine: EnvBackend, *, seed: int, has_task: bool) -> Player:
        """Return the player, ready for the first observation. ValueError: it cannot play this."""
        if self.recording is not None:
            return _Recorded(self.recording)
        if self.loaded is not None:
            return _PolicyPlayer(self.loaded, self.decoding, seed)
        if self.name == EXPERT:
            if not has_task:
                raise ValueError(
                    "player: the expert reads the world and needs a target in it; mark one, or choose a policy"
                )
            return _ExpertPlayer(engine, self.ticks_per_decision)
        return _Scripted(RandomAgent(1, seed).act if self.name == RANDOM else NoopAgent(1).act)


def player_names() -> list[str]:
    """Return who can be chosen by name, the shipped policies first; a checkpoint's folder is a name too."""
    return [*shipped_names(), *_SCRIPTED]


def cast(name: str, shared: Shared, *, decoding: Decoding = AS_TRAINED) -> Casting:
    """Return who is called `name`. ValueError: nobody is, or its checkpoint cannot be read."""
    if name in _SCRIPTED:
        for what in decoding.changes():
            raise ValueError(f"player: {what} is for policies, {name} is none; leave it out")
        return Casting(name=name)
    return Casting(name=name, decoding=decoding, loaded=shared.policy(name))


class _PolicyPlayer:
    """A policy; it watches while a person plays, so that it goes on with the right memory."""

    def __init__(self, loaded: LoadedPolicy, decoding: Decoding, seed: int) -> None:
        self.belief: Belief | None = None
        self._agent = PolicyAgent(loaded.policy, 1, seed=seed, precision=loaded.config.precision, decoding=decoding)

    def act(self, observation: Observation) -> ActionBatch:
        auxiliary_7 = self._agent.predictions(observation)[0]
        step = self._agent.step(observation)
        visibility = float(torch.tensor(auxiliary_7[0]).sigmoid())
        x, y, left, top, right, bottom = (float(value) for value in auxiliary_7[1:])
        self.belief = Belief(float(step.value_E[0]), visibility, (x, y), (left, top, right, bottom))
        return action_codec.decode(step.action_EA.cpu().numpy())

    def note(self, actions: ActionBatch) -> ActionBatch:
        # Rounded to what the policy could have chosen itself, so that what it remembers is what was done.
        action_EA = action_codec.encode(actions)
        self._agent.note_action(action_EA)
        return action_codec.decode(action_EA)

    def heed_goal(self, observation: Observation) -> None:
        self._agent.refresh_goals(observation)


class _ExpertPlayer:
    """The expert, which plans anew where it finds itself when the goal changes."""

    belief: Belief | None = None

    def __init__(self, engine: EnvBackend, ticks_per_decision: int) -> None:
        # It asks its env for the engine and the length of a decision; its tasks come with the observations.
        self._env = TaskEnv(engine, _no_task, action_repeat=ticks_per_decision)
        self._expert = ExpertAgent(self._env)
        self._is_fresh = True

    def act(self, observation: Observation) -> ActionBatch:
        if self._is_fresh:
            observation = dataclasses.replace(observation, first_E=np.ones(1, bool))
            self._is_fresh = False
        return self._expert.act(observation)

    def note(self, actions: ActionBatch) -> ActionBatch:
        self._expert.note_actions(actions)
        return actions

    def heed_goal(self, observation: Observation) -> None:
        self._expert, self._is_fresh = ExpertAgent(self._env), True


def _no_task(env: int) -> TaskSpec:
    raise AssertionError("this env only stands for its engine and is never reset")


class _Scripted:
    """A player that looks at nothing."""

    belief: Belief | None = None

    def __init__(self, act: Callable[[Observation], ActionBatch]) -> None:
        self.act = act

    def note(self, actions: ActionBatch) -> ActionBatch:
        return actions

    def heed_goal(self, observation: Observation) -> None:
        pass


class _Recorded:
    """What was once done, again; nothing where the recording ends."""

    belief: Belief | None = None

    def __init__(self, recording: EpisodeActions) -> None:
        self._recording = recording
        self._next = 0

    def act(self, observation: Observation) -> ActionBatch:
        actions = ActionBatch.noop(1)
        if self._next < len(self._recording.buttons_DB):
            actions.buttons_EB[0] = self._recording.buttons_DB[self._next]
            actions.camera_deg_E2[0] = self._recording.camera_deg_D2[self._next]
        self._next += 1
        return actions

    def note(self, actions: ActionBatch) -> ActionBatch:
        return actions

    def heed_goal(self, observation: Observation) -> None:
        pass
