"""Starting and stopping Ray on one machine, small and quiet."""

import logging
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import ray

# Ray refuses less than 75 MB.
_MIN_OBJECT_STORE_BYTES = 128 * 2**20


def start(*, num_workers: int, object_store_bytes: int) -> bool:
    """Start Ray unless it runs already; return whether it was started here and so has to be stopped here.

    `num_cpus` is logical and given explicitly: on a small machine Ray's own count would leave no room for a worker
    beside the learner, and actors would wait for ever.
    """
    if ray.is_initialized():
        return False
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    # Ray would run workers at low priority: on a machine that does anything else they all but stand still.
    os.environ.setdefault("RAY_worker_niceness", "0")
    # Otherwise Ray warns about a future change to variables that only matter with accelerators.
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    with _own_signal_handlers():
        ray.init(
            num_cpus=num_workers + 1,
            num_gpus=0,
            include_dashboard=False,
            log_to_driver=False,
            logging_level=logging.ERROR,
            object_store_memory=max(_MIN_OBJECT_STORE_BYTES, object_store_bytes),
        )
    return True


@contextmanager
def _own_signal_handlers() -> Iterator[None]:
    """Keep the process's handlers: Ray puts its own for SIGTERM, which would end a run without saving it."""
    is_main = threading.current_thread() is threading.main_thread()
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)} if is_main else {}
    yield
    for number, handler in handlers.items():
        signal.signal(number, handler)


def stop() -> None:
    """Stop Ray."""
    ray.shutdown()
