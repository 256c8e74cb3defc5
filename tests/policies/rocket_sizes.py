"""The ROCKET network small enough for tests: every class of the full one, a thousandth of its work."""

from policies.rocket_config import RocketConfig


def shrunk_rocket() -> RocketConfig:
    """Return sizes of about 1 M parameters, most of them VPT's heads. Encoder heads are 64 wide as in the full one."""
    return RocketConfig(
        image_px=32,
        view_width=64,
        view_layers=2,
        view_heads=1,
        mask_width=64,
        mask_layers=1,
        mask_heads=1,
        width=64,
        num_heads=2,
        fusion_layers=2,
        memory_layers=2,
        num_view_tokens=3,
        context_steps=8,
        recomputes_fusion=False,
    )
