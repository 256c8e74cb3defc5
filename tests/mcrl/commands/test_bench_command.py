"""`mcrl bench` through main(argv): one JSON object, on stdout or in a file."""

import json

import pytest

from mcrl.cli import main


@pytest.mark.parametrize("where", ["stdout", pytest.param("a file", marks=pytest.mark.slow)])
def test_bench_prints_one_object_on_stdout_and_nothing_else_or_writes_it(capfd, tmp_path, where):
    path = tmp_path / "new" / "sim.json"
    out = "-" if where == "stdout" else str(path)
    assert main(["bench", "sim", "--json", out, "--num-frames", "8", "--repeats", "1"]) == 0
    result = json.loads(capfd.readouterr().out if where == "stdout" else path.read_text())
    assert set(result) == {"bench", "commit", "hardware", "seed", "rows"}
    rows = [row for row in result["rows"] if row["metric"] == "frames_per_cpu_s"]
    assert [row["renderer"] for row in rows] == ["lanes", "scalar", "lanes"]
    assert all(row["scene"] == "standard_v1" for row in rows)
    assert all(row["value"] > 0 and row["repeats"] == 1 and row["min"] <= row["value"] <= row["max"] for row in rows)


@pytest.mark.slow
def test_bench_learner_sets_the_learner_beside_a_plain_loop(capfd):
    assert main(["bench", "learner", "--recipe", "smoke", "--repeats", "1", "--json", "-"]) == 0
    rows = json.loads(capfd.readouterr().out)["rows"]
    assert {row.get("loop") for row in rows} == {"learner", "plain loop", None}


@pytest.mark.slow
def test_bench_eval_sets_evaluation_beside_rollouts(capfd):
    assert main(["bench", "eval", "--recipe", "smoke", "--repeats", "1", "--json", "-"]) == 0
    rows = json.loads(capfd.readouterr().out)["rows"]
    assert {row.get("loop") for row in rows} == {"evaluation", "rollout", "rollout without reference", None}


@pytest.mark.slow
def test_bench_rollout_counts_decisions(capfd):
    assert main(["bench", "rollout", "--recipe", "smoke", "--repeats", "1", "--json", "-"]) == 0
    rows = json.loads(capfd.readouterr().out)["rows"]
    assert {row["metric"] for row in rows} == {"decisions_per_s", "decisions_per_cpu_s"}


@pytest.mark.slow
def test_bench_peers_sets_our_engine_beside_another_in_one_run(capfd):
    assert main(["bench", "peers", "--peers", "vizdoom", "--repeats", "1", "--json", "-"]) == 0
    result = json.loads(capfd.readouterr().out)
    if result["skipped"]:
        pytest.skip("; ".join(result["skipped"].values()))
    speeds = {row["contestant"]: row for row in result["rows"] if row["metric"] == "frames_per_cpu_s"}
    assert list(speeds) == ["mcrl_160x120", "vizdoom_basic", "vizdoom_my_way_home"]
    assert all(row["value"] > 100 and row["repeats"] == 1 and row["versions"] for row in speeds.values())
    ratios = {row["metric"]: row["value"] for row in result["rows"] if row["unit"] == "ratio"}
    expected = speeds["mcrl_160x120"]["value"] / speeds["vizdoom_basic"]["value"]
    assert ratios["ratio_to_vizdoom_basic"] == pytest.approx(expected, abs=0.01)
