"""Claims about the server that makes one batch of what waits."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from mcrl.dataflow.inference.policy_host import PolicyHost
from mcrl.dataflow.inference.server import InferenceServer
from tests.mcrl.corridor_policy import CorridorPolicy
from tests.mcrl.corridor_rings import make_host
from tests.mcrl.dataflow.inference.test_inference import request
from tests.mcrl.dataflow.rings.test_ring import snapshot


def gated_server(gate):
    """Return a server that begins to compute a batch and goes on when the gate is open."""

    class SlowHost(PolicyHost):
        def act(self, requests):
            gate.wait(20)
            return super().act(requests)

    return InferenceServer(lambda: SlowHost(CorridorPolicy(0), seed=0, precision="fp32"))


def test_requests_that_wait_leave_in_one_batch():
    gate = threading.Event()
    server = gated_server(gate)
    answers = {}

    def ask(worker):
        answers[worker] = server.act([request((worker, 0))])[0]

    threads = [threading.Thread(target=ask, args=(worker,)) for worker in range(6)]
    for thread in threads:
        thread.start()
        time.sleep(0.05)
    gate.set()
    for thread in threads:
        thread.join()
    server.close()
    assert server.num_batches <= 3  # one that was begun with the first, and one with all that waited
    assert len(answers) == 6
    with pytest.raises(ConnectionError):
        server.act([request((9, 0))])


def test_a_bad_request_spoils_nobody_elses_batch():
    gate = threading.Event()
    gate.set()
    server = gated_server(gate)
    server.act([request((1, 0))])
    gate.clear()
    with ThreadPoolExecutor(3) as pool:
        first = pool.submit(server.act, [request((2, 0))])
        while server.num_batches < 2:
            time.sleep(0.001)
        bad, good = (pool.submit(server.act, [asked]) for asked in (request((1, 0), 5), request((3, 0))))
        while server._calls.qsize() < 2:
            time.sleep(0.001)
        gate.set()
        with pytest.raises(ValueError, match="request 5 after 0"):
            bad.result()
        assert [reply.request_id for reply in first.result() + good.result()] == [0, 0]
    assert server.num_batches == 5  # the bad and the good one together, then each alone
    assert server.act([request((1, 0), 1)])[0].request_id == 1
    server.close()


def test_older_weights_never_replace_newer_ones():
    server = InferenceServer(make_host)
    server.load(snapshot(3))
    server.load(snapshot(2))
    assert server.version() == 3
    server.close()
