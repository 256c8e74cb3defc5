"""Claims about the channels that say where the goal's colour is."""

import torch

from policies.color_match import matched_channels_by_torch
from tests.policies.seen_bytes import seen_bytes


def some_pictures(num: int = 3) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    picture = torch.randint(0, 256, (num, 16, 24, 3), dtype=torch.uint8, generator=generator)
    return picture, torch.rand(num, 3, generator=generator)


def test_the_compiled_loop_agrees_with_the_tensors():
    picture, color = some_pictures()
    difference = seen_bytes(picture, color[:, None]) - matched_channels_by_torch(picture, color).int()
    assert difference.abs().max() <= 1


def test_the_picture_itself_comes_through_unchanged():
    picture, color = some_pictures()
    assert torch.equal(seen_bytes(picture, color[:, None])[..., :3], picture.long())


def test_the_wanted_colour_lights_up_and_another_does_not():
    picture = torch.zeros(1, 8, 8, 3, dtype=torch.uint8)
    picture[0, :, :4] = torch.tensor([250, 30, 20], dtype=torch.uint8)
    picture[0, :, 4:] = torch.tensor([30, 60, 240], dtype=torch.uint8)
    match = seen_bytes(picture, torch.tensor([[[250 / 255, 30 / 255, 20 / 255]]]))[0, :, :, 3:]
    assert match[:, :4].min() > 240
    assert match[:, 4:].max() < 40


def test_tint_sees_the_same_colour_in_the_shade():
    picture = torch.zeros(1, 4, 4, 3, dtype=torch.uint8)
    picture[:] = torch.tensor([100, 12, 8], dtype=torch.uint8)
    match = seen_bytes(picture, torch.tensor([[[250 / 255, 30 / 255, 20 / 255]]]))[0, 0, 0]
    assert match[4] > 10 * int(match[3])
