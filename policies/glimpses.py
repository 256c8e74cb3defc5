"""Glimpses: a place in a view looked at closely, and held against a close look at the goal's target.

Objects of one kind differ by what is around them, which cells, all of one size, do not show in one measure from near
and far. A glimpse is cut to the size of what is there, and comparing two tells a target from others of its kind far
better than cells do (eval/LOG.md, 2026-11-29). Patches of several scales at a place are those of Mnih et al. 2014,
"Recurrent models of visual attention".
X views, G goals, E numbers of a look, F numbers of a comparison; extents are those of policies.extents.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from policies.extents import corrected
from policies.patches import PATCH_PX, WINDOW_SIDES, patches

NUM_SEEN = 128  # F
_LOOK_WIDTH = 128  # E / 2
# A correction is at most so many sides of a place, and a factor of e of its side.
_MOST_SHIFT, _MOST_LOG_SCALE = 1.5, 1.0
# A comparison says at most so much (log odds); nothing of what has the first side, all of what has the second.
_MOST_VERDICT = 4.0
_NOTHING_SIDE, _ALL_SIDE = 0.06, 0.12


class Glimpses(nn.Module):
    """Finds out what is at a place, and how likely it is the target. Learns from mcrl.learning.glimpse_pairs alone."""

    def __init__(self) -> None:
        super().__init__()
        self.place_look, self.place_goal = _look_layers(), _look_layers()
        self.place = nn.Sequential(nn.Linear(3 * _LOOK_WIDTH, NUM_SEEN), nn.ReLU())
        self.off = nn.Linear(NUM_SEEN, 3)
        self.look = _look_layers()
        self.compare = nn.Sequential(nn.Linear(4 * _LOOK_WIDTH, NUM_SEEN), nn.ReLU())
        self.verdict = nn.Linear(NUM_SEEN, 1)
        # Before it is learned nothing is corrected and nothing told apart.
        for last in (self.off, self.verdict):
            nn.init.zeros_(last.weight)
            nn.init.zeros_(last.bias)

    def of_goals(self, patch_GCPP: Tensor) -> Tensor:
        """Return float32 [G, E]: patches of targets, looked at to find places and to compare."""
        return torch.cat([F.relu(self.place_goal(patch_GCPP)), self.look(patch_GCPP)], 1).float()

    def correction(self, patch_XCPP: Tensor, goal_XE: Tensor) -> Tensor:
        """Return float32 [X, 3]: what corrects the extents that patches were cut around, see policies.extents."""
        view_XE, goal_XE = F.relu(self.place_look(patch_XCPP)), goal_XE[:, :_LOOK_WIDTH]
        off_X3 = self.off(self.place(torch.cat([view_XE, goal_XE, view_XE * goal_XE], 1))).float()
        shift_X2, log_scale_X1 = off_X3[:, :2], off_X3[:, 2:]
        shift_X2 = shift_X2.clamp(-_MOST_SHIFT, _MOST_SHIFT)
        return torch.cat([shift_X2, log_scale_X1.clamp(-_MOST_LOG_SCALE, _MOST_LOG_SCALE)], 1)

    def comparison(self, patch_XCPP: Tensor, goal_XE: Tensor) -> tuple[Tensor, Tensor]:
        """Return float32 [X, F], what is seen of both, and [X], by how much it makes the target likelier (log odds)."""
        view_XE, goal_XE = self.look(patch_XCPP), goal_XE[:, _LOOK_WIDTH:]
        seen_XF = self.compare(torch.cat([view_XE, goal_XE, view_XE * goal_XE, (view_XE - goal_XE).abs()], 1))
        return seen_XF.float(), self.verdict(seen_XF).squeeze(1).float()

    @torch.no_grad()
    def forward(self, image_XHWC: Tensor, goal_XE: Tensor, extent_X3: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return float32 [X, F], what is seen there, [X], log odds, and [X, 3], extents nearer to the truth.

        No gradient: pairs teach it better than what an agent meets, at a fraction of the time.
        """
        extent_X3 = corrected(extent_X3, self.correction(patches(image_XHWC, extent_X3), goal_XE))
        seen_XF, verdict_X = self.comparison(patches(image_XHWC, extent_X3), goal_XE)
        counts_X = ((extent_X3[:, 2] - _NOTHING_SIDE) / (_ALL_SIDE - _NOTHING_SIDE)).clamp(0, 1)
        return seen_XF * counts_X.unsqueeze(1), verdict_X.clamp(-_MOST_VERDICT, _MOST_VERDICT) * counts_X, extent_X3


def _look_layers() -> nn.Sequential:
    """Return what makes float32 [X, 3 S, P, P] a look of [X, E / 2]."""
    channels = (3 * len(WINDOW_SIDES), 32, 64, 64)
    layers: list[nn.Module] = []
    for before, after in zip(channels, channels[1:], strict=False):
        layers += [nn.Conv2d(before, after, 3, stride=2, padding=1), nn.ReLU()]
    side = PATCH_PX // 2 ** (len(channels) - 1)
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(channels[-1] * side**2, _LOOK_WIDTH))
