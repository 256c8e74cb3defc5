"""A folder that `mcrl eval` has finished: tasks, episodes, actions, and where they come from."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from eval.episodes.action_archive import EpisodeActions, read_unit, unit_file
from eval.episodes.records import JudgedEpisode, read_jsonl
from eval.judging.origin import SuiteOrigin, read_origin
from task_synthesis.task import TaskSpec, from_json_line

PLAN_FILE, EPISODES_FILE, TASKS_FILE, PARTS_FOLDER = "plan.json", "episodes.jsonl", "tasks.jsonl", "parts"


@dataclass(frozen=True, kw_only=True)
class JudgedFolder:
    """One suite as some rows played it."""

    path: Path
    origin: SuiteOrigin
    episodes: list[JudgedEpisode]
    """Row after row, each in the order of the tasks."""
    task_of: dict[str, TaskSpec] = field(repr=False)
    """By task id, in the order of the suite."""
    units: dict[Path, dict[str, EpisodeActions]] = field(default_factory=dict, repr=False)
    """Archives of actions that have been read, by file."""

    def episodes_of(self, row: str) -> list[JudgedEpisode]:
        """Return a row's episodes in the order of the suite, whatever order the file has."""
        place_of = {task_id: place for place, task_id in enumerate(self.task_of)}
        return sorted(
            (episode for episode in self.episodes if episode.row == row), key=lambda episode: place_of[episode.task_id]
        )

    def actions_of(self, episode: JudgedEpisode) -> EpisodeActions:
        """Return what the agent did. Raise ValueError, naming the file, when it was not kept."""
        path = unit_file(self.path, episode.row, episode.unit)
        if path not in self.units:
            self.units[path] = read_unit(path)
        kept = self.units[path]
        if episode.task_id not in kept:
            raise ValueError(f"{path}: has no actions of task {episode.task_id}; judge the checkpoint again")
        return kept[episode.task_id]


def check_is_judged(path: Path) -> None:
    """Raise ValueError, with the fix, where no finished evaluation lies."""
    if path.is_file():
        raise ValueError(
            f"{path}: is a file; name a folder that `mcrl eval` wrote, of several suites the one they are in"
        )
    if not (path / EPISODES_FILE).is_file():
        is_begun = (path / PLAN_FILE).is_file()
        fix = "run the same `mcrl eval` again, it goes on" if is_begun else "name a folder that `mcrl eval` finished"
        raise ValueError(f"{path}: holds no {EPISODES_FILE}; {fix}")


def has_finished_unit(path: Path) -> bool:
    """Tell whether an evaluation that was begun there has finished a part, from which the same command goes on."""
    return any((path / PARTS_FOLDER).glob("*.jsonl"))


def read_folder(path: Path) -> JudgedFolder:
    """Read a finished evaluation. Raise ValueError, naming file and line, for anything else."""
    check_is_judged(path)
    origin = read_origin(path)
    episodes = read_jsonl(path / EPISODES_FILE)
    if not episodes:
        raise ValueError(f"{path / EPISODES_FILE}: holds no episode; judge the checkpoint again")
    _check_played_once(episodes, path / EPISODES_FILE)
    task_of = {task.task_id: task for task in _read_tasks(path / TASKS_FILE)}
    strangers = sorted({episode.task_id for episode in episodes} - task_of.keys())
    if strangers:
        raise ValueError(
            f"{path / EPISODES_FILE}: task {strangers[0]} is not in {TASKS_FILE}; the files are of two evaluations, "
            "judge the checkpoint again"
        )
    return JudgedFolder(path=path, origin=origin, episodes=episodes, task_of=task_of)


def _check_played_once(episodes: Sequence[JudgedEpisode], path: Path) -> None:
    """Raise ValueError for a row's second episode on a task, which every number would count again; a line each."""
    first_line: dict[tuple[str, str], int] = {}
    for number, episode in enumerate(episodes, start=1):
        first = first_line.setdefault((episode.row, episode.task_id), number)
        if first != number:
            raise ValueError(
                f"{path}:{number}: row {episode.row!r} has played task {episode.task_id} in line {first} already; "
                "remove one of the two lines, or judge the checkpoint again"
            )


def _read_tasks(path: Path) -> list[TaskSpec]:
    try:
        lines = path.read_text(encoding="ascii").splitlines()
    except FileNotFoundError:
        raise ValueError(f"{path}: no such file; judge the checkpoint again") from None
    except UnicodeDecodeError:
        raise ValueError(f"{path}: not a text file; judge the checkpoint again") from None
    return [from_json_line(line, where=f"{path}:{number}") for number, line in enumerate(lines, start=1)]
