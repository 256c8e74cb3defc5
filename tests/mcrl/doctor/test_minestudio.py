"""Claims about what `mcrl doctor minestudio` finds."""

import shlex
import stat
import sys
from pathlib import Path

import pytest

from mcrl.cli import main
from mcrl.doctor.engine import examine_engine
from mcrl.doctor.java import examine_java
from mcrl.doctor.minestudio import examine_minestudio
from tests.worlds.malmo.launched import install


def findings(python=None):
    return {finding.what: finding for finding in examine_minestudio(python)}


def program(folder: Path, name: str, says: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\necho '{says}' >&2\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def test_on_a_bare_machine_every_lack_has_a_command(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("MINESTUDIO_DIR", str(tmp_path / "game"))
    found = findings()
    assert {what: finding.status for what, finding in found.items()} == dict.fromkeys(
        ("minestudio", "java", "display", "game"), "bad"
    )
    assert all(finding.remedy for finding in found.values())
    assert found["minestudio"].remedy == "mcrl doctor minestudio --install"
    assert "EULA" in found["game"].found
    assert found["game"].remedy.startswith("mcrl doctor minestudio --install")  # else no Python could fetch it
    remedy = findings(Path(sys.executable))["game"].remedy
    assert remedy.startswith(f"MINESTUDIO_DIR={tmp_path / 'game'} {sys.executable}")


@pytest.mark.parametrize("before", ["", "Picked up JAVA_TOOL_OPTIONS: -Dfoo=bar\n"])
@pytest.mark.parametrize(("said", "status"), [("1.8.0_392", "ok"), ("17.0.15", "bad"), ("18.0.2", "bad")])
def test_java_must_be_8(tmp_path, monkeypatch, said, status, before):
    program(tmp_path, "java", f'{before}openjdk version "{said}" 2023-10-17')
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert examine_java("8").status == status


@pytest.mark.parametrize("engine", ["minestudio", "minerl"])
def test_engines_of_minecraft_ask_for_java_8(tmp_path, monkeypatch, engine):
    program(tmp_path, "java", 'openjdk version "17.0.15" 2023-10-17')
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    (java,) = [finding for finding in examine_engine(engine) if finding.what == "java"]
    assert (java.status, java.found) == ("bad", "17.0.15; release 8 is wanted")


def test_a_game_that_is_there_is_found_and_one_that_renders_on_a_gpu_needs_virtualgl(tmp_path, monkeypatch):
    install(tmp_path / "game", origin_blocks=(0, 0, 0))
    monkeypatch.setenv("MINESTUDIO_DIR", str(tmp_path / "game"))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert findings()["game"].status == "ok"
    monkeypatch.setenv("MINESTUDIO_GPU_RENDER", "1")
    assert "vglrun" in findings()["display"].found


def test_the_command_that_downloads_the_game_is_one_for_a_shell(monkeypatch):
    monkeypatch.setenv("MINESTUDIO_DIR", "/home/me/my game")
    remedy = findings(Path("/opt/my python/bin/python"))["game"].remedy
    assert shlex.split(remedy)[:3] == ["MINESTUDIO_DIR=/home/me/my game", "/opt/my python/bin/python", "-c"]


def test_a_folder_of_a_user_that_there_is_not_is_one_without_a_game(monkeypatch):
    monkeypatch.setenv("MINESTUDIO_DIR", "~nouser/game")
    assert "~nouser/game" in findings()["game"].found


def test_an_interpreter_without_the_package_is_said_so(monkeypatch):
    monkeypatch.setenv("MINESTUDIO_DIR", "/nowhere")
    found = findings(Path(sys.executable))["minestudio"]
    assert (found.status, found.remedy) == ("bad", "mcrl doctor minestudio --install")
    assert "minestudio" in found.found


def test_a_program_that_is_no_python_is_said_so():
    found = findings(Path("/bin/echo"))["minestudio"]
    assert (found.status, found.found) == ("bad", "/bin/echo is no Python")


@pytest.mark.parametrize("options", [[], ["--engine-python", sys.executable]])
def test_the_game_and_what_starts_it_are_looked_for_in_whatever_interpreter(options, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("MINESTUDIO_DIR", str(tmp_path / "game"))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(["doctor", "minestudio", *options]) == 1
    printed = capsys.readouterr().out
    assert "mcprec-6.13.jar" in printed
    assert "no xvfb-run" in printed


def test_the_command_shows_the_table_and_the_remedies(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(["doctor", "minestudio"]) == 1
    printed = capsys.readouterr().out
    assert "minestudio: mcrl doctor minestudio --install" in printed
    assert "java: " in printed
