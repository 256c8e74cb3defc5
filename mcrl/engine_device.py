"""Whether a run's rollout engine plays on the GPU of its policy."""

import torch

from mcrl.config import TrainConfig
from worlds.adapters.catalogue import BUILT_IN

_WHERE = "rollout.engine_device cuda"


def is_engine_on_gpu(config: TrainConfig, device: torch.device) -> bool:
    """Return whether workers that act on `device` have their engine there, as the config and this machine have it.

    Raises:
        ValueError: the config insists on it, and it cannot be.
    """
    rollout = config.rollout
    if rollout.engine_device == "cpu":
        return False
    lack = _lack(config, device)
    if lack is not None and rollout.engine_device == "cuda":
        raise ValueError(f'{_WHERE}: {lack}, or set it to "cpu"')
    return lack is None


def word_of_engine(config: TrainConfig, device: torch.device) -> str | None:
    """Return what to tell of a GPU that only the policy uses, though the engine might; None where nothing is odd."""
    if config.rollout.engine_device != "auto" or device.type != "cuda":
        return None
    lack = _lack(config, device)
    return None if lack is None else f"the engine stays on the CPU: {lack}"


def _lack(config: TrainConfig, device: torch.device) -> str | None:
    """Return what is in the way and how to mend it; None where nothing is."""
    rollout = config.rollout
    if rollout.placement != "inline" or rollout.ring_groups > 1:
        return 'workers act on the CPU; set rollout.placement to "inline" and rollout.ring_groups to 1'
    if config.env.backend != BUILT_IN:
        return f"env.backend is {config.env.backend}, and only the built-in engine plays on a GPU; leave it out"
    if device.type != "cuda":
        return "the policy is on the CPU; use a machine with an NVIDIA GPU and set device to cuda"
    from numba import cuda  # seconds of start, and only here

    if not cuda.is_available():
        return "numba cannot use the GPU that torch sees; install the extra: pip install 'mcrl[cuda]'"
    return None
