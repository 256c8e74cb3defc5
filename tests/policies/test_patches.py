"""Claims about patches: what is cut out of a picture around an extent. X pictures, S windows, P pixels a side."""

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from policies.patches import PATCH_PX, WINDOW_SIDES, patches, patches_by_torch

share = st.floats(-0.25, 1.25, width=32)


def picture(seed: int, size: int = 48) -> torch.Tensor:
    return torch.from_numpy(np.random.default_rng(seed).integers(0, 256, (1, size, size, 3), np.uint8))


@given(seed=st.integers(0, 9), x=share, y=share, side=st.floats(0, 1.25, width=32), size=st.sampled_from([32, 48, 96]))
def test_what_is_compiled_and_what_torch_makes_are_the_same(seed, x, y, side, size):
    image, extent = picture(seed, size), torch.tensor([[x, y, side]])
    assert torch.allclose(patches(image, extent), patches_by_torch(image, extent), atol=2e-6)


def test_each_pixel_is_the_mean_of_what_it_covers():
    """The slow twin: a picture of squares of 8 pixels, of which a window of 10 tenths of 64 px shows 2 x 2 a pixel."""
    small = picture(0, 32)
    image = small.repeat_interleave(2, 1).repeat_interleave(2, 2)  # 64 px
    patch_SCPP = patches(image, torch.tensor([[0.5, 0.5, 0.1]]))[0].unflatten(0, (len(WINDOW_SIDES), 3))
    wanted = small[0].permute(2, 0, 1).float() / 255 - 0.5
    assert torch.allclose(patch_SCPP[2], wanted, atol=1e-6)  # 10 sides of a tenth: the whole picture at half its size


def test_there_is_black_beyond_the_picture():
    image = torch.full((1, 48, 48, 3), 255, dtype=torch.uint8)
    patch_SCPP = patches(image, torch.tensor([[0.0, 0.5, 0.1]]))[0].unflatten(0, (len(WINDOW_SIDES), 3))
    half = PATCH_PX // 2
    assert (patch_SCPP[2, :, :, : half - 1] == -0.5).all()
    assert torch.allclose(patch_SCPP[2, :, 1:-1, half + 1 :], torch.tensor(0.5), atol=1e-6)
    assert (patches(image, torch.tensor([[9.0, 9.0, 0.1]])) == -0.5).all()


def test_a_thing_gives_the_same_patch_from_twice_as_near():
    """Drawn twice as large, with half as much around it."""
    far = picture(3, 96)
    near = far.repeat_interleave(2, 1).repeat_interleave(2, 2)[:, 48:144, 48:144]
    patches_CPP = [patches(far, torch.tensor([[0.5, 0.5, 0.2]]))[0], patches(near, torch.tensor([[0.5, 0.5, 0.4]]))[0]]
    assert torch.allclose(patches_CPP[0][:3], patches_CPP[1][:3], atol=1e-6)


def test_autocast_leaves_them_as_they_are():
    image, extent = picture(1), torch.tensor([[0.4, 0.6, 0.3]])
    with torch.autocast("cpu", torch.bfloat16):
        patch = patches_by_torch(image, extent)
    assert patch.dtype == torch.float32
    assert torch.allclose(patch, patches(image, extent), atol=2e-6)
