"""Claims about learning to see by pairs of pictures. X views, N objects, K cells."""

import math

import numpy as np
import pytest
import torch

from mcrl.learning.pairs import PairDraws, find_loss, twin_loss
from policies.presets import build_policy, tiny
from task_synthesis.views.sightings import Sightings, photograph
from tests.task_synthesis.fixtures import some_tasks


def boxes(*per_object: tuple[float, float, float, float, float]) -> torch.Tensor:
    return torch.tensor([per_object])


LEFT, RIGHT = (0.02, 0.0, 0.0, 0.4, 0.4), (0.02, 0.6, 0.6, 1.0, 1.0)
UNSEEN = (0.0, 0.0, 0.0, 0.0, 0.0)


def test_the_twin_loss_is_the_cross_entropy_of_the_best_cells():
    # A grid of 2 x 2: the left object lies in cell 0, the right one in cell 3.
    cell_logit = torch.tensor([[1.0, 9.0, 9.0, -2.0]])
    same = torch.tensor([[True, True]])
    loss = twin_loss(cell_logit, boxes(LEFT, RIGHT), same, torch.tensor([0]))
    assert float(loss) == pytest.approx(math.log(1 + math.exp(-3.0)))
    other = twin_loss(cell_logit, boxes(LEFT, RIGHT), same, torch.tensor([1]))
    assert float(other) == pytest.approx(math.log(1 + math.exp(3.0)))


@pytest.mark.parametrize(
    ("box", "same", "sought"),
    [
        (boxes(LEFT, UNSEEN), [[True, True]], 0),  # its rival is not in view
        (boxes(UNSEEN, RIGHT), [[True, True]], 0),  # itself is not
        (boxes(LEFT, RIGHT), [[True, False]], 0),  # the other is of another kind
    ],
)
def test_without_a_choice_there_is_no_twin_loss_and_no_gradient(box, same, sought):
    cell_logit = torch.randn(1, 4, requires_grad=True)
    loss = twin_loss(cell_logit, box, torch.tensor(same), torch.tensor([sought]))
    loss.backward()
    assert loss.item() == 0
    assert not cell_logit.grad.any()


def test_views_without_a_choice_change_nothing_for_the_others():
    generator = torch.Generator().manual_seed(0)
    cell_logit = torch.randn(3, 4, generator=generator, requires_grad=True)
    box = torch.cat([boxes(LEFT, RIGHT), boxes(LEFT, UNSEEN), boxes(UNSEEN, UNSEEN)])
    same = torch.ones(3, 2, dtype=torch.bool)
    loss = twin_loss(cell_logit, box, same, torch.tensor([0, 0, 0]))
    alone = twin_loss(cell_logit[:1], box[:1], same[:1], torch.tensor([0]))
    assert loss.item() == pytest.approx(alone.item())
    loss.backward()
    assert torch.isfinite(cell_logit.grad).all()
    assert not cell_logit.grad[1:].any()


def test_the_find_loss_asks_every_cell():
    cell_logit = torch.tensor([[3.0, -1.0, 0.5, -2.0], [0.0, 0.0, 0.0, 0.0]])
    box = torch.tensor([LEFT, UNSEEN])
    wanted = torch.tensor([[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]])
    by_hand = -(wanted * cell_logit.sigmoid().log() + (1 - wanted) * (-cell_logit).sigmoid().log()).sum(1).mean()
    assert float(find_loss(cell_logit, box)) == pytest.approx(float(by_hand))


@pytest.fixture(scope="module")
def sightings() -> Sightings:
    return photograph(some_tasks()[:16], image_px=32, seed=0)


def test_what_is_learned_from_pairs_is_to_find_what_is_marked(sightings):
    policy, draws = build_policy(tiny(), 0), PairDraws(sightings, 8)
    generator = torch.Generator().manual_seed(0)
    optimizer = torch.optim.Adam(policy.parameters(), lr=3e-3)
    everything = np.arange(len(sightings.goal_scene_G))
    before = draws.loss(policy, everything, "fp32")[1]
    for _ in range(80):
        loss, _ = draws.loss(policy, draws.draw(generator), "fp32")
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    after = draws.loss(policy, everything, "fp32")[1]
    assert after["find_loss"] < 0.7 * before["find_loss"]
    assert after["twin_loss"] < before["twin_loss"]


def test_no_more_goals_are_drawn_than_there_are(sightings):
    assert len(PairDraws(sightings, 1000).draw(torch.Generator())) == len(sightings.goal_scene_G)
