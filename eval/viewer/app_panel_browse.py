"""The Browse tab: tasks of a library, a suite or an evaluation, with filters and pictures; episodes played again."""

import re
import string
from typing import TYPE_CHECKING

import numpy as np
import viser

from eval.episodes.records import OUTCOMES
from eval.judging.row_names import main_row
from eval.viewer.app_control import Forward
from eval.viewer.browser import Entry, TaskFilter
from task_synthesis.skills import SKILLS
from task_synthesis.task import BANDS
from worlds.spec import SPLITS

if TYPE_CHECKING:
    from eval.viewer.app_booth import Booth

_ANY = "any"
_NOBODY = "nobody"
_GAP_PX = 4
_NO_PICTURE_HWC = np.full((96, 2 * 96 + _GAP_PX, 3), 24, np.uint8)


class BrowsePanel:
    """The controls of the Browse tab."""

    def __init__(self, booth: "Booth", gui: viser.GuiApi) -> None:
        """Build them in the container that is open."""
        self._booth = booth
        self._entries: list[Entry] = []
        self._at = 0
        first = booth.session.browse.place or booth.session.place or "unseen_seeds"
        self._place = gui.add_text(
            "Open", first, hint="A suite, library, file or folder of mcrl eval; :7 is its task 7."
        )
        open_it = gui.add_button("Open", icon=viser.Icon.FOLDER_OPEN)
        with gui.add_folder("Which", expand_by_default=False):
            self._skill = gui.add_dropdown("Skill", (_ANY, *SKILLS))
            self._band = gui.add_dropdown("Distance", (_ANY, *BANDS))
            self._split = gui.add_dropdown("Split", (_ANY, *SPLITS))
            self._row = gui.add_dropdown("Played by", (_ANY,), hint="A row of the evaluation.")
            self._outcome = gui.add_dropdown("Outcome", (_ANY, *OUTCOMES))
        self._list = gui.add_markdown("No tasks are listed yet: press *Open* for those of the place above.")
        self._picture = gui.add_image(_NO_PICTURE_HWC, label="Start and goal", format="png")
        turn = gui.add_button_group("", ("Back", "Next", "Random"))
        show = gui.add_button("Show this task", icon=viser.Icon.EYE)
        with gui.add_folder("Play an episode again"):
            self._who = gui.add_dropdown("Who", (_NOBODY,))
            self._beside = gui.add_dropdown("Beside", (_NOBODY,), hint="On the same task, at the same time.")
            replay = gui.add_button("Replay", icon=viser.Icon.PLAYER_TRACK_PREV)
            self._decision = gui.add_slider("Decision", min=0, max=1, step=1, initial_value=0, disabled=True)
        self._rng = np.random.default_rng(0)
        forward = Forward(booth.do)
        open_it.on_click(forward.reading(self._open, self._place))
        for choice in (self._skill, self._band, self._split, self._row, self._outcome):
            choice.on_update(forward(self._find))
        turn.on_click(forward.valued(self._turn))
        show.on_click(forward(self._show))
        replay.on_click(forward(self._replay))
        self._decision.on_update(forward.valued(lambda decision: booth.session.pair.seek(int(decision))))
        if booth.session.browse.num_tasks:
            self._list_rows()
            self._find()

    def update(self) -> None:
        """Show how far a recording has come."""
        control = self._booth.session.run
        run = control.run
        recording = None if run is None or not control.is_replay else run.casting.recording
        if recording is None or run is None:
            if not self._decision.disabled:
                self._decision.value, self._decision.disabled = 0, True
            return
        num_decisions = len(recording.buttons_DB)
        if self._decision.max != max(1, num_decisions):
            self._decision.max = max(1, num_decisions)
        if self._decision.disabled:
            self._decision.disabled = False
        if int(self._decision.value) != run.num_decisions:
            self._decision.value = min(run.num_decisions, max(1, num_decisions))

    def _open(self, place: str) -> None:
        before = self._booth.session.browse.place
        number = self._booth.session.browse.open(place.strip())
        # What was asked of the tasks before is not asked of these, nor of one that is named.
        if number is not None or self._booth.session.browse.place != before:
            for choice in (self._skill, self._band, self._split, self._row, self._outcome):
                choice.value = _ANY
        self._list_rows()
        self._find(at=0 if number is None else number - 1)

    def _list_rows(self) -> None:
        rows = tuple(self._booth.session.browse.rows)
        if not rows:
            self._outcome.value = _ANY  # nobody has played what is open now
        self._row.options = (_ANY, *rows)
        if rows and self._who.options != rows:
            self._who.options = rows
            self._who.value = main_row(rows)
        elif not rows:
            self._who.options = (_NOBODY,)
        self._beside.options = (_NOBODY, *rows)

    def _find(self, *, at: int = 0) -> None:
        self._entries = self._booth.session.browse.find(
            TaskFilter(
                skill=_chosen(self._skill.value),
                band=_chosen(self._band.value),
                split=_chosen(self._split.value),
                row=_chosen(self._row.value),
                outcome=_chosen(self._outcome.value),
            )
        )
        self._at = at
        self._show_entry()

    def _turn(self, where: str) -> None:
        if not self._entries:
            raise ValueError("browse: no task is listed; open a library, or choose other filters")
        step = int(self._rng.integers(len(self._entries))) if where == "Random" else 1 if where == "Next" else -1
        self._at = (self._at + step) % len(self._entries)
        self._show_entry()

    def _show_entry(self) -> None:
        browse = self._booth.session.browse
        if not self._entries:
            self._list.content = f"None of {browse.num_tasks} tasks is as chosen under *Which*."
            self._picture.image = _NO_PICTURE_HWC
            return
        entry = self._entries[self._at]
        task, distance_blocks = entry.task, entry.task.difficulty.distance_blocks
        family = _plain(task.family.replace("_", " "))
        lines = [
            f"**{self._at + 1}** of {len(self._entries)} ({browse.num_tasks} in all{', cut' if browse.is_cut else ''})",
            f"task {entry.number}: **{family}**, {task.band}, {distance_blocks:.0f} blocks",
            *(f"{_plain(row)}: {episode.outcome.replace('_', ' ')}" for row, episode in entry.episodes.items()),
        ]
        self._list.content = "  \n".join(lines)
        pictures = browse.pictures(entry.number)
        gap_HWC = np.full((pictures.start_HWC.shape[0], _GAP_PX, 3), 24, np.uint8)
        self._picture.image = np.concatenate([pictures.start_HWC, gap_HWC, pictures.goal_HWC], axis=1)

    def _number(self) -> int:
        if not self._entries:
            raise ValueError("browse: no task is listed; open a library, or choose other filters")
        return self._entries[self._at].number

    def _show(self) -> None:
        self._booth.session.open_entry(self._number())
        self._booth.jump("agent")

    def _replay(self) -> None:
        if self._who.value == _NOBODY:
            raise ValueError("replay: nobody has played these tasks; open a folder that `mcrl eval` finished")
        session = self._booth.session
        beside = None if self._beside.value == _NOBODY else self._beside.value
        session.replay(self._number(), self._who.value, beside=beside)
        self._booth.jump("agent")
        session.pair.play()


def _chosen(value: str) -> str | None:
    return None if value == _ANY else value


def _plain(text: str) -> str:
    """Return Markdown that shows a name as it is: viser's page shows, and runs, what is HTML in it."""
    return re.sub(f"([{re.escape(string.punctuation)}])", r"\\\1", " ".join(text.split()))
