"""Claims about side environments: built once, whole or not at all, and a reason where they cannot be."""

import ast
import subprocess
import time

import pytest

from eval.benches.peer_contests import CONTESTS_OF
from eval.benches.side_env import REQUIREMENTS_DIR, SideEnvError, outside_environment, side_env, side_env_names
from mcrl.commands.bench import bench_options


def test_every_peer_on_the_command_line_has_a_driver_and_pins():
    driven = {bench: {peer for contest in CONTESTS_OF[bench] for peer in contest.peers} for bench in CONTESTS_OF}
    assert driven == {bench: set(peers) for bench, peers in bench_options.PEERS.items()}
    assert driven["peers"] == set(side_env_names())
    entrants = [entrant for contest in CONTESTS_OF["peers"] for peer in contest.peers.values() for entrant in peer]
    assert all((REQUIREMENTS_DIR.parent / entrant.driver.split()[0]).is_file() for entrant in entrants)


def test_drivers_import_nothing_of_ours():
    names = set()
    for path in REQUIREMENTS_DIR.parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="ascii"))):
            if isinstance(node, ast.Import):
                names |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                names.add((node.module or "").split(".")[0])
    assert {"stable_baselines3", "sample_factory", "ray", "vizdoom", "miniworld", "craftax", "turns"} <= names
    assert not names & {"worlds", "task_synthesis", "policies", "mcrl", "eval"}


def test_an_unknown_environment_is_refused_with_the_known_ones(tmp_path):
    with pytest.raises(ValueError, match="there are craftax, miniworld, rllib, sample_factory, sb3, vizdoom"):
        side_env("sb4", root=tmp_path)


def test_our_packages_do_not_reach_a_side_environment(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", "/somewhere")
    assert "PYTHONPATH" not in outside_environment()


@pytest.mark.slow
def test_an_environment_is_built_once_and_anew_after_an_interruption_or_other_pins(tmp_path):
    pins, built = tmp_path / "none.txt", []
    pins.write_text("# nothing\n")

    def build():
        return side_env("none", requirements=pins, root=tmp_path / "envs", on_build=built.append)

    python = build()
    assert build() == python
    assert len(built) == 1
    prefix = subprocess.run([python, "-c", "import sys; print(sys.prefix)"], capture_output=True, text=True, check=True)
    assert prefix.stdout.strip() == str(python.parents[1])
    (python.parents[1] / "complete").unlink()
    assert build() == python
    assert len(built) == 2
    pins.write_text("# nothing else\n")
    assert build() != python


@pytest.mark.slow
def test_what_cannot_be_installed_leaves_a_sentence_and_no_folder(tmp_path):
    pins = tmp_path / "bad.txt"
    pins.write_text("nothing @ file:///nonexistent/nothing-1.0-py3-none-any.whl\n")
    with pytest.raises(SideEnvError, match=r"^side environment bad cannot be built: .*nothing-1.0") as caught:
        side_env("bad", requirements=pins, root=tmp_path / "envs")
    assert "\n" not in str(caught.value)
    assert [path.name for path in (tmp_path / "envs").iterdir() if path.is_dir()] == []


def test_a_build_that_takes_too_long_is_ended_and_leaves_no_folder(tmp_path):
    pins = tmp_path / "slow.txt"
    pins.write_text("# nothing\n")
    begin_s = time.monotonic()
    with pytest.raises(SideEnvError, match=r"^side environment slow was not built within 0 s; allow more time$"):
        side_env("slow", requirements=pins, root=tmp_path / "envs", limit_s=0.05)
    assert time.monotonic() - begin_s < 30
    assert [path.name for path in (tmp_path / "envs").iterdir() if path.is_dir()] == []


def test_a_python_that_will_not_do_is_replaced_or_asked_for_in_a_sentence(tmp_path):
    pins = tmp_path / "old.txt"
    pins.write_text("# python: 1.4 1.5\n")
    with pytest.raises(SideEnvError, match=r"^side environment old needs Python 1\.4 or 1\.5, this is .*install one"):
        side_env("old", requirements=pins, root=tmp_path / "envs")
