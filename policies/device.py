"""Where a policy computes: its device is that of its weights, and what it reads is sent there."""

from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor, nn

from policies.device_name import DeviceName, check_device_name

CPU = torch.device("cpu")


def find_device(name: DeviceName, *, where: str) -> torch.device:
    """Return the device of that name on this machine; "auto" is the current CUDA GPU where there is one, else the CPU.

    ValueError, naming the setting `where`: "cuda", and torch finds no GPU.
    """
    check_device_name(name, where=where)
    if name == "cpu" or (name == "auto" and not torch.cuda.is_available()):
        return CPU
    if not torch.cuda.is_available():
        lack = "finds none on this machine" if torch.version.cuda else "was built without CUDA"
        raise ValueError(
            f"{where} cuda: torch {torch.__version__} {lack}; install a driver and a build of torch for it (`pip "
            f"install --force-reinstall torch --index-url https://download.pytorch.org/whl/cu128`), or set {where} "
            "to cpu"
        )
    return torch.device("cuda", torch.cuda.current_device())


def device_of(policy: nn.Module) -> torch.device:
    """Return where the weights of `policy` are; one without weights computes on the CPU."""
    return next((parameter.device for parameter in policy.parameters()), CPU)


def send(tensor: Tensor, device: torch.device) -> Tensor:
    """Return the tensor on `device`, itself if it is there; the host does not wait for a copy to a GPU.

    By way of pinned memory, from which alone a copy can go on beside the host's work. Whatever is computed from the
    result is in order behind the copy.
    """
    if device.type == "cuda" and tensor.device.type == "cpu":
        return tensor.pin_memory().to(device, non_blocking=True)
    return tensor.to(device)


def send_array(array: np.ndarray | Tensor, device: torch.device) -> Tensor:
    """Return the array on `device`, on the CPU without a copy; an engine on a GPU hands out tensors there."""
    return send(torch.from_numpy(array) if isinstance(array, np.ndarray) else array, device)


def to_numpy(*tensors: Tensor) -> list[np.ndarray]:
    """Return what the tensors hold, those on the CPU without a copy, those of a GPU after a single wait for it."""
    # A copy to the host that is not waited for goes to pinned memory of torch's own.
    held = [tensor if tensor.device.type == "cpu" else tensor.to(CPU, non_blocking=True) for tensor in tensors]
    for device in {tensor.device for tensor in tensors if tensor.device.type == "cuda"}:
        torch.cuda.current_stream(device).synchronize()
    return [tensor.numpy() for tensor in held]


def copied_memory(memory: Mapping[str, Tensor]) -> dict[str, np.ndarray]:
    """Return a copy of a policy's memory on the host, every array of the shape and type of its tensor."""
    # C order: a window of a longer buffer would carry its strides into the copy.
    return {name: np.array(tensor.cpu().numpy(), order="C") for name, tensor in memory.items()}
