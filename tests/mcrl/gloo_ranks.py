"""Functions run on several ranks of a gloo process group, each a process of its own."""

import multiprocessing
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist


def on_ranks(num_ranks: int, function: Callable[..., Any], folder: Path, *arguments: Any) -> list[Any]:
    """Return what `function(rank, *arguments)` returned on every rank."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(num_ranks, mp_context=context) as pool:
        store = folder / f"store_{function.__name__}"
        futures = [pool.submit(_run, rank, num_ranks, store, function, arguments) for rank in range(num_ranks)]
        return [future.result(timeout=900) for future in futures]


def _run(rank: int, num_ranks: int, store: Path, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    torch.set_num_threads(1)
    dist.init_process_group("gloo", store=dist.FileStore(str(store), num_ranks), rank=rank, world_size=num_ranks)
    try:
        return function(rank, *arguments)
    finally:
        dist.destroy_process_group()
