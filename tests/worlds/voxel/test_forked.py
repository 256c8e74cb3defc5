"""A process forked from one in which the engine ran hears what to do instead; one that was started afresh plays."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
SCRIPT = """
import sys
from gymnasium.vector import AsyncVectorEnv
from task_synthesis.playing.gym_env import CrossViewEnv
from tests.task_synthesis.fixtures import some_tasks

def make():
    return CrossViewEnv(some_tasks(), split="train", image_px=32)

if __name__ == "__main__":
    make().reset(seed=0)
    env = AsyncVectorEnv([make, make], context=sys.argv[1])
    observation, _ = env.reset(seed=0)
    print(observation["image"].shape)
    env.close()
"""


FORKING_SCRIPT = """
import os
from task_synthesis.playing.gym_env import CrossViewVectorEnv
from tests.task_synthesis.fixtures import some_tasks

def play():
    env = CrossViewVectorEnv(some_tasks(), num_envs=4, split="train", image_px=32)
    env.reset(seed=0)
    print(env.step(env.action_space.sample())[0]["image"].shape, flush=True)
    env.close()

play()
child = os.fork()
play() if child == 0 else os.waitpid(child, 0)
"""


def played(folder, start_method, script_text=SCRIPT, **variables):
    script = folder / "script.py"
    script.write_text(script_text)
    return subprocess.run(
        [sys.executable, str(script), start_method],
        env={**os.environ, "PYTHONPATH": str(ROOT), **variables},
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_a_fork_of_a_process_in_which_the_engine_ran_is_told_what_to_do(tmp_path):
    pytest.importorskip("numba.np.ufunc.omppool", reason="numba's threads are not those of OpenMP here")
    said = played(tmp_path, "fork").stderr
    assert 'its threads did not come along; start processes afresh: AsyncVectorEnv(..., context="spawn")' in said


@pytest.mark.slow
def test_a_fork_plays_where_numba_s_threads_survive_it(tmp_path):
    process = played(tmp_path, "", FORKING_SCRIPT, NUMBA_THREADING_LAYER="workqueue", NUMBA_NUM_THREADS="2")
    assert process.stdout.splitlines() == ["(4, 32, 32, 3)"] * 2, process.stderr


@pytest.mark.slow
def test_processes_that_are_started_afresh_play(tmp_path):
    process = played(tmp_path, "spawn")
    assert process.stdout.strip() == "(2, 32, 32, 3)", process.stderr
