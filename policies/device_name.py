"""How a setting names the device of a policy. Apart from policies.device, so that settings are read without torch."""

from typing import Literal

DeviceName = Literal["auto", "cpu", "cuda"]


def check_device_name(name: str, *, where: str) -> None:
    """Raise ValueError where `name`, the setting `where`, is none of DeviceName; whether there is one is not asked."""
    if name not in ("auto", "cpu", "cuda"):
        raise ValueError(f'{where} must be "auto", "cpu" or "cuda", got {name!r}')
