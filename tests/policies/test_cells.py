"""Claims about the cells of a view."""

import torch

from policies.cells import best_cells, cells_of, middles_of


def test_a_box_lies_in_the_cells_that_it_reaches_into_and_not_in_those_that_it_touches():
    boxes_X4 = torch.tensor([[0.25, 0.0, 0.5, 0.75], [0.3, 0.6, 0.31, 0.61], [0.0, 0.0, 0.0, 0.0]])
    cells = [row.nonzero().flatten().tolist() for row in cells_of(boxes_X4, 16)]
    assert cells == [[1, 5, 9], [9], []]


def test_the_middle_of_a_cell_lies_in_no_other():
    middle_K2 = middles_of(torch.arange(36), 36)
    assert torch.equal(
        cells_of(torch.cat([middle_K2 - 0.01, middle_K2 + 0.01], 1), 36), torch.eye(36, dtype=torch.bool)
    )


def test_the_best_cells_are_not_beside_one_another():
    logit_XK = torch.zeros(2, 36)
    logit_XK[0, [7, 8, 14, 9]] = torch.tensor([9.0, 8.0, 7.0, 6.0])  # 8 and 14 touch 7; 9 does not
    logit_XK[1, [35, 0]] = torch.tensor([1.0, 2.0])
    assert best_cells(logit_XK, 2).tolist() == [[7, 9], [0, 35]]
