"""Claims about the way to a replica of the policy in a process of Ray: how its end is told, and how it begins again."""

import os
import signal

import numpy as np
import pytest

from tests.mcrl.corridor_rings import make_host
from tests.mcrl.dataflow.inference.test_inference import request

pytestmark = [pytest.mark.ray, pytest.mark.usefixtures("ray_session")]


@pytest.fixture
def transport():
    from mcrl.dataflow.ray.inference import RayTransport

    name = f"test-transport-{os.getpid()}"
    transport = RayTransport(
        name, lambda num_missed: make_host(policy_seed=num_missed), num_threads=1, time_limit_s=120.0
    )
    yield transport
    os.kill(process_id(transport), signal.SIGKILL)


def process_id(transport):
    return transport.wait(transport.call("process_id"), 60.0)


def test_a_replica_that_ray_ended_for_want_of_memory_is_gone(transport):
    import ray

    def end():
        raise ray.exceptions.OutOfMemoryError("1 worker(s) were killed due to the node running low on memory")

    with pytest.raises(ConnectionError, match="died"):
        transport.wait(ray.remote(num_cpus=0, max_retries=0)(end).remote(), 60.0)


def test_a_replica_that_is_started_again_is_told_how_often_it_was_missed(transport):
    asked = request()
    for num_missed in range(3):
        (reply,) = transport.wait(transport.call("act", [asked], min_version=-1), 60.0)
        expected = make_host(policy_seed=num_missed).act([asked])[0].value_E
        np.testing.assert_array_equal(reply.value_E, expected)
        os.kill(process_id(transport), signal.SIGKILL)
        transport.revive()
