"""How many engines of a ring start at a time: all, where they are processes, and one, where they compute here."""

import dataclasses
import threading

import pytest

from mcrl.config import EnvConfig, RolloutConfig
from mcrl.ring_assembly import build_ring
from tests.mcrl.corridor import make_task
from tests.mcrl.corridor_policy import CORRIDOR
from tests.mcrl.corridor_run import make_config

NUM_GROUPS = 4


@pytest.mark.parametrize(("backend", "most_at_a_time"), [("luanti", NUM_GROUPS), ("voxel", 1)])
def test_how_many_engines_start_at_a_time(tmp_path, backend, most_at_a_time):
    changed, starting, seen = threading.Condition(), [0], [0]

    def make_env(config, source, num_envs):
        with changed:
            starting[0] += 1
            seen[0] = max(seen[0], starting[0])
            changed.notify_all()
            changed.wait_for(lambda: seen[0] == NUM_GROUPS, timeout=0.5)
            starting[0] -= 1
        return CORRIDOR.make_env(config, source, num_envs)

    config = make_config(
        tmp_path,
        env=EnvConfig(image_px=16, backend=backend),
        rollout=RolloutConfig(envs_per_worker=8, ring_groups=NUM_GROUPS),
    )
    parts = dataclasses.replace(CORRIDOR, make_env=make_env)
    ring = build_ring(config, parts, [make_task(index) for index in range(4)], None, 0, 0)
    try:
        while not all(group.backend is not None for group in ring._groups):
            ring.poll(0.2)
        assert seen[0] == most_at_a_time
    finally:
        ring.close()
