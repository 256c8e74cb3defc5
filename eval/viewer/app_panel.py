"""The panel of controls in the page: tabs Task, Run and Browse. It only forwards."""

from typing import TYPE_CHECKING

import viser

from eval.viewer.app_panel_browse import BrowsePanel
from eval.viewer.app_panel_run import RunPanel
from eval.viewer.app_panel_task import TaskPanel

if TYPE_CHECKING:
    from eval.viewer.app_booth import Booth


class Panel:
    """All controls of one browser."""

    def __init__(self, booth: "Booth", gui: viser.GuiApi) -> None:
        """Build the tabs."""
        gui.configure_theme(
            dark_mode=True, show_logo=False, show_share_button=False, control_width="medium", brand_color=(64, 160, 220)
        )
        gui.set_panel_label("mcrl view")
        tabs = gui.add_tab_group()
        with tabs.add_tab("Task", viser.Icon.TARGET):
            self._task = TaskPanel(booth, gui)
        with tabs.add_tab("Run", viser.Icon.PLAYER_PLAY):
            self._run = RunPanel(booth, gui)
        with tabs.add_tab("Browse", viser.Icon.BOOKS):
            self._browse = BrowsePanel(booth, gui)

    @property
    def click_use(self) -> str:
        """Return what a click into the world does: "target", "start", "object" or "away"."""
        return self._task.click_use

    @property
    def object_kind(self) -> str:
        """Return what a click puts into the world."""
        return self._task.object_kind

    def update(self) -> None:
        """Show the session's present."""
        self._task.update()
        self._run.update()
        self._browse.update()
