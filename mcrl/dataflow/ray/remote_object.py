"""An object in a Ray process of its own, for parts that know nothing of Ray."""

from collections.abc import Callable
from typing import Any

import ray

_CALL_LIMIT_S = 3600.0


class RemoteObject:
    """What `make(*arguments)` returns, made and kept in another process. It claims no CPU of Ray's count."""

    def __init__(self, make: Callable[..., object], *arguments: object) -> None:
        self._actor: Any = _RemoteHost.remote(make, arguments)

    def call(self, method: str, *arguments: object) -> Callable[[], Any]:
        """Begin a method call; calling what is returned waits for its result, or raises what it raised.

        One that takes longer than an hour is a TimeoutError.
        """
        ref = self._actor.call.remote(method, arguments)
        return lambda: ray.get(ref, timeout=_CALL_LIMIT_S)

    def close(self) -> None:
        """End the process. Closing twice is fine."""
        ray.kill(self._actor)


class _Host:
    def __init__(self, make: Callable[..., object], arguments: tuple[object, ...]) -> None:
        self._object = make(*arguments)

    def call(self, method: str, arguments: tuple[object, ...]) -> object:
        return getattr(self._object, method)(*arguments)


_RemoteHost = ray.remote(num_cpus=0, max_restarts=0, max_task_retries=0)(_Host)
