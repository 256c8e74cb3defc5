"""Claims about the scripts that drive peers: all are there, and none needs us."""

import ast
import json
import subprocess
import sys

from eval.benches.peer_contest import DRIVER_DIR, REQUIREMENTS_DIR
from eval.benches.peer_contests import CONTESTS_OF
from mcrl.commands.bench import bench_options


def test_every_peer_on_the_command_line_has_a_driver_and_pins():
    driven = {bench: {peer for contest in CONTESTS_OF[bench] for peer in contest.peers} for bench in CONTESTS_OF}
    assert driven == {bench: set(peers) for bench, peers in bench_options.PEERS.items()}
    assert driven["peers"] == {path.stem for path in REQUIREMENTS_DIR.glob("*.txt")}
    entrants = [entrant for contest in CONTESTS_OF["peers"] for peer in contest.peers.values() for entrant in peer]
    assert all((DRIVER_DIR / entrant.driver.split()[0]).is_file() for entrant in entrants)


def test_drivers_import_nothing_of_ours():
    names = set()
    for path in DRIVER_DIR.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="ascii"))):
            if isinstance(node, ast.Import):
                names |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                names.add((node.module or "").split(".")[0])
    assert {"stable_baselines3", "sample_factory", "ray", "vizdoom", "miniworld", "craftax", "turns"} <= names
    assert not names & {"worlds", "task_synthesis", "policies", "mcrl", "eval"}


def test_sample_factory_is_ready_once_and_answers_a_turn_as_long_as_its_warm_up_with_frames():
    script = """
import sys
from types import SimpleNamespace
for module in ("", ".algo", ".algo.runners", ".cfg", ".envs", ".algo.runners.runner", ".cfg.arguments",
               ".envs.env_utils", ".train"):
    sys.modules["sample_factory" + module] = SimpleNamespace(
        AlgoObserver=object, Runner=object, parse_full_cfg=None, parse_sf_args=None, register_env=None, make_runner=None
    )
import drive_sample_factory
drive_sample_factory.version = lambda name: "2"
taker = drive_sample_factory.TurnTaker()
for step in range(20):
    taker.on_training_step(None, step)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=DRIVER_DIR, input="2\n2\n4\n", capture_output=True, text=True, check=True
    )
    ready, *turns = map(json.loads, done.stdout.splitlines())
    assert "versions" in ready
    assert turns == [{"num_frames": 1024 * steps} for steps in (2, 2, 4)]
