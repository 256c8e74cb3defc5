"""Evaluations side by side: comparison of checkpoints and overview over suites, through the command line too."""

import dataclasses
import json
from pathlib import Path

import pytest

from eval.episodes.records import write_jsonl
from eval.judging.judged_folder import JudgedFolder, read_folder
from eval.judging.origin import write_origin
from eval.numbers.compare import compare_folders, labels_of
from mcrl.cli import main
from task_synthesis.task import to_json_line
from tests.eval.judged_folder import episode_of
from tests.eval.made_episodes import ORIGIN
from tests.task_synthesis.fixtures import some_tasks

_ROWS = ("random", "rl", "expert")


def _write(path: Path, *, solved: int, num_tasks: int = 24, suite: str = "tiny.v1", skip: int = 0) -> JudgedFolder:
    """Write a folder in which rl solved the first so many tasks; its actions are not needed."""
    path.mkdir(parents=True)
    tasks = some_tasks()[skip:num_tasks]
    (path / "tasks.jsonl").write_text("".join(to_json_line(task) + "\n" for task in tasks))
    num_solved = {"random": 0, "rl": solved, "expert": len(tasks)}
    episodes = [
        episode_of(row, task, "success" if n < num_solved[row] else "time_limit", 80)
        for row in _ROWS
        for n, task in enumerate(tasks)
    ]
    write_jsonl(episodes, path / "episodes.jsonl")
    write_origin(dataclasses.replace(ORIGIN, suite=suite, suite_sha256="0" * 64), path)
    return read_folder(path)


def _compare(*folders: JudgedFolder):
    return compare_folders(folders, labels_of([folder.path for folder in folders]), command="mcrl report")


def test_checkpoints_are_compared_on_the_same_tasks(tmp_path):
    summary = _compare(_write(tmp_path / "a" / "e", solved=6), _write(tmp_path / "b" / "e", solved=18))
    assert summary.rows == ["random", "a", "b", "expert"]
    (claim,) = summary.claims
    assert (claim.row_a, claim.row_b) == ("b", "a")
    assert (claim.paired.num_only_a, claim.paired.num_only_b, claim.paired.num_pairs) == (12, 0, 24)


def test_a_folder_named_like_a_baseline_is_told_from_it(tmp_path):
    summary = _compare(_write(tmp_path / "expert", solved=6), _write(tmp_path / "b", solved=18))
    expert, b = f"{tmp_path.name}/expert", f"{tmp_path.name}/b"
    assert summary.rows == ["random", expert, b, "expert"]
    (claim,) = summary.claims
    assert (claim.row_a, claim.row_b, claim.paired.num_only_a) == (b, expert, 12)


def test_a_baseline_that_went_differently_is_shown_for_each_folder(tmp_path):
    a, b = _write(tmp_path / "a", solved=6), _write(tmp_path / "b", solved=6)
    lucky = [dataclasses.replace(e, outcome="success", success=True) if e.row == "random" else e for e in b.episodes]
    rows = _compare(a, dataclasses.replace(b, episodes=lucky)).rows
    assert sorted(rows) == ["a", "a: random", "b", "b: random", "expert"]


def test_a_shorter_evaluation_of_the_suite_is_compared_on_its_tasks(tmp_path):
    summary = _compare(_write(tmp_path / "a", solved=6), _write(tmp_path / "b", solved=6, num_tasks=12))
    assert summary.num_tasks == 12
    worlds = {task.world for task in read_folder(tmp_path / "b").task_of.values()}
    assert summary.origin.num_worlds == len(worlds)
    assert summary.claims[0].paired.num_pairs == 12
    assert summary.origin.row_sources["a"].endswith("; 12 of its 24 tasks, those that all folders hold")
    assert "of its" not in summary.origin.row_sources["b"]


def test_who_compares_a_shorter_evaluation_is_told_that_tasks_are_left_out(tmp_path, capsys):
    _write(tmp_path / "a", solved=6)
    _write(tmp_path / "b", solved=6, num_tasks=12)
    assert main(["report", str(tmp_path / "a"), str(tmp_path / "b"), "--out", str(tmp_path / "both")]) == 0
    assert "compared on the 12 tasks that all folders hold; one holds 24" in capsys.readouterr().out


def test_other_suites_are_refused(tmp_path):
    with pytest.raises(ValueError, match=r"is of suite other\.v1, .* of tiny\.v1"):
        _compare(_write(tmp_path / "a", solved=6), _write(tmp_path / "b", solved=6, suite="other.v1"))


def test_who_has_drawn_other_tasks_is_told_how_both_play_the_same(tmp_path):
    first = _write(tmp_path / "a", solved=6, num_tasks=12, suite="")
    with pytest.raises(ValueError, match=f"with --tasks {first.path / 'tasks.jsonl'} another policy plays these"):
        _compare(first, _write(tmp_path / "b", solved=6, num_tasks=20, suite="", skip=4))


def test_other_tasks_under_the_name_of_the_suite_are_refused(tmp_path):
    with pytest.raises(ValueError, match="judge both on one version"):
        _compare(_write(tmp_path / "a", solved=6, num_tasks=12), _write(tmp_path / "b", solved=6, num_tasks=20, skip=4))


def test_a_folder_named_twice_is_refused(tmp_path):
    once, twice = tmp_path / "a", tmp_path / "b"
    for paths in ([twice, twice], [once, twice, twice], [once, twice, once / ".." / "b"]):
        with pytest.raises(ValueError, match=f"{twice} is named twice; name each folder once"):
            labels_of(paths)


@pytest.mark.parametrize(
    ("paths", "labels"),
    [
        (("runs/a/eval", "runs/b/eval"), ["a", "b"]),
        (("runs/a", "runs/a/eval"), ["a", "eval"]),
        (("x", "x/x"), ["x", "x/x"]),
        (("x/one", "x/two", "x/three"), ["one", "two", "three"]),
        (("x/expert", "x/small"), ["x/expert", "x/small"]),
        (("x/random/eval", "x/b/eval"), ["x/random/eval", "x/b/eval"]),
        (("x/noop", "x/noop/eval"), ["x/noop", "x/noop/eval"]),
        (("x/own goal", "x/shuffled goal"), ["x/own goal", "x/shuffled goal"]),
        (("/random", "/small"), ["/random", "/small"]),
        (("/a/b/c/runs/keen", "/q/r/s/small"), ["runs/keen", "s/small"]),
        (("/a/b/keen/eval", "/q/r/s/keen/eval_2"), ["keen/eval", "keen/eval_2"]),
        (
            ("/a/b/runs/keen/0", "/q/r/runs/keen/1/e", "/q/s/runs/keen/0"),
            ["b/runs/keen/0", "runs/keen/1/e", "s/runs/keen/0"],
        ),
    ],
)
def test_folders_are_named_after_what_tells_them_apart(paths, labels):
    assert labels_of([Path(path) for path in paths]) == labels


def test_the_command_compares_and_looks_over_suites(tmp_path, capsys):
    for run, solved in (("a", 6), ("b", 18)):
        for suite in ("one.v1", "two.v1"):
            _write(tmp_path / run / suite, solved=solved, suite=suite)
    out = tmp_path / "out"
    assert main(["report", str(tmp_path / "a"), str(tmp_path / "b"), "--out", str(out)]) == 0
    overview = (out / "overview.html").read_text(encoding="utf-8")
    assert 'href="one.v1/comparison.html"' in overview
    assert "two.v1" in overview
    assert "b minus a" in (out / "two.v1" / "comparison.html").read_text(encoding="utf-8")
    said = capsys.readouterr().out
    assert "Success in %, all tasks of a suite" in said
    assert "overview.html" in said


@pytest.mark.parametrize(
    ("out", "within"),
    [("a", "a"), ("b/../b", "b"), ("a/one.v1", "a/one.v1"), ("b/two.v1", "b/two.v1"), ("a/new", "a")]
    + [("b/two.v1/videos/new", "b/two.v1")],
)
@pytest.mark.parametrize("option", [[], ["--over-seeds"]])
def test_a_comparison_does_not_go_into_a_folder_that_it_compares(tmp_path, capsys, out, within, option):
    for path in ("a/one.v1", "a/two.v1", "b/one.v1", "b/two.v1"):
        _write(tmp_path / path, solved=6, suite=path[2:])
    before = sorted(tmp_path.rglob("*"))
    assert main(["report", str(tmp_path / "a"), str(tmp_path / "b"), "--out", str(tmp_path / out), *option]) == 2
    said = f"the comparison would lie among the files of {tmp_path / within}, which it compares"
    assert said in capsys.readouterr().err
    assert sorted(tmp_path.rglob("*")) == before


def test_nor_into_one_that_has_the_name_of_its_suite(tmp_path, capsys):
    folders = [tmp_path / path for path in ("a/one.v1", "b/one.v1", "a/two.v1", "b/two.v1")]
    for folder in folders:
        _write(folder, solved=6, suite=folder.name)
    assert main(["report", *map(str, folders), "--out", str(tmp_path / "a")]) == 2
    assert f"among the files of {folders[0]}, which it compares" in capsys.readouterr().err
    assert not list(tmp_path.rglob("*.html"))


def test_suites_of_one_folder_are_looked_over_beside_their_summary(tmp_path):
    for suite in ("one.v1", "two.v1"):
        _write(tmp_path / suite, solved=6, suite=suite)
    assert main(["report", str(tmp_path), "--out", str(tmp_path)]) == 0
    assert 'href="one.v1/report.html"' in (tmp_path / "overview.html").read_text(encoding="utf-8")


def test_who_compares_one_policy_with_itself_is_told(tmp_path, capsys):
    for name, weights in (("a", "5e"), ("b", "6f"), ("c", "5e")):
        folder = _write(tmp_path / name, solved=6)
        rows = {"rl": {"weights_sha256": weights}, "random": {"weights_sha256": ""}}
        (folder.path / "plan.json").write_text(json.dumps({"common": {}, "rows": rows}))
    out = tmp_path / "out"
    assert main(["report", *(str(tmp_path / name) for name in "abc"), "--out", str(out)]) == 0
    assert "c has the weights of a: what differs is how they were played" in capsys.readouterr().out
    assert (out / "comparison.md").read_text().count("; the weights of a") == 1
    assert main(["report", str(tmp_path / "a"), str(tmp_path / "b"), "--out", str(out)]) == 0
    assert "the weights of" not in capsys.readouterr().out + (out / "comparison.md").read_text()


def test_rows_of_one_name_that_are_two_policies_are_told_apart(tmp_path, capsys):
    for run, suite in (("a", "one.v1"), ("b", "two.v1")):
        folder = _write(tmp_path / run, solved=6, suite=suite)
        write_origin(dataclasses.replace(folder.origin, row_sources={"rl": f"runs/{run}"}), tmp_path / run)
    out = tmp_path / "out"
    assert main(["report", str(tmp_path / "a"), str(tmp_path / "b"), "--out", str(out)]) == 0
    for text in (capsys.readouterr().out, (out / "overview.md").read_text(), (out / "overview.html").read_text()):
        assert "row rl is runs/a in one.v1 and runs/b in two.v1" in text


def test_who_gives_two_selections_of_a_suite_is_told_why_they_are_not_compared(tmp_path, capsys):
    for name, suite in (("a", "one.v1"), ("b", "one.v1 (approach; near)"), ("c", "two.v1")):
        _write(tmp_path / name, solved=6, suite=suite)
    out = tmp_path / "out"
    assert main(["report", *(str(tmp_path / name) for name in "abc"), "--out", str(out)]) == 0
    assert "one.v1 and one.v1 (approach; near): other selections of tasks" in capsys.readouterr().out
    assert main(["report", str(tmp_path / "a"), str(tmp_path / "c"), "--out", str(out)]) == 0
    assert "other selections" not in capsys.readouterr().out


def test_a_folder_of_several_evaluations_is_told_what_it_holds(tmp_path, capsys):
    for suite in ("one.v1", "two.v1"):
        _write(tmp_path / suite, solved=6, suite=suite)
    assert main(["report", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert f"--out must be given, the folder for the comparison of {tmp_path / 'one.v1'}, {tmp_path / 'two.v1'}" in said


def test_the_command_makes_one_report_again(tmp_path, capsys):
    _write(tmp_path / "a", solved=6)
    assert main(["report", str(tmp_path / "a"), "--videos", "0"]) == 0
    assert (tmp_path / "a" / "report.html").is_file()
    assert "report.html" in capsys.readouterr().out
    assert main(["report", str(tmp_path / "a"), "--out", str(tmp_path / "x")]) == 2
    assert "--out is for several folders" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ([], "name a folder"),
        (["nowhere"], "nowhere: holds no episodes.jsonl"),
        (["nowhere", "--out", "x"], "nowhere: holds no episodes.jsonl"),
        (["nowhere", "elsewhere"], "nowhere: holds no episodes.jsonl"),
        ([__file__], "is a file; name a folder that `mcrl eval` wrote, of several suites the one they are in"),
        (["nowhere", "--videos", "-1"], "--videos must not be negative"),
        (["nowhere", "--wandbb"], "did you mean --wandb"),
    ],
)
def test_mistakes_are_one_sentence_and_exit_code_2(args, message, capsys):
    assert main(["report", *args]) == 2
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1
