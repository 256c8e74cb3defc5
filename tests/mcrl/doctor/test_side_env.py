"""Claims about side environments: built once, whole or not at all, and a reason where they cannot be."""

import subprocess
import time

import pytest

from mcrl.doctor.side_env import SideEnvError, _place, outside_environment, side_env


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


@pytest.mark.slow
def test_an_environment_that_borrows_from_one_that_is_gone_borrows_ours_when_it_is_asked_for_again(tmp_path):
    pins = tmp_path / "borrower.txt"
    pins.write_text("# borrows: numpy\n")
    python = side_env("borrower", requirements=pins, root=tmp_path / "envs")
    (names,) = python.parents[1].glob("lib/python*/site-packages/ours.pth")
    ours = names.read_text()
    names.write_text(str(tmp_path / "gone") + "\n")
    assert side_env("borrower", requirements=pins, root=tmp_path / "envs") == python
    assert names.read_text() == ours
    subprocess.run([python, "-c", "import numpy"], check=True)


def test_machines_of_two_kinds_that_share_a_home_have_an_environment_each(tmp_path, monkeypatch):
    places = []
    for kind in ("x86_64", "aarch64", "x86_64"):
        monkeypatch.setattr("platform.machine", lambda kind=kind: kind)
        places.append(_place("none", "# nothing\n", tmp_path))
    assert places[0] == places[2] != places[1]
