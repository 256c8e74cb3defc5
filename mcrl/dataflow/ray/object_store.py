"""Ray's object store, asked in such a way that nobody waits for it for ever."""

import logging
import threading
import time
from collections.abc import Sequence
from typing import Any

import ray
from ray.exceptions import GetTimeoutError, ObjectLostError, ObjectStoreFullError, OutOfDiskError, RayActorError

_LOG = logging.getLogger(__name__)

# Longer than any transfer or process start should take: what takes longer is broken, and says so. On a machine with 30
# others' processes a core a start took above 60 s.
LIMIT_S = 180.0
# What Ray raises when neither the store nor the disk behind it has room.
FULL = (ObjectStoreFullError, OutOfDiskError)
_GONE = (ObjectLostError, RayActorError, *FULL)
_RETRY_S = 1.0
# Share of the store that fragments may fill: weights and what is being read need the rest.
STORE_SHARE = 0.6


def put(value: object, *, limit_s: float = LIMIT_S) -> Any:
    """Return an ObjectRef of `value`, which this process owns. A store that is full is asked again.

    Ray's own `put` has no time limit of its own.

    Raises:
        RuntimeError: the store did not take it within `limit_s`.
    """
    end_s = time.monotonic() + limit_s
    while True:
        attempt = _Put(value)
        attempt.join(max(0.0, end_s - time.monotonic()))
        if isinstance(attempt.error, FULL) and time.monotonic() < end_s:
            _LOG.warning("Ray's object store and the disk behind it are full; trying again")
            time.sleep(_RETRY_S)
        elif attempt.error is not None and not isinstance(attempt.error, FULL):
            raise attempt.error
        elif attempt.ref is not None:
            return attempt.ref
        else:
            raise RuntimeError(
                f"Ray's object store took nothing for {limit_s:g} s; look into /tmp/ray/session_latest/logs, then go "
                "on with `mcrl train --resume`, or give Ray a larger object_store_memory"
            )


class _Put(threading.Thread):
    """One attempt, which may outlive the patience of who began it."""

    def __init__(self, value: object) -> None:
        super().__init__(name="ray-put", daemon=True)
        self.ref: Any = None
        self.error: Exception | None = None
        self._value = value
        self.start()

    def run(self) -> None:
        try:
            self.ref = ray.put(self._value)
        except Exception as error:  # raised again in whoever asked
            self.error = error


def fetch(refs: Sequence[Any], *, limit_s: float = LIMIT_S) -> list[Any | None]:
    """Return the objects, None for those that are gone or do not come within `limit_s`.

    Gone is what went down with its machine, and what a task returned when the store had no room for it: Ray keeps the
    results that still fitted, and an error for each of the rest.
    """
    try:
        return list(ray.get(list(refs), timeout=limit_s))
    except _GONE:
        return [_fetch_one(ref, limit_s) for ref in refs]
    except GetTimeoutError:
        here = set(ray.wait(list(refs), num_returns=len(refs), timeout=0)[0])
        return [_fetch_one(ref, limit_s) if ref in here else None for ref in refs]


def _fetch_one(ref: Any, limit_s: float) -> Any | None:
    try:
        return ray.get(ref, timeout=limit_s)
    except FULL:
        _LOG.warning("Ray's object store had no room for a fragment; it is lost")
        return None
    except (*_GONE, GetTimeoutError):
        return None


def check_room(in_store_bytes: int) -> None:
    """Raise ValueError for a store that fragments would fill: Ray would spill them to disk or stop."""
    store_bytes = ray.cluster_resources().get("object_store_memory", 0.0)
    if in_store_bytes > STORE_SHARE * store_bytes:
        raise ValueError(
            f"Ray's object store has {store_bytes / 2**20:.0f} MiB and the run's fragments may take "
            f"{in_store_bytes / 2**20:.0f}, more than {STORE_SHARE:.0%} of it; start Ray with a larger "
            "object_store_memory, or lower rollout.max_staleness, ppo.fragments_per_batch or ppo.fragment_steps"
        )
