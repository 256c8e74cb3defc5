"""Claims about learning curves: what is averaged, over what, and where they end."""

import json
import re
from xml.etree import ElementTree

import numpy as np
import pytest

from eval.numbers.aggregate import Estimate, mean_over_seeds
from eval.numbers.learning_curve import learning_curve
from mcrl.cli import main
from mcrl.config import to_json
from mcrl.recipes import smoke

NUM_WINDOWS = 24
STEPS = 100  # decisions of an iteration


def lines_of(success_K, *, checks=None, before=0.25, num_steps=STEPS):
    """Return metrics.jsonl of a run whose k-th iteration ended k + 1 episodes, and solved the given share of them."""
    lines = [{"stage": "val", "step": 10, "imitation_success": before, "episodes": 4}]
    for step, success in enumerate(success_K, 1):
        lines.append({"stage": "ppo", "step": step, "num_steps": num_steps, "episodes": step, "success": success})
        if checks and step in checks:
            lines.append({"stage": "val", "step": step, "ppo_success": checks[step], "episodes": 4})
    return lines


def test_a_window_is_the_share_of_its_episodes_not_the_mean_of_its_lines():
    rising_K = np.linspace(0.0, 0.94, 2 * NUM_WINDOWS)
    curve = learning_curve([lines_of(rising_K)], ["one"])
    episodes_K = np.arange(1, 2 * NUM_WINDOWS + 1)
    solved_K = rising_K * episodes_K
    expected_N = (solved_K[::2] + solved_K[1::2]) / (episodes_K[::2] + episodes_K[1::2])
    np.testing.assert_allclose(curve.rollouts.success_RN, [expected_N])
    np.testing.assert_allclose(curve.rollouts.decisions_N, STEPS * (2 * np.arange(NUM_WINDOWS) + 1))


def test_runs_are_compared_up_to_where_the_shortest_is():
    curve = learning_curve([lines_of([0.5] * NUM_WINDOWS), lines_of([0.5] * NUM_WINDOWS + [1.0] * 9)], ["a", "b"])
    np.testing.assert_allclose(curve.rollouts.success_RN, 0.5)
    assert curve.rollouts.decisions_N[-1] < STEPS * NUM_WINDOWS


def test_checks_are_those_that_all_runs_had_with_students_interval():
    runs = [
        lines_of([0.5] * 30, checks={10: 0.2, 20: 0.4, 30: 0.9}, before=0.1),
        lines_of([0.5] * 30, checks={10: 0.3, 30: 0.7}, before=0.3),
    ]
    curve = learning_curve(runs, ["a", "b"])
    np.testing.assert_allclose(curve.checks.decisions_N, [10 * STEPS, 30 * STEPS])
    np.testing.assert_allclose(curve.checks.success_RN, [[0.2, 0.9], [0.3, 0.7]])
    assert curve.checks.over_runs() == [mean_over_seeds(np.array(pair)) for pair in ([0.2, 0.3], [0.9, 0.7])]
    assert curve.before == {"imitation": (0.1, 0.3)}


def test_a_check_stands_where_its_runs_were_on_average():
    runs = [lines_of([0.5] * 60, checks={10: 0.2, 30: 0.9}, num_steps=num_steps) for num_steps in (100, 200)]
    np.testing.assert_allclose(learning_curve(runs, ["a", "b"]).checks.decisions_N, [10 * 150, 30 * 150])


def test_one_run_alone_is_its_own_interval():
    checks = learning_curve([lines_of([0.5] * 30, checks={10: 0.2, 30: 0.9})], ["a"]).checks
    assert checks.over_runs() == [Estimate(0.2, 0.2, 0.2), Estimate(0.9, 0.9, 0.9)]


def test_what_a_run_was_given_is_its_start():
    curve = learning_curve([lines_of([0.5] * 30, before=0.6)], ["a"], first="start")
    assert curve.before == {"start": (0.6,)}


def test_what_dagger_left_is_its_best_round_and_not_its_last():
    rounds = [{"stage": "val", "step": 20 + n, "dagger_success": rate} for n, rate in enumerate((0.4, 0.47, 0.36))]
    assert learning_curve([rounds + lines_of([0.5] * 30)], ["a"]).before == {"imitation": (0.25,), "dagger": (0.47,)}


def test_what_is_no_curve_yet_is_refused_by_its_name():
    with pytest.raises(ValueError, match="runs/young: its metrics hold 3 iterations of PPO, a curve wants 24"):
        learning_curve([lines_of([0.5] * 30), lines_of([0.5] * 3)], ["runs/old", "runs/young"])
    silent = [{**line, "episodes": 0, "success": None} for line in lines_of([0.5] * 30) if line["stage"] == "ppo"]
    with pytest.raises(ValueError, match="runs/idle: no episode ended"):
        learning_curve([silent], ["runs/idle"])


@pytest.fixture
def two_runs(tmp_path):
    for name, success in (("a", 0.25), ("b", 0.75)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.json").write_text(to_json(smoke()), encoding="utf-8")
        text = "".join(json.dumps(line) + "\n" for line in lines_of([success] * 30, checks={30: success}))
        (tmp_path / name / "metrics.jsonl").write_text(text, encoding="utf-8")
    return [str(tmp_path / name) for name in ("a", "b")]


def test_the_command_writes_a_picture_with_every_curve_and_prints_the_checks(two_runs, tmp_path, capsys):
    out = tmp_path / "curves" / "two.svg"
    assert main(["curves", *two_runs, "--out", str(out)]) == 0
    svg = out.read_text(encoding="utf-8")
    assert ElementTree.fromstring(svg).tag == "{http://www.w3.org/2000/svg}svg"
    assert "var(--" not in svg  # a picture has no page around it
    for name in ("train worlds, while learning", "val tasks", "imitation, val tasks"):
        assert f">{name}<" in svg
    assert svg.count('class="curve faint"') == 2  # each run beside their mean
    printed = capsys.readouterr().out
    assert re.search(r"3,000\W+50\.0 \[0\.0, 100\.0\]\W+25\.0\W+75\.0", printed)


def test_the_command_refuses_what_is_no_run(two_runs, tmp_path, capsys):
    for args, said in (
        ([two_runs[0], two_runs[0], "--out", "x.svg"], "one run is named twice"),
        ([str(tmp_path / "none"), "--out", "x.svg"], "no such run"),
        ([str(tmp_path), "--out", "x.svg"], "holds no config.json"),
        ([two_runs[0], "--out", "x.png"], "a curve is written as .svg"),
        (["--out", "x.svg"], "name a run"),
    ):
        assert main(["curves", *args]) == 2
        assert said in capsys.readouterr().err


def test_settings_that_differ_beyond_seeds_are_told(two_runs, tmp_path, capsys):
    text = to_json(smoke()).replace('"clip_eps": 0.2', '"clip_eps": 0.1')
    (tmp_path / "b" / "config.json").write_text(text, encoding="utf-8")
    assert main(["curves", *two_runs, "--out", str(tmp_path / "two.svg")]) == 0
    assert "the runs differ in more than seeds: ppo.clip_eps 0.2, 0.1" in capsys.readouterr().err


def test_a_run_that_is_shown_up_to_the_end_of_a_shorter_one_is_not_blamed_for_it():
    long = lines_of([0.5] * NUM_WINDOWS, num_steps=1000 * STEPS)
    with pytest.raises(
        ValueError, match=r"^long: no episode ended in a 24th of the way of short, 2,400 decisions; short"
    ):
        learning_curve([lines_of([0.5] * NUM_WINDOWS), long], ["short", "long"])


def test_one_training_under_two_names_is_refused():
    lines = [line | {"time_s": 7.5 + number} for number, line in enumerate(lines_of([0.5] * NUM_WINDOWS))]
    later = [line | {"time_s": line["time_s"] + 0.001} for line in lines]
    learning_curve([lines, later], ["a", "b"])
    with pytest.raises(ValueError, match=r"^a and b begin with one training; name runs that were trained apart"):
        learning_curve([lines, later, lines], ["a", "c", "b"])
