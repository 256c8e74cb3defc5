"""README's trainings with processes of their own, typed as they stand there and cut short."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.test_docs import commands_shown

# What asks for other processes than the machine at hand would start by itself.
_OF_PROCESSES = {"--placement", "--num-learners", "--rollout.weight-sync"}
_CUT_SHORT = """--no-report --preset tiny --env.image-px 32 --tasks.num-train-tasks 16 --tasks.num-val-tasks 2
    --imitation.num-demo-steps 2048 --imitation.num-updates 2 --imitation.dagger-steps 2048 --imitation.dagger-updates 2
    --ppo.num-iterations 2 --ppo.value-warmup-iterations 1"""


@pytest.mark.ray
@pytest.mark.timeout(600)
def test_trainings_of_the_readme_come_to_their_end(tmp_path):
    environment = {name: value for name, value in os.environ.items() if name != "RAY_ADDRESS"}
    environment |= {"PYTHONPATH": str(Path(__file__).parents[1]), "WANDB_MODE": "disabled"}
    trainings = [words for page, words in commands_shown() if page == "README.md" and _OF_PROCESSES & {*words}]
    assert len(trainings) == len(_OF_PROCESSES)
    for words in trainings:
        done = subprocess.run(
            [sys.executable, "-m", "mcrl", *words, *_CUT_SHORT.split()],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=200,
            check=False,
        )
        assert done.returncode == 0, f"mcrl {' '.join(words)}\n{done.stdout}\n{done.stderr}"
        assert "checkpoint: runs/" in done.stdout, words
