"""Learning to look closely: is what stands there what the goal picture marks, or another of its kind?

P pairs of a goal picture and an object in a view from near; the first half of them also teach where objects are. Twins
are rare in what an agent meets, and it meets few goals: photographs show many of both.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from mcrl.learning.imitation import PairLoss
from policies.closer_look import CloserLook
from policies.device import device_of
from policies.extents import corrected, correction_to, extents_of_boxes, extents_of_masks
from policies.interface import Policy
from policies.patches import patches
from policies.precision import Precision, autocast
from task_synthesis.views.sightings import Sightings

# Of views: from where an object has some pixels and another step or two tell it, and no nearer.
NEAR_BLOCKS = (2.5, 8.0)
# Objects in views of fewer pixels are no lesson.
_LEAST_SHARE = 24 / 64**2
# Standard deviations, in sides and of the logarithm of a side: of goals' extents; of those of views, as far off as
# corrections leave them; and of those to correct, as cells tell them and as one correction leaves them.
_GOAL_NOISE, _VIEW_NOISE = (0.05, 0.08), (0.1, 0.13)
_FAR_OFF, _NEARLY_RIGHT, _FAR_OFF_SHARE = (0.32, 0.4), (0.12, 0.15), 0.6
_PLACE_BETA = 0.1


@dataclass(frozen=True, kw_only=True, slots=True)
class GlimpseBatch:
    """P pairs, half of which are an object and its own goal picture, and what chance does to them."""

    pair_P: Tensor  # int64, rows of GlimpsePairs
    noise_P33: Tensor  # float32, normal: of goal, view and place, on x, y and side
    is_far_off_P: Tensor  # bool
    is_mirrored_P3: Tensor  # bool, of goal, view and place


class GlimpsePairs:
    """Draws goals and objects of their kind in views of their scenes."""

    def __init__(self, sightings: Sightings, num_pairs: int) -> None:
        """Draw `num_pairs` a time. Raise ValueError where the scenes show no object beside another of its kind."""
        self._sightings, self._num_pairs = sightings, num_pairs
        scene_G, object_G = sightings.goal_scene_G, sightings.goal_object_G
        is_shown_GVN = sightings.box_SVN5[scene_G, :, :, 0] >= _LEAST_SHARE
        is_shown_GVN &= sightings.is_same_kind_SN[scene_G, None]
        # Without twins there is nothing to tell apart: such a goal would teach to say yes.
        is_shown_GVN &= (sightings.is_same_kind_SN[scene_G].sum(1) > 1)[:, None, None]
        self._goal_A, self._view_A, self._object_A = np.nonzero(is_shown_GVN)
        is_it_A = torch.from_numpy(self._object_A == object_G[self._goal_A])
        self._own, self._others = is_it_A.nonzero().squeeze(1), (~is_it_A).nonzero().squeeze(1)
        if not len(self._own) or not len(self._others):
            raise ValueError("no scene shows several objects of the kind that is asked for; raise tasks.num_same_kind")

    def draw(self, generator: torch.Generator) -> GlimpseBatch:
        """Return the next batch."""
        num_own = self._num_pairs // 2
        parts = ((self._own, num_own), (self._others, self._num_pairs - num_own))
        pair_P = torch.cat([rows[torch.randint(len(rows), (num,), generator=generator)] for rows, num in parts])
        return GlimpseBatch(
            pair_P=pair_P[torch.randperm(self._num_pairs, generator=generator)],
            noise_P33=torch.randn(self._num_pairs, 3, 3, generator=generator),
            is_far_off_P=torch.rand(self._num_pairs, generator=generator) < _FAR_OFF_SHARE,
            is_mirrored_P3=torch.rand(self._num_pairs, 3, generator=generator) < 0.5,
        )

    def loss(self, policy: Policy, batch: GlimpseBatch, precision: Precision) -> tuple[Tensor, dict[str, float]]:
        """Return how badly a closer look knows targets from others of their kind and finds out where they are.

        `verdict_loss`: cross-entropy of whether it is the target. `place_loss`: Huber's loss of corrections of extents.
        """
        assert policy.looks_closely, "these pairs are for policies that look closely"
        look = policy.closer_look
        assert isinstance(look, CloserLook)
        return self._loss(look, batch, precision)

    def next_loss(self, policy: Policy, generator: torch.Generator, precision: Precision) -> PairLoss:
        """Draw the next batch, and return what computes its `loss`."""
        return partial(self.loss, policy, self.draw(generator), precision)

    def _loss(self, look: CloserLook, batch: GlimpseBatch, precision: Precision) -> tuple[Tensor, dict[str, float]]:
        sightings, device = self._sightings, device_of(look)
        row_P = batch.pair_P.numpy()
        goal_P, view_P, object_P = self._goal_A[row_P], self._view_A[row_P], self._object_A[row_P]
        scene_P = sightings.goal_scene_G[goal_P]
        goal_PHWC = torch.from_numpy(sightings.goal_image_GHWC[goal_P])
        view_PHWC = torch.from_numpy(sightings.view_image_SVHWC[scene_P, view_P])
        goal_extent_P3 = extents_of_masks(torch.from_numpy(sightings.goal_mask_GHW[goal_P]))
        extent_P3 = extents_of_boxes(torch.from_numpy(sightings.box_SVN5[scene_P, view_P, object_P, 1:]))
        goal_extent_P3 = astray(goal_extent_P3, batch.noise_P33[:, 0], torch.tensor(_GOAL_NOISE))
        view_extent_P3 = astray(extent_P3, batch.noise_P33[:, 1], torch.tensor(_VIEW_NOISE))
        goal = cut(goal_PHWC, goal_extent_P3, batch.is_mirrored_P3[:, 0])
        view = cut(view_PHWC, view_extent_P3, batch.is_mirrored_P3[:, 1])
        num_placed = (len(row_P) + 1) // 2
        is_far_N1, is_mirrored_N = batch.is_far_off_P[:num_placed, None], batch.is_mirrored_P3[:num_placed, 2]
        off_N2 = torch.where(is_far_N1, torch.tensor(_FAR_OFF), torch.tensor(_NEARLY_RIGHT))
        guess_N3 = astray(extent_P3[:num_placed], batch.noise_P33[:num_placed, 2], off_N2)
        place = cut(view_PHWC[:num_placed], guess_N3, is_mirrored_N)
        wanted_N3 = wanted_correction(guess_N3, extent_P3[:num_placed], is_mirrored_N)
        is_it_P = torch.from_numpy(object_P == sightings.goal_object_G[goal_P]).float().to(device)
        with autocast(precision, device):
            goal_PE = look.glimpses.of_goals(goal.to(device))
            _, verdict_P = look.glimpses.comparison(view.to(device), goal_PE)
            told_N3 = look.glimpses.correction(place.to(device), goal_PE[:num_placed])
        verdict = F.binary_cross_entropy_with_logits(verdict_P, is_it_P)
        placed = F.smooth_l1_loss(told_N3, wanted_N3.to(device), beta=_PLACE_BETA)
        return verdict + placed, {"verdict_loss": float(verdict.detach()), "place_loss": float(placed.detach())}


def astray(extent_P3: Tensor, noise_P3: Tensor, deviation_P2: Tensor) -> Tensor:
    """Return extents off by normal noise of two standard deviations, of the middle in sides and of the side's log."""
    middle, side = deviation_P2[..., :1], deviation_P2[..., 1:]
    return corrected(extent_P3, torch.cat([noise_P3[:, :2] * middle, noise_P3[:, 2:] * side], 1))


def cut(image_PHWC: Tensor, extent_P3: Tensor, is_mirrored_P: Tensor) -> Tensor:
    """Return the patches at extents, some with left and right exchanged."""
    patch_PCPP = patches(image_PHWC, extent_P3)
    return torch.where(is_mirrored_P[:, None, None, None], patch_PCPP.flip(-1), patch_PCPP)


def wanted_correction(guess_N3: Tensor, extent_N3: Tensor, is_mirrored_N: Tensor) -> Tensor:
    """Return what corrects guesses, as it looks in patches of which some have left and right exchanged."""
    off_N3 = correction_to(guess_N3, extent_N3)
    shift_N1 = torch.where(is_mirrored_N[:, None], -off_N3[:, :1], off_N3[:, :1])
    return torch.cat([shift_N1, off_N3[:, 1:]], 1)
