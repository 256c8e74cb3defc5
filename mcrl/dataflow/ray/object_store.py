"""Ray's object store, asked in such a way that nobody waits for it for ever."""

import threading
from collections.abc import Sequence
from typing import Any

import ray
from ray.exceptions import GetTimeoutError, ObjectLostError, RayActorError

# Longer than any transfer or process start should take: what takes longer is broken, and says so. On a machine with 30
# others' processes a core a start took above 60 s.
LIMIT_S = 180.0
# Share of the store that fragments may fill: weights and what is being read need the rest.
STORE_SHARE = 0.6


def put(value: object, *, limit_s: float = LIMIT_S) -> Any:
    """Return an ObjectRef of `value`, which this process owns.

    Ray's own `put` has no time limit: it waits for as long as a full store cannot be spilled, for instance.

    Raises:
        RuntimeError: the store did not take it within `limit_s`.
        ObjectStoreFullError: neither the store nor the disk behind it has room.
    """
    done: list[Any] = []
    errors: list[Exception] = []

    def work() -> None:
        try:
            done.append(ray.put(value))
        except Exception as error:  # noqa: BLE001 - raised again in whoever asked
            errors.append(error)

    thread = threading.Thread(target=work, name="ray-put", daemon=True)
    thread.start()
    thread.join(limit_s)
    if errors:
        raise errors[0]
    if not done:
        raise RuntimeError(
            f"Ray's object store took nothing for {limit_s:g} s; look into /tmp/ray/session_latest/logs and start the "
            "run again with --resume, or give Ray a larger object_store_memory"
        )
    return done[0]


def fetch(refs: Sequence[Any], *, limit_s: float = LIMIT_S) -> list[Any | None]:
    """Return the objects, None for those that went down with their machine or do not come within `limit_s`."""
    try:
        return list(ray.get(list(refs), timeout=limit_s))
    except (ObjectLostError, RayActorError):
        return [_fetch_one(ref, limit_s) for ref in refs]
    except GetTimeoutError:
        here = set(ray.wait(list(refs), num_returns=len(refs), timeout=0)[0])
        return [_fetch_one(ref, limit_s) if ref in here else None for ref in refs]


def _fetch_one(ref: Any, limit_s: float) -> Any | None:
    try:
        return ray.get(ref, timeout=limit_s)
    except (ObjectLostError, RayActorError, GetTimeoutError):
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
