"""Whether a Ray cluster that runs already can carry a run: processors, object store, and our code on every node."""

from typing import Any

import ray
from ray.exceptions import GetTimeoutError, RayError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from mcrl.provenance import commit, version

# Starting a worker process on a node that has none yet takes seconds, and more where its disk is cold.
_ANSWER_WITHIN_S = 180.0
_GIB = 2**30


def check_cluster(address: str, *, num_workers: int, object_store_bytes: int) -> None:
    """Raise ValueError, naming what is missing and the fix, where the connected cluster cannot carry a run.

    `object_store_bytes` is what the stores of all nodes must hold together.
    """
    resources = ray.cluster_resources()
    num_cpus, store_bytes = resources.get("CPU", 0.0), resources.get("object_store_memory", 0.0)
    if num_cpus < num_workers:
        raise ValueError(
            f"--ray-address {address}: the cluster has {num_cpus:g} CPUs, {num_workers} rollout workers need one each; "
            f"add a node, or give --rollout.num-workers {max(1, int(num_cpus))}"
        )
    if store_bytes < object_store_bytes:
        raise ValueError(
            f"--ray-address {address}: the cluster's object store has {store_bytes / _GIB:.2f} GiB, the run needs "
            f"{object_store_bytes / _GIB:.2f} (fragments may fill 60 %); start its nodes with a larger "
            "--object-store-memory, or lower ppo.fragments_per_batch or rollout.envs_per_worker"
        )
    _check_code(address)


def _check_code(address: str) -> None:
    """Ask every node which code of ours it has."""
    ours = (version(), commit())
    nodes = {node["NodeID"]: node["NodeManagerAddress"] for node in ray.nodes() if node["Alive"]}
    answers = {
        node_id: _code.options(scheduling_strategy=NodeAffinitySchedulingStrategy(node_id, soft=False)).remote()
        for node_id in nodes
    }
    for node_id, answer in answers.items():
        where = f"--ray-address {address}: node {nodes[node_id]}"
        try:
            theirs = ray.get(answer, timeout=_ANSWER_WITHIN_S)
        except GetTimeoutError:
            raise ValueError(f"{where} starts no process within {_ANSWER_WITHIN_S:.0f} s; look at it") from None
        except (RayError, ImportError):
            raise ValueError(
                f"{where} cannot import mcrl; install it there, or submit the run with `ray job submit --working-dir .`"
            ) from None
        if theirs != ours:
            raise ValueError(
                f"{where} has mcrl {theirs[0]} (commit {theirs[1]}), this process {ours[0]} (commit {ours[1]}); "
                "install the same on both"
            )


@ray.remote(num_cpus=0, max_retries=0)
def _code() -> Any:
    return version(), commit()
