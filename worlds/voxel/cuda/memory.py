"""Where the CUDA engine's arrays live: torch tensors on the GPU, numpy arrays under numba's CUDA simulator.

An array has two faces on the same memory: what the outside gets (a tensor), and what a kernel takes. torch cannot do
much with unsigned integers, so a tensor of them is signed; the kernels' face has the true type.
"""

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

import numba
import numpy as np
import torch
from numba import cuda

Array = Any  # a tensor on the GPU; a numpy array under the simulator
KernelArray = Any
Group = TypeVar("Group", bound=tuple[Any, ...])

_SIGNED = {np.dtype(np.uint16): np.dtype(np.int16), np.dtype(np.uint32): np.dtype(np.int32)}
_UNSIGNED_TORCH = {np.dtype(np.uint16): torch.uint16, np.dtype(np.uint32): torch.uint32}


class Memory(Protocol):
    """A place for arrays."""

    def zeros(self, shape: tuple[int, ...], dtype: np.dtype) -> Array:
        """Return a new array; its memory stays where it is."""
        ...

    def staging(self, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
        """Return a new array on the host, from which `write_rows` is quickest."""
        ...

    def upload(self, host: np.ndarray) -> Array:
        """Return a new array with the values of a host array."""
        ...

    def to_host(self, *arrays: Array) -> list[np.ndarray]:
        """Return copies on the host, after a single wait for all of them."""
        ...

    def for_kernels(self, array: Array, dtype: np.dtype) -> KernelArray:
        """Return the same memory as kernels take it."""
        ...

    def write(self, array: Array, values: np.ndarray | Array) -> None:
        """Overwrite a whole array, from the host or from here; values of other types are converted."""
        ...

    def write_rows(self, array: Array, index_N: np.ndarray | Array, rows: np.ndarray | Array) -> None:
        """Overwrite some rows. Those of `staging` must stay as they are until `wait`."""
        ...

    def wait(self) -> None:
        """Return when all that was begun is done."""
        ...

    def rows_of(self, array: Array, index_N: np.ndarray) -> Array:
        """Return copies of some rows."""
        ...

    def stream(self) -> Any:
        """Return the stream that kernels are to run on."""
        ...

    def num_processors(self) -> int:
        """Return the number of multiprocessors."""
        ...

    def free_bytes(self) -> int:
        """Return how much is free."""
        ...

    def maximum(self, one: Array, other: Array) -> Array:
        """Return the larger number of each pair."""
        ...


class TorchMemory:
    """Tensors on the current CUDA device."""

    def zeros(self, shape: tuple[int, ...], dtype: np.dtype) -> torch.Tensor:
        """See Memory.zeros."""
        sample = torch.from_numpy(np.empty(0, _SIGNED.get(np.dtype(dtype), dtype)))
        return torch.zeros(shape, dtype=sample.dtype, device="cuda")

    def staging(self, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
        """See Memory.staging."""
        dtype = np.dtype(dtype)
        num_bytes = int(np.prod(shape)) * dtype.itemsize
        pinned = torch.zeros(num_bytes, dtype=torch.uint8, pin_memory=True)
        return pinned.numpy().view(dtype).reshape(shape)

    def upload(self, host: np.ndarray) -> torch.Tensor:
        """See Memory.upload."""
        return _as_tensor(host).to("cuda", copy=True)

    def to_host(self, *arrays: torch.Tensor) -> list[np.ndarray]:
        """See Memory.to_host."""
        held = [array.to("cpu", non_blocking=True) for array in arrays]
        self.wait()
        return [array.numpy() for array in held]

    def for_kernels(self, array: torch.Tensor, dtype: np.dtype) -> KernelArray:
        """See Memory.for_kernels."""
        unsigned = _UNSIGNED_TORCH.get(np.dtype(dtype))
        return cuda.as_cuda_array(array if unsigned is None else array.view(unsigned))

    def write(self, array: torch.Tensor, values: np.ndarray | torch.Tensor) -> None:
        """See Memory.write."""
        array.copy_(_as_tensor(values))

    def write_rows(
        self, array: torch.Tensor, index_N: np.ndarray | torch.Tensor, rows: np.ndarray | torch.Tensor
    ) -> None:
        """See Memory.write_rows."""
        # Without a wait where the rows are pinned, as those of `staging` are; CUDA waits for others by itself.
        array[torch.as_tensor(index_N, device="cuda")] = _as_tensor(rows).to("cuda", array.dtype, non_blocking=True)

    def wait(self) -> None:
        """See Memory.wait."""
        torch.cuda.current_stream().synchronize()

    def rows_of(self, array: torch.Tensor, index_N: np.ndarray) -> torch.Tensor:
        """See Memory.rows_of."""
        return array[torch.as_tensor(index_N, device="cuda")]

    def stream(self) -> Any:
        """Return torch's current stream: what torch has begun is done before the kernels, and the other way round."""
        handle = torch.cuda.current_stream().cuda_stream
        return cuda.external_stream(handle) if handle else 0

    def num_processors(self) -> int:
        """See Memory.num_processors."""
        return torch.cuda.get_device_properties("cuda").multi_processor_count

    def free_bytes(self) -> int:
        """See Memory.free_bytes."""
        return int(torch.cuda.mem_get_info()[0])

    def maximum(self, one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
        """See Memory.maximum."""
        return torch.maximum(one, other)


class HostMemory:
    """Numpy arrays, for the simulator."""

    def zeros(self, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
        """See Memory.zeros."""
        return np.zeros(shape, dtype)

    def staging(self, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
        """See Memory.staging."""
        return np.zeros(shape, dtype)

    def upload(self, host: np.ndarray) -> np.ndarray:
        """See Memory.upload."""
        return host.copy()

    def to_host(self, *arrays: np.ndarray) -> list[np.ndarray]:
        """See Memory.to_host."""
        return [array.copy() for array in arrays]

    def for_kernels(self, array: np.ndarray, dtype: np.dtype) -> np.ndarray:
        """See Memory.for_kernels."""
        assert array.dtype == dtype
        return array

    def write(self, array: np.ndarray, values: np.ndarray) -> None:
        """See Memory.write."""
        array[...] = np.asarray(values)

    def write_rows(self, array: np.ndarray, index_N: np.ndarray, rows: np.ndarray) -> None:
        """See Memory.write_rows."""
        array[index_N] = rows

    def wait(self) -> None:
        """See Memory.wait."""

    def rows_of(self, array: np.ndarray, index_N: np.ndarray) -> np.ndarray:
        """See Memory.rows_of."""
        return array[index_N].copy()

    def stream(self) -> int:
        """See Memory.stream."""
        return 0

    def num_processors(self) -> int:
        """Return 1: the simulator runs one block at a time."""
        return 1

    def free_bytes(self) -> int:
        """Return 0: nothing here is large."""
        return 0

    def maximum(self, one: np.ndarray, other: np.ndarray) -> np.ndarray:
        """See Memory.maximum."""
        return np.maximum(one, other)


def _as_tensor(values: np.ndarray | torch.Tensor) -> torch.Tensor:
    if isinstance(values, torch.Tensor):
        return values
    contiguous = np.ascontiguousarray(values)
    if not contiguous.flags.writeable:  # torch has no tensors that are read-only, and warns
        contiguous = contiguous.copy()
    return torch.from_numpy(contiguous.view(_SIGNED.get(contiguous.dtype, contiguous.dtype)))


def device_memory() -> Memory:
    """Return the memory of the current CUDA device; a ValueError says what is missing where there is none."""
    if numba.config.ENABLE_CUDASIM:  # type: ignore[attr-defined]
        return HostMemory()
    if not torch.cuda.is_available():
        raise ValueError(
            "the engine on a GPU: torch finds no CUDA device here; use a machine with an NVIDIA GPU and a CUDA build "
            "of torch, or the engine on the CPU"
        )
    if not cuda.is_available():
        raise ValueError(
            "the engine on a GPU: numba cannot use the GPU that torch sees; install the extra: pip install 'mcrl[cuda]'"
        )
    return TorchMemory()


def each_array(change: Callable[..., Any], group: Group, *others: tuple[Any, ...]) -> Group:
    """Return a group of arrays (a NamedTuple of arrays and groups) with `change` applied to every array.

    `change` is called with an array of the group and those at its place in the others, which have the same shape.
    """
    return type(group)(
        *(
            each_array(change, *members) if isinstance(members[0], tuple) else change(*members)
            for members in zip(group, *others, strict=True)
        )
    )
