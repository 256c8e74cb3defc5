"""Tasks made in Luanti's own worlds are played in Luanti, by the expert over what was scanned there."""

import pytest

from policies.expert.agent import ExpertAgent
from task_synthesis.foreign.foreign_tasks import make_tasks
from task_synthesis.playing.task_env import TaskEnv
from tests.worlds.adapters.test_luanti import skip_without_luanti
from worlds.adapters.backend import ProcessBackend
from worlds.adapters.catalogue import ENGINES, choice_of
from worlds.adapters.scanned_worlds import ScannedWorlds, scan_folder
from worlds.adapters.shadow import ShadowedBackend

SIZE_BLOCKS = (128, 64, 128)
NUM_TASKS = {"approach": 20, "break": 10}
# It solved all 30 in three runs; but no two runs are alike, and it was tuned to other legs than Luanti's.
LEAST_SOLVED = {"approach": 16, "break": 7}


def make_luanti_tasks():
    entry = ENGINES["luanti"]
    num_drawn = 3 * sum(NUM_TASKS.values()) // 2
    drawn = make_tasks(
        choice_of("luanti"),
        entry.source,
        num_drawn,
        split="val",
        lowest_y=entry.lowest_y,
        skills={skill: float(share) for skill, share in NUM_TASKS.items()},
        bands={"near": 1.0, "easy": 1.0},
        tasks_per_world=num_drawn,
    )
    tasks = []
    for skill, num_tasks in NUM_TASKS.items():
        of_skill = [task for task in drawn if task.skill == skill]
        assert len(of_skill) >= num_tasks
        tasks += of_skill[:num_tasks]
    return tasks


@pytest.fixture(scope="module")
def tasks(tmp_path_factory):
    skip_without_luanti()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield make_luanti_tasks()


def never_scan(spec):
    raise AssertionError(f"{spec} was scanned when its tasks were made")


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_twenty_approach_and_ten_break_tasks_run_end_to_end(tasks):
    choice = choice_of("luanti")
    worlds = ScannedWorlds(never_scan, folder=scan_folder(choice))
    engine = ProcessBackend(1, choice, size_blocks=SIZE_BLOCKS, image_px=(64, 64), worlds=worlds)
    backend = ShadowedBackend(engine, worlds, size_blocks=SIZE_BLOCKS)
    upcoming = iter([*tasks, tasks[0]])
    env = TaskEnv(backend, lambda _: next(upcoming), action_repeat=3)
    try:
        expert = ExpertAgent(env, is_teaching=False)
        observation = env.reset()
        num_solved = dict.fromkeys(NUM_TASKS, 0)
        for task in tasks:
            assert observation.goals[0].mask_HW.any(), f"{task.task_id}: the target is not in the goal view"
            while True:
                transition = env.step(expert.act(observation))
                observation = transition.observation
                assert transition.is_valid_E.all()
                if transition.terminated_E[0] or transition.truncated_E[0]:
                    break
            num_solved[task.skill] += int(transition.reward_E[0])
        assert all(num_solved[skill] >= least for skill, least in LEAST_SOLVED.items()), num_solved
    finally:
        backend.close()
