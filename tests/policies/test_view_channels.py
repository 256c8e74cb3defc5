"""Claims about the numbers that the network is given of a picture."""

import pytest
import torch

from policies.context_match import NO_COLOR
from policies.precision import autocast
from policies.view_channels import num_likenesses, num_view_channels, view_channels, view_channels_by_torch


def pictures_and_colors(num_colors: int, num: int = 4, side_px: int = 32) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(num_colors)
    picture = torch.randint(0, 256, (num, side_px, side_px, 3), dtype=torch.uint8, generator=generator)
    color = torch.rand(num, num_colors, 3, generator=generator)
    color[0, 2:] = NO_COLOR
    return picture, color


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
@pytest.mark.parametrize(("num_palette_colors", "num_context_colors"), [(0, 0), (0, 3), (3, 0), (2, 3)])
def test_what_is_written_at_once_is_what_tensors_make_of_the_bytes(num_palette_colors, num_context_colors, precision):
    picture, color = pictures_and_colors(1 + num_palette_colors + num_context_colors)
    sought = {"num_palette_colors": num_palette_colors, "cell_px": 8}
    with autocast(precision, "cpu"):
        seen, best = view_channels(picture, color, **sought)
        wanted, wanted_best = view_channels_by_torch(picture, color, **sought)
    num_channels = num_view_channels(num_palette_colors=num_palette_colors, num_context_colors=num_context_colors)
    assert seen.shape == (4, num_channels, 32, 32)
    if num_palette_colors:
        assert best.shape == (4, num_likenesses(num_channels), 4, 4)
        assert best.dtype == wanted_best.dtype == torch.uint8
        assert (best.int() - wanted_best.int()).abs().max() <= 1
    else:
        assert best is wanted_best is None
    assert seen.dtype == wanted.dtype == (torch.bfloat16 if precision == "bf16" else torch.float32)
    assert torch.equal(seen[:, :3], wanted[:, :3])
    # The likenesses are rounded down to bytes, so one of them may be off by one.
    assert (seen.float() - wanted.float()).abs().max() <= 1.01 / 127.5
    assert (seen != wanted).float().mean() < 0.01


def test_every_byte_is_scaled_as_tensors_scale_it():
    picture = torch.arange(256, dtype=torch.uint8).reshape(1, 16, 16, 1).expand(1, 16, 16, 3).contiguous()
    for precision in ("fp32", "bf16"):
        with autocast(precision, "cpu"):
            seen = view_channels(picture, torch.rand(1, 1, 3)).channel_XCHW[0, 0].flatten()
        number = torch.arange(256, dtype=torch.uint8).to(seen.dtype)
        assert torch.equal(seen, (number - 127.5) * (1 / 127.5))
        assert (seen.float().min(), seen.float().max()) == (-1.0, 1.0)


def test_channels_come_last_in_memory_as_convolutions_like_them():
    seen = view_channels(*pictures_and_colors(4)).channel_XCHW
    assert seen.is_contiguous(memory_format=torch.channels_last)


def test_a_picture_is_seen_alike_alone_and_among_others():
    picture, color = pictures_and_colors(4)
    sought = {"num_palette_colors": 2, "cell_px": 8}
    alone, among = view_channels(picture[1:2], color[1:2], **sought), view_channels(picture, color, **sought)
    assert all(torch.equal(one, many[1:2]) for one, many in zip(alone, among, strict=True))


def test_colours_that_learn_get_no_gradient_from_it():
    picture, color = pictures_and_colors(4)
    seen = view_channels(picture, color.requires_grad_(), num_palette_colors=2, cell_px=8)
    assert not seen.channel_XCHW.requires_grad
