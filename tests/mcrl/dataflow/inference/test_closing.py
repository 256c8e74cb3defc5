"""Who asks an inference server that is being closed gets an answer or an error; nobody waits for ever."""

import threading

import pytest

from mcrl.dataflow.inference.server import InferenceServer
from mcrl.dataflow.inference.stream import ValueRequest
from tests.mcrl.corridor_rings import make_host
from tests.mcrl.dataflow.inference.test_inference import request
from tests.mcrl.dataflow.rings.test_ring import snapshot

ASK = {
    "act": lambda server: server.act([request()]),
    "load": lambda server: server.load(snapshot(3)),
    "values": lambda server: server.values([ValueRequest(group=(5, 0), image_NHWC=None, env_N=None)]),
}


class ClosedMeanwhile:
    """The queue of a server that someone closes just as an asker, who found it open, puts the first call into it."""

    def __init__(self, server):
        self._server, self._queue = server, server._calls
        self.closing = threading.Thread(target=server.close)

    def put(self, call):
        if call is not None:
            self.closing.start()
            self.closing.join(0.3)  # until it is closed, or for as long as it waits for us
        self._queue.put(call)

    def __getattr__(self, name):
        return getattr(self._queue, name)


@pytest.mark.parametrize("method", ASK)
def test_a_call_that_meets_the_end_does_not_wait_for_ever(method):
    server = InferenceServer(make_host)
    server.version()
    server._calls = calls = ClosedMeanwhile(server)
    told = []

    def ask():
        try:
            told.append(ASK[method](server))
        except (ConnectionError, LookupError, ValueError) as error:
            told.append(error)

    asker = threading.Thread(target=ask, daemon=True)
    asker.start()
    asker.join(20)
    assert told
    calls.closing.join(20)
    with pytest.raises(ConnectionError, match="the server is closed"):
        ASK[method](server)


def test_closing_twice_is_fine():
    server = InferenceServer(make_host)
    server.close()
    server.close()
