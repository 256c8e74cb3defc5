"""Claims about replicas of the policy: whoever starts one draws alike at the run's begin, and never again."""

import pytest

from mcrl import ring_assembly
from mcrl.config import RolloutConfig
from mcrl.ring_assembly import build_ring
from tests.mcrl.corridor import make_task
from tests.mcrl.corridor_policy import CORRIDOR
from tests.mcrl.corridor_run import make_config


class NotedTransport:
    """Keeps how its replica would be built."""

    made = []

    def __init__(self, name, make_host, **options):
        self.made.append(make_host)

    def close(self):
        pass


@pytest.fixture
def seeds_of(tmp_path, monkeypatch):
    """How a worker seeds the replicas of the policy that it starts, having missed them so often."""
    pytest.importorskip("ray", reason="replicas live in processes of Ray")
    monkeypatch.setattr("mcrl.dataflow.ray.inference.RayTransport", NotedTransport)
    monkeypatch.setattr(ring_assembly, "make_host", lambda config, parts, reference, seed: seed)
    rollout = RolloutConfig(
        placement="ray", max_staleness=1, envs_per_worker=8, inference="remote", inference_replicas=2
    )
    config = make_config(tmp_path, rollout=rollout)

    def seeds(worker_id, start, num_missed):
        NotedTransport.made.clear()
        build_ring(config, CORRIDOR, [make_task(0)], None, worker_id, start).close()
        return [make(num_missed) for make in NotedTransport.made]

    return seeds


def test_at_a_runs_begin_it_does_not_matter_who_starts_a_replica(seeds_of):
    assert seeds_of(0, 0, 0) == seeds_of(1, 0, 0)


def test_a_replica_that_is_started_again_does_not_draw_the_same_again(seeds_of):
    starts = [(worker, start, missed) for worker in (0, 1) for start in (0, 16) for missed in (0, 1, 2)]
    starts.remove((1, 0, 0))
    seeds = [seed for start in starts for seed in seeds_of(*start)]
    assert len(seeds) == len(set(seeds)) == 22
