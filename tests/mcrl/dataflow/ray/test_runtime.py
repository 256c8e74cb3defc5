"""Claims about starting and stopping Ray in a process that does other things as well."""

import shutil
import subprocess
import sys

import pytest

from mcrl.dataflow.ray import runtime

SIGNALLED = """
import os, signal
heard = []
signal.signal(signal.SIGTERM, lambda *_: heard.append("again" if heard else "once"))
from mcrl.dataflow.ray import runtime
runtime.start(num_workers=1, object_store_bytes=2**27)
os.kill(os.getpid(), signal.SIGTERM)
runtime.stop()
os.kill(os.getpid(), signal.SIGTERM)
print(heard)
"""


@pytest.mark.ray
@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_handlers_of_a_process_outlive_ray(tmp_path):
    """Ray leaves SIGTERM to the system when it stops, and Python does not know."""
    done = subprocess.run([sys.executable, "-c", SIGNALLED], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "['once', 'again']"


def test_it_is_not_begun_where_its_session_has_no_room(tmp_path, monkeypatch):
    monkeypatch.setenv("RAY_TMPDIR", str(tmp_path))
    runtime.check_room()
    usage = shutil.disk_usage(tmp_path)._replace(free=5 << 20)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)
    with pytest.raises(ValueError, match=rf"{tmp_path}: Ray keeps its session there, .* 5 MiB left of the 64 it needs"):
        runtime.check_room()
