"""Claims about reading a finished evaluation back."""

import dataclasses
import re

import pytest

from eval.benches.unplayed_task import unplayed_task
from eval.episodes.records import write_jsonl
from eval.judging.judged_folder import read_folder
from eval.judging.origin import write_origin
from task_synthesis.task import to_json_line
from tests.eval.made_episodes import EPISODE, ORIGIN


@pytest.fixture
def folder(tmp_path):
    """Two rows that played two tasks each."""
    tasks = [unplayed_task(max_ticks=240, world_seed=seed) for seed in range(2)]
    (tmp_path / "tasks.jsonl").write_text("".join(to_json_line(task) + "\n" for task in tasks))
    rows = ("random", "rl")
    write_jsonl(
        [dataclasses.replace(EPISODE, row=row, task_id=task.task_id) for row in rows for task in tasks],
        tmp_path / "episodes.jsonl",
    )
    write_origin(ORIGIN, tmp_path)
    return tmp_path


def test_rows_that_played_the_same_tasks_are_read(folder):
    read = read_folder(folder)
    assert [episode.row for episode in read.episodes] == ["random", "random", "rl", "rl"]
    assert len(read.task_of) == 2


def test_episodes_of_a_row_come_in_the_order_of_the_suite_whatever_order_the_file_has(folder):
    path = folder / "episodes.jsonl"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[::-1]))
    read = read_folder(folder)
    assert [(episode.row, episode.task_id) for episode in read.episodes_of("rl")] == [("rl", i) for i in read.task_of]


def test_an_episode_of_a_task_that_the_folder_has_not_is_refused(folder):
    _, stranger = read_folder(folder).task_of
    path = folder / "tasks.jsonl"
    path.write_text(path.read_text().splitlines(keepends=True)[0])
    said = f"{folder / 'episodes.jsonl'}: task {stranger} is not in tasks.jsonl; the files are of two evaluations"
    with pytest.raises(ValueError, match=re.escape(said)):
        read_folder(folder)


def test_a_second_episode_of_a_row_on_a_task_is_refused_with_its_line(folder):
    path = folder / "episodes.jsonl"
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines, lines[2]]) + "\n")
    task_id = read_task_id(lines[2])
    said = f"{path}:5: row 'rl' has played task {task_id} in line 3 already; remove one of the two lines"
    with pytest.raises(ValueError, match=re.escape(said)):
        read_folder(folder)


def test_a_file_without_an_episode_is_named(folder):
    (folder / "episodes.jsonl").write_text("")
    with pytest.raises(ValueError, match=re.escape(f"{folder / 'episodes.jsonl'}: holds no episode; judge the")):
        read_folder(folder)


def read_task_id(line: str) -> str:
    found = re.search(r'"task_id":"(\w+)"', line)
    assert found is not None
    return found[1]
