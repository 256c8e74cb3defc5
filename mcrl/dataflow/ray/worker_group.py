"""Workers of a group in Ray processes."""

from collections.abc import Sequence
from typing import Any

import ray
from ray.exceptions import GetTimeoutError, ObjectLostError, OutOfMemoryError, RayActorError, RayTaskError

from mcrl.dataflow.groups.dispatch import Share
from mcrl.dataflow.groups.worker_group import MakeWorker, WorkerLostError
from mcrl.dataflow.ray import object_store

# A worker that dies is started again this often; what it was told before is gone.
_MAX_RESTARTS = 3
# The longest call, a check on val tasks, takes minutes; one that takes longer hangs.
_CALL_LIMIT_S = 3600.0


class RayWorkers:
    """Workers in processes of their own. They ask for no CPUs of Ray's count: they work now and then."""

    def __init__(self, make: MakeWorker, num_workers: int, *, num_threads: int = 1) -> None:
        self.num_workers = num_workers
        self._actors: list[Any] = [_RemoteGroupActor.remote(make, number, num_threads) for number in range(num_workers)]

    def submit(self, method: str, shares: Sequence[Share]) -> list[Any]:
        """Begin the calls. A value that several workers get travels to the object store once."""
        values = {id(share.value): share.value for share in shares}
        refs = {key: object_store.put(value) for key, value in values.items()}
        return [self._actors[share.worker].call.remote(method, refs[id(share.value)]) for share in shares]

    def is_done(self, submitted: Sequence[Any]) -> bool:
        """Tell whether every result, or the news of a death, is there."""
        refs = list(submitted)
        return not refs or len(ray.wait(refs, num_returns=len(refs), timeout=0)[0]) == len(refs)

    def results(self, submitted: Sequence[Any]) -> list[Any]:
        """Wait for the results."""
        try:
            results: list[Any] = ray.get(list(submitted), timeout=_CALL_LIMIT_S)
        except GetTimeoutError:
            raise WorkerLostError(f"a worker of the group gave no answer within {_CALL_LIMIT_S:.0f} s") from None
        except (RayActorError, ObjectLostError, OutOfMemoryError) as error:
            raise WorkerLostError(f"a worker of the group died: {' '.join(str(error).split())[:200]}") from None
        except RayTaskError as error:
            if isinstance(error.cause, WorkerLostError):  # what a worker says itself, without Ray's traceback
                raise error.cause from None
            raise
        return results

    def close(self) -> None:
        """Kill the workers."""
        for actor in self._actors:
            ray.kill(actor)
        self._actors = []


class GroupActor:
    """One worker of a group."""

    def __init__(self, make: MakeWorker, number: int, num_threads: int) -> None:
        from policies.threads import use_threads  # imported here and not by the driver's import of this module

        use_threads(num_threads)
        self._worker = make(number)

    def call(self, method: str, value: Any) -> Any:
        """Do one call."""
        return getattr(self._worker, method)(value)


_RemoteGroupActor = ray.remote(num_cpus=0, max_restarts=_MAX_RESTARTS, max_task_retries=0)(GroupActor)
