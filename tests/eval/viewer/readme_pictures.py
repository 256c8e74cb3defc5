"""Makes the two pictures of `mcrl view` in the README, by using it as a person does.

Run it as `python -m tests.eval.viewer.readme_pictures [FOLDER]`; needs the extra `view`, playwright and Chromium.
"""

import sys
from pathlib import Path
from typing import Any

from PIL import Image

from eval.viewer.app import ViewerApp
from eval.viewer.shared import Shared
from tests.eval.viewer.chromium import chromium, click_tab, opened, press, until

FOLDER = Path(__file__).parents[3] / "eval" / "pictures"
TASK = "unseen_seeds:781"  # one that the shipped policy solves
SIZE_PX = (1160, 740)
NUM_COLORS = 256  # a world of pixels packs badly: with all of them a picture is above 300 kB
MOST_BYTES = 300_000


def write_pictures(folder: Path) -> list[Path]:
    """Write both pictures and return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    app = ViewerApp(shared=Shared(), opening=lambda session: session.open_place(TASK))
    try:
        with chromium() as browser, opened(browser, app.address, size_px=SIZE_PX) as page:
            booth = app.booth(page.url.rstrip("/").rpartition("/")[2])
            booth.do(lambda: booth.jump("goal"))
            page.wait_for_timeout(5000)
            paths = [_shot(page, folder / "view_goal.png")]
            click_tab(page, "Run")
            booth.do(lambda: booth.session.run.choose_player("small"))
            press(page, "Play")
            until(lambda: _outcome(page), what="the end of the run")
            booth.do(lambda: booth.jump("behind"))
            page.wait_for_timeout(2500)
            paths.append(_shot(page, folder / "view_run.png"))
    finally:
        app.close()
    return paths


def _outcome(page: Any) -> str:
    return page.get_attribute("#mcrl-banner", "data-outcome") or ""


def _shot(page: Any, path: Path) -> Path:
    page.evaluate("document.querySelectorAll('.mantine-Notifications-root').forEach((each) => each.remove())")
    page.screenshot(path=path)
    with Image.open(path) as picture:
        small = picture.convert("RGB").quantize(NUM_COLORS, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
    small.save(path, optimize=True)
    assert path.stat().st_size <= MOST_BYTES, path.stat().st_size
    return path


if __name__ == "__main__":
    for written in write_pictures(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER):
        print(written, written.stat().st_size)
