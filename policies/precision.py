"""Number formats of the policy's arithmetic."""

import functools
from pathlib import Path
from typing import Literal

import torch

Precision = Literal["auto", "bf16", "fp32"]


@functools.cache
def _cpu_multiplies_bf16() -> bool:
    """Tell whether this CPU has bf16 multiply instructions (avx512_bf16 or amx_bf16). Only Linux says so."""
    cpuinfo = Path("/proc/cpuinfo")
    if not cpuinfo.exists():
        return False
    flags = next((line for line in cpuinfo.read_text().splitlines() if line.startswith("flags")), "").split()
    return "avx512_bf16" in flags or "amx_bf16" in flags


def uses_bf16(precision: Precision, device: torch.device | str) -> bool:
    """Tell whether `precision` means bf16 on this device.

    "auto" is bf16 only where the hardware multiplies bf16 natively: CUDA from compute capability 8.0, CPUs with
    avx512_bf16 or amx_bf16. Elsewhere bf16 is emulated and slower than fp32, so "auto" is fp32 there.
    """
    if precision not in ("auto", "bf16", "fp32"):
        raise ValueError(f'precision must be "auto", "bf16" or "fp32", got {precision!r}')
    if precision != "auto":
        return precision == "bf16"
    kind = torch.device(device).type
    if kind == "cuda":
        return torch.cuda.is_bf16_supported(including_emulation=False)
    return kind == "cpu" and _cpu_multiplies_bf16()


def autocast(precision: Precision, device: torch.device | str) -> torch.autocast:
    """Return a context in which matrix products run in bf16 where `uses_bf16` says so.

    Weights, memories and encoded goals stay float32, and so do softmax, log-softmax, layer norms and everything
    that comes out of a policy. Act and learn under the same precision: bf16 rounds log-probs by about 1e-2.
    """
    return torch.autocast(torch.device(device).type, dtype=torch.bfloat16, enabled=uses_bf16(precision, device))


def compute_dtype(device: torch.device) -> torch.dtype:
    """Return the dtype matrix products use in the present context on `device`."""
    if torch.is_autocast_enabled(device.type):
        return torch.get_autocast_dtype(device.type)
    return torch.float32
