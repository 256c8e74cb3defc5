"""Claims about a closer look: what is looked at, and what of it reaches the policy. X views, K cells, C channels."""

from dataclasses import replace

import pytest
import torch

from policies import glimpses
from policies.action_codec import NUM_FACTORS
from policies.closer_look import CloserLook, extents_told
from policies.extents import corrected, correction_to, extents_of_boxes, extents_of_masks, squares_of
from policies.patches import patches
from policies.presets import PRESETS, build_policy, keen, tiny
from tests.policies.conformance import PolicyConformance, awaken

NUM_CELLS, CHANNELS, PX = 16, 8, 32


class TestWithGlimpses(PolicyConformance):
    def make(self):
        return awaken(build_policy(replace(tiny(), num_glimpses=2), seed=0))


def look(verdict: float = 0.0) -> CloserLook:
    """A closer look that finds every large thing likelier to be the target by so many log odds."""
    torch.manual_seed(0)
    made = CloserLook(2, CHANNELS, 12)
    torch.nn.init.constant_(made.glimpses.verdict.bias, verdict)
    return made


def views(num: int = 3) -> torch.Tensor:
    return torch.randint(0, 256, (num, PX, PX, 3), dtype=torch.uint8, generator=torch.Generator().manual_seed(1))


def test_what_has_learned_nothing_changes_no_cell():
    view_XHWC, closer = views(), look()
    goal_XE = closer.of_goals(view_XHWC, torch.ones(3, PX, PX, dtype=torch.bool))
    cell_logit_XK = torch.randn(3, NUM_CELLS)
    logit_XK, _, told_XK3 = closer(view_XHWC, goal_XE, torch.randn(3, NUM_CELLS, CHANNELS), cell_logit_XK)
    assert torch.equal(logit_XK, cell_logit_XK)
    assert torch.allclose(told_XK3.exp()[..., 2], torch.tensor(0.1), atol=1e-3)


def test_a_verdict_is_on_the_cells_of_what_was_looked_at_and_counts_once():
    view_XHWC, closer = views(1), look(verdict=2.0)
    closer.told.bias.data[2] = 0.0  # as large as the view: both places reach into every cell
    goal_XE = closer.of_goals(view_XHWC, torch.ones(1, PX, PX, dtype=torch.bool))
    cell_logit_XK = torch.zeros(1, NUM_CELLS)
    cell_logit_XK[0, [5, 15]] = torch.tensor([3.0, 2.0])
    logit_XK, _, _ = closer(view_XHWC, goal_XE, torch.zeros(1, NUM_CELLS, CHANNELS), cell_logit_XK)
    gained_K = (logit_XK - cell_logit_XK)[0]
    assert torch.allclose(gained_K[gained_K != 0], 2.0 * closer.trust)
    assert (gained_K != 0).sum() == NUM_CELLS
    closer.told.bias.data[2] = -1.9  # 0.15: the cells beside it, and no others
    logit_XK, _, _ = closer(view_XHWC, goal_XE, torch.zeros(1, NUM_CELLS, CHANNELS), cell_logit_XK)
    assert (logit_XK - cell_logit_XK)[0].nonzero().flatten().tolist() == [5, 15]


def test_what_is_compared_is_what_the_correction_found(monkeypatch):
    asked = []

    def asking(image_XHWC, extent_X3):
        asked.append(extent_X3)
        return patches(image_XHWC, extent_X3)

    monkeypatch.setattr(glimpses, "patches", asking)
    made = glimpses.Glimpses()
    made.off.bias.data = torch.tensor([0.5, -0.25, 0.1])
    guess_X3 = torch.tensor([[0.5, 0.4, 0.2], [0.3, 0.3, 0.3]])
    _, _, found_X3 = made(views(2), made.of_goals(patches(views(2), guess_X3)), guess_X3)
    wanted_X3 = corrected(guess_X3, torch.tensor([[0.5, -0.25, 0.1]]).expand(2, -1))
    assert torch.equal(asked[0], guess_X3)
    assert torch.allclose(asked[1], wanted_X3)
    assert torch.equal(found_X3, asked[1])


def test_a_verdict_is_at_most_so_sure():
    view_XHWC, closer = views(1), look(verdict=50.0)
    _, verdict_X, _ = closer.glimpses(view_XHWC, torch.zeros(1, 256), torch.tensor([[0.5, 0.5, 0.5]]))
    assert verdict_X.item() == 4.0


def test_a_cell_that_two_places_reach_into_has_the_verdict_on_the_better(monkeypatch):
    view_XHWC, closer = views(1), look()
    goal_XE = closer.of_goals(view_XHWC, torch.ones(1, PX, PX, dtype=torch.bool))
    found_Y3 = torch.tensor([[0.5, 0.5, 0.9], [0.5, 0.5, 0.9]])
    seen_YF = torch.zeros(2, glimpses.NUM_SEEN)
    monkeypatch.setattr(closer.glimpses, "forward", lambda *_: (seen_YF, torch.tensor([3.0, -1.0]), found_Y3))
    cell_logit_XK = torch.zeros(1, NUM_CELLS)
    cell_logit_XK[0, [5, 15]] = torch.tensor([3.0, 2.0])
    logit_XK, _, _ = closer(view_XHWC, goal_XE, torch.zeros(1, NUM_CELLS, CHANNELS), cell_logit_XK)
    assert torch.allclose(logit_XK - cell_logit_XK, 3.0 * closer.trust)


def test_what_is_seen_of_large_things_reaches_the_step():
    closer, other_XHWC = look(), views(2)[1:]
    closer.told.bias.data[2] = -1.0
    goal_XE = closer.of_goals(views(1), torch.ones(1, PX, PX, dtype=torch.bool))
    steps = [
        closer(view_XHWC, goal_XE, torch.zeros(1, NUM_CELLS, CHANNELS), torch.zeros(1, NUM_CELLS))[1]
        for view_XHWC in (views(1), other_XHWC)
    ]
    assert not torch.allclose(*steps, atol=1e-4)


def test_a_view_has_room_for_so_many_places_and_no_more():
    replace(tiny(), num_glimpses=4)  # of 4 x 4 cells
    with pytest.raises(ValueError, match=r"policy\.num_glimpses must be at most 4, for which a view has room, got 5"):
        replace(tiny(), num_glimpses=5)


def test_what_is_small_is_not_judged():
    view_XHWC, closer = views(1), look(verdict=2.0)
    closer.told.bias.data[2] = -3.0
    goal_XE = closer.of_goals(view_XHWC, torch.ones(1, PX, PX, dtype=torch.bool))
    logit_XK, step_XD, _ = closer(view_XHWC, goal_XE, torch.zeros(1, NUM_CELLS, CHANNELS), torch.zeros(1, NUM_CELLS))
    assert not logit_XK.any()
    assert torch.equal(step_XD[0], closer.to_step.bias)


def test_glimpses_get_no_gradient_from_the_policy():
    policy = build_policy(replace(tiny(), num_glimpses=1), 0)
    assert policy.closer_look is not None
    view_XHWC, closer = torch.zeros(2, policy.image_px, policy.image_px, 3, dtype=torch.uint8), policy.closer_look
    goals = policy.encode_goals(view_XHWC, torch.ones(view_XHWC.shape[:3], dtype=torch.bool), torch.zeros(2).long())
    first_BT, previous_BTA = torch.ones(2, 1, dtype=torch.bool), torch.zeros(2, 1, NUM_FACTORS, dtype=torch.int64)
    seen = policy.evaluate(
        view_XHWC.unsqueeze(1), goals, torch.arange(2).unsqueeze(1), first_BT, previous_BTA, policy.initial_memory(2)
    )
    assert seen.told_BTK3 is not None
    assert seen.cell_logit_BTK is not None
    (seen.value_BT.sum() + seen.cell_logit_BTK.sum() + seen.told_BTK3.sum()).backward()
    assert all(parameter.grad is None for parameter in closer.glimpses.parameters())
    assert closer.told.weight.grad is not None
    assert closer.trust.grad is not None


def test_a_correction_undoes_what_it_was_made_from():
    guess_X3, true_X3 = torch.rand(5, 3) + 0.1, torch.rand(5, 3) + 0.1
    assert torch.allclose(corrected(guess_X3, correction_to(guess_X3, true_X3)), true_X3)


def test_the_extent_of_a_mask_is_that_of_its_box():
    mask_GHW = torch.zeros(2, 8, 16, dtype=torch.bool)
    mask_GHW[0, 2:4, 4] = True
    mask_GHW[0, 3, 8] = True
    box_G4 = torch.tensor([[4 / 16, 2 / 8, 9 / 16, 4 / 8], [0.0, 0.0, 1.0, 1.0]])  # of nothing: the whole picture
    assert torch.equal(extents_of_masks(mask_GHW), extents_of_boxes(box_G4))
    assert torch.allclose(extents_of_boxes(squares_of(extents_of_boxes(box_G4))), extents_of_boxes(box_G4))


def test_cells_tell_extents_from_their_own_middle():
    told_XK3 = torch.zeros(1, 4, 3)
    told_XK3[0, 3] = torch.tensor([0.5, -1.0, -9.0])
    assert torch.allclose(extents_told(told_XK3, 4)[0, 0], torch.tensor([0.25, 0.25, 1.0]))
    assert torch.allclose(extents_told(told_XK3, 4)[0, 3, :2], torch.tensor([1.0, 0.25]))
    assert extents_told(told_XK3, 4)[0, 3, 2] == pytest.approx(torch.tensor(-4.0).exp().item())


def test_the_keener_preset_is_keen_with_glimpses():
    assert PRESETS["keener"]() == replace(keen(), num_glimpses=2)
