"""Drills of a run on a Ray cluster that runs already, here of two nodes on one machine: one dies, or is full."""

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.mcrl.training.training_runs import (
    LONGEST_WAIT_S,
    RESTART_S,
    assert_sound,
    finish,
    start,
    wait_for_iteration,
)

pytestmark = [pytest.mark.ray, pytest.mark.slow, pytest.mark.timeout(900)]

# Fills the object store, the disk behind which counts as full, to the last piece worth a name; holds it, and leaves.
HOG = """
import sys, time, numpy, ray
ray.init(address=sys.argv[1], log_to_driver=False, logging_level="ERROR")
refs, num_bytes = [], 2**22
while num_bytes >= 2**16:
    try:
        refs.append(ray.put(numpy.ones(num_bytes, numpy.uint8)))
    except ray.exceptions.RayError:
        num_bytes //= 2
print(sum(len(ray.get(ref)) for ref in refs), flush=True)
time.sleep(float(sys.argv[2]))
"""
HELD_S = 15.0

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


def test_the_death_of_a_node_does_not_stop_training(cluster, tmp_path):
    second = cluster.add_node(**NODE)
    run_dir = tmp_path / "run"
    options = ("--ray-address", cluster.address, "--rollout.weight-sync", "tick")
    process = start(run_dir, *options, num_workers=3)
    wait_for_iteration(process, run_dir, 3)
    cluster.remove_node(second, allow_graceful=False)
    finish(process)
    last = assert_sound(run_dir, last=40, longest_pause_s=RESTART_S)
    # Three workers do not fit on the head alone, so at least one was on the node that died.
    assert last["worker_restarts"] >= 1
    assert last["fragments_lost"] >= 8


@pytest.fixture
def full_disk(monkeypatch) -> None:
    """Ray takes a disk for full of which a hundredth of a hundredth is used, and puts nothing there."""
    monkeypatch.setitem(os.environ, "RAY_local_fs_capacity_threshold", "0.0001")


@pytest.mark.usefixtures("full_disk")
def test_a_full_object_store_holds_up_a_run_until_there_is_room(request, tmp_path):
    address = request.getfixturevalue("cluster").address
    run_dir = tmp_path / "run"
    # Fragments of 0.4 MB: Ray keeps small ones elsewhere.
    options = ("--env.image-px", "64", "--ppo.fragment-steps", "32", "--imitation.num-demo-steps", "1024")
    options += ("--imitation.num-val-demo-steps", "128", "--rollout.weight-sync", "tick")
    process = start(run_dir, *options, "--ray-address", address, num_iterations=12, num_workers=2)
    wait_for_iteration(process, run_dir, 3)
    hog = subprocess.Popen(
        [sys.executable, "-c", HOG, address, str(HELD_S)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert int(hog.stdout.readline()) > 0.5 * STORE_BYTES
    finish(process)
    hog.communicate(timeout=LONGEST_WAIT_S)
    last = assert_sound(run_dir, last=12, longest_pause_s=HELD_S + RESTART_S)
    assert last["fragments_lost"] == 8 * last["worker_restarts"]
