"""What a machine has, what it lacks, and the command that mends each lack."""

import importlib
import math
import netrc
import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from mcrl.config import TrainConfig
from mcrl.name_clash import other_owners
from mcrl.provenance import memory_bytes, num_usable_cores, package_version

Status = Literal["ok", "note", "bad"]

_MIN_FREE_DISK_GIB = 2.0
_MIN_MEMORY_GIB = 6.0
# More of Ray's object store than this and it spills to disk while the learner waits.
MAX_STORE_SHARE = 0.6
# What Ray takes for its object store when it is not told otherwise.
_RAY_STORE_MEMORY_SHARE = 0.3
_INSTALL = "make setup"
# Those without which a run does not start or does not end; opencv and wandb are looked at more closely below.
_PACKAGES = ("torch", "numba", "numpy", "scipy", "gymnasium", "safetensors", "ray")


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the table."""

    what: str
    status: Status
    found: str
    remedy: str = ""
    """Command that mends it; "" when there is nothing to mend."""


def examine(config: TrainConfig, run_dir: Path) -> list[Finding]:
    """Look at this machine as a place to run `config`, with its run folders at `run_dir`."""
    checks: list[Callable[[], Finding]] = [
        _python,
        _names,
        *(lambda name=name: _package(name) for name in _PACKAGES),
        lambda: _device(config),
        lambda: _engine_device(config),
        lambda: _bf16(config),
        _opencv,
        _wandb,
        lambda: _cores(config),
        _memory,
        lambda: _disk(run_dir),
        lambda: _object_store(config),
    ]
    return [check() for check in checks]


def _python() -> Finding:
    found = ".".join(map(str, sys.version_info[:3]))
    if (3, 10) <= sys.version_info[:2] < (3, 14):
        return Finding("python", "ok", found)
    return Finding("python", "bad", f"{found}, wanted 3.10 to 3.13", "make clean setup PYTHON=python3.11")


def _names() -> Finding:
    others = other_owners()
    if not others:
        return Finding("names", "ok", "no other package is called as ours are")
    found = "; ".join(f"{name} is a package of {', '.join(owners)} too" for name, owners in others.items())
    return Finding("names", "note", f"{found}; whatever was installed last has replaced the other's files of one name")


def _package(name: str) -> Finding:
    version = package_version(name)
    return Finding(name, "ok", version) if version else Finding(name, "bad", "not installed", _INSTALL)


def _device(config: TrainConfig) -> Finding:
    import torch

    from mcrl.run import training_device

    try:
        device = training_device(config)
    except ValueError as error:
        lack, _, remedy = str(error).partition("; ")
        return Finding("device", "bad", lack, remedy)
    if device.type == "cuda":
        return Finding("device", "ok", f"{device}, {torch.cuda.get_device_name(device)}")
    if torch.cuda.is_available():
        return Finding("device", "note", "cpu, as the recipe asks; torch could use a GPU here")
    return Finding("device", "note", "cpu; torch finds no GPU")


def _engine_device(config: TrainConfig) -> Finding:
    from mcrl.engine_device import is_engine_on_gpu, word_of_engine
    from mcrl.run import training_device

    try:
        device = training_device(config)
    except ValueError:
        return Finding("engine device", "note", "not known while the device is not")
    try:
        on_gpu = is_engine_on_gpu(config, device)
    except ValueError as error:
        lack, _, remedy = str(error).partition("; ")
        return Finding("engine device", "bad", lack, remedy)
    if on_gpu:
        return Finding("engine device", "ok", f"{device}, numba-cuda {package_version('numba-cuda') or 'of numba'}")
    word = word_of_engine(config, device)
    return Finding("engine device", "ok" if word is None else "note", word or "cpu")


def _bf16(config: TrainConfig) -> Finding:
    from mcrl.run import training_device
    from policies.precision import uses_bf16

    try:
        device = training_device(config)
    except ValueError:
        return Finding("bf16", "note", "not known while the device is not")
    if uses_bf16("auto", device):
        return Finding("bf16", "ok", f"in hardware, {device}")
    return Finding("bf16", "note", f"not in hardware, {device}; precision auto computes in fp32 here")


def _opencv() -> Finding:
    """Import it for real: the wheel installs without the system libraries it needs."""
    try:
        version = importlib.import_module("cv2").__version__
    except ImportError as error:
        if "libGL" in str(error) or "libg" in str(error):
            return Finding(
                "opencv", "bad", f"{error}; reports have no videos", "apt-get install -y libgl1 libglib2.0-0"
            )
        return Finding("opencv", "bad", str(error), _INSTALL)
    return Finding("opencv", "ok", version)


def _wandb() -> Finding:
    version = package_version("wandb")
    if not version:
        return Finding("wandb", "bad", "not installed", _INSTALL)
    mode = os.environ.get("WANDB_MODE", "")
    if mode in ("disabled", "offline", "dryrun"):
        return Finding("wandb", "ok", f"{version}, goes by WANDB_MODE={mode}")
    if mode not in ("", "auto", "online", "shared", "run"):
        words = f"{version}, WANDB_MODE={mode} is none of its modes: runs are not logged there"
        return Finding("wandb", "note", words, "unset WANDB_MODE, or set online, offline or disabled")
    if os.environ.get("WANDB_API_KEY"):
        return Finding("wandb", "ok", f"{version}, logged in by WANDB_API_KEY")
    try:
        is_logged_in = netrc.netrc().authenticators("api.wandb.ai") is not None
    except (OSError, netrc.NetrcParseError):
        is_logged_in = False
    if is_logged_in:
        return Finding("wandb", "ok", f"{version}, logged in")
    if mode not in ("", "auto"):
        words = f"{version}, not logged in, as WANDB_MODE={mode} wants: runs are not logged there"
        return Finding("wandb", "note", words, "wandb login")
    return Finding("wandb", "note", f"{version}, not logged in: runs are logged offline", "wandb login")


def _cores(config: TrainConfig) -> Finding:
    count, rollout = num_usable_cores(), config.rollout
    if count < 2:
        return Finding("cores", "note", f"{count}; training wants 2")
    if rollout.placement != "inline" and rollout.num_workers > count:
        return Finding("cores", "note", f"{count} for the {rollout.num_workers} rollout workers of the recipe")
    return Finding("cores", "ok", f"{count}")


def _memory() -> Finding:
    total, available = (value / 2**30 for value in memory_bytes())
    if not total:
        return Finding("memory", "note", "unknown on this system")
    found = f"{total:.1f} GiB, {available:.1f} free"
    if available >= _MIN_MEMORY_GIB:
        return Finding("memory", "ok", found)
    return Finding(
        "memory",
        "bad",
        f"{found}, wanted {_MIN_MEMORY_GIB:.0f} free",
        "mcrl train laptop --imitation.num-demo-steps 20000 --imitation.dagger-steps 10000",
    )


def _disk(run_dir: Path) -> Finding:
    folder = next(parent for parent in (run_dir.absolute(), *run_dir.absolute().parents) if parent.exists())
    free = shutil.disk_usage(folder).free / 2**30
    if free >= _MIN_FREE_DISK_GIB:
        return Finding("disk", "ok", f"{free:.1f} GiB free at {folder}")
    return Finding(
        "disk",
        "bad",
        f"{free:.1f} GiB free at {folder}, wanted {_MIN_FREE_DISK_GIB:.0f}",
        "mcrl train laptop --run-dir FOLDER_ON_ANOTHER_DISK",
    )


def _object_store(config: TrainConfig) -> Finding:
    from mcrl.assembly import make_policy
    from mcrl.fragment_size import fragment_bytes
    from mcrl.stages.ppo_source import worker_limits

    if config.rollout.placement == "inline":
        return Finding("object store", "ok", "not used: the recipe acts and learns in one process")
    needed = worker_limits(config).max_stored_fragments * fragment_bytes(config, make_policy(config))
    capacity = object_store_bytes()
    if not capacity:
        return Finding("object store", "note", f"{needed / 2**20:.0f} MiB needed, its size is unknown on this system")
    share = needed / capacity
    found = f"{needed / 2**20:.0f} MiB of fragments, {share:.0%} of {capacity / 2**30:.1f} GiB"
    if share <= MAX_STORE_SHARE:
        return Finding("object store", "ok", found)
    # In powers of two, so that minibatches still fill a batch.
    divisor = 2 ** math.ceil(math.log2(share / MAX_STORE_SHARE))
    return Finding(
        "object store",
        "bad",
        f"{found}; at most {MAX_STORE_SHARE:.0%}",
        f"mcrl train {config.recipe} --rollout.envs-per-worker {max(1, config.rollout.envs_per_worker // divisor)} "
        f"--ppo.fragments-per-batch {max(1, config.ppo.fragments_per_batch // divisor)}",
    )


def object_store_bytes() -> int:
    """Return the size Ray would give its object store here; 0 where it cannot be told."""
    total, _ = memory_bytes()
    shared_memory = Path("/dev/shm")
    if not total or not shared_memory.is_dir():
        return 0
    return int(min(_RAY_STORE_MEMORY_SHARE * total, shutil.disk_usage(shared_memory).total))
