"""Claims about what each cell of a view is told of its best pixel."""

import torch

from policies.cell_match import cell_matches
from policies.view_channels import view_channels

CELL_PX = 8
STONE, GOLD = (120, 120, 120), (240, 200, 40)


def matches(view_HWC: torch.Tensor) -> torch.Tensor:
    """The numbers of the cells of a view that is searched for gold, [h, w, 2 M]."""
    color = torch.tensor([GOLD, GOLD]).unsqueeze(0) / 255
    _, best_XMhw = view_channels(view_HWC.unsqueeze(0), color, num_palette_colors=1, cell_px=CELL_PX)
    assert best_XMhw is not None
    return cell_matches(best_XMhw)[0].unflatten(0, best_XMhw.shape[2:])


def stones() -> torch.Tensor:
    return torch.tensor(STONE, dtype=torch.uint8).repeat(64, 64, 1)


def test_a_lone_pixel_lights_up_its_cell_and_no_other():
    view = stones()
    view[19, 43] = torch.tensor(GOLD, dtype=torch.uint8)
    color, tint, palette, smooth = matches(view)[..., :4].unbind(-1)
    for likeness in (color, tint, palette):
        assert likeness[2, 5] == 1.0
        assert (likeness == 1.0).sum() == 1
    assert -1.0 < smooth[2, 5] < -0.5  # a ninth of it


def test_the_best_cell_is_none_behind_and_the_others_are_by_as_much_as_they_are_worse():
    view = stones()
    view[19, 43] = torch.tensor((230, 190, 60), dtype=torch.uint8)
    value, behind = matches(view).chunk(2, -1)
    assert (behind.flatten(0, 1).amax(0) == 0).all()
    assert (behind[2, 5] == 0).all()
    assert torch.allclose(behind, value - value[2, 5])
    assert value[2, 5, 2] < 1.0  # gold in another light


def test_nothing_is_made_of_cells_where_there_is_no_palette():
    assert view_channels(stones().unsqueeze(0), torch.rand(1, 4, 3), cell_px=CELL_PX).best_XMhw is None
