"""Claims about a fragment as in a mirror: what is seen, what is done and where the target is go together."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from mcrl.rollout.mirror import mirrored
from policies.action_codec import NUM_FACTORS, decode, encode
from task_synthesis.goal import CrossViewGoal
from task_synthesis.interaction import Interaction
from tests.mcrl.fragments import make_fragment
from worlds.adapters.target_label import target_label
from worlds.types import BUTTON_INDEX, BUTTONS, ActionBatch

TARGET = 7
LEFT, RIGHT = BUTTON_INDEX["left"], BUTTON_INDEX["right"]


def fragment_of(rng: np.random.Generator, num_steps: int = 3, px: int = 8, **changes):
    action_TA = encode(keys(rng, num_steps)).astype(np.uint8)
    goal = CrossViewGoal(rng.integers(0, 256, (px, px, 3), np.uint8), rng.random((px, px)) < 0.3, Interaction.BREAK)
    fragment = make_fragment(num_steps=num_steps, num_factors=NUM_FACTORS, image_px=px)
    return dataclasses.replace(
        fragment,
        image_THWC=rng.integers(0, 256, (num_steps, px, px, 3), np.uint8),
        goals=(goal,),
        action_TA=action_TA,
        previous_action_TA=np.roll(action_TA, 1, axis=0),
        expert_action_TA=action_TA[::-1].copy(),
        **changes,
    )


def keys(rng: np.random.Generator, num_steps: int) -> ActionBatch:
    buttons_TB = rng.random((num_steps, len(BUTTONS))) < 0.2
    return ActionBatch(buttons_EB=buttons_TB, camera_deg_E2=rng.uniform(-15, 15, (num_steps, 2)).astype(np.float32))


def turned_round(actions: ActionBatch) -> ActionBatch:
    """Return the keys of a mirrored player."""
    buttons_TB, camera_deg_T2 = actions.buttons_EB.copy(), actions.camera_deg_E2.copy()
    buttons_TB[:, [LEFT, RIGHT]] = buttons_TB[:, [RIGHT, LEFT]]
    camera_deg_T2[:, 1] *= -1
    return ActionBatch(buttons_EB=buttons_TB, camera_deg_E2=camera_deg_T2)


@given(st.integers(0, 2**32 - 1))
def test_the_mirrored_action_presses_the_keys_of_a_mirrored_player(seed):
    fragment = fragment_of(np.random.default_rng(seed))
    other = mirrored(fragment)
    for name in ("action_TA", "previous_action_TA", "expert_action_TA"):
        wanted, seen = turned_round(decode(getattr(fragment, name))), decode(getattr(other, name))
        np.testing.assert_array_equal(seen.buttons_EB, wanted.buttons_EB)
        np.testing.assert_allclose(seen.camera_deg_E2, wanted.camera_deg_E2, atol=1e-5)


@given(hnp.arrays(np.int32, (9, 8, 8), elements=st.sampled_from([0, 3, TARGET])))
def test_the_labels_are_those_of_the_mirrored_view(instance_THW):
    def labels(views_THW: np.ndarray) -> np.ndarray:
        return np.stack([target_label(view_HW, TARGET) for view_HW in views_THW])

    rng = np.random.default_rng(0)
    instance_THW = np.concatenate([instance_THW, np.zeros((1, 8, 8), np.int32)])  # nothing to be seen
    fragment = fragment_of(rng, len(instance_THW), target_T7=labels(instance_THW))
    wanted_T7 = labels(np.ascontiguousarray(instance_THW[:, :, ::-1]))
    np.testing.assert_allclose(mirrored(fragment).target_T7, wanted_T7, atol=1e-6)


def test_twice_mirrored_is_what_it_was_and_the_original_is_not_touched():
    fragment = fragment_of(np.random.default_rng(0))
    before = {name: getattr(fragment, name).copy() for name in ("image_THWC", "action_TA", "target_T7")}
    twice = mirrored(mirrored(fragment))
    for name, array in before.items():
        np.testing.assert_array_equal(getattr(twice, name), array)
        np.testing.assert_array_equal(getattr(fragment, name), array)
    np.testing.assert_array_equal(twice.goals[0].image_HWC, fragment.goals[0].image_HWC)
    np.testing.assert_array_equal(mirrored(fragment).goals[0].mask_HW, fragment.goals[0].mask_HW[:, ::-1])


def test_views_that_a_frozen_part_has_eaten_cannot_be_mirrored():
    fragment = make_fragment(num_factors=NUM_FACTORS, image_THWC=np.zeros((4, 16), np.float16))
    with pytest.raises(ValueError, match=r"imitation\.mirrors"):
        mirrored(fragment)
