"""Claims about learning to see by pairs of pictures. X views, N objects, K cells."""

import math

import numpy as np
import pytest
import torch

from mcrl.config import ImitationConfig
from mcrl.learning.forward import CELL_LOSS_COEF
from mcrl.learning.imitation import clone
from mcrl.learning.pairs import PairDraws, find_loss, twin_loss
from policies import action_codec
from policies.presets import build_policy, tiny
from task_synthesis.views.sightings import Sightings, photograph
from tests.mcrl.fragments import make_fragment
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
        (boxes(LEFT, (3 / 64**2, *RIGHT[1:])), [[True, True]], 0),  # too little of its rival is in view
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


def test_the_loss_is_that_of_each_goal_in_each_view_of_its_scene_as_an_episode_begins(sightings):
    """The slow twin: one view at a time."""
    policy = build_policy(tiny(), 3).eval()
    goal_P = np.flatnonzero(sightings.goal_scene_G != np.arange(len(sightings.goal_scene_G)))[:3]
    logits, boxes_N5, is_same, objects = [], [], [], []
    for goal in goal_P:
        scene = sightings.goal_scene_G[goal]
        encoded = policy.encode_goals(
            torch.from_numpy(sightings.goal_image_GHWC[goal : goal + 1]),
            torch.from_numpy(sightings.goal_mask_GHW[goal : goal + 1]),
            torch.from_numpy(sightings.goal_interaction_G[goal : goal + 1]),
        )
        for view_HWC, box_N5 in zip(sightings.view_image_SVHWC[scene], sightings.box_SVN5[scene], strict=True):
            seen = policy.evaluate(
                torch.from_numpy(view_HWC)[None, None],
                encoded,
                torch.zeros(1, 1, dtype=torch.int64),
                torch.ones(1, 1, dtype=torch.bool),
                torch.ones(1, 1, action_codec.NUM_FACTORS, dtype=torch.int64),  # of no account in a first step
                policy.initial_memory(1),
            )
            logits.append(seen.cell_logit_BTK[0, 0])
            boxes_N5.append(torch.from_numpy(box_N5))
            is_same.append(torch.from_numpy(sightings.is_same_kind_SN[scene]))
            objects.append(int(sightings.goal_object_G[goal]))
    logit, box, same, object_X = torch.stack(logits), torch.stack(boxes_N5), torch.stack(is_same), torch.tensor(objects)
    find = find_loss(logit, box[torch.arange(len(box)), object_X]).item()
    twin = twin_loss(logit, box, same, object_X).item()
    loss, parts = PairDraws(sightings, 3).loss(policy, goal_P, "fp32")
    assert twin > 0
    assert parts == pytest.approx({"find_loss": find, "twin_loss": twin}, rel=1e-4)
    assert loss.item() == pytest.approx(CELL_LOSS_COEF * find + twin, rel=1e-4)


def test_pairs_teach_as_much_as_their_coefficient_says(sightings):
    def weights(**options):
        policy = build_policy(tiny(), 0)
        memory = {name: tensor[0].numpy() for name, tensor in policy.initial_memory(1).items()}
        actions_TA = np.tile(np.array(action_codec.REST_ACTION, np.uint8), (2, 1))
        shown = make_fragment(2, 32, action_codec.NUM_FACTORS, memory=memory, expert_action_TA=actions_TA)
        pairs = PairDraws(sightings, 1) if options else None
        config = ImitationConfig(num_updates=1, sequences_per_batch=1, **options)
        clone(policy, [shown], [shown], config, precision="fp32", seed=0, pairs=pairs)
        return torch.cat([parameter.detach().flatten() for parameter in policy.parameters()])

    none, little, much = weights(), weights(pair_coef=0.1), weights(pair_coef=1.0)
    assert torch.equal(weights(pair_coef=0.0), none)
    assert not torch.equal(little, none)
    assert not torch.equal(little, much)


def test_no_more_goals_are_drawn_than_there_are(sightings):
    assert len(PairDraws(sightings, 1000).draw(torch.Generator())) == len(sightings.goal_scene_G)
