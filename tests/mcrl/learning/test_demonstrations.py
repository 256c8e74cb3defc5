import numpy as np

from mcrl.learning.demonstrations import collect_demonstrations, random_moves
from policies import action_codec
from task_synthesis.playing.curriculum import ShuffledTasks
from task_synthesis.playing.task_env import Outcome
from tests.mcrl.corridor import CorridorEnv, CorridorExpert, make_task
from tests.mcrl.corridor_policy import CorridorPolicy
from worlds.types import BUTTONS


def collect(noise, num_steps=200, seed=0):
    source = ShuffledTasks([make_task(index) for index in range(4)], split="train", seed=0)
    return collect_demonstrations(
        CorridorEnv(source, 4),
        CorridorExpert(),
        CorridorPolicy(),
        num_steps=num_steps,
        fragment_steps=10,
        noise=noise,
        seed=seed,
    )


def test_without_noise_what_was_done_is_what_the_expert_says():
    fragments = collect(noise=0.0)
    assert all(np.array_equal(f.action_TA, f.expert_action_TA) for f in fragments)
    assert {int(o) for f in fragments for o in f.outcome_T} == {Outcome.RUNNING, Outcome.SUCCESS}


def test_with_noise_the_labels_stay_the_experts():
    fragments = collect(noise=0.5, num_steps=2000)
    done, labels = (np.concatenate([getattr(f, n) for f in fragments]) for n in ("action_TA", "expert_action_TA"))
    share = float((done != labels).any(1).mean())
    assert 0.35 < share < 0.55  # some random moves happen to be the expert's
    turns = labels[:, action_codec.FACTOR_INDEX["camera_meta"]]
    assert not turns.any()


def test_at_least_as_many_steps_as_wanted_come_and_every_fragment_starts_empty():
    fragments = collect(noise=0.2, num_steps=41)
    assert sum(f.num_steps for f in fragments) == 80
    assert all(not f.memory["h"].any() for f in fragments)
    assert [(f.sequence, f.env_index) for f in fragments] == [(number, env) for number in (0, 1) for env in range(4)]


def test_previous_actions_are_those_done_not_those_labelled():
    fragments = [f for f in collect(noise=0.5) if f.env_index == 0]
    done = np.concatenate([f.action_TA for f in fragments])
    previous = np.concatenate([f.previous_action_TA for f in fragments])
    assert np.array_equal(previous[1:], done[:-1])


def test_the_same_seed_gives_the_same_demonstrations():
    def actions(seed):
        return np.concatenate([f.action_TA for f in collect(noise=0.5, seed=seed)])

    assert np.array_equal(actions(0), actions(0))
    assert not np.array_equal(actions(0), actions(1))


def test_random_moves_never_touch_items_mining_or_the_inventory():
    buttons = random_moves(2000, np.random.default_rng(0)).buttons_EB.any(0)
    pressed = {name for name, is_pressed in zip(BUTTONS, buttons, strict=True) if is_pressed}
    assert pressed == {"forward", "back", "left", "right", "jump"}
