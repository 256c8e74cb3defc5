"""Claims about what a privileged critic is told: right by a slow twin, on the engine and in made-up states."""

import copy
import dataclasses
import math

import numpy as np
import pytest

from task_synthesis.playing.curriculum import ShuffledTasks
from task_synthesis.playing.situation import SITUATION
from task_synthesis.playing.task_env import TaskEnv
from task_synthesis.playing.task_objects import TaskObjects
from task_synthesis.skills import SKILLS, base_kind
from tests.task_synthesis.fixtures import SIDE, tasks_of_all_skills
from worlds.types import BUTTON_INDEX, EYE_HEIGHT_BLOCKS, ActionBatch
from worlds.voxel.backend import VoxelBackend

NUM_ENVS = 4


def column(situation_EP, name):
    return situation_EP[:, SITUATION.index(name)]


def wrapped(delta, side):
    return (delta + side / 2) % side - side / 2


def twin(task, pose, mobs, elapsed):
    """One env's numbers that need no picture, by name, with plain trigonometry."""
    x, y, z, yaw_deg, pitch_deg = pose
    size_x, _, size_z = task.world.size_blocks
    where = {}
    for index, placement in enumerate(task.placements):
        floor = mobs.get(index + 1, (*np.add(placement.position, (0.5, 0.0, 0.5)), 0.0))
        east, south = wrapped(floor[0] - x, size_x), wrapped(floor[2] - z, size_z)
        up = floor[1] + 0.5 - (y + EYE_HEIGHT_BLOCKS)
        # Yaw 0 looks south (+z), and a turn to the right makes it larger.
        bearing = math.atan2(-east, south) - math.radians(yaw_deg)
        where[index] = (math.hypot(east, south), up, bearing)
    level, up, bearing = where[task.target_index]
    kind = base_kind(task.placements[task.target_index].kind)
    rivals = [
        (math.hypot(where[index][0], where[index][1]), where[index][2])
        for index, placement in enumerate(task.placements)
        if index != task.target_index and base_kind(placement.kind) == kind
    ]
    distance, rival_bearing = min(rivals, default=(0.0, 0.0))
    return {
        "target_ahead": level * math.cos(bearing) / 10,
        "target_right": level * math.sin(bearing) / 10,
        "target_up": up / 10,
        "target_level_distance": level / 10,
        "target_log_distance": math.log(1 + math.hypot(level, up)),
        "target_sin_yaw": math.sin(bearing),
        "target_cos_yaw": math.cos(bearing),
        "target_pitch": (-math.degrees(math.atan2(up, level)) - pitch_deg) / 40,
        "has_rival": float(bool(rivals)),
        "rival_log_distance": math.log(1 + distance) if rivals else 0.0,
        "rival_sin_yaw": math.sin(rival_bearing) if rivals else 0.0,
        "rival_cos_yaw": math.cos(rival_bearing) if rivals else 0.0,
        "rivals": len(rivals) / 4,
        "time": elapsed,
        **{f"skill_{name}": float(name == task.skill) for name in SKILLS},
    }


def moving(rng):
    actions = ActionBatch.noop(NUM_ENVS)
    for name in ("forward", "left", "jump", "attack"):
        actions.buttons_EB[:, BUTTON_INDEX[name]] = rng.random(NUM_ENVS) < 0.4
    actions.camera_deg_E2[:] = rng.uniform(-8, 8, (NUM_ENVS, 2))
    return actions


def mobs_of(tick, env):
    return {int(row[1]): row[2:6] for row in tick.mob_EM6[env] if row[0] >= 0 and row[1] >= 1}


@pytest.fixture(scope="module")
def played():
    """(tasks, tick, situation, elapsed) after each of some random steps, with what the last observation said."""
    backend = VoxelBackend(NUM_ENVS, size_blocks=(SIDE, 64, SIDE), image_px=(32, 32))
    env = TaskEnv(backend, ShuffledTasks(tasks_of_all_skills()[0], split="train", seed=0), tells_situations=True)
    env.reset()
    rng, steps = np.random.default_rng(0), []
    for _ in range(120):
        tasks = list(env.tasks)
        transition = env.step(moving(rng))
        if (transition.terminated_E | transition.truncated_E).any():
            continue  # the state that was judged is gone
        elapsed_E = transition.episode_ticks_E / [task.max_ticks for task in tasks]
        tick = backend.observe()
        poses, mobs = tick.pose_E5.copy(), [mobs_of(tick, e) for e in range(NUM_ENVS)]
        targets = tick.target_E7.copy()
        steps.append((tasks, poses, mobs, targets, transition.final_situation_EP, elapsed_E))
        np.testing.assert_array_equal(transition.observation.situation_EP, transition.final_situation_EP)
    assert len(steps) > 40
    return steps


def test_it_is_what_plain_trigonometry_says(played):
    for tasks, poses, mobs, _, situation_EP, elapsed_E in played:
        for env, task in enumerate(tasks):
            for name, wanted in twin(task, poses[env], mobs[env], elapsed_E[env]).items():
                assert column(situation_EP, name)[env] == pytest.approx(wanted, abs=2e-4), (name, task.family)


def test_the_picture_agrees_with_it(played):
    """Who is seen to the right of the middle lies to the right, and who is seen above it lies above the look."""
    num_seen = 0
    for _, _, _, target_E7, situation_EP, _ in played:
        is_seen_E = target_E7[:, 0] > 0
        np.testing.assert_array_equal(column(situation_EP, "in_view"), is_seen_E)
        np.testing.assert_allclose(column(situation_EP, "view_size"), 3 * np.sqrt(target_E7[:, 0]), rtol=1e-5)
        for name, label in (("view_x", "target_sin_yaw"), ("view_y", "target_pitch")):
            off_E, wanted_E = column(situation_EP, name), column(situation_EP, label)
            assert not off_E[~is_seen_E].any()
            is_clear_E = is_seen_E & (np.abs(off_E) > 0.25)
            assert (np.sign(off_E[is_clear_E]) == np.sign(wanted_E[is_clear_E])).all()
            num_seen += is_clear_E.sum()
    assert num_seen > 3


def test_where_some_episodes_ended_all_is_as_if_told_anew():
    backend = VoxelBackend(NUM_ENVS, size_blocks=(SIDE, 64, SIDE), image_px=(16, 16))
    tasks = [
        dataclasses.replace(task, max_ticks=8 + 4 * (n % 5), task_id="")
        for n, task in enumerate(tasks_of_all_skills()[0])
    ]
    env = TaskEnv(backend, ShuffledTasks(tasks, split="train", seed=0), tells_situations=True)
    env.reset()
    rng, num_mixed = np.random.default_rng(1), 0
    for _ in range(20):
        transition = env.step(moving(rng))
        is_end_E = transition.terminated_E | transition.truncated_E
        told_EP = transition.observation.situation_EP
        np.testing.assert_array_equal(told_EP, env._situations(backend.observe()))
        np.testing.assert_array_equal(told_EP[~is_end_E], transition.final_situation_EP[~is_end_E])
        num_mixed += is_end_E.any() and not is_end_E.all()
    assert num_mixed > 2


def test_it_is_finite_and_of_the_order_of_1(played):
    situation_NP = np.concatenate([step[4] for step in played])
    assert situation_NP.dtype == np.float32
    assert situation_NP.shape[1] == len(SITUATION) == len(set(SITUATION))
    assert np.isfinite(situation_NP).all()
    assert np.abs(situation_NP).max() < 6


def test_nobody_is_told_unless_asked():
    backend = VoxelBackend(1, size_blocks=(SIDE, 64, SIDE), image_px=(16, 16))
    env = TaskEnv(backend, ShuffledTasks(tasks_of_all_skills()[0], split="train", seed=0))
    assert env.reset().situation_EP is None
    transition = env.step(ActionBatch.noop(1))
    assert transition.final_situation_EP is None


def test_a_mob_is_followed_and_its_health_is_told(played):
    health_N = np.concatenate([column(step[4], "target_health") for step in played])
    is_mob_N = np.concatenate([[SKILLS[task.skill].target == "mob" for task in step[0]] for step in played])
    assert (health_N[is_mob_N] > 0).any()
    assert not health_N[~is_mob_N].any()


def test_objects_of_the_task_before_are_forgotten():
    tasks, _ = tasks_of_all_skills()
    objects, fresh = TaskObjects(1), TaskObjects(1)
    for task in tasks:
        objects.begin(0, task)
    fresh.begin(0, tasks[-1])
    for name, array in vars(fresh).items():
        np.testing.assert_array_equal(array, vars(objects)[name], err_msg=name)


def test_whereabouts_follow_an_animal_and_stay_as_they_were_told():
    tasks = [task for task in tasks_of_all_skills()[0] if task.skill == "hunt"][:NUM_ENVS]
    backend = VoxelBackend(NUM_ENVS, size_blocks=(SIDE, 64, SIDE), image_px=(32, 32))
    env = TaskEnv(backend, lambda e: tasks[e])
    env.reset()
    rng, told = np.random.default_rng(0), []
    for _ in range(40):
        transition = env.step(moving(rng))
        where = transition.whereabouts
        told.append((where, copy.deepcopy(where)))
        if (transition.terminated_E | transition.truncated_E).any():
            continue  # what was told is of the episode before
        tick = backend.observe()
        np.testing.assert_array_equal(where.target_area_E, tick.target_E7[:, 0])
        for e, task in enumerate(tasks):
            feet_3 = mobs_of(tick, e)[task.target_index + 1][:3]
            assert feet_3.tolist() == where.target_E3[e].tolist()
            assert env._judge.objects.cells(tick)[e, task.target_index].tolist() == np.floor(feet_3).tolist()
    assert np.ptp([where.target_E3 for where, _ in told], axis=0).max() > 0.5
    for where, then in told:
        for name in ("feet_E3", "target_E3", "target_area_E"):
            np.testing.assert_array_equal(getattr(where, name), getattr(then, name))
