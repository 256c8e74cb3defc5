"""Claims about the suites that --suite names, and about playing several of them with one command."""

import dataclasses
import json
import shutil

import pytest

from eval.suites import suite_index
from eval.suites.suites import SUITES
from mcrl.cli import main
from mcrl.commands.evaluation.eval_tasks import suite_names
from tests.eval.suite_fixtures import save_checkpoint


def test_all_suites_are_the_frozen_ones_and_real_saves_where_there_is_a_save():
    assert suite_names("all", 14, has_save=False) == list(SUITES)
    assert suite_names("all", 14, has_save=True) == [*SUITES, "real_saves"]


def test_a_suite_named_twice_is_played_once():
    assert suite_names("far, laptop,far", 14, has_save=False) == ["far", "laptop"]


@pytest.fixture
def two_suites(monkeypatch, tmp_path):
    """There is the laptop suite and a copy of it, and no other."""
    folder = tmp_path / "suite_tasks"
    folder.mkdir()
    first = SUITES["laptop"]
    second = dataclasses.replace(first, name="again")
    for suite in (first, second):
        shutil.copy(first.path, folder / f"{suite.label}.jsonl.gz")
    (folder / "index.json").write_text(json.dumps({suite.label: first.sha256 for suite in (first, second)}))
    monkeypatch.setattr("eval.suites.suites.SUITES", {"laptop": first, "again": second})
    monkeypatch.setattr("eval.suites.suite.FOLDER", folder)
    monkeypatch.setattr("eval.suites.suite_index._FILE", folder / "index.json")
    suite_index.read_index.cache_clear()
    yield
    suite_index.read_index.cache_clear()


@pytest.mark.slow
@pytest.mark.usefixtures("two_suites")
def test_all_suites_are_played_each_into_its_folder_and_a_missing_save_is_told(capsys, tmp_path):
    checkpoint = save_checkpoint(tmp_path / "run" / "checkpoints" / "imitation")
    out = tmp_path / "out"
    argv = ["eval", str(checkpoint), "--suite", "all", "--num-tasks", "4", "--videos", "0", "--num-workers", "1"]
    assert main([*argv, "--out", str(out)]) == 0
    said = capsys.readouterr().out
    assert "suite real_saves is left out: it is played in a Minecraft world of yours, given with --save" in said
    assert f"one page of all: `mcrl report {out} --out {out}` makes overview.html\n" in said
    assert main(["report", str(out), "--out", str(out)]) == 0
    assert "laptop.v1" in (out / "overview.html").read_text(encoding="utf-8")
    summary = json.loads((out / "summary.json").read_text())
    assert {suite: found["folder"] for suite, found in summary.items()} == {"laptop.v1": "laptop", "again.v1": "again"}
    # The same tasks under two names: what is drawn does not depend on the suite's.
    assert summary["laptop.v1"]["rows"] == summary["again.v1"]["rows"]
    for folder in ("laptop", "again"):
        assert f"({folder}/report.md)" in (out / "summary.md").read_text()
        assert (out / folder / "report.html").is_file()
