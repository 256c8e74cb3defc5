"""A queue's server in this process that dies when it is told to: the whole of queue_server and journalled_queue."""

from mcrl.dataflow.queue.journalled import JournalledQueue, ServerGoneError
from mcrl.dataflow.queue.reader import QueueReader
from mcrl.dataflow.queue.server import QueueServer


class Clock:
    """A clock that only goes when it is pushed."""

    def __init__(self):
        self.now_s = 100.0

    def __call__(self):
        return self.now_s


class DyingServer:
    """Transport to a server. `die_in` calls from now it dies, with the call made or not; then there is a new one."""

    def __init__(self, settings, clock):
        self._settings, self._clock = settings, clock
        self._server = QueueServer(settings, clock)
        self._die_in, self._makes_last_call = None, False
        self._loses_in: int | None = None

    def die_in(self, num_calls, *, makes_last_call):
        self._die_in, self._makes_last_call = num_calls, makes_last_call

    def lose_answer_in(self, num_calls):
        """Lose the answer to the owner's call that comes after so many others; none of these only reads."""
        self._loses_in = num_calls

    def die(self):
        self._server = QueueServer(self._settings, self._clock)

    def owner_call(self, number, call):
        answer = self._through(lambda: self._server.owner_call(number, call))
        if self._loses_in is None or not answer.is_ready or call.method in ("counts", "high_water_marks", "state"):
            return answer
        self._loses_in -= 1
        if self._loses_in < 0:  # the server has made the call and goes on
            self._loses_in = None
            raise ServerGoneError
        return answer

    def recover(self, recovery):
        self._through(lambda: self._server.recover(recovery))

    def reader(self, consumer):
        return QueueReader(consumer, lambda call: self._server.call(call))

    def _through(self, act):
        if self._die_in == 0:
            self._die_in = None
            if self._makes_last_call:
                act()
            self.die()
            raise ServerGoneError
        if self._die_in is not None:
            self._die_in -= 1
        return act()


def make_journalled(settings, clock):
    server = DyingServer(settings, clock)
    return JournalledQueue(server), server
