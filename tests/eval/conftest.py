"""What several tests of evaluations share."""

from pathlib import Path

import pytest

from tests.eval.judged_folder import write_folder


@pytest.fixture(scope="session")
def judged_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small finished evaluation; copy it before changing it."""
    path = tmp_path_factory.mktemp("judged")
    write_folder(path, num_tasks=6, rows=("random", "rl", "expert"))
    return path
