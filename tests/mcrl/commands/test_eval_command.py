"""`mcrl eval` through main(argv): whole reports, and what is refused before anything is played."""

import json
import shutil

import pytest

from eval.judging.unit import play_unit
from eval.suites.suites import SUITES
from mcrl.cli import main
from task_synthesis.libraries.folder_lock import locked
from tests.eval.suite_fixtures import save_checkpoint
from tests.mcrl.commands.command_line import refusal


@pytest.fixture(scope="module")
def run_dir(tmp_path_factory):
    """A run folder with an untrained imitation checkpoint."""
    folder = tmp_path_factory.mktemp("run")
    save_checkpoint(folder / "checkpoints" / "imitation")
    return folder


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (["--suite", "unseen_seed"], "--suite unseen_seed: no such suite; did you mean unseen_seeds?"),
        (["--suite", "laptop,farr"], "--suite farr: no such suite; did you mean far?"),
        (["--suite", "real_saves"], "name a Minecraft world with --save"),
        (["--suite", "laptop", "--skills", "hunt"], "--suite laptop: holds 0 tasks of hunt, 1 are wanted"),
        (["--suite", "laptop", "--skills", "hunts"], "--skills hunts: no such skill; did you mean hunt?"),
        (["--suite", "laptop", "--split", "val"], "--split does nothing with --suite"),
        (["--suite", "far,real_saves"], "name a Minecraft world with --save"),
        (["--suite", ","], "--suite names none; there are all, laptop"),
        (
            ["--suite", "all,far"],
            "--suite all,far: all holds every suite and stands alone; leave out the others, or it",
        ),
        (
            ["--suite", "real_saves", "--save", "x", "--skills", "break"],
            "--skills and --bands do nothing with --suite real_saves",
        ),
        (
            ["--suite", "all", "--save", "x", "--skills", "break"],
            "--skills and --bands do nothing in real_saves, which --suite all plays where --save is given",
        ),
        (["--suite", "all", "--save", "x", "--bands", "near"], "leave them out, or --save"),
        (
            ["--tasks", str(SUITES["laptop"].path), "--num-tasks", "1025"],
            f"--tasks {SUITES['laptop'].path}: holds 1024 tasks: choose 1 to that many, not 1025",
        ),
        (
            ["--suite", "all", "--num-tasks", "1020"],
            "suite unseen_seeds.v1 holds 1008 tasks: choose 1 to that many, not 1020",
        ),
        (["--save", "x"], "--save does nothing without --suite real_saves"),
        (["--suite", "far", "--save", "x"], "--save does nothing without --suite real_saves"),
        (
            ["--suite", "laptop", "--num-tasks", "100000"],
            "suite laptop.v1 holds 1024 tasks: choose 1 to that many, not 100000",
        ),
        (["--rows", "nop"], "--rows nop: no such row; there are noop, blank_goal"),
        (["--guidance", "0"], "--guidance must be above 0 and finite, got 0.0; leave it out for none"),
        (["--num-workers", "0"], "--num-workers must be at least 1, got 0"),
        (["--also", "random=RUN"], "the row 'random' is played anyway"),
        (["--also", "imitation=RUN"], "--also imitation=RUN: there is a row 'imitation' already; choose another name"),
        (["--also", "a=RUN", "a=RUN"], "there is a row 'a' already"),
    ],
)
def test_an_evaluation_that_cannot_be_played_is_refused_at_once(capsys, run_dir, argv, expected):
    argv = [arg.replace("RUN", str(run_dir)) for arg in argv]
    assert expected.replace("RUN", str(run_dir)) in refusal(capsys, "eval", run_dir, *argv)


def test_a_folder_without_checkpoint_is_refused(capsys, tmp_path):
    assert "holds no checkpoint" in refusal(capsys, "eval", tmp_path)


def test_a_folder_of_other_things_is_not_written_into(capsys, run_dir, tmp_path):
    (tmp_path / "thesis.tex").write_text("")
    assert "holds other things than an evaluation" in refusal(capsys, "eval", run_dir, "--out", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_metrics_that_the_report_could_not_show_are_refused_before_anything_is_played(capsys, run_dir, tmp_path):
    shutil.copytree(run_dir, tmp_path / "run")
    (tmp_path / "run" / "metrics.jsonl").write_text("half a li\n{}\n")
    said = refusal(capsys, "eval", tmp_path / "run", "--suite", "laptop", "--out", tmp_path / "out")
    assert said == f"mcrl: {tmp_path}/run/metrics.jsonl:1: not a line of JSON; delete the line"
    assert not (tmp_path / "out").exists()


def test_a_truncated_checkpoint_is_refused(capsys, run_dir, tmp_path):
    broken = tmp_path / "broken"
    broken.mkdir()
    for path in (run_dir / "checkpoints" / "imitation").iterdir():
        (broken / path.name).write_bytes(path.read_bytes())
    whole = (broken / "model.safetensors").read_bytes()
    (broken / "model.safetensors").write_bytes(whole[: len(whole) // 2])
    sentence = refusal(capsys, "eval", broken)
    assert "model.safetensors: missing, truncated" in sentence


def test_tasks_of_another_split_are_refused(capsys, run_dir, task_dirs):
    sentence = refusal(capsys, "eval", run_dir, "--tasks", task_dirs["train"])
    assert "holds tasks in train worlds; say so with --split train; to judge in unseen worlds" in sentence


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"familiy": "x"}, "task.familiy is not a field"),
        ({"max_ticks": "soon"}, "task.max_ticks must be int, got 'soon'"),
        ({"world": {"seed": 2**31}}, "world.seed must be in [0, 2147483647], got 2147483648"),
        ({"band": "far"}, "'far' is unknown"),
    ],
)
def test_a_task_file_with_a_wrong_field_is_refused_with_its_line(
    capsys, run_dir, task_dirs, tmp_path, change, expected
):
    lines = (task_dirs["held_out"] / "tasks.jsonl").read_text().splitlines()
    fields = json.loads(lines[1]) | change
    del fields["task_id"]
    path = tmp_path / "tasks.jsonl"
    path.write_text("\n".join([lines[0], json.dumps(fields)]) + "\n")
    sentence = refusal(capsys, "eval", run_dir, "--tasks", path)
    assert f"{path}:2" in sentence
    assert expected in sentence


def test_an_edited_task_is_refused(capsys, run_dir, task_dirs, tmp_path):
    fields = json.loads((task_dirs["held_out"] / "tasks.jsonl").read_text().splitlines()[0])
    path = tmp_path / "tasks.jsonl"
    path.write_text(json.dumps(fields | {"max_ticks": 7}) + "\n")
    assert "does not match its content" in refusal(capsys, "eval", run_dir, "--tasks", path)


def test_two_evaluations_at_once_into_one_folder_are_refused(capsys, run_dir, task_dirs, tmp_path):
    with locked(tmp_path, other="evaluates into this folder"):
        sentence = refusal(capsys, "eval", run_dir, "--tasks", task_dirs["held_out"], "--out", tmp_path)
    assert f"{tmp_path}: another process evaluates into this folder; wait for it" in sentence


def test_eval_writes_the_whole_report(capsys, run_dir, task_dirs, tmp_path):
    argv = ["eval", str(run_dir), "--tasks", str(task_dirs["held_out"]), "--out", str(tmp_path), "--videos", "1"]
    assert main([*argv, "--num-workers", "1"]) == 0
    episodes = [json.loads(line) for line in (tmp_path / "episodes.jsonl").read_text().splitlines()]
    assert {episode["row"] for episode in episodes} == {"random", "imitation", "shuffled goal", "expert"}
    assert len(episodes) == 4 * 6
    assert "mcrl eval" in (tmp_path / "report.md").read_text()
    page = (tmp_path / "report.html").read_text()
    assert page.count("<video") == 1
    assert f"report: {tmp_path / 'report.html'}" in capsys.readouterr().out


def test_who_interrupts_is_told_whether_anything_is_finished(capsys, run_dir, task_dirs, tmp_path, monkeypatch):
    argv = ["eval", str(run_dir), "--tasks", str(task_dirs["held_out"]), "--out", str(tmp_path), "--num-workers", "1"]
    num_to_play = 0

    def interrupted(unit, on_episodes):
        nonlocal num_to_play
        num_to_play -= 1
        if num_to_play < 0:
            raise KeyboardInterrupt
        return play_unit(unit, on_episodes)

    monkeypatch.setattr("eval.judging.run_suite.play_unit", interrupted)
    assert main(argv) == 130
    assert capsys.readouterr().err.endswith("run the same command again; nothing was finished yet\n")
    num_to_play = 1
    assert main(argv) == 130
    assert capsys.readouterr().err.endswith("run the same command again; it goes on from what is finished\n")
    assert main(argv) == 130  # finished by the call before, and nothing by this one
    assert capsys.readouterr().err.endswith("it goes on from what is finished\n")


def test_without_another_task_of_the_skill_the_row_of_shuffled_goals_is_left_out_and_the_reason_said(
    capsys, run_dir, task_dirs, tmp_path
):
    lonely = tmp_path / "one.jsonl"
    lonely.write_text((task_dirs["held_out"] / "tasks.jsonl").read_text().splitlines()[0] + "\n")
    argv = ["eval", str(run_dir), "--tasks", str(lonely), "--out", str(tmp_path / "out"), "--videos", "0"]
    assert main([*argv, "--num-workers", "1"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    skill = json.loads(lonely.read_text())["family"].partition("/")[0]
    assert "row 'shuffled goal' is left out: it shows the goal of another task of the same skill" in said
    assert f"these tasks have only one of {skill}" in said
    episodes = [json.loads(line) for line in (tmp_path / "out" / "episodes.jsonl").read_text().splitlines()]
    assert [episode["row"] for episode in episodes] == ["random", "imitation", "expert"]
    assert "shuffled goal" not in (tmp_path / "out" / "report.md").read_text()


def test_decoding_changes_what_the_policies_do_and_nothing_else(run_dir, task_dirs, tmp_path):
    decoding = {"temperature": 0.5, "guidance": 2.5}
    argv = ["eval", str(run_dir), "--tasks", str(task_dirs["held_out"]), "--num-tasks", "1", "--videos", "0"]
    argv += ["--num-workers", "1", "--rows", "blank_goal", "--out"]
    assert main([*argv, str(tmp_path / "plain")]) == 0
    assert main([*argv, str(tmp_path / "changed"), "--temperature", "0.5", "--guidance", "2.5"]) == 0
    plans = [json.loads((tmp_path / out / "plan.json").read_text()) for out in ("plain", "changed")]
    changed = {row for row, identity in plans[1]["rows"].items() if decoding.items() <= identity.items()}
    assert changed == {"imitation", "blank goal"}
    assert not any(decoding.keys() & identity.keys() for identity in plans[0]["rows"].values())
    actions = {out: (tmp_path / out / "actions" / "imitation.0000.npz").read_bytes() for out in ("plain", "changed")}
    assert actions["plain"] != actions["changed"]
    origin = json.loads((tmp_path / "changed" / "origin.json").read_text())
    assert origin["row_sources"]["imitation"].endswith(", temperature 0.5, guidance 2.5")
    # A folder that was begun without it is not gone on with.
    assert main([*argv, str(tmp_path / "plain"), "--temperature", "0.5"]) == 2


def test_rows_that_another_commit_played_say_so(run_dir, task_dirs, tmp_path):
    argv = ["eval", str(run_dir), "--tasks", str(task_dirs["held_out"]), "--num-tasks", "1", "--videos", "0"]
    argv += ["--num-workers", "1", "--out", str(tmp_path / "out")]
    assert main(argv) == 0
    sources = json.loads((tmp_path / "out" / "origin.json").read_text())["row_sources"]
    assert not any("played by" in source for source in sources.values())
    _play_by(tmp_path / "out" / "parts" / "expert.0000.jsonl", "0123456789ab")
    _play_by(tmp_path / "out" / "parts" / "random.0000.jsonl", None)
    assert main(argv) == 0
    sources = json.loads((tmp_path / "out" / "origin.json").read_text())["row_sources"]
    assert [row for row, source in sources.items() if "played by commit" in source] == ["random", "expert"]
    assert sources["expert"].endswith("; played by commit 0123456789ab")
    assert sources["random"].endswith("; played by commit an older one")


def _play_by(part, commit):
    """Say of a finished unit that another commit played it, or say nothing, as parts did before they had the note."""
    head, _, lines = part.read_text().partition("\n")
    noted = {name: value for name, value in json.loads(head).items() if name != "commit"}
    part.write_text(json.dumps(noted | ({} if commit is None else {"commit": commit})) + "\n" + lines)


def test_a_row_of_several_commits_names_them():
    from mcrl.commands.evaluation.judge import _played_by

    assert _played_by(("a", "b"), "b") == "; played by several commits, which may play differently: a, b"
    assert _played_by(("b",), "b") == ""
