"""A page in real headless Chromium, for the tests of the viewer: how to open it, press it and read it."""

import contextlib
import os
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pytest

CHROMIUM = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
)
# As a browser on a machine without a GPU: WebGL in software, and the page itself put together without WebGL.
SOFTWARE_WEBGL = ("--enable-unsafe-swiftshader", "--no-sandbox")
WAIT_MS = 120_000  # on 2 busy cores a picture takes its time
GOAL_PX = 256
SCREENSHOTS = Path(os.environ.get("MCRL_SCREENSHOTS", Path(__file__).parents[3] / "artefacts" / "viewer"))

needs_chromium = [
    pytest.mark.slow,
    pytest.mark.timeout(900),
    pytest.mark.skipif(CHROMIUM is None, reason="needs chromium, for instance `apt-get install chromium`"),
]


@contextlib.contextmanager
def chromium() -> Iterator[Any]:
    """Start a browser, and end it."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        launched = driver.chromium.launch(executable_path=CHROMIUM, headless=True, args=list(SOFTWARE_WEBGL))
        yield launched
        launched.close()


@contextlib.contextmanager
def opened(browser, address: str, *, size_px: tuple[int, int] = (1280, 800)):
    """Open a page in a browser of its own (no shared cookies), and close it."""
    context = browser.new_context(viewport={"width": size_px[0], "height": size_px[1]})
    context.set_default_timeout(WAIT_MS)
    shown = context.new_page()
    faults: list[str] = []
    shown.on("pageerror", lambda error: faults.append(str(error)))
    shown.goto(address)
    ready(shown)
    yield shown
    context.close()
    assert not faults, faults


def ready(page) -> None:
    """Wait until a page has its panel and its session."""
    page.get_by_role("tab", name="Task").wait_for()
    # The banner has an outcome, or none, once the session is there; what comes after the panel needs no wait.
    page.wait_for_function("document.querySelector('#mcrl-banner')?.dataset.outcome !== undefined")
    page.wait_for_timeout(500)


def until(condition: Callable[[], object], *, what: str, wait_s: float = WAIT_MS / 1000):
    """Wait for something to come true in this process."""
    end_s = time.monotonic() + wait_s
    while not condition():
        assert time.monotonic() < end_s, f"waited {wait_s:.0f} s for {what}"
        time.sleep(0.05)


def mask_in_page(page) -> np.ndarray:
    """Return the mask as it is drawn over the goal picture, bool [256, 256]."""
    alpha = page.evaluate(
        """() => { const c = document.querySelector('#mcrl-goal-over');
        return Array.from(c.getContext('2d').getImageData(0, 0, 256, 256).data.filter((_, i) => i % 4 === 3)); }"""
    )
    return np.array(alpha, np.uint8).reshape(GOAL_PX, GOAL_PX) > 0


def keep(page, name: str) -> Path:
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    path = SCREENSHOTS / f"{name}.png"
    page.screenshot(path=path)
    return path


def number_of_frames(page) -> int:
    return int(page.evaluate("Number(document.querySelector('#mcrl-agent').dataset.frames || 0)"))


def field(page, label: str):
    return page.locator(f"label:text-is('{label}')").locator("xpath=ancestor::*[.//input][1]//input")


def click_tab(page, name: str):
    page.get_by_role("tab", name=name).click()


def press(page, name: str):
    page.get_by_role("button", name=name, exact=True).click()


def booth_of(page, app):
    """Return the booth that serves a page."""
    return app.booth(urlsplit(page.url).path.strip("/").rpartition("/")[2])


def settled(booth) -> None:
    """Wait until the booth has done all that was asked of it."""
    done: list[bool] = []
    booth.do(lambda: done.append(True))
    until(lambda: done, what="the booth")


def ask(booth, deed: Callable[[], Any]) -> Any:
    """Return what a call gives in the booth's own thread."""
    answer: list[Any] = []
    booth.do(lambda: answer.append(deed()))
    until(lambda: answer, what="an answer of the session")
    return answer[0]
