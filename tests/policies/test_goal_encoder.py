"""Claims about what a goal picture is boiled down to, with features that are known: the mean colours of the cells."""

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from policies.goal_encoder import COLOR_SCALE, GoalEncoder

SIDE_PX, CELL_PX = 32, 8


def cell_colors(image_GHWC: Tensor, color_GN3: Tensor) -> Tensor:
    return F.avg_pool2d(image_GHWC.permute(0, 3, 1, 2) / 255.0, CELL_PX)


@pytest.fixture(scope="module")
def encoder() -> GoalEncoder:
    """An encoder that hands on what it has to sum up."""
    encoder = GoalEncoder(SIDE_PX, CELL_PX, channels=3, goal_width=8, attention_width=4, num_context_colors=0)
    encoder.summary = nn.Identity()
    return encoder


def summed_up(encoder: GoalEncoder, mask_HW: np.ndarray, interaction: int) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return a picture and its summary in parts: object, mean, colour, place, interaction."""
    image_HWC = np.random.default_rng(0).integers(0, 256, (SIDE_PX, SIDE_PX, 3), np.uint8)
    with torch.no_grad():
        goals = encoder(
            cell_colors,
            torch.from_numpy(image_HWC)[None],
            torch.from_numpy(mask_HW)[None],
            torch.tensor([interaction]),
        )
    return image_HWC / 255.0, np.split(goals.vector_GD[0].numpy(), [3, 6, 9, 12])


def test_a_goal_is_summed_up_by_what_is_under_its_mask_and_by_where_that_is(encoder):
    mask_HW = np.zeros((SIDE_PX, SIDE_PX), bool)
    mask_HW[3:12, 17:22] = True
    image_HWC, (object_3, mean_3, color_3, place_3, _) = summed_up(encoder, mask_HW, 0)
    cell_hw3 = image_HWC.reshape(4, CELL_PX, 4, CELL_PX, 3).mean((1, 3))
    row_N, column_N = np.nonzero(mask_HW)
    np.testing.assert_allclose(object_3, cell_hw3[row_N // CELL_PX, column_N // CELL_PX].mean(0), rtol=1e-5)
    np.testing.assert_allclose(mean_3, image_HWC.mean((0, 1)), rtol=1e-5)
    np.testing.assert_allclose(color_3, COLOR_SCALE * (2 * image_HWC[mask_HW].mean(0) - 1), rtol=1e-4, atol=1e-5)
    place = np.linspace(-1, 1, SIDE_PX)
    expected = (place[17:22].mean(), place[3:12].mean(), np.sqrt(9 * 5 / SIDE_PX**2))
    np.testing.assert_allclose(place_3, expected, rtol=1e-5)


def test_without_a_mask_the_object_is_nowhere_and_grey(encoder):
    _, (object_3, _, color_3, place_3, _) = summed_up(encoder, np.zeros((SIDE_PX, SIDE_PX), bool), 0)
    for part in (object_3, color_3, place_3):
        assert not part.any()


def test_every_interaction_has_a_row_of_its_own_and_none_the_first(encoder):
    for interaction in range(-1, 9):
        _, (*_, part) = summed_up(encoder, np.ones((SIDE_PX, SIDE_PX), bool), interaction)
        assert np.array_equal(part, encoder.interaction.weight[interaction + 1].detach().numpy())
