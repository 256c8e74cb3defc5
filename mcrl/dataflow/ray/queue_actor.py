"""The fragment queue in a Ray actor: it holds rows and references, and the fragments stay in the object store."""

import logging
import os
import time
from typing import Any

import ray
from ray.exceptions import GetTimeoutError, RayActorError

from mcrl.dataflow.queue.journalled import JournalledQueue, ServerGoneError
from mcrl.dataflow.queue.reader import QueueReader
from mcrl.dataflow.queue.server import Answer, Call, QueueServer, Recovery
from mcrl.dataflow.queue.state import QueueSettings

_LOG = logging.getLogger(__name__)

# A call takes a millisecond; a server that does not answer for this long hangs and is replaced.
_CALL_LIMIT_S = 60.0
# The time in which a new server has to be there: a process start, on a machine that is busy with rollout.
_RESTART_LIMIT_S = 180.0
_RETRY_S = 0.1


class QueueActor(QueueServer):
    """A server that can be told from the others of its machine."""

    def process_id(self) -> int:
        """Return the id of this process."""
        return os.getpid()


# No logical CPU: it sleeps most of the time. Ray starts it again for ever, and its owner tells it what it knew.
_RemoteQueueActor = ray.remote(num_cpus=0, max_restarts=-1, max_task_retries=0)(QueueActor)


class RayTransport:
    """Calls to a queue actor. A dead or hanging one is replaced; after _RESTART_LIMIT_S without success it gives up."""

    def __init__(self, settings: QueueSettings) -> None:
        self.actor: Any = _RemoteQueueActor.remote(settings)
        self._gone_since_s: float | None = None
        self._has_answered = False

    def owner_call(self, number: int, call: Call) -> Answer:
        """Have QueueServer.owner_call made."""
        answer: Answer = self._get(self.actor.owner_call.remote(number, call))
        return answer

    def recover(self, recovery: Recovery) -> None:
        """Have QueueServer.recover made."""
        self._get(self.actor.recover.remote(recovery))

    def _get(self, ref: Any) -> Any:
        # The first answer includes the start of the process.
        limit_s = _CALL_LIMIT_S if self._has_answered else _RESTART_LIMIT_S
        try:
            result = ray.get(ref, timeout=limit_s)
        except GetTimeoutError:
            _LOG.warning("the fragment queue did not answer for %g s; a new one takes over", limit_s)
            ray.kill(self.actor, no_restart=False)
            self._give_up_after_limit("hangs")
            raise ServerGoneError from None
        except RayActorError as error:
            self._give_up_after_limit(f"died: {error}")
            time.sleep(_RETRY_S)
            raise ServerGoneError from None
        self._has_answered, self._gone_since_s = True, None
        return result

    def _give_up_after_limit(self, what: str) -> None:
        now_s = time.monotonic()
        if self._gone_since_s is None:
            _LOG.warning("the fragment queue is gone; a new one takes over where it was")
            self._gone_since_s = now_s
        self._has_answered = False
        if now_s - self._gone_since_s > _RESTART_LIMIT_S:
            raise RuntimeError(
                f"the fragment queue {what}, and no other could be started in {_RESTART_LIMIT_S:g} s; look for its "
                "last words in /tmp/ray/session_latest/logs"
            )


class RayQueue(JournalledQueue):
    """mcrl.dataflow.contracts.FragmentQueue in an actor."""

    def __init__(self, settings: QueueSettings) -> None:
        """Start the actor."""
        self._ray = RayTransport(settings)
        super().__init__(self._ray)

    def process_id(self) -> int:
        """Return the process id of the actor."""
        process_id: int = ray.get(self._ray.actor.process_id.remote(), timeout=_RESTART_LIMIT_S)
        return process_id

    def reader(self, consumer: str) -> QueueReader:
        """Return what another consumer, in this process or another, reads the queue by."""
        return QueueReader(consumer, _ReaderCall(self._ray.actor))

    def close(self) -> None:
        """End the actor. Closing twice is fine."""
        ray.kill(self._ray.actor)


class _ReaderCall:
    """A call to the actor by a consumer that is not the owner. A callable object, so that it can be sent about."""

    def __init__(self, actor: Any) -> None:
        self._actor = actor

    def __call__(self, call: Call) -> Answer:
        try:
            answer: Answer = ray.get(self._actor.call.remote(call), timeout=_CALL_LIMIT_S)
        except (GetTimeoutError, RayActorError):
            raise ServerGoneError from None
        return answer
