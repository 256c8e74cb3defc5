"""Starting Ray on one machine, small and quiet, or connecting to a cluster that runs already."""

import logging
import os
import shutil
import signal
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import ray

from mcrl.dataflow.ray.address import ADDRESS_VARIABLE
from mcrl.dataflow.ray.cluster import check_cluster

# Ray refuses less than 75 MB.
_MIN_OBJECT_STORE_BYTES = 128 * 2**20
_KNOCK_S = 10.0
# Of logs and sockets. On a full disk Ray does start, and complains for minutes before it ends.
_MIN_SESSION_BYTES = 64 * 2**20
_START_WITHIN_S = 180
_RETIRED_S = 3.0  # until Ray counts the CPU of a worker that ended as free


def start(*, num_workers: int, object_store_bytes: int) -> bool:
    """Start Ray unless it runs already; return whether it was started here and so has to be stopped here.

    Where RAY_ADDRESS is set the process connects to that cluster instead and stays connected to its end. Raise
    ValueError, saying what is missing, where nothing answers there or the cluster is too small.
    """
    if ray.is_initialized():
        return False
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    # Ray would run workers at low priority: on a machine that does anything else they all but stand still.
    os.environ.setdefault("RAY_worker_niceness", "0")
    # Otherwise Ray warns about a future change to variables that only matter with accelerators.
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    # Ray's own limit of 30 s is not enough on a machine that other programs keep busy.
    os.environ.setdefault("RAY_raylet_start_wait_time_s", str(_START_WITHIN_S))
    address = os.environ.get(ADDRESS_VARIABLE)
    if address:
        _connect(address)
        try:
            check_cluster(address, num_workers=num_workers, object_store_bytes=object_store_bytes)
        except ValueError:
            stop()
            raise
        return False
    check_room()
    # `num_cpus` is logical and given explicitly: on a small machine Ray's own count would leave no room for a worker
    # beside the learner, and actors would wait for ever.
    try:
        with _own_signal_handlers():
            ray.init(
                address="local",  # else Ray joins any cluster that somebody runs on this machine
                num_cpus=num_workers + 1,
                num_gpus=0,
                include_dashboard=False,
                log_to_driver=False,
                logging_level=logging.ERROR,
                object_store_memory=max(_MIN_OBJECT_STORE_BYTES, object_store_bytes),
            )
    except Exception as error:
        if "timed out during startup" not in str(error):  # Ray has no class of its own for it
            raise
        raise ValueError(
            f"Ray did not start within {_START_WITHIN_S} s: other programs keep this machine busy; try again "
            "later, or run with rollout.placement inline"
        ) from None
    return True


def free_cpus(*, wanted: int) -> float:
    """Return how many CPUs nobody holds; where they are fewer than `wanted`, what retired just now is waited for."""
    deadline_s = time.monotonic() + _RETIRED_S
    while True:
        free = float(ray.available_resources().get("CPU", 0.0))
        if free >= wanted or time.monotonic() >= deadline_s:
            return free
        time.sleep(0.1)


def check_room() -> None:
    """Raise ValueError where the disk that Ray keeps its session on is full, or nearly so."""
    folder = os.environ.get("RAY_TMPDIR") or os.environ.get("TMPDIR") or "/tmp"
    if not os.path.isdir(folder):
        return  # Ray makes it, or says what is wrong with it
    free_bytes = shutil.disk_usage(folder).free
    if free_bytes < _MIN_SESSION_BYTES:
        raise ValueError(
            f"{folder}: Ray keeps its session there, and that disk has {free_bytes / 2**20:.0f} MiB left of the "
            f"{_MIN_SESSION_BYTES >> 20} it needs; free some of it, or name a folder on another disk with RAY_TMPDIR"
        )


def _connect(address: str) -> None:
    try:
        _knock(address)
        with _own_signal_handlers():
            ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
    except (OSError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
        if "auth" in str(error).lower() and "token" in str(error).lower():
            raise ValueError(
                f"--ray-address {address}: the cluster refuses this machine's token; copy the head's "
                "~/.ray/auth_token here"
            ) from None
        raise ValueError(
            f"--ray-address {address}: no Ray cluster answers there ({' '.join(str(error).split())[:200]}); start "
            "one with `ray start --head`, give this machine the head's ~/.ray/auth_token where it has one, or leave "
            "the address out to run on this machine"
        ) from None


def _knock(address: str) -> None:
    """Raise OSError or ValueError where nobody listens: Ray itself would try for minutes."""
    host, colon, port = address.rpartition(":")
    if colon and "/" not in host:
        with socket.create_connection((host.strip("[]"), int(port)), timeout=_KNOCK_S):
            pass


@contextmanager
def _own_signal_handlers() -> Iterator[None]:
    """Keep the process's handlers: Ray puts its own for SIGTERM, which would end a run without saving it.

    When it stops it leaves none, and Python does not know: to `signal.getsignal` all is as it was.
    """
    is_main = threading.current_thread() is threading.main_thread()
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)} if is_main else {}
    try:
        yield
    finally:
        for number, handler in handlers.items():
            if handler is not None:  # None: not one of Python's
                signal.signal(number, handler)


def stop() -> None:
    """Stop Ray."""
    with _own_signal_handlers():
        ray.shutdown()
