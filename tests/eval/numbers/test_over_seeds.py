"""Trainings of several seeds in one table, through the command line too."""

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import trim_mean

from eval.episodes.records import write_jsonl
from eval.judging.judged_folder import JudgedFolder, read_folder
from eval.judging.origin import write_origin
from eval.numbers.aggregate import mean_over_seeds
from eval.numbers.over_seeds import SeedsTable, table_over_seeds
from eval.numbers.over_seeds_text import as_json, markdown
from eval.numbers.paired_power import detectable_difference, num_tasks_needed
from eval.numbers.statistics import mcnemar_p_value
from eval.reports.report import ALL_TASKS
from mcrl.cli import main
from task_synthesis.libraries.library import write_whole
from task_synthesis.task import to_json_line
from tests.eval.judged_folder import episode_of
from tests.eval.made_episodes import ORIGIN
from tests.task_synthesis.fixtures import some_tasks

_NUM_TASKS = 24


def judged(path: Path, *, rl: int, imitation: int, skip: int = 0) -> JudgedFolder:
    """Write a training's folder in which each row solved the first so many tasks."""
    tasks = some_tasks()[skip : skip + _NUM_TASKS]
    write_whole(path / "tasks.jsonl", "".join(to_json_line(task) + "\n" for task in tasks))
    solved = {"random": 0, "imitation": imitation, "rl": rl, "expert": len(tasks)}
    episodes = [
        episode_of(row, task, "success" if n < num_solved else "time_limit", 80)
        for row, num_solved in solved.items()
        for n, task in enumerate(tasks)
    ]
    write_jsonl(episodes, path / "episodes.jsonl")
    write_origin(dataclasses.replace(ORIGIN, suite="tiny.v1", suite_sha256="0" * 64), path)
    return read_folder(path)


def test_the_seed_is_the_unit_and_rows_of_a_seed_stay_paired(tmp_path):
    solved = ((12, 6), (18, 6), (15, 9))
    folders = [judged(tmp_path / f"s{n}", rl=rl, imitation=imitation) for n, (rl, imitation) in enumerate(solved)]
    table = table_over_seeds(folders, ["s0", "s1", "s2"], command="mcrl report")
    assert [row.row for row in table.rows] == ["random", "imitation", "rl", "expert"]
    own = next(row for row in table.rows if row.row == "rl")
    assert own.by_group[ALL_TASKS.label] == mean_over_seeds(np.array([rl / _NUM_TASKS for rl, _ in solved]))
    (claim,) = table.claims
    assert (claim.row_a, claim.row_b) == ("rl", "imitation")
    assert claim.over_skills.value == pytest.approx(np.mean(claim.over_skills_by_seed))
    # 6 + 12 + 6 tasks that only rl solved and none the other way round: two-sided sign test.
    assert claim.p_pooled == pytest.approx(2 * 0.5**24)
    assert claim.improvement.value > 0.5


def test_a_row_that_does_worse_is_said_to(tmp_path):
    folders = [judged(tmp_path / name, rl=rl, imitation=12) for name, rl in (("a", 3), ("b", 15))]
    (claim,) = table_over_seeds(folders, ["a", "b"], command="").claims
    assert claim.over_skills_by_seed[0] < 0 < claim.over_skills_by_seed[1]
    assert claim.over_skills.value == pytest.approx(np.mean(claim.over_skills_by_seed))
    assert claim.over_skills.low == -1.0  # two seeds, far apart: cut where a difference ends
    assert claim.p_by_seed == (mcnemar_p_value(0, 9), mcnemar_p_value(3, 0))
    assert claim.num_tasks_needed == num_tasks_needed(18 / 48, 24 / 48)


def test_a_row_that_one_training_has_not_is_left_out_and_named(tmp_path):
    folders = [judged(tmp_path / name, rl=9, imitation=3) for name in "ab"]
    origin = dataclasses.replace(folders[1].origin, config={"seed": 7})
    fewer = [episode for episode in folders[1].episodes if episode.row != "imitation"]
    folders[1] = dataclasses.replace(folders[1], episodes=fewer, origin=origin)
    table = table_over_seeds(folders, ["a", "b"], command="")
    assert table.left_out == ("imitation",)
    assert [row.row for row in table.rows] == ["random", "rl", "expert"]
    assert "are left out: imitation." in markdown(table)
    assert table.trainings == ("a (commit abc123)", "b (seed 7, commit abc123)")


def _with_rows(folder: JudgedFolder, row_of: dict[str, str]) -> JudgedFolder:
    """Return the folder with these rows alone, in this order; each is another row's episodes under a new name."""
    episodes = [
        dataclasses.replace(episode, row=row)
        for row, kept in row_of.items()
        for episode in folder.episodes
        if episode.row == kept
    ]
    return dataclasses.replace(folder, episodes=episodes)


@pytest.mark.parametrize(
    ("rows_a", "rows_b", "judged_row", "left_out"),
    [
        # A stopped after imitation: alone it judges another row than B.
        (
            {"random": "random", "shuffled goal": "random", "imitation": "imitation", "expert": "expert"},
            {"random": "random", "shuffled goal": "random", "imitation": "imitation", "rl": "rl", "expert": "expert"},
            "imitation",
            ("rl",),
        ),
        # Rows of a user's own names, played in another order.
        (
            {"shuffled goal": "random", "tall": "rl", "short": "imitation"},
            {"shuffled goal": "random", "short": "imitation", "tall": "rl"},
            "short",
            (),
        ),
    ],
)
def test_the_order_in_which_folders_are_named_changes_no_row_and_no_claim(
    tmp_path, rows_a, rows_b, judged_row, left_out
):
    a = _with_rows(judged(tmp_path / "a", rl=12, imitation=6), rows_a)
    b = _with_rows(judged(tmp_path / "b", rl=18, imitation=9), rows_b)
    one, other = (table_over_seeds(folders, ["x", "y"], command="") for folders in ((a, b), (b, a)))
    assert [(row.row, row.middle) for row in one.rows] == [(row.row, row.middle) for row in other.rows]
    pairs = [(claim.row_a, claim.row_b) for claim in one.claims]
    assert pairs == [(claim.row_a, claim.row_b) for claim in other.claims]
    assert (judged_row, "shuffled goal") in pairs
    assert {row_a for row_a, _ in pairs} == {judged_row}
    assert one.left_out == other.left_out == left_out
    for claim, turned in zip(one.claims, other.claims, strict=True):
        assert claim.over_skills_by_seed == turned.over_skills_by_seed[::-1]
        assert (claim.p_pooled, claim.improvement) == (turned.p_pooled, turned.improvement)


def test_a_row_that_the_engine_failed_throughout_in_one_training_is_left_out(tmp_path):
    a, b = (judged(tmp_path / name, rl=9, imitation=3) for name in "ab")
    failed = [
        dataclasses.replace(episode, outcome="fault", cause="fault", success=False)
        if episode.row == "imitation"
        else episode
        for episode in a.episodes
    ]
    table = table_over_seeds([dataclasses.replace(a, episodes=failed), b], ["a", "b"], command="")
    assert table.left_out == ("imitation",)
    assert table.claims == ()


def test_a_group_that_the_engine_failed_throughout_in_one_training_is_no_cell_and_named(tmp_path):
    a, b = (judged(tmp_path / name, rl=9, imitation=3) for name in "ab")
    failed_skill = a.episodes[0].skill
    failed = [
        dataclasses.replace(episode, outcome="fault", cause="fault", success=False)
        if (episode.row, episode.skill) == ("imitation", failed_skill)
        else episode
        for episode in a.episodes
    ]
    table = table_over_seeds([dataclasses.replace(a, episodes=failed), b], ["a", "b"], command="")
    assert {label.partition(",")[0] for label in table.groups_left_out} == {failed_skill}
    assert table.groups_left_out[0] in markdown(table)
    assert not {*table.rows[0].by_group} & {*table.groups_left_out}
    assert all(np.isfinite(row.middle.value) for row in table.rows)
    # Every training's mean is over the same skills: b's too, where that one was played.
    kept = [dataclasses.replace(x, episodes=[e for e in x.episodes if e.skill != failed_skill]) for x in (a, b)]
    assert [row.over_skills for row in table.rows] == [
        row.over_skills for row in table_over_seeds(kept, ["a", "b"], command="").rows
    ]
    with pytest.raises(ValueError, match="in every skill the engine failed all that some row played"):
        table_over_seeds([dataclasses.replace(a, episodes=_failed_by_row(a)), b], ["a", "b"], command="")


def _failed_by_row(folder: JudgedFolder) -> list:
    """Return the episodes with each skill failed for one of two rows, so that both rows have played something."""
    skills = sorted({episode.skill for episode in folder.episodes})
    row_of = {skill: ("imitation", "expert")[place % 2] for place, skill in enumerate(skills)}
    return [
        dataclasses.replace(episode, outcome="fault", cause="fault", success=False)
        if row_of[episode.skill] == episode.row
        else episode
        for episode in folder.episodes
    ]


def test_one_training_that_was_judged_twice_is_no_two_seeds(tmp_path):
    a, b = (judged(tmp_path / name, rl=9, imitation=3) for name in "ab")
    for folder, weights in ((a, "5e"), (b, "5e")):
        rows = {"rl": {"weights_sha256": weights}, "random": {"weights_sha256": ""}}
        (folder.path / "plan.json").write_text(json.dumps({"common": {}, "rows": rows}))
    with pytest.raises(ValueError, match=r"/b: row 'rl' has the weights of .*/a: one training, played twice"):
        table_over_seeds([a, b], ["a", "b"], command="")
    (b.path / "plan.json").write_text(json.dumps({"common": {}, "rows": {"rl": {"weights_sha256": "6f"}}}))
    table_over_seeds([a, b], ["a", "b"], command="")


def test_two_checkpoints_of_one_run_are_told_to_be_no_independent_trainings(tmp_path):
    a, b = (judged(tmp_path / name, rl=9, imitation=3) for name in "ab")
    for folder, weights in ((a, "5e"), (b, "6f")):
        rows = {"rl": {"weights_sha256": weights}, "imitation": {"weights_sha256": "77"}, "random": {}}
        (folder.path / "plan.json").write_text(json.dumps({"common": {}, "rows": rows}))
    table = table_over_seeds([a, b], ["a", "b"], command="")
    assert table.shared_stages == ("imitation",)
    assert "not independent**: imitation plays the same weights in several," in markdown(table)


def test_trainings_that_differ_by_more_than_their_seeds_say_so(tmp_path):
    a, b = (judged(tmp_path / name, rl=9, imitation=3) for name in "ab")

    def table(config_a: dict, config_b: dict) -> SeedsTable:
        folders = [
            dataclasses.replace(folder, origin=dataclasses.replace(folder.origin, config=config))
            for folder, config in ((a, config_a), (b, config_b))
        ]
        return table_over_seeds(folders, ["a", "b"], command="")

    of_a = {"seed": 0, "run_dir": "x", "ppo": {"num_iterations": 500, "loss": "aipo"}, "preset": "keen"}
    of_b = {"seed": 1, "run_dir": "y", "ppo": {"num_iterations": 1200, "loss": "aipo"}, "preset": "keen"}
    assert table(of_a, of_b).differences == ("ppo.num_iterations 500, 1200",)
    assert "differ by more than their seeds**: ppo.num_iterations 500, 1200." in markdown(table(of_a, of_b))
    assert table(of_a, of_a | {"seed": 1, "report": False}).differences == ()
    assert table(of_a, {}).differences == ()


def test_trainings_without_a_common_row_are_refused(tmp_path):
    a = _with_rows(judged(tmp_path / "a", rl=9, imitation=3), {"one": "rl"})
    b = _with_rows(judged(tmp_path / "b", rl=9, imitation=3), {"two": "rl"})
    with pytest.raises(ValueError, match="a: no row of it was played in every other folder; judge all seeds"):
        table_over_seeds([a, b], ["a", "b"], command="")


def test_seeds_judged_on_other_tasks_and_a_single_one_are_refused(tmp_path):
    first, other = judged(tmp_path / "a", rl=9, imitation=3), judged(tmp_path / "b", rl=9, imitation=3, skip=4)
    with pytest.raises(ValueError, match="judged on other tasks than"):
        table_over_seeds([first, other], ["a", "b"], command="")
    with pytest.raises(ValueError, match="one training says nothing about others"):
        table_over_seeds([first], ["a"], command="")


def test_the_command_writes_the_table_as_text_and_numbers(tmp_path, capsys):
    for name, rl in (("a", 12), ("b", 18)):
        judged(tmp_path / name, rl=rl, imitation=6)
    out = tmp_path / "out"
    assert main(["report", str(tmp_path / "a"), str(tmp_path / "b"), "--over-seeds", "--out", str(out)]) == 0
    assert "| rl | imitation |" in (out / "over_seeds.md").read_text()
    assert json.loads((out / "over_seeds.json").read_text())["num_tasks"] == _NUM_TASKS
    assert "all tasks" in capsys.readouterr().out
    assert main(["report", str(tmp_path / "a"), "--over-seeds", "--out", str(out)]) == 2
    assert "two seeds or more" in capsys.readouterr().err
    two = ["report", str(tmp_path / "a"), str(tmp_path / "b"), "--out", str(out)]
    assert main([*two, "--over-seeds", "--wandb"]) == 2
    assert "--over-seeds makes nothing of --wandb" in capsys.readouterr().err
    assert main([*two, "--videos", "2"]) == 2
    assert "a comparison makes nothing of --videos" in capsys.readouterr().err


def test_where_no_gain_can_show_the_table_says_so_and_stays_json(tmp_path):
    folders = [judged(tmp_path / name, rl=_NUM_TASKS, imitation=6) for name in "ab"]
    table = table_over_seeds(folders, ["a", "b"], command="")
    assert json.loads(as_json(table), parse_constant=pytest.fail)["detectable"] is None
    assert f"No gain over the judged row on {_NUM_TASKS} tasks shows with 80 % power" in markdown(table)


@pytest.fixture(scope="module")
def alike(tmp_path_factory) -> SeedsTable:
    """Two trainings that did the same: the mean over them is what each did."""
    folder = tmp_path_factory.mktemp("alike")
    return table_over_seeds([judged(folder / name, rl=11, imitation=5) for name in "ab"], ["a", "b"], command="")


def test_the_tasks_that_a_claim_needs_follow_from_the_success_rates_of_both_rows(alike):
    (claim,) = alike.claims
    assert claim.num_tasks_needed == num_tasks_needed(11 / 24, 5 / 24)


def test_the_middle_is_of_skills_and_bands_alone(alike):
    own = next(row for row in alike.rows if row.row == "rl")
    score_G = [estimate.value for label, estimate in own.by_group.items() if label != ALL_TASKS.label]
    assert own.middle.value == pytest.approx(trim_mean(2 * score_G, 0.25))
    assert own.middle.value != pytest.approx(trim_mean(2 * [*score_G, 11 / 24], 0.25))


def test_the_gain_that_shows_is_one_over_the_rate_of_all_tasks(alike):
    own = next(row for row in alike.rows if row.row == "rl")
    assert detectable_difference(_NUM_TASKS, own.over_skills.value) != pytest.approx(alike.detectable)
    assert alike.detectable == detectable_difference(_NUM_TASKS, 11 / 24)
