"""Looking through tasks: libraries, suites and evaluations, filtered, with a picture of each start and goal."""

import dataclasses
import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from eval.episodes.action_archive import EpisodeActions
from eval.episodes.records import OUTCOMES, JudgedEpisode
from eval.judging.judged_folder import EPISODES_FILE, JudgedFolder, read_folder
from eval.library.task_pictures import TaskPictures
from eval.numbers.counted import counted
from eval.suites.suites import SUITES, load_suite
from eval.suites.task_place import check_exists, split_number
from eval.viewer.draft import OwnPicture
from eval.viewer.reach import Reach
from eval.viewer.task_file import own_picture
from eval.viewer.thumbnails import Thumbnails
from task_synthesis.libraries.library import read_lines
from task_synthesis.skills import SKILLS
from task_synthesis.task import BANDS, Difficulty, TaskSpec, from_json_line
from worlds.spec import SPLITS
from worlds.voxel.world_cache import WorldCache

MAX_TASKS = 20_000
"""Of a library that are read: more than anybody looks through, and 40 MB of memory."""
_MEASURES = tuple(field.name for field in dataclasses.fields(Difficulty))


@dataclass(frozen=True, kw_only=True, slots=True)
class TaskFilter:
    """Which tasks are wanted; None wants all."""

    skill: str | None = None
    band: str | None = None
    split: str | None = None
    difficulty: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Least and most of fields of task_synthesis.task.Difficulty; what is true counts as 1."""
    row: str | None = None
    """Whose episodes the next one speaks of; None: of anybody."""
    outcome: str | None = None
    """"success", or another of eval.episodes.records.OUTCOMES."""

    def __post_init__(self) -> None:
        for name, value, known in (
            ("skill", self.skill, tuple(SKILLS)),
            ("band", self.band, tuple(BANDS)),
            ("split", self.split, SPLITS),
            ("outcome", self.outcome, OUTCOMES),
            *(("difficulty", name, _MEASURES) for name in self.difficulty),
        ):
            if value is not None and value not in known:
                raise ValueError(f"filter: {name} {value!r} is unknown; choose one of {', '.join(known)}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """One task that was found."""

    number: int
    """Its place in the library, 1 the first."""
    task: TaskSpec
    episodes: Mapping[str, JudgedEpisode]
    """How it went, by row of the evaluation; empty without one."""


class Browser:
    """What a person looks through. Opening something broken leaves what was open."""

    def __init__(self, worlds: WorldCache, reach: Reach) -> None:
        """Begin with nothing open; what may be lies in `reach`."""
        self._reach = reach
        self._thumbnails = Thumbnails(worlds)
        self._tasks: list[TaskSpec] = []
        self._judged: JudgedFolder | None = None
        self._episodes: dict[str, dict[str, JudgedEpisode]] = {}
        self.place = ""
        """What is open; "" while nothing is."""
        self.is_cut = False
        """The library holds more tasks than were read."""

    @property
    def num_tasks(self) -> int:
        """Return how many tasks are open."""
        return len(self._tasks)

    @property
    def rows(self) -> list[str]:
        """Return who played in the evaluation, in its order; empty without one."""
        return [] if self._judged is None else list(dict.fromkeys(episode.row for episode in self._judged.episodes))

    def open(self, place: str) -> int | None:
        """Open a frozen suite by name, a library, a file of tasks, or a folder that `mcrl eval` finished.

        Return the task that is named with it, as in unseen_seeds:781; None where none is.

        Raises:
            ValueError: it is none of these, out of reach, or broken; the sentence names file and line.
        """
        if not place:
            raise ValueError("open: name a suite, a library, a file of tasks, or a folder that `mcrl eval` finished")
        place, number = _numbered(self._reach.of(place))
        check_exists(place, where="open")
        path, judged, is_cut = Path(place), None, False
        if place in SUITES and not path.exists():
            tasks = load_suite(place)
        elif (path / EPISODES_FILE).is_file():
            judged = _read_judged(path)
            tasks = list(judged.task_of.values())
        else:
            lines = list(itertools.islice(_lines(path), MAX_TASKS + 1))
            is_cut = len(lines) > MAX_TASKS
            tasks = [from_json_line(line, where=where) for where, line in lines[:MAX_TASKS]]
        if not tasks:
            raise ValueError(f"{place}: holds no task; make some with `mcrl synth`")
        if number is not None and not 1 <= number <= len(tasks):
            holds = f"is read to task {len(tasks)}" if is_cut else f"holds {counted(len(tasks), 'task')}"
            raise ValueError(f"open {place}:{number}: {place} {holds}; name one of them")
        self._tasks, self.place, self.is_cut = tasks, place, is_cut
        self._set_judged(judged)
        return number

    def find(self, wanted: TaskFilter | None = None) -> list[Entry]:
        """Return the tasks that are wanted, in the order of the library. ValueError: nobody has played them."""
        wanted = wanted or TaskFilter()
        if (wanted.outcome or wanted.row) and self._judged is None:
            raise ValueError("filter: nobody has played these tasks; open a folder that `mcrl eval` finished")
        if wanted.row is not None and wanted.row not in self.rows:
            raise ValueError(f"filter: row {wanted.row!r} is unknown; choose one of {', '.join(self.rows)}")
        return [
            entry
            for entry in (self.entry(number) for number in range(1, len(self._tasks) + 1))
            if _is_wanted(entry, wanted)
        ]

    def entry(self, number: int) -> Entry:
        """Return one task by its number. ValueError: there is none."""
        if not 1 <= number <= len(self._tasks):
            raise ValueError(f"browse: there is no task {number}; {self.place or 'nothing'} holds {len(self._tasks)}")
        task = self._tasks[number - 1]
        return Entry(number=number, task=task, episodes=self._episodes.get(task.task_id, {}))

    def pictures(self, number: int) -> TaskPictures:
        """Return start and goal of a task, drawn when first asked for. ValueError: no such task, or its world fails."""
        return self._thumbnails.get(self.entry(number).task)

    def own_picture(self, number: int) -> OwnPicture | None:
        """Return what was painted for a task of the open file; None where nothing was. ValueError: it is broken."""
        return own_picture(Path(self.place), self.entry(number).task)

    def recording(self, number: int, row: str) -> tuple[JudgedEpisode, EpisodeActions]:
        """Return how somebody played a task, with every action. ValueError: nobody did, or it was not kept."""
        entry = self.entry(number)
        if self._judged is None or row not in entry.episodes:
            played = ", ".join(entry.episodes) or "nobody"
            raise ValueError(f"replay: {row!r} did not play task {number}; {played} did")
        episode = entry.episodes[row]
        return episode, self._judged.actions_of(episode)

    def _set_judged(self, judged: JudgedFolder | None) -> None:
        self._judged, self._episodes = judged, {}
        for episode in [] if judged is None else judged.episodes:
            self._episodes.setdefault(episode.task_id, {})[episode.row] = episode


def _numbered(place: str) -> tuple[str, int | None]:
    return (place, None) if Path(place).exists() else split_number(place)


def _read_judged(path: Path) -> JudgedFolder:
    try:
        return read_folder(path)
    except OSError as error:
        raise ValueError(
            f"{path}: cannot be read ({error.strerror}); name a folder that `mcrl eval` finished"
        ) from None


def _lines(path: Path) -> Iterator[tuple[str, str]]:
    try:
        yield from read_lines(path)
    except OSError as error:
        raise ValueError(f"{path}: cannot be read ({error.strerror}); name a library or a file of tasks") from None


def _is_wanted(entry: Entry, wanted: TaskFilter) -> bool:
    task, rows = entry.task, entry.episodes
    if wanted.skill not in (None, task.skill) or wanted.band not in (None, task.band):
        return False
    if wanted.split not in (None, task.split):
        return False
    for name, (least, most) in wanted.difficulty.items():
        if not least <= float(getattr(task.difficulty, name)) <= most:
            return False
    if wanted.row is None and wanted.outcome is None:
        return True
    judged = list(rows.values()) if wanted.row is None else [rows[wanted.row]] if wanted.row in rows else []
    return any(wanted.outcome in (None, episode.outcome) for episode in judged)
