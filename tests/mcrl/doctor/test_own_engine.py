"""Claims about `mcrl doctor PATH`: an engine of one's own is started, and what is wrong with it is said."""

from pathlib import Path

import pytest

from mcrl.doctor.engine import examine_engine
from tests.worlds.adapters import flat_engine


def test_an_engine_of_ones_own_is_started_and_says_what_it_can():
    (finding,) = examine_engine(str(Path(flat_engine.__file__)))
    assert (finding.what, finding.status) == ("start", "ok")
    assert "reset" in finding.found


def test_an_engine_that_does_not_start_is_bad(tmp_path):
    engine = tmp_path / "mine.py"
    engine.write_text("raise RuntimeError('no licence')\n", encoding="utf-8")
    (finding,) = examine_engine(str(engine))
    assert finding.status == "bad"
    assert "no licence" in finding.found


def test_an_engine_that_plays_no_episode_is_bad(tmp_path):
    engine = tmp_path / "mine.py"
    lines = ["from worlds.adapters.engine import Engine", "class Mine(Engine):", "    def reset(self, episode): ..."]
    engine.write_text("\n".join(lines), encoding="utf-8")
    (finding,) = examine_engine(str(engine))
    assert (finding.status, finding.found) == ("bad", "it can reset, which plays no episode")
    assert finding.remedy.startswith("write step(), observe(), see Engine")


def test_a_path_where_nothing_is_is_refused(tmp_path):
    with pytest.raises(ValueError, match="no such file; name a .py file with an Engine"):
        examine_engine(str(tmp_path / "none.py"))
    with pytest.raises(ValueError, match="a folder; name a .py file with an Engine"):
        examine_engine(str(tmp_path))
