"""Claims about the colours that stand out around a goal's target, and the channels that say where a view has them."""

import numpy as np
import pytest
import torch

from policies.color_match import NUM_MATCHED_CHANNELS
from policies.context_match import NO_COLOR, context_channels_by_torch, context_colors
from tests.policies.seen_bytes import seen_bytes

GRASS, SKY, GOLD, RED = (90, 140, 60), (130, 170, 255), (240, 200, 40), (200, 20, 20)


def context_channels(picture_XHWC: torch.Tensor, color_XK3: torch.Tensor) -> torch.Tensor:
    """The two channels as the network is given them, with the colours after a target's of no account."""
    color_XN3 = torch.cat([torch.zeros(len(color_XK3), 1, 3), color_XK3], 1)
    return seen_bytes(picture_XHWC, color_XN3)[..., NUM_MATCHED_CHANNELS:]


def meadow() -> tuple[torch.Tensor, torch.Tensor]:
    """A picture with sky and grass, a golden target and a red block beside it, and the target's mask."""
    image = torch.zeros(1, 64, 64, 3, dtype=torch.uint8)
    image[0, :24], image[0, 24:] = torch.tensor(SKY, dtype=torch.uint8), torch.tensor(GRASS, dtype=torch.uint8)
    image[0, 30:36, 30:36] = torch.tensor(GOLD, dtype=torch.uint8)
    image[0, 31:36, 40:45] = torch.tensor(RED, dtype=torch.uint8)
    mask = torch.zeros(1, 64, 64, dtype=torch.bool)
    mask[0, 30:36, 30:36] = True
    return image, mask


@pytest.mark.parametrize("side_px", [16, 32, 48, 64, 80, 96, 128])
def test_colours_at_a_border_are_seen_from_as_far_by_both(side_px):
    """Noise shows little of it: its colours are everywhere. Here few pixels have the colour, along two borders."""
    picture = torch.zeros(side_px, side_px, side_px, 3, dtype=torch.uint8)
    along = torch.arange(side_px)
    picture[along, along, 0] = picture[along, 0, along] = torch.tensor(GOLD, dtype=torch.uint8)
    picture[along, along, -1] = picture[along, -1, along] = torch.tensor(GOLD, dtype=torch.uint8)
    color = torch.tensor(GOLD).div(255).expand(side_px, 1, 3).contiguous()
    difference = context_channels(picture, color) - context_channels_by_torch(picture, color).int()
    assert difference.abs().max() <= 1


@pytest.mark.parametrize("side_px", [16, 32, 64, 96])
def test_the_compiled_loop_agrees_with_the_tensors(side_px):
    generator = torch.Generator().manual_seed(side_px)
    picture = torch.randint(0, 256, (4, side_px, side_px, 3), dtype=torch.uint8, generator=generator)
    color = torch.rand(4, 3, 3, generator=generator)
    color[1, 2] = NO_COLOR
    color[2] = NO_COLOR
    difference = context_channels(picture, color) - context_channels_by_torch(picture, color).int()
    assert difference.abs().max() <= 1


def slow_colors(image_HWC: np.ndarray, mask_HW: np.ndarray, num_colors: int) -> list[np.ndarray]:
    """The definition in words of context_colors, in arrays: what tests hold the compiled search against."""
    rows, columns = np.nonzero(mask_HW)
    y, x = np.mgrid[: mask_HW.shape[0], : mask_HW.shape[1]]
    dx = np.maximum(0, np.maximum(columns.min() - x, x - columns.max()))
    dy = np.maximum(0, np.maximum(rows.min() - y, y - rows.max()))
    is_near = (np.hypot(dx, dy) <= max(len(mask_HW) / 16, 2.2 * len(rows) ** 0.5)) & ~mask_HW
    cube = (image_HWC.astype(int) * 6 // 256) @ np.array([36, 6, 1])
    target = image_HWC[mask_HW].mean(0)
    scored = []
    for n in np.unique(cube[is_near]):
        here, elsewhere = is_near & (cube == n), ~is_near & ~mask_HW & (cube == n)
        color = image_HWC[here].mean(0)
        if here.sum() >= 3 and (((color - target) / 255) ** 2).sum() >= 0.02:
            rarity = np.log((~mask_HW).sum() / (elsewhere.sum() + 4))
            vividness = 1 + (color.max() - color.min()) / 128
            scored.append((min(here.sum(), 0.6 * len(rows)) * rarity**2 * vividness, color / 255))
    chosen: list[np.ndarray] = []
    for _, color in sorted(scored, key=lambda pair: -pair[0]):
        if len(chosen) < num_colors and all(((color - other) ** 2).sum() >= 0.03 for other in chosen):
            chosen.append(color)
    return chosen


def test_the_compiled_search_agrees_with_its_definition():
    rng = np.random.default_rng(0)
    image = rng.integers(0, 256, (6, 8, 8, 3)).repeat(4, 1).repeat(4, 2).astype(np.uint8)
    mask = np.zeros((6, 32, 32), bool)
    for g in range(6):
        mask[g, 8 : 12 + g, 12:18] = True
    found = context_colors(torch.from_numpy(image), torch.from_numpy(mask), 4).numpy()
    for g in range(6):
        wanted = slow_colors(image[g], mask[g], 4)
        assert np.allclose(found[g, : len(wanted)], wanted, atol=1e-6)
        assert (found[g, len(wanted) :] == NO_COLOR).all()


def test_what_stands_beside_the_target_is_found_before_grass_and_sky():
    image, mask = meadow()
    color = context_colors(image, mask, 3)[0]
    assert torch.allclose(color[0] * 255, torch.tensor(RED).float(), atol=1)


def test_a_shade_of_the_target_itself_is_not_what_stands_beside_it():
    image, mask = meadow()
    image[0, 31:36, 40:45] = torch.tensor((225, 190, 45), dtype=torch.uint8)  # where the red block was
    color = context_colors(image, mask, 3)[0]
    assert color[0, 0] >= 0
    assert ((color - torch.tensor(GOLD) / 255).square().sum(1) >= 0.02).all()


def test_one_channel_looks_a_sixteenth_of_the_side_around_and_the_other_five_thirty_seconds():
    view = torch.tensor(GRASS, dtype=torch.uint8).repeat(1, 64, 64, 1)
    view[0, 30:34, 30:34] = torch.tensor(RED, dtype=torch.uint8)
    near_far = context_channels(view, torch.tensor([[RED]]) / 255)[0, 32] > 240
    # In pairs of pixels: 15 and 16 are red, and 2 or 5 more on either side are near.
    assert near_far[:, 0].nonzero().flatten().tolist() == list(range(2 * 13, 2 * 19))
    assert near_far[:, 1].nonzero().flatten().tolist() == list(range(2 * 10, 2 * 22))


def test_without_a_mask_nothing_is_looked_for():
    image, _ = meadow()
    color = context_colors(image, torch.zeros(1, 64, 64, dtype=torch.bool), 3)
    assert (color == NO_COLOR).all()
    assert (context_channels(image, color) == 0).all()


def test_the_twin_beside_the_right_thing_lights_up_and_the_other_does_not():
    image, mask = meadow()
    color = context_colors(image, mask, 1)
    view = torch.zeros(1, 64, 64, 3, dtype=torch.uint8)
    view[:] = torch.tensor(GRASS, dtype=torch.uint8)
    for left, beside in ((10, RED), (44, SKY)):
        view[0, 30:34, left : left + 4] = torch.tensor(GOLD, dtype=torch.uint8)
        view[0, 30:34, left + 6 : left + 10] = torch.tensor(beside, dtype=torch.uint8)
    channels = context_channels(view, color)[0]
    assert channels[32, 12].min() > 240
    assert channels[32, 46].max() < 20
