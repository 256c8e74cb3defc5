"""Claims about starting and stopping Ray in a process that does other things as well."""

import subprocess
import sys

import pytest

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
