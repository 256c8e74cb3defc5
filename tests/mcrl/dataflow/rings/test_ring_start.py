"""Engines of a ring that start: how many at a time, and what becomes of one that is given up meanwhile."""

import dataclasses
import threading
import time

import pytest

from mcrl.config import EnvConfig, RolloutConfig
from mcrl.dataflow.rings.step_runner import ThreadRunner, VirtualRunner
from mcrl.ring_assembly import build_ring
from tests.mcrl.corridor import CorridorEnv, make_task
from tests.mcrl.corridor_policy import CORRIDOR
from tests.mcrl.corridor_rings import corridor, make_ring, play, play_past_the_first
from tests.mcrl.corridor_run import make_config

NUM_GROUPS = 4


@pytest.mark.parametrize(("backend", "most_at_a_time"), [("luanti", NUM_GROUPS), ("voxel", 1)])
def test_processes_start_side_by_side_and_what_computes_here_in_turns(tmp_path, backend, most_at_a_time):
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


class ClosedLog(CorridorEnv):
    """Tells when it is closed; its reset takes as long as `reset` does."""

    def __init__(self, env, closed, reset):
        super().__init__(env._source, env.num_envs)
        self._closed, self._reset = closed, reset

    def reset(self):
        self._reset()
        return super().reset()

    def close(self):
        self._closed.set()


def test_an_engine_that_is_given_up_during_its_reset_is_ended_when_that_is_over():
    closed, may_go_on = threading.Event(), threading.Event()

    def make_env(num_envs, group, life):
        env = corridor(num_envs, group, life)
        return ClosedLog(env, closed, lambda: may_go_on.wait(20.0)) if (group, life) == (1, 0) else env

    ring = make_ring(num_groups=2, runner=ThreadRunner(2), make_env=make_env, step_limit_s=0.3)
    try:
        play_past_the_first(ring)
        assert ring.num_failures == {"timeout": 1}
        assert not closed.is_set()
        may_go_on.set()
        assert closed.wait(20.0)
    finally:
        may_go_on.set()
        ring.close()


@pytest.mark.parametrize("is_closed", [True, False], ids=["the ring is closed", "it is given up"])
def test_an_engine_that_is_ready_when_nobody_hears_of_it_any_more_is_ended(is_closed):
    closed = threading.Event()
    runner = ThreadRunner(1, on_unheard=lambda result: ring._end_unheard(result))

    def make_env(num_envs, group, life):
        env = corridor(num_envs, group, life)
        return ClosedLog(env, closed, lambda: None) if life == 0 else env

    ring = make_ring(num_groups=1, runner=runner, make_env=make_env)
    try:
        deadline_s = time.monotonic() + 20.0
        while not runner._done.qsize():  # what came of the start lies there, and nobody has looked
            assert time.monotonic() < deadline_s
            time.sleep(0.01)
        if not is_closed:
            ring._groups[0].limit_s = ring._earliest_limit_s = 0.0
            ring._give_up_hung()
            play(ring, 1)
            assert closed.wait(20.0)
    finally:
        ring.close()
    assert closed.wait(20.0)


@pytest.mark.parametrize("error", [RuntimeError("no game"), ValueError("no such game")], ids=["failure", "refusal"])
def test_an_engine_that_began_at_the_moment_in_which_another_one_ended_the_ring_is_ended(error):
    runner, closed = VirtualRunner(), threading.Event()

    def make_env(num_envs, group, life):
        if group == 0:
            runner.sleep(1.0)
            raise RuntimeError("no game") if life < 2 else error
        runner.sleep((2.5, 0.5)[life])  # both times together are those of three failures, and later in their batch
        if life == 0:
            raise RuntimeError("no game yet")
        return ClosedLog(corridor(num_envs, group, life), closed, lambda: None)

    ring = make_ring(num_groups=2, runner=runner, make_env=make_env)
    with pytest.raises(type(error), match="no such game" if isinstance(error, ValueError) else "failed 3 times"):
        play(ring, 1)
    ring.close()
    assert closed.wait(20.0)


def test_an_engine_that_is_given_up_while_it_starts_is_not_asked_for_an_episode():
    closed, is_reset, may_start = threading.Event(), threading.Event(), threading.Event()

    def make_env(num_envs, group, life):
        env = corridor(num_envs, group, life)
        if (group, life) != (1, 0):
            return env
        may_start.wait(20.0)
        return ClosedLog(env, closed, is_reset.set)

    ring = make_ring(num_groups=2, runner=ThreadRunner(2), make_env=make_env, step_limit_s=0.3)
    try:
        play_past_the_first(ring)
        may_start.set()
        assert closed.wait(20.0)
        assert not is_reset.is_set()
    finally:
        may_start.set()
        ring.close()
