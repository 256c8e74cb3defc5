"""What the tests of the viewer share: the worlds and policies that its sessions never change."""

import pytest

from eval.viewer.session import ViewerSession
from eval.viewer.shared import Shared
from tests.eval.viewer.made_goals import WORLD


@pytest.fixture(scope="session")
def shared() -> Shared:
    """One process's read-only things."""
    return Shared()


@pytest.fixture
def session(shared: Shared) -> ViewerSession:
    """A session that shows a small world."""
    return ViewerSession(shared, world=WORLD)
