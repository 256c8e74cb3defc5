"""Claims about a run that is interrupted while it clones: it goes on where it was."""

import dataclasses
import logging
import shutil

import pytest
import torch

from mcrl.train import resume, train
from tests.mcrl.corridor_policy import CORRIDOR
from tests.mcrl.corridor_run import make_config, weights
from tests.mcrl.training.interrupted_runs import (
    StopAt,
    assert_same,
    contents,
    dagger,
    log_of,
    ppo,
    truncate,
)

STOPS = [
    ("train_demos", 0),  # before there is a progress to keep
    ("imitation", 10),  # a validation
    pytest.param("imitation", 20, marks=pytest.mark.slow),  # the last update
    pytest.param("dagger", 10, marks=pytest.mark.slow),
    pytest.param("imitation-long", 10, marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("stage", "step"), STOPS)
def test_a_run_stopped_while_it_clones_ends_as_an_unbroken_one(tmp_path, monkeypatch, stage, step, caplog):
    caplog.set_level(logging.INFO)
    config = make_config(tmp_path / "whole")
    imitation = dataclasses.replace(config.imitation, control_updates=20, val_every_updates=5)
    config = ppo(dagger(dataclasses.replace(config, imitation=imitation)), num_iterations=1)
    train(config, parts=CORRIDOR)
    broken = dataclasses.replace(config, run_dir=str(tmp_path / "broken"))
    StopAt(monkeypatch, stage, step)
    assert train(broken, parts=CORRIDOR).exit_code == 143
    has_progress = (tmp_path / "broken" / "checkpoints" / f"{stage}.progress").is_dir()
    assert has_progress == stage.startswith("imitation")
    assert resume(tmp_path / "broken", parts=CORRIDOR).exit_code == 0
    said = " ".join(caplog.messages)
    assert ("imitation begins again, with its demonstrations" in said) == (stage == "train_demos")
    goes_on = f"goes on after update {step} of 20" if step < 20 else "has had its 20 updates; its success check is left"
    assert (f"{stage} {goes_on}" in said) == has_progress
    assert_same(tmp_path / "whole" / "run", tmp_path / "broken")
    for name in ("imitation", "dagger", "imitation-long"):
        one, other = (
            weights(path / "checkpoints" / name) for path in (tmp_path / "whole" / "run", tmp_path / "broken")
        )
        assert all(torch.equal(tensor, other[key]) for key, tensor in one.items())
    assert not list((tmp_path / "broken" / "checkpoints").glob("*.progress"))


@pytest.mark.parametrize("stage", ["imitation", pytest.param("dagger", marks=pytest.mark.slow)])
def test_a_stage_whose_folder_was_deleted_is_made_again_and_no_line_of_ppo_is_lost(tmp_path, monkeypatch, stage):
    config = dataclasses.replace(ppo(dagger(make_config(tmp_path / "whole")), num_iterations=4), checkpoint_every=2)
    train(config, parts=CORRIDOR)
    broken = tmp_path / "broken"
    StopAt(monkeypatch, "ppo", 3)
    assert train(dataclasses.replace(config, run_dir=str(broken)), parts=CORRIDOR).exit_code == 143
    shutil.rmtree(broken / "checkpoints" / stage)
    assert resume(broken, parts=CORRIDOR).exit_code == 0

    def in_order(lines):
        return sorted(lines, key=lambda line: (line["stage"], line["step"], sorted(line)))

    assert in_order(log_of(broken)) == in_order(log_of(tmp_path / "whole" / "run"))


def test_lines_that_the_metrics_have_lost_are_told_of(tmp_path, monkeypatch, caplog):
    caplog.set_level(logging.INFO)
    StopAt(monkeypatch, "ppo", 3)
    assert train(ppo(make_config(tmp_path), num_iterations=4), parts=CORRIDOR).exit_code == 143
    path = tmp_path / "run" / "metrics.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(line for line in lines if '"ppo", "step": 1,' not in line))
    assert resume(tmp_path / "run", parts=CORRIDOR).exit_code == 0
    assert f"{path} has lost the lines of 1 of the " in " ".join(caplog.messages)


def test_after_the_last_update_no_demonstrations_are_made_again(tmp_path, monkeypatch):
    def make_expert(env):
        raise AssertionError("the success check alone was left")

    config = ppo(make_config(tmp_path), num_iterations=0)
    StopAt(monkeypatch, "imitation", 20)
    assert train(config, parts=CORRIDOR).exit_code == 143
    assert resume(tmp_path / "run", parts=dataclasses.replace(CORRIDOR, make_expert=make_expert)).exit_code == 0


def test_a_cloning_goes_on_where_it_was_and_does_not_begin_again(tmp_path, monkeypatch):
    config = ppo(make_config(tmp_path), num_iterations=0)
    StopAt(monkeypatch, "imitation", 10)
    train(config, parts=CORRIDOR)
    steps = []
    monkeypatch.setattr(torch.optim.Adam, "step", lambda optimizer: steps.append(optimizer))
    resume(tmp_path / "run", parts=CORRIDOR)
    assert len(steps) == 10


def test_a_damaged_progress_of_a_cloning_is_one_sentence(tmp_path, monkeypatch):
    StopAt(monkeypatch, "imitation", 10)
    train(make_config(tmp_path), parts=CORRIDOR)
    folder = tmp_path / "run" / "checkpoints" / "imitation.progress"
    truncate(folder, "progress.safetensors", 0.5)
    before = contents(tmp_path / "run")
    with pytest.raises(ValueError, match=r"truncated or not a safetensors file; delete .*imitation\.progress to begin"):
        resume(tmp_path / "run", parts=CORRIDOR)
    assert contents(tmp_path / "run") == before


# ----------------------------------------------------------------------------------------------------- the lock


def test_cloning_by_muon_goes_on_where_it_was(tmp_path, monkeypatch):
    config = ppo(make_config(tmp_path / "whole"), num_iterations=1)
    config = dataclasses.replace(
        config, imitation=dataclasses.replace(config.imitation, optimizer="muon", val_every_updates=5)
    )
    train(config, parts=CORRIDOR)
    broken = dataclasses.replace(config, run_dir=str(tmp_path / "broken"))
    StopAt(monkeypatch, "imitation", 10)
    assert train(broken, parts=CORRIDOR).exit_code == 143
    assert resume(tmp_path / "broken", parts=CORRIDOR).exit_code == 0
    assert_same(tmp_path / "whole" / "run", tmp_path / "broken")
