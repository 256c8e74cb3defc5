"""Claims about learning to look closely. P pairs, S scenes, V views, N objects."""

import dataclasses
from dataclasses import replace

import numpy as np
import pytest
import torch

from mcrl.config import ImitationConfig
from mcrl.learning.glimpse_pairs import NEAR_BLOCKS, GlimpsePairs, astray, cut, wanted_correction
from mcrl.learning.imitation import clone
from policies import action_codec
from policies.cross_view import CrossViewPolicy
from policies.extents import corrected, correction_to
from policies.patches import patches
from policies.presets import build_policy, tiny
from task_synthesis.views.sightings import Sightings, photograph
from tests.mcrl.fragments import make_fragment
from tests.task_synthesis.fixtures import some_tasks


@pytest.fixture(scope="module")
def sightings() -> Sightings:
    return photograph(some_tasks()[:16], image_px=32, seed=0, distance_blocks=NEAR_BLOCKS)


def squares() -> Sightings:
    """Scenes of a red and a green square of 6 to 10 pixels in black, a goal picture of each."""
    rng, num_scenes, num_views = np.random.default_rng(0), 8, 4
    view_SVHWC = np.zeros((num_scenes, num_views, 32, 32, 3), np.uint8)
    box_SVN5 = np.zeros((num_scenes, num_views, 2, 5), np.float32)
    goal_GHWC = np.zeros((2 * num_scenes, 32, 32, 3), np.uint8)
    for scene, view, channel in np.ndindex(num_scenes, num_views, 2):
        side, left, top = rng.integers(6, 11), 16 * channel + rng.integers(6), rng.integers(22)
        view_SVHWC[scene, view, top : top + side, left : left + side, channel] = 255
        box = np.array([left, top, left + side, top + side]) / 32
        box_SVN5[scene, view, channel] = (side**2 / 32**2, *box)
    goal_GHWC[::2, 12:20, 12:20, 0] = goal_GHWC[1::2, 12:20, 12:20, 1] = 255
    return Sightings(
        goal_image_GHWC=goal_GHWC,
        goal_mask_GHW=goal_GHWC.any(3),
        goal_interaction_G=np.zeros(2 * num_scenes, np.int64),
        goal_scene_G=np.arange(num_scenes).repeat(2),
        goal_object_G=np.tile([0, 1], num_scenes),
        view_image_SVHWC=view_SVHWC,
        box_SVN5=box_SVN5,
        is_same_kind_SN=np.ones((num_scenes, 2), bool),
    )


def policy_with_glimpses() -> CrossViewPolicy:
    return build_policy(replace(tiny(), num_glimpses=1), 0)


def test_half_of_the_pairs_are_a_goals_own_and_all_are_of_its_kind_and_in_view(sightings):
    pairs = GlimpsePairs(sightings, 64)
    row_P = pairs.draw(torch.Generator().manual_seed(0)).pair_P.numpy()
    goal_P, view_P, object_P = pairs._goal_A[row_P], pairs._view_A[row_P], pairs._object_A[row_P]
    scene_P = sightings.goal_scene_G[goal_P]
    assert (object_P == sightings.goal_object_G[goal_P]).sum() == 32
    assert sightings.is_same_kind_SN[scene_P, object_P].all()
    assert (sightings.box_SVN5[scene_P, view_P, object_P, 0] >= 24 / 64**2).all()
    assert (sightings.is_same_kind_SN[scene_P].sum(1) > 1).all()


def test_the_same_generator_draws_the_same_batches(sightings):
    def drawn() -> list[torch.Tensor]:
        batch = GlimpsePairs(sightings, 8).draw(torch.Generator().manual_seed(3))
        return [getattr(batch, field.name) for field in dataclasses.fields(batch)]

    assert all(torch.equal(one, other) for one, other in zip(drawn(), drawn(), strict=True))


def test_scenes_without_twins_are_refused(sightings):
    lone = dataclasses.replace(sightings, is_same_kind_SN=np.zeros_like(sightings.is_same_kind_SN))
    with pytest.raises(ValueError, match=r"raise tasks\.num_same_kind"):
        GlimpsePairs(lone, 8)


def test_what_is_learned_is_to_tell_targets_from_twins_and_where_things_are():
    policy, pairs = policy_with_glimpses(), GlimpsePairs(squares(), 32)
    optimizer = torch.optim.Adam(policy.parameters(), lr=2e-3)
    generator = torch.Generator().manual_seed(0)
    asked = GlimpsePairs(squares(), 128).draw(torch.Generator().manual_seed(1))
    before = pairs.loss(policy, asked, "fp32")[1]
    for _ in range(60):
        loss, parts = pairs.loss(policy, pairs.draw(generator), "fp32")
        assert loss.item() == pytest.approx(sum(parts.values()), rel=1e-5)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    after = pairs.loss(policy, asked, "fp32")[1]
    assert after["verdict_loss"] < 0.2 * before["verdict_loss"]
    assert after["place_loss"] < 0.6 * before["place_loss"]


def test_what_is_wanted_of_a_mirrored_patch_is_mirrored():
    extent_N3, guess_N3 = torch.rand(6, 3) * 0.5 + 0.2, torch.rand(6, 3) * 0.5 + 0.2
    is_mirrored_N = torch.tensor([True, False] * 3)
    wanted_N3 = wanted_correction(guess_N3, extent_N3, is_mirrored_N)
    plain = corrected(guess_N3[1::2], wanted_N3[1::2])
    assert torch.allclose(plain, extent_N3[1::2])
    # In a mirror the guess and what is there lie at 1 - x.
    mirror = torch.tensor([1.0, 0.0, 0.0]), torch.tensor([-1.0, 1.0, 1.0])
    mirrored_guess, mirrored_extent = (mirror[0] + mirror[1] * one_N3[::2] for one_N3 in (guess_N3, extent_N3))
    assert torch.allclose(corrected(mirrored_guess, wanted_N3[::2]), mirrored_extent)


def test_a_mirrored_patch_is_that_of_the_mirrored_picture():
    image_PHWC = torch.randint(0, 256, (2, 48, 48, 3), dtype=torch.uint8, generator=torch.Generator().manual_seed(0))
    extent_P3 = torch.tensor([[0.3, 0.6, 0.2], [0.7, 0.4, 0.3]])
    mirrored_P3 = torch.cat([1 - extent_P3[:, :1], extent_P3[:, 1:]], 1)
    patch_PCPP = cut(image_PHWC, extent_P3, torch.tensor([True, False]))
    assert torch.allclose(patch_PCPP[0], patches(image_PHWC.flip(2), mirrored_P3)[0], atol=1e-5)
    assert torch.equal(patch_PCPP[1], patches(image_PHWC, extent_P3)[1])


def test_guesses_go_astray_as_far_as_they_are_to(sightings):
    extent_P3 = torch.tensor([[0.5, 0.5, 0.2]]).repeat(20_000, 1)
    noise_P3 = torch.randn(20_000, 3, generator=torch.Generator().manual_seed(0))
    off_P3 = correction_to(extent_P3, astray(extent_P3, noise_P3, torch.tensor([0.3, 0.4])))
    assert off_P3.std(0).tolist() == pytest.approx([0.3, 0.3, 0.4], rel=0.03)
    share = GlimpsePairs(sightings, 4000).draw(torch.Generator().manual_seed(0)).is_far_off_P.float().mean()
    assert share.item() == pytest.approx(0.6, abs=0.03)


def test_pairs_teach_glimpses_and_nothing_else_of_a_policy(sightings):
    policy, pairs = policy_with_glimpses(), GlimpsePairs(sightings, 8)
    pairs.loss(policy, pairs.draw(torch.Generator().manual_seed(0)), "fp32")[0].backward()
    taught = {name for name, parameter in policy.named_parameters() if parameter.grad is not None}
    assert taught == {name for name, _ in policy.named_parameters() if name.startswith("closer_look.glimpses.")}


def test_cloning_teaches_them_beside_the_demonstrations(sightings):
    policy = policy_with_glimpses()
    before = {name: parameter.detach().clone() for name, parameter in policy.named_parameters()}
    memory = {name: tensor[0].numpy() for name, tensor in policy.initial_memory(1).items()}
    actions_TA = np.tile(np.array(action_codec.REST_ACTION, np.uint8), (2, 1))
    shown = make_fragment(2, 32, action_codec.NUM_FACTORS, memory=memory, expert_action_TA=actions_TA)
    config = ImitationConfig(num_updates=2, sequences_per_batch=1, pair_goals=8)
    clone(policy, [shown], [shown], config, precision="fp32", seed=0, pairs=GlimpsePairs(sightings, 8))
    changed = {name for name, parameter in policy.named_parameters() if not torch.equal(parameter, before[name])}
    assert {"closer_look.glimpses.verdict.weight", "closer_look.glimpses.off.weight", "reduce.weight"} <= changed
