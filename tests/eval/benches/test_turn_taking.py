"""Claims about measuring programs by turns, with drivers small enough to read."""

import dataclasses
import json
import os
import subprocess
import sys
import time

import pytest

from eval.benches.peer_contest import Contest, Entrant, Limits, Watcher, hold, measurements_of
from eval.benches.process_cpu import tree_cpu_s
from eval.benches.turn_taking import Contestant, Result, Turn, take_turns

# Writes the order of turns down, and learns from 10 frames an iteration.
HONEST = """
import json, sys
name, path = sys.argv[1:]
print(json.dumps({"versions": {name: "1"}}), flush=True)
for line in sys.stdin:
    with open(path, "a") as file:
        file.write(name + "\\n")
    print(json.dumps({"num_frames": 10 * int(line)}), flush=True)
"""
DIES = "import sys; print('no such frame', file=sys.stderr); sys.exit(3)"
DIES_LATER = HONEST.replace("    with open", "    raise OSError('the disk is full')\n    with open")
TALKS = "print('Welcome!', flush=True); input()"
# A child burns the CPU, not the driver.
BURNS_IN_A_CHILD = """
import json, subprocess, sys
print("{}" if False else json.dumps({"versions": {}}), flush=True)
for line in sys.stdin:
    burn = "import time\\nwhile time.process_time() < 0.3: pass"
    subprocess.run([sys.executable, "-c", burn])
    print(json.dumps({"num_frames": 1}), flush=True)
"""
# Begins an answer and never ends it.
HANGS = HONEST.replace("    print(", "    print('{', end='', flush=True); import time; time.sleep(60); print(")
STAYS = HONEST + "import time; time.sleep(60)"


def contestant(name, script, *arguments):
    return Contestant(name=name, command=(sys.executable, "-c", script, *arguments), environment=os.environ)


def test_contestants_take_turns_and_the_first_is_not_counted(tmp_path):
    path, heard = tmp_path / "order", []
    pair = [contestant(name, HONEST, name, str(path)) for name in ("a", "b")]
    results, failures = take_turns(
        pair, num_turns=2, iterations_per_turn=3, on_turn=lambda done, total: heard.append((done, total))
    )
    assert path.read_text().split() == ["a", "b"] * 3
    assert [turn.num_frames for turn in results["a"].turns] == [30, 30]
    assert results["b"].about == {"versions": {"b": "1"}}
    assert heard == [(done, 6) for done in range(1, 7)]
    assert not failures


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        (DIES, "ended before it answered; its last words: no such frame"),
        (DIES_LATER, "ended before it answered; its last words: OSError: the disk is full"),
        (TALKS, "answered b'Welcome!"),
    ],
    ids=["at the start", "in a turn", "talks"],
)
def test_a_contestant_that_fails_gives_its_reason_and_the_others_go_on(tmp_path, script, reason):
    path = str(tmp_path / "order")
    both = [contestant("bad", script, "bad", path), contestant("good", HONEST, "good", path)]
    results, failures = take_turns(both, num_turns=1, iterations_per_turn=1)
    assert list(results) == ["good"]
    assert failures["bad"].startswith("bad ")
    assert reason in failures["bad"]


def test_a_program_that_is_not_there_fails_with_its_name():
    nobody = Contestant(name="nobody", command=("/nonexistent/python",), environment={})
    assert "nobody does not start" in take_turns([nobody], num_turns=1, iterations_per_turn=1)[1]["nobody"]


def test_the_cpu_time_of_children_counts():
    burning = [contestant("burning", BURNS_IN_A_CHILD)]
    results, failures = take_turns(burning, num_turns=1, iterations_per_turn=1)
    assert not failures
    assert 0.25 < results["burning"].turns[0].cpu_s < 5


def test_cpu_time_of_a_living_child_counts_before_anybody_waits_for_it():
    burn = "import time\nwhile time.process_time() < 0.2: pass\nprint(flush=True)\ntime.sleep(60)"
    before_s = tree_cpu_s(os.getpid())
    child = subprocess.Popen([sys.executable, "-c", burn], stdout=subprocess.PIPE)
    try:
        child.stdout.readline()
        assert tree_cpu_s(os.getpid()) - before_s > 0.15
    finally:
        child.kill()
        child.communicate()


def test_cpu_time_of_nobody_is_an_error():
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    with pytest.raises(ValueError, match="is gone"):
        tree_cpu_s(child.pid)


def test_a_driver_that_will_not_end_is_ended(monkeypatch, tmp_path):
    monkeypatch.setattr("eval.benches.turn_taking._END_TIMEOUT_S", 0.1)
    begin_s = time.monotonic()
    stays = contestant("stays", STAYS, "stays", str(tmp_path / "order"))
    results, _ = take_turns([stays], num_turns=1, iterations_per_turn=1)
    assert len(results["stays"].turns) == 1
    assert time.monotonic() - begin_s < 50


def test_a_driver_that_hangs_is_left_out_and_ended_while_the_others_go_on(monkeypatch, tmp_path):
    monkeypatch.setattr("eval.benches.turn_taking._END_TIMEOUT_S", 0.1)
    path = tmp_path / "order"
    hangs = dataclasses.replace(contestant("hangs", HANGS, "hangs", str(path)), answer_limit_s=3.0)
    both = [hangs, contestant("good", HONEST, "good", str(path))]
    results, failures = take_turns(both, num_turns=2, iterations_per_turn=1)
    assert failures == {"hangs": "hangs said nothing for 3 s; its last words: none"}
    assert list(results) == ["good"]
    assert path.read_text().split() == ["hangs", "good", "good", "good"]


def test_only_ours_that_somebody_is_measured_against_is_started(tmp_path):
    driver = tmp_path / "driver.py"
    driver.write_text(BURNS_IN_A_CHILD)
    yardstick = Entrant(name="yardstick", driver=str(driver), rival="near")
    contest = Contest(
        part="engine",
        setting="",
        ours={"near": "tests.eval.benches.honest_driver near", "far": "tests.eval.no_such_module"},
        peers={"nobody": (Entrant(name="nobody", driver="none.py", rival="far"),)},
        yardsticks=(yardstick,),
        iterations_per_turn=2,
    )
    watcher = Watcher(on_build=lambda sentence: None, on_turn=lambda num_done, num_turns: None)
    limits = Limits(install_s=1, answer_s=60)
    rows, skipped = hold(contest, ["elsewhere"], repeats=2, seed=7, limits=limits, watcher=watcher)
    assert [(row.metric, row.fields["contestant"]) for row in rows] == [
        ("frames_per_cpu_s", "near"),
        ("frames_per_cpu_s", "yardstick"),
        ("ratio_to_yardstick", "near"),
    ]
    assert not skipped


# Says what it was called with in place of versions.
TELLS = BURNS_IN_A_CHILD.replace(
    '{"versions": {}}', '{"versions": {"seed": sys.argv[1], "threads": os.environ["OMP_NUM_THREADS"]}}'
).replace("import json,", "import os, json,")


def test_everybody_gets_the_seed_and_one_thread(tmp_path, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "8")
    driver = tmp_path / "driver.py"
    driver.write_text(TELLS)
    contest = Contest(
        part="engine",
        setting="",
        ours={"near": "tests.eval.benches.honest_driver near"},
        peers={},
        yardsticks=(Entrant(name="theirs", driver=str(driver), rival="near"),),
        iterations_per_turn=1,
    )
    watcher = Watcher(on_build=lambda sentence: None, on_turn=lambda num_done, num_turns: None)
    rows, _ = hold(contest, [], repeats=1, seed=7, limits=Limits(install_s=1, answer_s=60), watcher=watcher)
    versions = {row.fields["contestant"]: row.fields["versions"] for row in rows if "versions" in row.fields}
    assert versions == {"near": "near 1, threads 1", "theirs": "seed 7, threads 1"}


def test_ratios_are_of_neighbouring_turns_and_above_one_where_ours_is_faster():
    # The machine halves its speed for the second turn: both suffer, and the ratio stays.
    ours = Result({"versions": {"torch": "2"}}, (Turn(100, 1.0, 1.0), Turn(100, 2.0, 9.0)))
    plain = Result({"versions": {"torch": "2"}}, (Turn(100, 1.5, 1.0), Turn(100, 3.0, 9.0)))
    results, rivals = {"ours": ours, "plain": plain}, {"plain": "ours"}
    rows = {row.metric: row for row in measurements_of("training", results, rivals, seed=0)}
    ratio = rows["ratio_to_plain"]
    assert (ratio.value, ratio.low, ratio.high) == (1.5, 1.5, 1.5)
    assert json.dumps(rows["frames_per_cpu_s"].fields)
    assert rows["frames_per_cpu_s"].fields["frames_per_s"] == pytest.approx((100 / 1.0 + 100 / 9.0) / 2, abs=0.1)
