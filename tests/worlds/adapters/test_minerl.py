"""Whole tasks through the real, unmodified minerl 0.4.4. The game behind it is our engine on Malmo's wire protocol.

Mojang's game itself is not run here: what is tested is that the adapter, MineRL and the protocol fit together.
"""

import dataclasses
import os
import signal
import time
from pathlib import Path

import numpy as np
import pytest

from policies.expert import ExpertAgent
from task_synthesis.playing.task_env import Outcome, TaskEnv
from task_synthesis.task import TaskSpec
from tests.task_synthesis.fixtures import some_tasks
from tests.worlds.adapters.minerl_game import SIDE, SIZE, fork_backend, launch_words, minerl_backend
from tests.worlds.conformance import BackendConformance
from tests.worlds.malmo.dialect import NewNames
from tests.worlds.malmo.faults import Fault, FaultKind
from tests.worlds.malmo.server import MalmoServer
from worlds.adapters.backend import ProcessBackend
from worlds.adapters.engines.before_flattening import new_block, old_block
from worlds.adapters.names import state_id
from worlds.blocks import STATES
from worlds.generate.terrain import generate
from worlds.spec import Episode, Placement, WorldSpec
from worlds.types import (
    BUTTON_INDEX,
    EVENT_DAMAGE,
    EVENT_DEATH,
    EVENT_MOB_KILLED,
    EVENT_MOB_STRUCK,
    ActionBatch,
    Pose,
)
from worlds.voxel.backend import VoxelBackend

pytestmark = pytest.mark.slow
WORLD = WorldSpec(seed=3, size_blocks=SIZE, detail="plain")
ORIGIN = (100, 0, -37)
SOURCE = "minecraft:1.11.2:test"  # of worlds with an origin
MARK = str(os.getpid())  # a seed that tells our games from those of others


@pytest.fixture(scope="module", autouse=True)
def _compiled_kernels():
    """Compile the engine before a game of ours has to answer in time."""
    backend = VoxelBackend(1, size_blocks=SIZE, image_px=(32, 32))
    backend.reset([0], [Episode(world=WORLD, start=standing(30, 30))])
    backend.step(ActionBatch.noop(1))


def standing(x: int, z: int, *, pitch: float = 0.0) -> Pose:
    """The feet of an agent on the ground of a column, looking south."""
    return Pose(x + 0.5, float(generate(WORLD).ground_XZ[x, z]) + 1, z + 0.5, 0.0, pitch)


def level_place() -> tuple[int, int]:
    """A column from which the ground goes on level and bare for some blocks to the south."""
    world = generate(WORLD)
    for x, z in np.ndindex(SIDE - 24, SIDE - 24):
        ground_Z = world.ground_XZ[x + 12, z + 12 : z + 18]
        y = int(ground_Z[0])
        if (ground_Z == y).all() and not world.block_XZY[x + 12, z + 12 : z + 18, y + 1 : y + 4].any():
            return x + 12, z + 12
    raise AssertionError("no level place")


def press(*names: str) -> ActionBatch:
    actions = ActionBatch.noop(1)
    for name in names:
        actions.buttons_EB[:, BUTTON_INDEX[name]] = True
    return actions


def played_by_the_expert(task: TaskSpec):
    """The goal of a task in our engine, and the actions with which the expert solves it there."""
    env = TaskEnv(VoxelBackend(1, size_blocks=SIZE, image_px=(64, 64)), lambda e: task)
    expert, observation, actions = ExpertAgent(env), env.reset(), []
    goal = observation.goals[0]
    while True:
        chosen = expert.act(observation)
        actions.append(
            ActionBatch(buttons_EB=chosen.buttons_EB.copy(), camera_deg_E2=chosen.camera_deg_E2.copy())
        )  # fmt: skip
        transition = env.step(chosen)
        observation = transition.observation
        if transition.outcome_E[0]:
            return goal, actions, Outcome(int(transition.outcome_E[0]))


def whole_task(skill: str) -> TaskSpec:
    """A task whose way does not lead over the edge, where our world starts anew and a foreign one goes on."""
    for task in some_tasks():
        target = task.placements[task.target_index].position
        if task.skill == skill and all(8 < at < SIDE - 8 for at in (task.start.x, task.start.z, target[0], target[2])):
            return task
    raise AssertionError(f"no {skill} task lies inside")


def assert_solved_by_the_experts_keys(task: TaskSpec, server: MalmoServer, backend: ProcessBackend, *, num_steps: int):
    """Play the expert's keys again and again: every frame is the game's, every episode a success, none is cut off."""
    goal, actions, outcome = played_by_the_expert(task)
    assert outcome == Outcome.SUCCESS
    env = TaskEnv(backend, lambda e: task)
    observation, outcomes = env.reset(), []
    assert np.array_equal(observation.goals[0].image_HWC, goal.image_HWC)
    assert np.array_equal(observation.goals[0].mask_HW, goal.mask_HW)
    while num_steps > 0:
        # A task that is over is reset and begins anew: its block is back, and the same keys break it again.
        for action in (*actions, *([ActionBatch.noop(1)] * 2)):
            transition = env.step(action)
            assert np.array_equal(transition.observation.image_EHWC[0], server.sent_HWC)
            assert not transition.truncated_E.any()
            num_steps -= 1
            if transition.outcome_E[0]:
                outcomes.append(Outcome(int(transition.outcome_E[0])))
                break
    backend.close()
    assert len(outcomes) >= 2
    assert set(outcomes) == {Outcome.SUCCESS}
    assert server.num_missions > len(outcomes)


@pytest.mark.parametrize("skill", ["approach", "break"])
def test_a_task_that_the_expert_solves_in_our_engine_is_solved_by_the_same_keys_through_minerl(skill):
    task = whole_task(skill)
    with MalmoServer(task.world) as server:
        assert_solved_by_the_experts_keys(task, server, minerl_backend(port=server.port), num_steps=200)


def test_the_client_of_minerl_1_0_plays_a_break_task_under_the_names_of_1_16_5():
    task = whole_task("break")
    with MalmoServer(task.world, dialect=NewNames()) as server:
        assert_solved_by_the_experts_keys(task, server, fork_backend(port=server.port), num_steps=60)


class TestMineRLConformance(BackendConformance):
    def make(self):
        if not hasattr(type(self), "kept"):
            type(self).kept = minerl_backend(2, image_px=32, launch=launch_words("--seed", "3"))
        return type(self).kept

    def episode(self, seed):
        return Episode(world=WORLD, start=standing(20 + 4 * seed, 30), seed=seed)

    @classmethod
    def teardown_class(cls):
        if hasattr(cls, "kept"):
            cls.kept.close()


def test_a_mob_that_the_agent_kills_is_the_tasks_own():
    x, z = level_place()
    start = standing(x, z, pitch=32.0)
    chicken = Placement(kind="chicken", position=(x, int(start.y), z + 2))  # a single blow is enough
    with MalmoServer(WORLD, origin_blocks=ORIGIN) as server:
        backend = minerl_backend(port=server.port)
        world = dataclasses.replace(WORLD, source=SOURCE, origin_blocks=ORIGIN)
        backend.reset(
            [0], [Episode(world=world, start=start, placements=(chicken,), inventory=(("diamond_sword", 1),))]
        )
        rows = []
        for action in (press("attack"), *([ActionBatch.noop(1)] * 3)):
            rows += [row for row in backend.step(action).event_EN4[0].tolist() if row[0]]
        backend.close()
    assert {row[2] for row in rows if row[0] == EVENT_MOB_STRUCK} == {1}
    assert [row[2] for row in rows if row[0] == EVENT_MOB_KILLED] == [1]


def test_the_key_that_would_open_a_window_does_nothing():
    with MalmoServer(WORLD) as server:
        backend = minerl_backend(port=server.port)
        backend.reset([0], [Episode(world=WORLD, start=standing(30, 30))])
        for _ in range(3):
            assert not backend.step(press("inventory", "forward")).is_fault_E[0]
        backend.close()


def test_a_deadly_fall_is_a_death_and_no_fault():
    with MalmoServer(WORLD) as server:
        backend = minerl_backend(port=server.port)
        start = standing(30, 30)
        backend.reset([0], [Episode(world=WORLD, start=start._replace(y=start.y + 30))])
        rows = []
        for _ in range(20):
            tick = backend.step(ActionBatch.noop(1), num_ticks=4)
            rows += [row for row in tick.event_EN4[0].tolist() if row[0]]
            assert not tick.is_fault_E[0]
        backend.close()
    assert tick.health_E[0] == 0
    assert [row[0] for row in rows] == [EVENT_DAMAGE, EVENT_DEATH]


def test_a_scan_names_every_block_as_1_11_2_names_it():
    with MalmoServer(WORLD, origin_blocks=ORIGIN) as server:
        backend = minerl_backend(port=server.port)
        world = dataclasses.replace(WORLD, source=SOURCE, origin_blocks=ORIGIN)
        backend.reset([0], [Episode(world=world, start=standing(30, 30))])
        mirrored_XZY = backend._mirror._backend.state.terrain.block_EXZY[0] & 0xFFF
        backend.close()
    wanted_S = np.array([state_id(new_block(old_block(state.name).name)) for state in STATES])
    inside = np.s_[1:, 1:, 1:]  # the mirror closes its borders
    assert np.array_equal(mirrored_XZY[inside], wanted_S[generate(WORLD).block_XZY][inside])


@pytest.fixture(scope="module")
def drill():
    """A game that can be told to fail, and a backend that waits five seconds for it."""
    with MalmoServer(WORLD) as server:
        backend = minerl_backend(port=server.port, timeout_s=5.0)
        yield server, backend
        backend.close()


@pytest.mark.parametrize("kind", list(FaultKind))
def test_a_game_that_fails_in_a_step_is_a_fault_in_time_and_the_next_reset_mends_it(drill, kind):
    server, backend = drill
    episode = Episode(world=WORLD, start=standing(30, 30))
    backend.reset([0], [episode])
    assert not backend.step(ActionBatch.noop(1)).is_fault_E[0]
    server.fault = Fault(kind, "<StepClient", num_before=2)
    begun_s = time.monotonic()
    for _ in range(4):
        tick = backend.step(ActionBatch.noop(1))
    assert tick.is_fault_E[0]
    assert time.monotonic() - begun_s < 20.0
    backend.reset([0], [episode])
    assert not backend.step(ActionBatch.noop(1)).is_fault_E[0]


def test_a_game_that_hangs_up_while_it_is_reset_is_a_fault(drill):
    server, backend = drill
    episode = Episode(world=WORLD, start=standing(30, 30))
    server.fault = Fault(FaultKind.CLOSE, "<MissionInit")
    backend.reset([0], [episode])
    assert backend.observe().is_fault_E[0]
    backend.reset([0], [episode])
    assert not backend.observe().is_fault_E[0]


def test_a_game_that_is_killed_is_started_again():
    backend = minerl_backend(launch=launch_words("--seed", MARK), timeout_s=10.0)
    episode = Episode(world=WORLD, start=standing(30, 30))
    backend.reset([0], [episode])
    (pid,) = _games()
    os.kill(pid, signal.SIGKILL)
    begun_s = time.monotonic()
    assert backend.step(ActionBatch.noop(1)).is_fault_E[0]
    assert time.monotonic() - begun_s < 20.0
    backend.reset([0], [episode])
    assert not backend.step(ActionBatch.noop(1)).is_fault_E[0]
    (fresh,) = _games()
    backend.close()
    assert fresh != pid
    deadline_s = time.monotonic() + 10.0
    while _games() and time.monotonic() < deadline_s:
        time.sleep(0.1)
    assert not _games()


def _games() -> list[int]:
    """Return the game processes that this one has launched, by their seed."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if b"tests.worlds.malmo" in words and MARK.encode() in words:
            found.append(int(folder.name))
    return found
