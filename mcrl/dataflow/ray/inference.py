"""A replica of the policy in a process of its own, which rollout workers share."""

import os
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import ray
from ray.exceptions import GetTimeoutError, OutOfMemoryError, RayActorError

from mcrl.dataflow.inference.policy_host import PolicyHost
from mcrl.dataflow.inference.server import InferenceServer
from mcrl.dataflow.inference.stream import ActReply, ActRequest, ValueRequest
from mcrl.dataflow.weights.snapshot import ParamSnapshot

# Requests that may wait in a replica at once, one thread each: more workers than that wait outside.
_MAX_WAITING = 256


class InferenceActor:
    """An InferenceServer that is called from other processes."""

    def __init__(self, make_host: Callable[[], PolicyHost], num_threads: int) -> None:
        from policies.threads import use_threads  # imported here and not by the workers' import of this module

        use_threads(num_threads)
        self._server = InferenceServer(make_host)

    def act(self, requests: Sequence[ActRequest], *, min_version: int) -> list[ActReply]:
        """Choose the actions of these groups; see InferenceServer.act."""
        return self._server.act(requests, min_version=min_version)

    def values(self, requests: Sequence[ValueRequest]) -> list[np.ndarray]:
        """Return float32 [N] for each request."""
        return self._server.values(requests)

    def load(self, snapshot: ParamSnapshot) -> None:
        """Act with these weights from the next batch on."""
        self._server.load(snapshot)

    def version(self) -> int:
        """Return the version of the weights that act now."""
        return self._server.version()

    def process_id(self) -> int:
        """Return the id of this process."""
        return os.getpid()


# No CPU of its own: a learner and its workers have been given all there are. Restarts are the caller's work, because
# only it knows what the new process must be told.
_RemoteInferenceActor = ray.remote(num_cpus=0, max_restarts=0, max_task_retries=0)(InferenceActor)


class RayTransport:
    """The way to a replica that all workers of a run find by its name; the first to look for it starts it.

    It ends with the worker that started it, and the next one to miss it starts it again.
    """

    def __init__(
        self, name: str, make_host: Callable[[int], PolicyHost], *, num_threads: int, time_limit_s: float
    ) -> None:
        """Find the replica, or start it with `make_host`, which is told how often this worker has missed it before.

        Reviving it may take `time_limit_s`.
        """
        self._name, self._make_host, self._num_missed = name, make_host, 0
        self._num_threads, self._time_limit_s = num_threads, time_limit_s
        self._actor = self._find()

    def call(self, method: str, *args: Any, **named: Any) -> Any:
        """Begin a call of the replica's method and return its ObjectRef."""
        return getattr(self._actor, method).remote(*args, **named)

    def wait(self, pending: Any, timeout_s: float) -> Any:
        """Return the call's answer; see InferenceTransport.wait for what is raised."""
        try:
            return ray.get(pending, timeout=timeout_s)
        except GetTimeoutError:
            raise TimeoutError(f"{self._name} gave no answer within {timeout_s:g} s") from None
        except (RayActorError, OutOfMemoryError):  # the latter where Ray ended it for want of memory
            raise ConnectionError(f"{self._name} died") from None

    def revive(self) -> None:
        """Find or start the replica again. Raise ConnectionError when none answers within the limit."""
        deadline_s = time.monotonic() + self._time_limit_s
        self._num_missed += 1
        while True:
            # Its name is free only some time after a process died.
            try:
                self._actor = self._find()
                ray.get(self._actor.version.remote(), timeout=max(0.0, deadline_s - time.monotonic()))
                return
            except (RayActorError, OutOfMemoryError, ValueError) as error:
                if time.monotonic() >= deadline_s:
                    raise ConnectionError(f"{self._name} cannot be started again: {error}") from None
                time.sleep(0.1)
            except GetTimeoutError:
                raise ConnectionError(f"{self._name} did not start within {self._time_limit_s:g} s") from None

    def close(self) -> None:
        """Leave the replica to the others: it ends with the worker that started it."""

    def _find(self) -> Any:
        options = _RemoteInferenceActor.options(name=self._name, get_if_exists=True, max_concurrency=_MAX_WAITING)
        return options.remote(partial(self._make_host, self._num_missed), self._num_threads)
