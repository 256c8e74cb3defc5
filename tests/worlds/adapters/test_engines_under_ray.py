"""Claims about engines of Ray workers: Ray kills their keepers along with the workers, and still nothing is left."""

import os
import time
from pathlib import Path

import pytest

from worlds.adapters.engine_choice import EngineChoice
from worlds.adapters.process import EngineProcess

pytestmark = pytest.mark.ray
ENGINE = str(Path(__file__).with_name("flat_engine.py"))
IN_TIME_S = 30.0


class Worker:
    """Has an engine, as a rollout worker has."""

    def __init__(self, file):
        self.engine = EngineProcess(EngineChoice(engine=ENGINE, options={"file": file}), (16, 16))
        self.engine.hello()

    def pids(self):
        return self.engine.pids


def is_alive(pid):
    try:
        os.kill(pid, 0)
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[:1]
    except (ProcessLookupError, FileNotFoundError):
        return False


@pytest.mark.parametrize("end", ["killed", "dropped"])
def test_a_worker_that_ends_takes_its_engine_and_what_that_started_along(ray_session, tmp_path, end):
    import ray

    file = tmp_path / "file"
    worker = ray.remote(num_cpus=0)(Worker).remote(str(file))
    pids = ray.get(worker.pids.remote(), timeout=60)
    _, helper_pid, folder = file.read_text().split()
    pids = (*pids, int(helper_pid))
    assert all(is_alive(pid) for pid in pids)
    if end == "killed":
        ray.kill(worker)
    del worker
    deadline_s = time.monotonic() + IN_TIME_S
    while time.monotonic() < deadline_s and (any(is_alive(pid) for pid in pids) or Path(folder).exists()):
        time.sleep(0.1)
    assert [pid for pid in pids if is_alive(pid)] == []
    assert not Path(folder).parent.exists()
