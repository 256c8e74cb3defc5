import numpy as np
import torch

from mcrl.learning.batch import collate, successors
from tests.mcrl.fragments import make_fragment, make_goal


def two_fragments():
    one = make_fragment(num_steps=3, goals=(make_goal(1), make_goal(2)), goal_index_T=np.array([0, 1, 1]))
    two = make_fragment(num_steps=3, goals=(make_goal(3),), goal_index_T=np.array([0, 0, 0]))
    return [one, two]


def goal_values(batch):
    return batch.goals.image_GHWC[batch.goal_index_BT][..., 0, 0, 0]


def test_every_step_finds_its_own_goal_after_the_goals_are_joined():
    assert goal_values(collate(two_fragments())).tolist() == [[1, 2, 2], [3, 3, 3]]


def test_a_selection_keeps_its_goals_and_drops_the_others():
    part = collate(two_fragments()).select(torch.tensor([1]))
    assert goal_values(part).tolist() == [[3, 3, 3]]
    assert len(part.goals.image_GHWC) == 1
    assert part.memory["h"].shape == (1, 3)


def test_a_selection_in_another_order_is_the_same_rows():
    batch = collate(two_fragments())
    assert goal_values(batch.select(torch.tensor([1, 0]))).tolist() == [[3, 3, 3], [1, 2, 2]]


def test_labels_that_one_fragment_lacks_are_absent_from_the_batch():
    labelled = make_fragment(expert_action_TA=np.zeros((4, 2), np.uint8))
    assert collate([labelled, labelled]).expert_action_BTA is not None
    assert collate([labelled, make_fragment()]).expert_action_BTA is None


def test_read_only_arrays_as_ray_hands_them_over_can_be_collated():
    fragment = make_fragment()
    fragment.image_THWC.flags.writeable = False
    batch = collate([fragment])
    batch.image_BTHWC.zero_()


def test_successors_are_the_next_fragments_of_the_same_env():
    fragments = [
        make_fragment(env_index=0, sequence=1),
        make_fragment(env_index=0, sequence=0),
        make_fragment(env_index=1, sequence=1),
        make_fragment(env_index=1, sequence=3),
    ]
    assert successors(fragments) == [None, 0, None, None]


def test_nothing_continues_into_a_fragment_whose_first_step_is_invalid():
    broken = make_fragment(sequence=1, is_valid_T=np.array([False, True, True, True]))
    assert successors([make_fragment(sequence=0), broken]) == [None, None]


def test_nothing_continues_into_a_fresh_episode_under_the_next_number():
    """As from a worker that took over for one that died in the middle of an episode."""
    taken_over = make_fragment(sequence=1, first_T=np.array([True, False, False, False]))
    assert successors([make_fragment(sequence=0), taken_over]) == [None, None]


def test_nothing_continues_into_a_fragment_after_a_gap():
    assert successors([make_fragment(sequence=0), make_fragment(sequence=1, has_gap=True)]) == [None, None]


def test_fragments_of_two_workers_alike_in_env_and_sequence_are_told_apart():
    fragments = [make_fragment(worker_id=worker, sequence=sequence) for worker in (0, 1) for sequence in (0, 1)]
    assert successors(fragments) == [1, None, 3, None]
