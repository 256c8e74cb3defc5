import dataclasses
import errno
import json
import os
from pathlib import Path

import pytest
import torch
from safetensors import SafetensorError
from torch import nn

from mcrl import checkpoint, whole_folder
from mcrl.checkpoint import Checkpoint, CheckpointState


def make_checkpoint(iteration=3):
    state = CheckpointState(
        stage="ppo",
        iteration=iteration,
        version=iteration,
        preset="tiny",
        image_px=32,
        config={"recipe": "smoke"},
        rng_state="00ff",
        high_water_marks=((0, 1, 5),),
    )
    net = nn.Linear(2, 3)
    return Checkpoint(model=net.state_dict(), optimizer={"weight/step": torch.tensor(2.0)}, state=state)


def test_a_checkpoint_comes_back_as_it_was(tmp_path):
    saved = make_checkpoint()
    checkpoint.save(tmp_path / "c", saved)
    loaded = checkpoint.load(tmp_path / "c")
    assert loaded.state == saved.state
    for name, tensor in saved.model.items():
        assert torch.equal(loaded.model[name], tensor)
    assert torch.equal(loaded.optimizer["weight/step"], torch.tensor(2.0))


def test_saving_again_replaces_and_leaves_nothing_behind(tmp_path):
    checkpoint.save(tmp_path / "c", make_checkpoint(1))
    checkpoint.save(tmp_path / "c", make_checkpoint(2))
    assert checkpoint.load(tmp_path / "c").state.iteration == 2
    assert [path.name for path in tmp_path.iterdir()] == ["c"]


@pytest.mark.parametrize("name", ["model.safetensors", "optimizer.safetensors"])
@pytest.mark.parametrize("kept_bytes", [0, 5, 60])
def test_a_truncated_file_is_refused_by_its_name(tmp_path, name, kept_bytes):
    checkpoint.save(tmp_path / "c", make_checkpoint())
    path = tmp_path / "c" / name
    path.write_bytes(path.read_bytes()[:kept_bytes])
    with pytest.raises(ValueError, match=name):
        checkpoint.load(tmp_path / "c")


@pytest.mark.parametrize("name", ["model.safetensors", "optimizer.safetensors"])
def test_a_bit_that_turned_over_is_told_and_who_has_no_checksum_is_read(tmp_path, name):
    checkpoint.save(tmp_path / "c", make_checkpoint())
    path, state = tmp_path / "c" / name, tmp_path / "c" / "state.json"
    content = bytearray(path.read_bytes())
    content[-2] ^= 1  # in the middle of a mantissa
    path.write_bytes(content)
    with pytest.raises(ValueError, match=f"{name}: not what was written there, by its checksum in state.json"):
        checkpoint.load(tmp_path / "c")
    older = json.loads(state.read_text())
    del older["sha256"]
    state.write_text(json.dumps(older))
    assert checkpoint.load(tmp_path / "c").state.sha256 == {}


def test_a_foreign_state_is_refused(tmp_path):
    checkpoint.save(tmp_path / "c", make_checkpoint())
    (tmp_path / "c" / "state.json").write_text('{"epoch": 3}')
    with pytest.raises(ValueError, match="not the state of an mcrl checkpoint"):
        checkpoint.load(tmp_path / "c")
    for text in ("{", "[" * 200_000, '{"iteration": ' + "9" * 5000 + "}"):
        (tmp_path / "c" / "state.json").write_text(text)
        with pytest.raises(ValueError, match=r"state\.json: missing or not JSON; use another checkpoint"):
            checkpoint.load(tmp_path / "c")


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("iteration", -5, "iteration must be at least 0, got -5"),
        ("version", "1", "version must be int, got '1'"),
        ("image_px", 0, "image_px must be at least 1, got 0"),
        ("rng_state", None, "rng_state must be str, got None"),
        ("format_version", True, "format_version must be int, got True"),
        ("config", [], "config must be an object, got list"),
        ("learner", {"kl_coef": "x"}, "learner.kl_coef must be a finite float, got 'x'"),
        ("learner", {"kl_coef": None}, "learner.kl_coef must be a finite float, got None"),
        ("learner", None, "learner must be an object, got NoneType"),
        ("high_water_marks", [1], r"high_water_marks\[0\] must be three integers, got 1"),
        ("high_water_marks", [[0, 0]], r"high_water_marks\[0\] must be three integers, got \[0, 0\]"),
        ("high_water_marks", [["a", "b", "c"]], r"high_water_marks\[0\] must be three integers, got \['a', 'b', 'c'\]"),
        ("high_water_marks", [[0, -1, 3]], r"high_water_marks must not be negative, got \[0, -1, 3\]"),
    ],
)
def test_a_state_that_no_run_writes_is_refused_by_file_and_field(tmp_path, name, value, said):
    checkpoint.save(tmp_path / "c", make_checkpoint())
    path = tmp_path / "c" / "state.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {name: value}))
    with pytest.raises(ValueError, match=rf"state\.json: {said}; use another checkpoint of the run$"):
        checkpoint.load(tmp_path / "c")


def test_another_format_is_refused_with_both_numbers(tmp_path):
    checkpoint.save(tmp_path / "c", make_checkpoint())
    path = tmp_path / "c" / "state.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"format_version": 99}))
    with pytest.raises(ValueError, match=r"format 99, this build reads 1"):
        checkpoint.load(tmp_path / "c")


def test_weights_that_are_not_finite_are_refused(tmp_path):
    broken = make_checkpoint()
    broken.model["weight"].fill_(float("nan"))
    checkpoint.save(tmp_path / "c", broken)
    with pytest.raises(ValueError, match="weight holds NaN"):
        checkpoint.load(tmp_path / "c")


@pytest.mark.parametrize("other", [nn.Linear(2, 4), nn.Linear(2, 3, bias=False), nn.Conv2d(1, 1, 1)])
def test_weights_of_another_network_are_refused(tmp_path, other):
    with pytest.raises(ValueError, match="preset"):
        checkpoint.load_into(other, make_checkpoint().model, where=tmp_path)


def test_a_missing_folder_is_refused(tmp_path):
    with pytest.raises(ValueError, match="no such checkpoint"):
        checkpoint.load(tmp_path / "nothing")


def test_only_the_last_two_numbered_checkpoints_are_kept(tmp_path):
    for iteration in (25, 50, 75):
        checkpoint.save(checkpoint.numbered(tmp_path, iteration), make_checkpoint(iteration))
    checkpoint.save(tmp_path / "imitation", make_checkpoint(0))
    checkpoint.prune(tmp_path)
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["imitation", "iteration_000050", "iteration_000075"]
    assert checkpoint.newest(tmp_path).name == "iteration_000075"
    checkpoint.save(tmp_path / checkpoint.FINAL, make_checkpoint(75))
    assert checkpoint.newest(tmp_path).name == "final"


def test_numbered_checkpoints_are_in_the_order_of_their_numbers_beyond_six_digits(tmp_path):
    for iteration in (999_950, 999_975, 1_000_000):
        checkpoint.save(checkpoint.numbered(tmp_path, iteration), make_checkpoint(iteration))
    (tmp_path / "iteration_mine").mkdir()  # somebody's own
    checkpoint.prune(tmp_path)
    kept = {path.name for path in tmp_path.iterdir()}
    assert kept == {"iteration_999975", "iteration_1000000", "iteration_mine"}
    assert checkpoint.newest(tmp_path) == tmp_path / "iteration_1000000"


def test_a_full_disk_is_an_error_of_the_system_and_leaves_the_old_checkpoint(tmp_path, monkeypatch):
    def full(*args):
        raise SafetensorError("Error while serializing: I/O error: No space left on device (os error 28)")

    checkpoint.save(tmp_path / "c", make_checkpoint(1))
    monkeypatch.setattr(checkpoint, "save_file", full)
    with pytest.raises(OSError, match=r"No space left on device.*model.safetensors") as caught:
        checkpoint.save(tmp_path / "c", make_checkpoint(2))
    assert caught.value.errno == errno.ENOSPC
    assert checkpoint.load(tmp_path / "c").state.iteration == 1


def test_a_crash_while_saving_leaves_the_old_checkpoint(tmp_path, monkeypatch):
    checkpoint.save(tmp_path / "c", make_checkpoint(1))
    monkeypatch.setattr(whole_folder, "_flush_to_disk", lambda path: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        checkpoint.save(tmp_path / "c", make_checkpoint(2))
    assert checkpoint.load(tmp_path / "c").state.iteration == 1


def test_state_has_no_field_that_json_would_change():
    state = make_checkpoint().state
    again = json.loads(json.dumps(dataclasses.asdict(state)))
    assert tuple(map(tuple, again.pop("high_water_marks"))) == state.high_water_marks


def test_others_may_read_a_checkpoint_where_the_umask_lets_them(tmp_path):
    before = os.umask(0o022)
    try:
        checkpoint.save(tmp_path / "c", make_checkpoint())
    finally:
        os.umask(before)
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / "c").iterdir()} == {0o644}


def test_a_file_that_may_not_be_read_is_not_called_damaged(tmp_path, monkeypatch):
    checkpoint.save(tmp_path / "c", make_checkpoint())

    def refuse(path, mode="r"):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "open", refuse)  # root, who runs tests in containers, may read everything
    with pytest.raises(ValueError, match=r"model\.safetensors: may not be read by this user; ask its owner"):
        checkpoint.load(tmp_path / "c")
