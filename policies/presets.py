"""Ready-made sizes of the cross-view policy, smallest first."""

from collections.abc import Callable

import torch

from policies.cross_view import CrossViewConfig, CrossViewPolicy


def tiny() -> CrossViewConfig:
    """About 0.1 M parameters on 32 px views: for tests."""
    return CrossViewConfig(
        image_px=32,
        stem_channels=8,
        channels=16,
        goal_width=32,
        num_view_heads=2,
        readout_channels=8,
        width=64,
        num_layers=2,
        num_heads=2,
        head_size=16,
        context_steps=8,
        feedforward_ratio=2,
    )


def small() -> CrossViewConfig:
    """About 2 M parameters on 64 px views: learns on the CPU of a laptop."""
    return CrossViewConfig()


PRESETS: dict[str, Callable[[], CrossViewConfig]] = {"tiny": tiny, "small": small}


def build_policy(config: CrossViewConfig, seed: int) -> CrossViewPolicy:
    """Return a policy whose weights depend on nothing but config and seed; the global generator is left as it was."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return CrossViewPolicy(config)
