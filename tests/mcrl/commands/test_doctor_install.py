"""Claims about `mcrl doctor ENGINE --install`; that it builds is shown by .ci/run, whose tests play through it."""

import re

import pytest

from mcrl.cli import main
from mcrl.commands.machine.doctor_install import REQUIREMENTS_DIR, install_command, installable_engines
from worlds.adapters.catalogue import ENGINES, side_root


def test_every_engine_with_an_environment_of_its_own_is_in_the_catalogue_and_pinned():
    assert {"minerl", "minestudio"} <= set(installable_engines()) <= set(ENGINES)
    for engine in installable_engines():
        lines = (REQUIREMENTS_DIR / f"{engine}.txt").read_text(encoding="ascii").splitlines()
        loose = [
            line for line in lines if line and not line.startswith("#") and not re.fullmatch(r"[\w.-]+==[\w.]+", line)
        ]
        assert not loose, engine


def test_what_has_nothing_to_build_is_refused_with_what_has(capsys):
    with pytest.raises(ValueError, match=r"nothing to build for it; .* are minerl, minestudio"):
        install_command("luanti")
    assert main(["doctor", "luanti", "--install"]) == 2


def test_environments_lie_where_a_backend_looks_for_them(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert side_root() == tmp_path / "mcrl" / "engines"
