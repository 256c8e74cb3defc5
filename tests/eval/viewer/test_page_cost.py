"""What the page costs: time to the first picture, bytes, pictures a second, and memory.

`mcrl view` runs as a process of its own, as a user starts it. MCRL_VIEW_S sets how long the run for memory takes; the
acceptance run takes 1200 s.
"""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("viser", reason="needs viser: pip install 'mcrl[view]'")
pytest.importorskip("playwright.sync_api", reason="needs playwright: pip install playwright")

from tests.eval.viewer.chromium import (  # noqa: E402
    WAIT_MS,
    chromium,
    click_tab,
    keep,
    needs_chromium,
    number_of_frames,
    opened,
    press,
    until,
)

pytestmark = needs_chromium

RUN_S = float(os.environ.get("MCRL_VIEW_S", "30"))
MOST_MESH_BYTES = 15e6
MOST_LEAKED_BYTES = 50 * 2**20


@contextlib.contextmanager
def mcrl_view():
    """Start `mcrl view` on its default world of 128 x 64 x 128 blocks; yield its process and address."""
    command = [sys.executable, "-m", "mcrl.cli", "view", "--port", "0", "--policy", "random"]
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        text=True,
        # Ctrl-C is ignored by what a shell started in the background, and the ignoring is inherited.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    line = process.stdout.readline()
    address = re.search(r"http://\S+", line)
    assert address, line
    yield process, address[0]
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=30) == 0


@pytest.fixture(scope="module")
def served():
    with mcrl_view() as started:
        yield started


def _resident_bytes(process) -> int:
    for line in Path(f"/proc/{process.pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    raise AssertionError("no VmRSS")


def _choose_target_and_play(page):
    page.mouse.click(640, 640)
    page.wait_for_function("document.querySelector('#mcrl-goal-text').textContent !== ''")
    click_tab(page, "Run")
    press(page, "Play")
    until(lambda: number_of_frames(page) > 2, what="live pictures")


def test_first_picture_bytes_and_pictures_a_second(served):
    process, address = served
    with chromium() as browser, opened(browser, address) as warm_up:
        warm_up.wait_for_timeout(1000)
    with chromium() as browser:
        received = [0]
        context = browser.new_context(viewport={"width": 1280, "height": 800})
        context.set_default_timeout(WAIT_MS)
        page = context.new_page()

        def count(socket):
            if not socket.url.endswith("/hands"):
                socket.on("framereceived", lambda payload: received.__setitem__(0, received[0] + len(payload)))

        page.on("websocket", count)
        begun_s = time.monotonic()
        page.goto(address)
        # The page shows a world, not the plain sky: many colours, also when it is drawn small.
        is_drawn = """() => { const c = document.querySelector('canvas[data-engine]'); if (!c) return false;
            const d = document.createElement('canvas'); d.width = d.height = 64; const p = d.getContext('2d');
            p.drawImage(c, 0, 0, c.width, c.height, 0, 0, 64, 64);
            return new Set(new Uint32Array(p.getImageData(0, 0, 64, 64).data.buffer)).size > 400; }"""
        page.wait_for_function(is_drawn, polling=50)
        first_s = time.monotonic() - begun_s
        page.get_by_role("tab", name="Task").wait_for()  # the panel is sent after all of the mesh
        keep(page, "first_picture")
        mesh_bytes = received[0]
        _choose_target_and_play(page)
        frames, begun_s = number_of_frames(page), time.monotonic()
        page.wait_for_timeout(8000)
        frames_per_s = (number_of_frames(page) - frames) / (time.monotonic() - begun_s)
        context.close()
    print(json.dumps({"first_picture_s": first_s, "mesh_bytes": mesh_bytes, "frames_per_s": frames_per_s}))
    assert mesh_bytes <= MOST_MESH_BYTES
    # Limits of a busy machine; what an idle one does is in the log of measurements.
    assert first_s < WAIT_MS / 1000
    assert frames_per_s > 1


def test_from_the_command_to_an_agent_that_tries_takes_less_than_a_minute():
    begun_s = time.monotonic()
    with mcrl_view() as (_, address), chromium() as browser:
        printed_s = time.monotonic() - begun_s
        with opened(browser, address) as page:
            _choose_target_and_play(page)
            playing_s = time.monotonic() - begun_s
    print(json.dumps({"address_s": printed_s, "playing_s": playing_s}))
    assert playing_s < 60


@pytest.mark.timeout(900 + RUN_S)
def test_a_long_run_leaks_nothing(served):
    process, address = served
    with chromium() as browser, opened(browser, address) as page:
        _choose_target_and_play(page)
        page.wait_for_timeout(10_000)
        before_bytes, begun_s, num_runs = _resident_bytes(process), time.monotonic(), 0
        while time.monotonic() - begun_s < RUN_S:
            page.wait_for_timeout(2000)
            if page.get_attribute("#mcrl-banner", "data-outcome"):
                num_runs += 1
                press(page, "Play")
        leaked = _resident_bytes(process) - before_bytes
    print(json.dumps({"run_s": RUN_S, "runs": num_runs, "leaked_mib": leaked / 2**20, "rss_mib": before_bytes / 2**20}))
    assert leaked < MOST_LEAKED_BYTES
