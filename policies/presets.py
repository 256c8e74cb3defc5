"""Ready-made policies, smallest first."""

from collections.abc import Callable
from dataclasses import replace
from typing import overload

import torch

from policies.cross_view import CrossViewConfig, CrossViewPolicy
from policies.rocket import RocketPolicy
from policies.rocket_config import RocketConfig

PolicyConfig = CrossViewConfig | RocketConfig


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
    return CrossViewConfig(num_context_colors=3)


def medium() -> CrossViewConfig:
    """About 2 M parameters on 64 px views, with a deeper look at them: for a CPU and an hour."""
    return CrossViewConfig(num_context_colors=3, stem_strides=(2, 2, 2))


def sharp() -> CrossViewConfig:
    """About 2 M parameters on 96 px views, as many tokens as `small`: sees farther, at 1.7 times the cost."""
    return CrossViewConfig(num_context_colors=3, image_px=96, stem_strides=(3, 2, 2), stem_channels=16)


def keen_small() -> CrossViewConfig:
    """`small` that is shown where a view has colours typical of the target, and how well each part answers to it."""
    return CrossViewConfig(num_context_colors=3, num_palette_colors=3)


def keen() -> CrossViewConfig:
    """`sharp` that is shown the same: for a CPU and an hour or two."""
    return CrossViewConfig(
        num_context_colors=3, num_palette_colors=3, image_px=96, stem_strides=(3, 2, 2), stem_channels=16
    )


def keener() -> CrossViewConfig:
    """`keen` that looks closely at the two places where its target seems most likely."""
    return replace(keen(), num_glimpses=2)


def base() -> CrossViewConfig:
    """About 28 M parameters on 128 px views: for one GPU."""
    return CrossViewConfig(
        image_px=128,
        stem_channels=64,
        channels=192,
        goal_width=384,
        num_view_heads=6,
        readout_channels=32,
        width=640,
        num_layers=4,
        num_heads=10,
        head_size=64,
        context_steps=128,
    )


def rocket() -> RocketConfig:
    """The paper's network at "1x": 0.19 B parameters, 0.09 B of them frozen, on 224 px views."""
    return RocketConfig()


def rocket_xl() -> RocketConfig:
    """The paper's network at "1.5x": 0.30 B parameters, 0.09 B of them frozen; what ROCKET-3 was trained with."""
    return RocketConfig(width=1536, num_heads=16)


PRESETS: dict[str, Callable[[], CrossViewConfig] | Callable[[], RocketConfig]] = {
    "tiny": tiny,
    "small": small,
    "medium": medium,
    "sharp": sharp,
    "keen_small": keen_small,
    "keen": keen,
    "keener": keener,
    "base": base,
    "rocket": rocket,
    "rocket_xl": rocket_xl,
}


@overload
def build_policy(config: CrossViewConfig, seed: int) -> CrossViewPolicy: ...
@overload
def build_policy(config: RocketConfig, seed: int) -> RocketPolicy: ...
def build_policy(config: PolicyConfig, seed: int) -> CrossViewPolicy | RocketPolicy:
    """Return a policy whose weights depend on nothing but config and seed; the global generator is left as it was."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        if isinstance(config, RocketConfig):
            return RocketPolicy(config)
        if isinstance(config, CrossViewConfig):
            return CrossViewPolicy(config)
    raise ValueError(f"{type(config).__name__} has no branch in build_policy of policies/presets.py; write one there")
