"""Drills of a run on a Ray cluster that runs already, here of two nodes on one machine: one dies, or is full."""

import os
from collections.abc import Iterator

import pytest

from tests.mcrl.training_runs import (
    RESTART_S,
    assert_sound,
    finish,
    start,
    wait_for_iteration,
)

pytestmark = [pytest.mark.ray, pytest.mark.slow, pytest.mark.timeout(900)]

STORE_BYTES = 128 * 2**20
NODE = {"num_cpus": 2, "object_store_memory": STORE_BYTES}


@pytest.fixture
def cluster(monkeypatch) -> Iterator:
    """A head with two CPUs; its processes are apart from the Ray of the other tests."""
    from ray.cluster_utils import Cluster

    monkeypatch.setitem(os.environ, "RAY_USAGE_STATS_ENABLED", "0")
    monkeypatch.setitem(os.environ, "RAY_raylet_start_wait_time_s", "180")
    cluster = Cluster(initialize_head=True, head_node_args={**NODE, "include_dashboard": False})
    yield cluster
    cluster.shutdown()


@pytest.mark.parametrize("weight_sync", ["fragment", "tick"])
def test_the_death_of_a_node_does_not_stop_training(cluster, tmp_path, weight_sync):
    second = cluster.add_node(**NODE)
    run_dir = tmp_path / "run"
    options = ("--ray-address", cluster.address, "--rollout.weight-sync", weight_sync)
    process = start(run_dir, *options, num_workers=3)
    wait_for_iteration(process, run_dir, 3)
    cluster.remove_node(second, allow_graceful=False)
    finish(process)
    last = assert_sound(run_dir, last=40, longest_pause_s=RESTART_S)
    # Three workers do not fit on the head alone, so at least one was on the node that died.
    assert last["worker_restarts"] >= 1
    assert last["fragments_lost"] >= 8
