"""What a consumer that does not own the payloads sees of a queue in another process; see queue_server."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mcrl.dataflow.queue.journalled import ServerGoneError
from mcrl.dataflow.queue.rows import RowId
from mcrl.dataflow.queue.samplers import FIFO, Sampler
from mcrl.dataflow.queue.server import Answer, Call
from mcrl.dataflow.queue.state import Lease


class QueueReader:
    """Leases, acks and nacks of one consumer, which sees every row at least once.

    While the server is gone nothing is ready and nothing can be acked; what was leased comes back.
    """

    def __init__(self, consumer: str, call: Callable[[Call], Answer]) -> None:
        """Read as `consumer`. `call` has QueueServer.call made, or raises ServerGoneError."""
        self.consumer = consumer
        self._call = call

    def lease(self, num_rows: int, *, sampler: Sampler = FIFO, ttl_s: float) -> Lease | None:
        """Hand out `num_rows` rows for `ttl_s` seconds, or None while fewer are ready."""
        lease: Lease | None = self._result("lease", self.consumer, num_rows, sampler=sampler, ttl_s=ttl_s)
        return lease

    def ack(self, lease_id: int, columns: Mapping[str, Mapping[RowId, Any]] | None = None) -> bool:
        """End a lease with its rows consumed and columns filled in; False when its rows will come back."""
        return bool(self._result("ack", lease_id, columns))

    def nack(self, lease_id: int, *, lost: Sequence[RowId] = ()) -> bool:
        """End a lease with its rows back in the queue but those whose payload is `lost`."""
        return bool(self._result("nack", lease_id, lost=lost))

    def _result(self, method: str, *args: Any, **kwargs: Any) -> Any:
        try:
            answer = self._call(Call(method=method, args=args, kwargs=kwargs))
        except ServerGoneError:
            return None
        if answer.error is not None:
            raise ValueError(answer.error)
        return answer.result  # None while the server waits for its recovery
