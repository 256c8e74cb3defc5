"""A closer look at the best cells of a view. X views, G goals, N places, K cells, C channels, D width, E of a look."""

import torch
from torch import Tensor, nn

from policies.cells import best_cells, cells_of, middles_of
from policies.extents import extents_of_masks, squares_of
from policies.glimpses import NUM_SEEN, Glimpses
from policies.patches import patches

# Logarithms of a side that a cell can tell, and what it tells before it has learned: a tenth of the view.
_LOG_SIDES = (-4.0, 0.0)
_FIRST_LOG_SIDE = -2.3
# What a comparison counts beside what the cells say, at first: it is surer of itself than of what it has not met.
_FIRST_TRUST = 0.7


class CloserLook(nn.Module):
    """Cells tell how large what they show is; the best are looked at so, and what is found there joins their logits."""

    def __init__(self, num_places: int, channels: int, width: int) -> None:
        super().__init__()
        self.num_places = num_places
        self.glimpses = Glimpses()
        self.told = nn.Linear(channels, 3)
        self.trust = nn.Parameter(torch.tensor([_FIRST_TRUST]))
        self.to_step = nn.Linear(num_places * NUM_SEEN, width)
        nn.init.zeros_(self.told.weight)
        with torch.no_grad():
            self.told.bias.copy_(torch.tensor([0.0, 0.0, _FIRST_LOG_SIDE]))

    def of_goals(self, image_GHWC: Tensor, mask_GHW: Tensor) -> Tensor:
        """Return float32 [G, E] of uint8 [G, H, W, 3] and bool [G, H, W]."""
        with torch.no_grad():
            return self.glimpses.of_goals(patches(image_GHWC, extents_of_masks(mask_GHW)))

    def forward(
        self, view_XHWC: Tensor, goal_XE: Tensor, token_XKC: Tensor, cell_logit_XK: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return cell logits [X, K] with what was found, that for the step, [X, D], and what cells tell, [X, K, 3].

        What cells tell is learned by `extent_loss` of mcrl.learning.losses.
        """
        num_cells = cell_logit_XK.shape[1]
        told_XK3 = self.told(token_XKC).float()
        cell_XN = best_cells(cell_logit_XK, self.num_places)
        extent_XN3 = extents_told(told_XK3.detach(), num_cells).gather(1, cell_XN.unsqueeze(-1).expand(-1, -1, 3))
        seen_YF, verdict_Y, found_Y3 = self.glimpses(
            view_XHWC.repeat_interleave(self.num_places, 0),
            goal_XE.repeat_interleave(self.num_places, 0),
            extent_XN3.flatten(0, 1),
        )
        places = (-1, self.num_places)
        is_there_XNK = cells_of(squares_of(found_Y3), num_cells).unflatten(0, places).float()
        is_there_XNK = is_there_XNK.scatter(2, cell_XN.unsqueeze(-1), 1.0)
        # A cell that several places reach into has the verdict on the best of them.
        is_first_XNK = is_there_XNK * (is_there_XNK.cumsum(1) == 1)
        found_XK = (verdict_Y.unflatten(0, places).unsqueeze(-1) * is_first_XNK).sum(1)
        step_XD = self.to_step(seen_YF.unflatten(0, places).flatten(1))
        return cell_logit_XK + self.trust * found_XK, step_XD, told_XK3


def extents_told(told_XK3: Tensor, num_cells: int) -> Tensor:
    """Return the extents that all K cells tell: the middle from their own, in cells, and the side's logarithm."""
    middle_K2 = middles_of(torch.arange(num_cells, device=told_XK3.device), num_cells)
    middle_XK2 = middle_K2 + told_XK3[..., :2] / num_cells**0.5
    return torch.cat([middle_XK2, told_XK3[..., 2:].clamp(*_LOG_SIDES).exp()], -1)
