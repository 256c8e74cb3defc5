"""What the tests of the viewer share: the worlds and policies that its sessions never change."""

import pytest

from eval.viewer.session import ViewerSession
from eval.viewer.shared import Shared
from tests.eval.viewer.chromium import chromium, opened
from tests.eval.viewer.made_goals import WORLD

# A task that the expert solves in seconds, with its target in view of the goal camera.
EASY_TASK = "unseen_seeds:3"


@pytest.fixture(scope="session")
def shared() -> Shared:
    """One process's read-only things."""
    return Shared()


@pytest.fixture
def session(shared: Shared) -> ViewerSession:
    """A session that shows a small world."""
    return ViewerSession(shared, world=WORLD)


@pytest.fixture
def judged(session: ViewerSession, judged_dir) -> ViewerSession:
    """A session with a small evaluation open."""
    session.browse.open(str(judged_dir))
    return session


@pytest.fixture(scope="module")
def browser():
    """A Chromium; its tests are marked `needs_chromium`."""
    with chromium() as launched:
        yield launched


@pytest.fixture(scope="module")
def app():
    """A viewer whose sessions begin with an easy task."""
    from eval.viewer.app import ViewerApp  # needs viser, which the fast tests do without

    served = ViewerApp(shared=Shared(), opening=lambda session: session.open_place(EASY_TASK))
    yield served
    served.close()


@pytest.fixture
def page(browser, app):
    """A page of it."""
    with opened(browser, app.address) as shown:
        yield shown
