"""Claims about Minecraft through the real minestudio 1.1.6, whose "Minecraft" is our own engine behind Malmo's wire.

MineStudio is unmodified: it finds a jar, launches a java, and talks to it. That Mojang's game answers as the server
does is not proved here.
"""

import dataclasses
import time
from collections.abc import Iterator

import numpy as np
import pytest

from policies.expert.agent import ExpertAgent
from task_synthesis.playing.task_env import Outcome, TaskEnv
from task_synthesis.task import TaskSpec
from tests.worlds.adapters.minestudio_parts import (
    IMAGE_PX,
    LIMITS,
    SIDE_BLOCKS,
    choice,
    launch_our_game,
    minestudio_python,
    plain_tasks,
    processes_with,
)
from tests.worlds.conformance import BackendConformance
from worlds.adapters.backend import ProcessBackend
from worlds.adapters.engine import BUTTONS
from worlds.adapters.engine_choice import EngineChoice, EngineFaultError
from worlds.adapters.process import EngineProcess
from worlds.spec import Episode, Placement
from worlds.types import ActionBatch
from worlds.voxel.backend import VoxelBackend

pytestmark = pytest.mark.slow

SIZE_BLOCKS = (SIDE_BLOCKS, 64, SIDE_BLOCKS)
NUM_STEPS = 200


@pytest.fixture(scope="module")
def backend(tmp_path_factory) -> Iterator[ProcessBackend]:
    """Two games, started once for all tests."""
    minestudio_python()
    with pytest.MonkeyPatch.context() as patch:
        scans = tmp_path_factory.mktemp("scans")
        patch.setattr("worlds.adapters.backend.scan_folder", lambda *of: scans)
        game = launch_our_game(tmp_path_factory.mktemp("game"), patch)
        seed = plain_tasks("approach")[0].world.seed
        engines = ProcessBackend(
            2, choice(game, seed=seed), size_blocks=SIZE_BLOCKS, image_px=(IMAGE_PX, IMAGE_PX), limits=LIMITS
        )
        yield engines
        engines.close()


def played(backend, task: TaskSpec, actions: list[ActionBatch]) -> tuple[TaskEnv, list[np.ndarray], list[int]]:
    """Play a task in env 0 (env 1 waits in the same one); return the env, the frames and how each step ended."""
    env = TaskEnv(backend, lambda e: task, action_repeat=1)
    observation = env.reset()
    frames, outcomes = [observation.image_EHWC[0].copy()], []
    for action in actions:
        transition = env.step(action)
        frames.append(transition.final_image_EHWC[0].copy())
        outcomes.append(int(transition.outcome_E[0]))
        if outcomes[-1] != Outcome.RUNNING:
            break
    return env, frames, outcomes


def in_our_engine(task: TaskSpec) -> tuple[TaskEnv, list[ActionBatch], list[np.ndarray], list[int]]:
    """Have the expert play a task in our engine; return what it did, saw and reached, actions for two envs."""
    backend = VoxelBackend(2, size_blocks=SIZE_BLOCKS, image_px=(IMAGE_PX, IMAGE_PX))
    env = TaskEnv(backend, lambda e: task, action_repeat=1)
    observation = env.reset()
    expert, actions = ExpertAgent(env), []
    frames, outcomes = [observation.image_EHWC[0].copy()], []
    while not outcomes or outcomes[-1] == Outcome.RUNNING:
        action = expert.act(observation)
        both = ActionBatch(buttons_EB=action.buttons_EB.copy(), camera_deg_E2=action.camera_deg_E2.copy())
        both.buttons_EB[1], both.camera_deg_E2[1] = False, 0.0
        actions.append(both)
        transition = env.step(both)
        observation = transition.observation
        frames.append(transition.final_image_EHWC[0].copy())
        outcomes.append(int(transition.outcome_E[0]))
    return env, actions, frames, outcomes


def does_not_wrap(task: TaskSpec) -> bool:
    """Our world is a torus and Minecraft is none: what lies across its border has other coordinates there."""
    places = [task.start[:3], task.goal_view[:3], *(placement.position for placement in task.placements)]
    x_N, _, z_N = np.array(places).T
    return all(side.min() > 2 and side.max() < SIDE_BLOCKS - 2 for side in (x_N, z_N))


def task_of(skill: str) -> TaskSpec:
    return next(task for task in plain_tasks(skill, 12) if does_not_wrap(task))


def blocks_of(backend, task: TaskSpec) -> np.ndarray:
    """Scan the whole world of env 0 as the game has it now; kinds by name."""
    process = backend._pool.process(0)
    process.ask("scan", {"lowest": [0, 0, 0], "size": SIZE_BLOCKS}, limit_s=LIMITS.reset_s)
    scan = process.scanned(SIZE_BLOCKS)
    return np.array(scan.names)[scan.index_XZY]


@pytest.mark.parametrize("skill", ["approach", "break", "interact"])
def test_a_whole_task_is_in_minecraft_what_it_is_in_our_engine(backend, skill):
    task = task_of(skill)
    _, actions, expected_frames, expected = in_our_engine(task)
    assert expected[-1] == Outcome.SUCCESS
    env, frames, outcomes = played(backend, task, actions)
    assert outcomes == expected
    # The last frame of a break has an item in it that flies as chance will, that of a use comes after its window.
    num_same = len(frames) if skill == "approach" else len(frames) - 1
    assert all(np.array_equal(*pair) for pair in zip(frames[:num_same], expected_frames, strict=False))
    own_env, *_ = in_our_engine(task)
    goal, own_goal = env.reset().goals[0], own_env.reset().goals[0]
    assert np.array_equal(goal.image_HWC, own_goal.image_HWC)
    assert goal.mask_HW.any()
    assert np.array_equal(goal.mask_HW, own_goal.mask_HW)


def test_two_hundred_steps_and_a_second_reset_begin_the_same_world_again(backend):
    task = task_of("break")
    episode = task.episode()
    backend.reset([0, 1], [episode, episode])
    before = blocks_of(backend, task)
    backend.reset([0], [episode])
    first = backend.observe().image_EHWC[0].copy()
    dig = ActionBatch.noop(2)
    dig.buttons_EB[0, [BUTTONS.index("attack"), BUTTONS.index("forward")]] = True
    dig.camera_deg_E2[0] = (4.0, 0.0)  # down, until it looks at its feet
    num_broken = 0
    for _ in range(NUM_STEPS):
        tick = backend.step(dig)
        num_broken += int((tick.event_EN4[0, :, 0] == 1).sum())
    assert not tick.is_fault_E.any()
    assert num_broken >= 2
    assert not np.array_equal(blocks_of(backend, task), before)
    backend.reset([0], [episode])
    assert np.array_equal(backend.observe().image_EHWC[0], first)
    assert np.array_equal(blocks_of(backend, task), before)


def test_keys_and_camera_mean_what_they_mean_here(backend):
    task = task_of("approach")
    backend.reset([0, 1], [task.episode()] * 2)
    start_5 = backend.observe().pose_E5[0].copy()
    turn = ActionBatch.noop(2)
    turn.camera_deg_E2[0] = (10.0, -25.0)
    turned_5 = backend.step(turn, num_ticks=2).pose_E5[0]
    yaw_deg, pitch_deg = turned_5[3:] - start_5[3:]
    assert np.isclose((yaw_deg + 180.0) % 360.0 - 180.0, -50.0)  # left
    assert np.isclose(pitch_deg, 20.0)  # down
    ahead = ActionBatch.noop(2)
    ahead.buttons_EB[0, BUTTONS.index("left")] = True
    gone_3 = backend.step(ahead, num_ticks=4).pose_E5[0, :3] - start_5[:3]
    yaw = np.radians(turned_5[3])
    assert gone_3 @ (np.cos(yaw), 0.0, np.sin(yaw)) > 0.3  # left of where it looks
    hotbar = ActionBatch.noop(2)
    hotbar.buttons_EB[0, BUTTONS.index("hotbar.4")] = True
    assert backend.step(hotbar).selected_E.tolist() == [3, 0]


def test_mobs_and_items_of_an_episode_are_known_by_their_placement_and_gone_in_the_next(backend):
    task = task_of("approach")
    x, y, z = (int(part) for part in task.start[:3])
    placed = [Placement(kind=kind, position=(x, y, z)) for kind in ("sheep", "item:apple")]
    episode = dataclasses.replace(task.episode(), placements=tuple(placed), target_index=0)
    backend.reset([0, 1], [episode, task.episode()])
    tick = backend.observe()
    assert tick.mob_EM6[0, 0, 1] == 1  # slot of placement 0
    assert (tick.mob_EM6[1, :, 0] == -1).all()
    picked = [backend.step(ActionBatch.noop(2)).event_EN4[0].copy() for _ in range(20)]
    rows = [tuple(row) for event_N4 in picked for row in event_N4 if row[0]]
    assert [row[3] for row in rows if row[0] == 9] == [2]  # the apple, of placement 1
    backend.reset([0], [task.episode()])
    assert (backend.observe().mob_EM6[0, :, 0] == -1).all()


def test_a_window_that_a_block_opens_is_left_again(backend):
    task = task_of("approach")
    x, y, z = (int(part) for part in task.start[:3])
    chest = Placement(kind="chest[facing=north]", position=(x, y + 1, z + 2))
    start = task.start._replace(yaw_deg=0.0, pitch_deg=0.0)
    episode = dataclasses.replace(task.episode(), start=start, placements=(chest,), target_index=0)
    backend.reset([0, 1], [episode, task.episode()])
    use = ActionBatch.noop(2)
    use.buttons_EB[0, BUTTONS.index("use")] = True
    rows = [tuple(row) for row in backend.step(use).event_EN4[0] if row[0]]
    assert [(row[0], row[2]) for row in rows] == [(5, 1)]  # used, of placement 0
    turn = ActionBatch.noop(2)
    turn.camera_deg_E2[0] = (0.0, 30.0)
    assert np.isclose(backend.step(turn).pose_E5[0, 3], 30.0)


class TestMineStudioConformance(BackendConformance):
    has_own_masks = False  # they are mirrored

    @pytest.fixture(autouse=True)
    def _share(self, backend):
        self._backend = backend

    def make(self):
        return self._backend

    def episode(self, seed) -> Episode:
        episode = task_of("approach").episode()
        return dataclasses.replace(episode, start=episode.start._replace(yaw_deg=20.0 * seed))


def test_a_game_that_is_not_there_is_said_so_before_anything_is_asked_or_fetched(tmp_path):
    began_s = time.monotonic()
    missing = EngineChoice(engine="minestudio", python=minestudio_python(), options={"folder": str(tmp_path)})
    process = EngineProcess(missing, (IMAGE_PX, IMAGE_PX), LIMITS)
    with pytest.raises(EngineFaultError, match=r"minestudio: the game is not at .*EULA.*check_engine"):
        process.hello()
    process.kill()
    assert not any(tmp_path.iterdir())
    assert time.monotonic() - began_s < 60


@pytest.mark.parametrize("is_killed", [False, True])
def test_an_engine_that_ends_leaves_no_process_and_no_folder(tmp_path, monkeypatch, is_killed):
    game = launch_our_game(tmp_path / "game", monkeypatch)
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    process = EngineProcess(choice(game), (IMAGE_PX, IMAGE_PX), LIMITS)
    process.hello()
    assert any("malmo.launched" in command for command in processes_with(temporary).values())
    if is_killed:
        process.kill()
    else:
        process.close()
    assert processes_with(temporary) == {}
    assert not any(temporary.iterdir())
    assert (game / "engine").is_dir()
