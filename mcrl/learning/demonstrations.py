"""Recording an expert: its labels stay clean whoever acts, itself, chance or a learner. T steps, E envs, A factors."""

from collections.abc import Callable
from typing import Protocol

import numpy as np

from mcrl.dataflow.contracts import LockstepEnv
from mcrl.learning.batch import split_memory
from mcrl.rollout.fragment import Fragment
from mcrl.rollout.recorder import FragmentRecorder
from policies import action_codec
from policies.agent import PolicyAgent
from policies.device import to_numpy
from policies.interface import Agent, Policy
from task_synthesis.playing.task_env import Observation
from worlds.types import BUTTON_INDEX, ActionBatch

# What a random action presses: one of these sets. Mining, items and the inventory are left alone.
_RANDOM_MOVES: tuple[tuple[str, ...], ...] = ((), ("forward",), ("forward", "jump"), ("back",), ("left",), ("right",))

OnProgress = Callable[[int], None]
# From what is seen and what the expert would do, int64 [E, A], to what is done, int64 [E, A].
_Choice = Callable[[Observation, np.ndarray], np.ndarray]


class Teacher(Agent, Protocol):
    """An expert that can watch somebody else act."""

    def note_actions(self, actions: ActionBatch) -> None:
        """Hear what was carried out instead of its last actions, so that its next ones answer to that."""
        ...


def collect_demonstrations(
    env: LockstepEnv,
    expert: Agent,
    policy: Policy,
    *,
    num_steps: int,
    fragment_steps: int,
    noise: float,
    seed: int,
    on_progress: OnProgress | None = None,
) -> list[Fragment]:
    """Let the expert play at least `num_steps` decisions and return them as fragments.

    Each decision is replaced by a random move with chance `noise`, so that the states include those an imperfect
    learner gets into; `expert_action_TA` holds what the expert would have done. `policy` says what an empty memory
    is: every fragment starts with one. Log-probabilities and values are zeros: no policy acted. The expert is not told
    of the random moves, which are few and seldom in a row; `collect_corrections` tells it what the learner does.
    """
    rng = np.random.default_rng(seed)

    def choose(observation: Observation, expert_action_EA: np.ndarray) -> np.ndarray:
        is_random_E = rng.random(env.num_envs) < noise
        random_EA = action_codec.encode(random_moves(env.num_envs, rng))
        return np.where(is_random_E[:, None], random_EA, expert_action_EA)

    return _record(env, expert, policy, choose, num_steps, fragment_steps, on_progress)


def collect_corrections(
    env: LockstepEnv,
    expert: Teacher,
    learner: PolicyAgent,
    *,
    expert_share: float,
    num_steps: int,
    fragment_steps: int,
    seed: int,
    on_progress: OnProgress | None = None,
) -> list[Fragment]:
    """Let the learner play at least `num_steps` decisions, each labelled with what the expert would do in its place.

    These are the trajectories of DAgger (Ross et al. 2011, algorithm 3.1): pi_i = beta_i pi* + (1 - beta_i) pi_hat_i,
    drawn anew at every decision, with beta_i = `expert_share`. `learner` is fresh, made for this env. Its memory and
    the expert's plan follow what was carried out. Fragments are as those of `collect_demonstrations`.
    """
    rng = np.random.default_rng(seed)

    def choose(observation: Observation, expert_action_EA: np.ndarray) -> np.ndarray:
        learner_action_EA = to_numpy(learner.step(observation).action_EA)[0]
        is_expert_E = rng.random(env.num_envs) < expert_share
        action_EA = np.where(is_expert_E[:, None], expert_action_EA, learner_action_EA)
        learner.note_action(action_EA)
        expert.note_actions(action_codec.decode(action_EA))
        return action_EA

    with learner.casts_kept():
        return _record(env, expert, learner.policy, choose, num_steps, fragment_steps, on_progress)


def _record(
    env: LockstepEnv,
    expert: Agent,
    policy: Policy,
    choose: _Choice,
    num_steps: int,
    fragment_steps: int,
    on_progress: OnProgress | None,
) -> list[Fragment]:
    num_envs = env.num_envs
    empty_memory = {name: to_numpy(tensor)[0] for name, tensor in policy.initial_memory(num_envs).items()}
    empty_memories = split_memory(empty_memory, num_envs)
    observation = env.reset()
    previous_action_EA = np.zeros((num_envs, action_codec.NUM_FACTORS), np.int64)
    zeros_E = np.zeros(num_envs, np.float32)
    fragments: list[Fragment] = []
    sequence = 0
    while len(fragments) * fragment_steps < num_steps:
        recorder = FragmentRecorder(num_envs, fragment_steps)
        for _ in range(fragment_steps):
            recorder.see(observation, previous_action_EA)
            expert_action_EA = action_codec.encode(expert.act(observation))
            action_EA = choose(observation, expert_action_EA)
            recorder.act(action_EA, log_prob_E=zeros_E, value_E=zeros_E, expert_action_EA=expert_action_EA)
            transition = env.step(action_codec.decode(action_EA))
            recorder.result(transition, zeros_E)
            previous_action_EA, observation = action_EA, transition.observation
        fragments += recorder.cut(empty_memories, version=0, worker_id=0, sequence=sequence)
        sequence += 1
        if on_progress is not None:
            on_progress(len(fragments) * fragment_steps)
    return fragments


def random_moves(num_envs: int, rng: np.random.Generator) -> ActionBatch:
    """Return a random step and a random turn for every env."""
    actions = ActionBatch.noop(num_envs)
    for env, move in enumerate(rng.integers(len(_RANDOM_MOVES), size=num_envs)):
        for button in _RANDOM_MOVES[move]:
            actions.buttons_EB[env, BUTTON_INDEX[button]] = True
    turn_deg_K = action_codec.CAMERA_TURNS_DEG
    actions.camera_deg_E2[:] = turn_deg_K[rng.integers(len(turn_deg_K), size=(num_envs, 2))]
    return actions
