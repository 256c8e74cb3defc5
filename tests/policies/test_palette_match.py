"""Claims about the colours that are typical of a goal's target, and the channel that says where a view has one."""

import numpy as np
import pytest
import torch

from policies.color_match import matched_channels_by_torch
from policies.context_match import NO_COLOR
from policies.palette_match import palette_channel_by_torch, palette_colors, smooth_by_torch
from policies.view_channels import view_channels

GRASS, BROWN, WHITE, GREY = (90, 140, 60), (80, 50, 30), (235, 230, 225), (158, 140, 128)


def slow_palette(image_HWC: np.ndarray, mask_HW: np.ndarray, num_colors: int) -> list[np.ndarray]:
    """The definition in words of palette_colors, in arrays: what tests hold the compiled search against."""
    cube_HW = (image_HWC.astype(int) * 12 // 256) @ np.array([144, 12, 1])
    scored = []
    for n in np.unique(cube_HW[mask_HW]):
        own, other = (cube_HW[mask_HW] == n).mean(), (cube_HW[~mask_HW] == n).mean()
        color = image_HWC[mask_HW & (cube_HW == n)].mean(0) / 255
        scored.append((own * max(np.log((own + 0.003) / (other + 0.003)), 0.05), color))
    chosen: list[np.ndarray] = []
    for _, color in sorted(scored, key=lambda pair: -pair[0]):
        if len(chosen) < num_colors and all(((color - before) ** 2).sum() >= 0.006 for before in chosen):
            chosen.append(color)
    return chosen


def test_the_compiled_search_agrees_with_its_definition():
    rng = np.random.default_rng(0)
    image = rng.integers(0, 256, (6, 16, 16, 3)).repeat(2, 1).repeat(2, 2).astype(np.uint8)
    mask = np.zeros((6, 32, 32), bool)
    for g in range(6):
        # Not of whole blocks of one colour, or counts would tie.
        mask[g, 3 : 6 + g, 5:12] = True
        mask[g, 6 + g, 5 : 6 + g] = True
    found = palette_colors(torch.from_numpy(image), torch.from_numpy(mask), 4).numpy()
    for g in range(6):
        wanted = slow_palette(image[g], mask[g], 4)
        assert np.allclose(found[g, : len(wanted)], wanted, atol=1e-6)
        assert (found[g, len(wanted) :] == NO_COLOR).all()


@pytest.mark.parametrize("side_px", [16, 24, 64, 96])
def test_the_compiled_loop_agrees_with_the_tensors(side_px):
    generator = torch.Generator().manual_seed(side_px)
    picture = torch.randint(0, 256, (4, side_px, side_px, 3), dtype=torch.uint8, generator=generator)
    color = torch.rand(4, 4, 3, generator=generator)
    color[1, 3] = NO_COLOR
    color[2, 1:] = NO_COLOR
    color[3, 1] = picture[3, 5, 7] / 255
    seen, best_XMhw = view_channels(picture, color, num_palette_colors=3, cell_px=side_px // 8)
    likeness = (seen[:, -1] * 127.5 + 127.5).round().to(torch.uint8)
    wanted = palette_channel_by_torch(picture, color[:, 1:])
    assert (likeness.int() - wanted[..., 0].int()).abs().max() <= 1
    assert likeness[3, 5, 7] == 255
    assert (likeness[2] == 0).all()
    # The smoothed ones come of the same bytes, so they agree exactly.
    smooth = smooth_by_torch(likeness.unsqueeze(-1))[..., 0].unflatten(2, (8, -1)).unflatten(1, (8, -1))
    assert torch.equal(best_XMhw[:, -1], smooth.amax((2, 4)))


@pytest.mark.parametrize("num", [9, 6, 4])
def test_a_product_and_a_shift_divide_every_sum_of_bytes_and_round_down(num):
    total = np.arange(255 * num + 1)
    assert np.array_equal(total * (65536 // num + 1) >> 16, total // num)


def pasture() -> tuple[torch.Tensor, torch.Tensor]:
    """A picture of a brown and white animal on grass, and its mask."""
    image = torch.tensor(GRASS, dtype=torch.uint8).repeat(1, 64, 64, 1)
    image[0, 20:40, 20:30] = torch.tensor(BROWN, dtype=torch.uint8)
    image[0, 20:40, 30:40] = torch.tensor(WHITE, dtype=torch.uint8)
    mask = torch.zeros(1, 64, 64, dtype=torch.bool)
    mask[0, 20:40, 20:40] = True
    return image, mask


def test_an_animal_of_two_colours_is_found_by_them_and_not_by_a_mean_that_it_does_not_have():
    image, mask = pasture()
    palette = palette_colors(image, mask, 3)
    assert {tuple((color * 255).round().int().tolist()) for color in palette[0, :2]} == {BROWN, WHITE}
    assert (palette[0, 2] == NO_COLOR).all()
    view = torch.tensor(GRASS, dtype=torch.uint8).repeat(1, 64, 64, 1)
    view[0, 30, 10] = torch.tensor(BROWN, dtype=torch.uint8)
    view[0, 30, 50] = torch.tensor(GREY, dtype=torch.uint8)  # as grey as brown and white together
    by_palette = palette_channel_by_torch(view, palette)[0, 30, :, 0]
    mean = image[mask].float().mean(0, keepdim=True) / 255
    by_mean = matched_channels_by_torch(view, mean)[0, 30, :, 3]
    assert (int(by_palette.argmax()), int(by_mean.argmax())) == (10, 50)


def test_what_the_target_shares_with_its_surroundings_comes_after_what_it_has_alone():
    image, mask = pasture()
    image[0, 22:40, 20:40] = torch.tensor(GRASS, dtype=torch.uint8)  # little of the animal is its own now
    palette = palette_colors(image, mask, 3)[0]
    assert {tuple((color * 255).round().int().tolist()) for color in palette[:2]} == {BROWN, WHITE}
    assert torch.allclose(palette[2] * 255, torch.tensor(GRASS).float(), atol=0.5)


def test_without_a_mask_nothing_is_typical():
    image, mask = pasture()
    palette = palette_colors(image, torch.zeros_like(mask), 3)
    assert (palette == NO_COLOR).all()
    assert (palette_channel_by_torch(image, palette) == 0).all()
