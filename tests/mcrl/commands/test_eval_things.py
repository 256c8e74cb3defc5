"""`mcrl eval` in an engine of things: the same command line, tasks of that engine, no expert."""

import json

import pytest

from mcrl.cli import main
from tests.eval.suite_fixtures import save_checkpoint
from tests.worlds.adapters.thing_engines import ENGINES, choice_or_skip

NUM_TASKS = 2


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
def test_a_policy_is_judged_in_an_engine_of_things_as_in_ours(engine, tmp_path):
    choice = choice_or_skip(engine)
    save_checkpoint(tmp_path / "run" / "checkpoints" / "imitation")
    out = tmp_path / "judged"
    options = ["--skills", "approach", "--bands", "near", "--num-tasks", str(NUM_TASKS), "--num-workers", "1"]
    engine_options = ["--backend", engine, "--engine-python", str(choice.python)]
    assert main(["eval", str(tmp_path / "run"), *engine_options, *options, "--videos", "0", "--out", str(out)]) == 0
    episodes = [json.loads(line) for line in (out / "episodes.jsonl").read_text().splitlines()]
    rows = {episode["row"] for episode in episodes}
    assert len(episodes) == len(rows) * NUM_TASKS
    assert "random" in rows
    assert "expert" not in rows
    for episode in episodes:
        assert episode["family"].startswith(f"approach/{engine}:")
        assert episode["split"] == "held_out"
        assert episode["outcome"] in ("success", "wrong_object", "time_limit")
    assert (out / "report.html").is_file()
