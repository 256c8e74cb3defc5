"""Claims about the save of a report: without it, or with another, the page that is there keeps its videos."""

import dataclasses
import shutil

import pytest

from eval.judging.judged_folder import read_folder
from mcrl.cli import main
from task_synthesis.task import to_json_line
from tests.worlds.anvil.anvil_files import write_save
from worlds.anvil import open_save

_PAGE = "an earlier page, with videos"


@pytest.fixture
def folder(judged_dir, tmp_path):
    """A judgement with a page."""
    path = shutil.copytree(judged_dir, tmp_path / "judged")
    (path / "report.html").write_text(_PAGE)
    return path


@pytest.fixture
def save(tmp_path):
    return write_save(tmp_path / "world", lambda x, y, z: "minecraft:stone", "1.18", chunks=range(1), ys=range(1))


def _put_into(save, folder):
    """Say of the tasks that they are in a save: nothing plays them here."""
    episodes = (folder / "episodes.jsonl").read_text()
    moved = []
    for task_id, task in read_folder(folder).task_of.items():
        world = dataclasses.replace(task.world, source=open_save(save).source)
        moved.append(dataclasses.replace(task, world=world, task_id=""))
        episodes = episodes.replace(task_id, moved[-1].task_id)
    (folder / "episodes.jsonl").write_text(episodes)
    (folder / "tasks.jsonl").write_text("".join(to_json_line(task) + "\n" for task in moved))


def test_a_report_without_its_save_or_with_a_changed_one_is_refused(folder, save, capsys):
    _put_into(save, folder)
    assert main(["report", str(folder)]) == 2
    told = capsys.readouterr().err
    assert f"{folder}: its tasks are in the Minecraft world of `mcrl eval runs/x" in told
    assert "give that with --save, or make a page without videos with --videos 0" in told
    region = next((save / "region").iterdir())
    region.write_bytes(region.read_bytes() + bytes(4096))
    assert main(["report", str(folder), "--save", str(save)]) == 2
    assert f"--save {save} is another, or has changed since" in capsys.readouterr().err
    assert (folder / "report.html").read_text() == _PAGE
    assert main(["report", str(folder), "--videos", "0"]) == 0
    assert (folder / "report.html").read_text() != _PAGE


def test_a_save_that_no_task_is_in_is_refused(folder, save, capsys):
    assert main(["report", str(folder), "--save", str(save)]) == 2
    assert f"--save {save}: the tasks of {folder} are in no save; leave it out" in capsys.readouterr().err
    assert (folder / "report.html").read_text() == _PAGE
