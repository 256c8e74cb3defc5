"""Learning to see: find in a view what is marked in a goal picture, among others of its kind.

P goals, V views of each scene, X = P V pairs, N objects, K cells.

Demonstrations show few goals many times over, mostly from where no other of the kind is in view; pairs of pictures show
many goals from all around. No memory and no action: a pair is the first step of an episode.
"""

from functools import partial

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from mcrl.learning.batch import GoalBatch
from mcrl.learning.forward import CELL_LOSS_COEF
from mcrl.learning.imitation import PairLoss
from mcrl.learning.losses import cell_loss
from policies import action_codec
from policies.cells import cells_of
from policies.device import device_of
from policies.interface import Policy
from policies.precision import Precision, autocast
from task_synthesis.views.sightings import Sightings

# A rival of fewer pixels decides nothing.
_LEAST_RIVAL_SHARE = 4 / 64**2


class PairDraws:
    """Draws goals with the views of their scenes."""

    def __init__(self, sightings: Sightings, num_goals: int) -> None:
        """Draw `num_goals` a time, fewer where there are no more."""
        self._sightings = sightings
        self._num_goals = min(num_goals, len(sightings.goal_scene_G))

    def draw(self, generator: torch.Generator) -> np.ndarray:
        """Return int64 [P], the goals of the next batch."""
        num_all = len(self._sightings.goal_scene_G)
        return torch.randint(num_all, (self._num_goals,), generator=generator).numpy()

    def loss(self, policy: Policy, goal_P: np.ndarray, precision: Precision) -> tuple[Tensor, dict[str, float]]:
        """Return how badly the marked objects are found in all views of their scenes, and the parts of it.

        `find_loss`: cross-entropy of every cell, as in `cell_loss`, of each view. `twin_loss`: where the object and
        another one of its kind are in view, cross-entropy of which of them has the highest logit in one of its cells.
        """
        sightings = self._sightings
        scene_P = sightings.goal_scene_G[goal_P]
        view_PVHWC = sightings.view_image_SVHWC[scene_P]
        num_goals, num_views = view_PVHWC.shape[:2]
        goals = GoalBatch(
            image_GHWC=torch.from_numpy(sightings.goal_image_GHWC[goal_P]),
            mask_GHW=torch.from_numpy(sightings.goal_mask_GHW[goal_P]),
            interaction_G=torch.from_numpy(sightings.goal_interaction_G[goal_P]),
        )
        cell_logit_XK = _find(policy, goals, torch.from_numpy(view_PVHWC).flatten(0, 1), num_views, precision).cpu()
        box_XN5 = torch.from_numpy(sightings.box_SVN5[scene_P]).flatten(0, 1)
        object_X = torch.from_numpy(sightings.goal_object_G[goal_P]).repeat_interleave(num_views)
        is_same_XN = torch.from_numpy(sightings.is_same_kind_SN[scene_P]).repeat_interleave(num_views, 0)
        find = find_loss(cell_logit_XK, box_XN5[torch.arange(num_goals * num_views), object_X])
        twin = twin_loss(cell_logit_XK, box_XN5, is_same_XN, object_X)
        return CELL_LOSS_COEF * find + twin, {"find_loss": float(find.detach()), "twin_loss": float(twin.detach())}

    def next_loss(self, policy: Policy, generator: torch.Generator, precision: Precision) -> PairLoss:
        """Draw the next batch, and return what computes its `loss`."""
        return partial(self.loss, policy, self.draw(generator), precision)


def _find(policy: Policy, goals: GoalBatch, view_XHWC: Tensor, num_views: int, precision: Precision) -> Tensor:
    """Return float32 [X, K], the policy's cell logits of views that each goal has `num_views` of, in order."""
    device = device_of(policy)
    num_pairs = len(view_XHWC)
    goal_index_X1 = torch.arange(len(goals.interaction_G), device=device).repeat_interleave(num_views).unsqueeze(1)
    with autocast(precision, device):
        encoded = policy.encode_goals(
            goals.image_GHWC.to(device), goals.mask_GHW.to(device), goals.interaction_G.to(device)
        )
        seen = policy.evaluate(
            view_XHWC.unsqueeze(1).to(device),
            encoded,
            goal_index_X1,
            torch.ones(num_pairs, 1, dtype=torch.bool, device=device),
            torch.zeros(num_pairs, 1, action_codec.NUM_FACTORS, dtype=torch.int64, device=device),
            policy.initial_memory(num_pairs),
        )
    assert seen.cell_logit_BTK is not None, "pairs are for policies that say where the target is"
    return seen.cell_logit_BTK[:, 0].float()


def find_loss(cell_logit_XK: Tensor, box_X5: Tensor) -> Tensor:
    """Return `cell_loss` of views against the box of what is sought, [X, 5] of Sightings."""
    target_X7 = torch.cat([box_X5[:, :1], torch.zeros(len(box_X5), 2), box_X5[:, 1:]], 1)
    is_valid_X1 = torch.ones(len(box_X5), 1, dtype=torch.bool)
    return cell_loss(cell_logit_XK.unsqueeze(1), target_X7.unsqueeze(1), is_valid_X1)


def twin_loss(cell_logit_XK: Tensor, box_XN5: Tensor, is_same_XN: Tensor, object_X: Tensor) -> Tensor:
    """Return the cross-entropy of the object that is meant among those of its kind in view; 0 where no view has two.

    The logit of an object is the highest of its cells.
    """
    is_rival_XN = is_same_XN & (box_XN5[..., 0] >= _LEAST_RIVAL_SHARE)
    has_choice_X = is_rival_XN[torch.arange(len(object_X)), object_X] & (is_rival_XN.sum(1) >= 2)
    if not has_choice_X.any():
        return cell_logit_XK.sum() * 0.0
    cell_XNK = cells_of(box_XN5[..., 1:], cell_logit_XK.shape[1])
    best_XN = torch.where(cell_XNK, cell_logit_XK.unsqueeze(1), -torch.inf).amax(2)
    logit_XN = torch.where(is_rival_XN, best_XN, -torch.inf)
    # Rows of a view without a choice are all -inf for some object that is asked for: out before they meet a gradient.
    return F.cross_entropy(logit_XN[has_choice_X], object_X[has_choice_X])
