"""Broken and foreign checkpoints: one sentence and exit code 2, whichever command is given one."""

import dataclasses
import json
import shutil
import struct
from pathlib import Path

import pytest
import torch
from safetensors.torch import load, save_file

from mcrl.cli import main
from mcrl.config import to_json
from task_synthesis.task import to_json_line
from tests.eval.suite_fixtures import CONFIG, make_tasks, save_checkpoint
from tests.mcrl.commands.command_line import refusal

COMMANDS = ("eval", "play", "initial policy", "resume")


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Path:
    """A run that has its tasks and its clone."""
    run_dir = tmp_path_factory.mktemp("run")
    save_checkpoint(run_dir / "checkpoints" / "imitation")
    tasks = dataclasses.replace(CONFIG.tasks, num_train_tasks=2, num_val_tasks=2)
    (run_dir / "config.json").write_text(to_json(dataclasses.replace(CONFIG, tasks=tasks)))
    for split in ("train", "val"):
        text = "".join(to_json_line(task) + "\n" for task in make_tasks(split, 2))
        (run_dir / f"tasks_{split}.jsonl").write_text(text)
    return run_dir


def edit_state(folder: Path, **changes: object) -> None:
    path = folder / "state.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def edit_config(folder: Path, **changes: object) -> None:
    config = json.loads((folder / "state.json").read_text())["config"]
    edit_state(folder, config=config | changes)


def edit_weights(folder: Path, change) -> None:
    path = folder / "model.safetensors"
    tensors = load(path.read_bytes())  # not mapped from the file that is written next
    change(tensors, sorted(tensors)[0])
    save_file(tensors, path)
    edit_state(folder, sha256={})


def truncate(folder: Path) -> None:
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:5000])


def claim_an_absurd_header(folder: Path) -> None:
    path = folder / "model.safetensors"
    path.write_bytes(struct.pack("<Q", 2**62) + path.read_bytes()[8:])


def pickle_under_another_name(folder: Path) -> None:
    path = folder / "model.safetensors"
    torch.save(load(path.read_bytes()), path)


NO_TENSORS = "model.safetensors: missing, truncated or not a safetensors file"
OF_WEIGHTS = [
    (truncate, NO_TENSORS),
    (claim_an_absurd_header, NO_TENSORS),
    (pickle_under_another_name, NO_TENSORS),
    (lambda folder: (folder / "model.safetensors").write_bytes(b""), NO_TENSORS),
    (lambda folder: (folder / "optimizer.safetensors").write_bytes(b"x" * 20), "optimizer.safetensors: missing, trunc"),
    (lambda folder: edit_weights(folder, lambda t, name: t[name].fill_(float("nan"))), "holds NaN or infinity"),
    (lambda folder: edit_weights(folder, lambda t, name: t.update({name: torch.zeros(7, 3)})), "is (7, 3), the policy"),
    (lambda folder: edit_weights(folder, lambda t, name: t.pop(name)), "is absent, the policy wants"),
    (lambda folder: edit_weights(folder, lambda t, name: t.update(stray=torch.zeros(1))), "tensor stray is (1,)"),
    (lambda folder: (folder / "state.json").write_text("{"), "state.json: missing or not JSON"),
    (lambda folder: (folder / "state.json").write_bytes(b"\x80\x04\x95"), "state.json: missing or not JSON"),
    (lambda folder: (folder / "state.json").write_text("[1]"), "state.json: not the state of an mcrl checkpoint"),
    (lambda folder: edit_state(folder, format_version=9), "state.json: format 9, this build reads 1"),
    (lambda folder: edit_state(folder, iteration="many"), "state.json: iteration must be int, got 'many'"),
    (lambda folder: edit_state(folder, high_water_marks=[1]), "state.json: high_water_marks[0] must be three integers"),
    (lambda folder: edit_state(folder, stage=None), "state.json: stage must be str, got None"),
]
# What a run's own config or that of a new run says instead where weights alone are taken.
OF_CONFIG = [
    (lambda folder: edit_config(folder, preset="small"), "build the policy from the preset named in"),
    (lambda folder: edit_config(folder, preset="sharp"), "does not fit preset sharp, set it to 96"),
    (lambda folder: edit_config(folder, preset="huge"), "state.json: names preset 'huge', which this"),
    (lambda folder: edit_config(folder, seed="x"), "config"),
    (lambda folder: edit_config(folder, ppo=3), "config: ppo must be an object, got int"),
    (lambda folder: edit_state(folder, config={}), "config: missing fields"),
]


def command_line(command: str, run_dir: Path, tmp_path: Path) -> list[str]:
    folder = str(run_dir / "checkpoints" / "imitation")
    return {
        "eval": ["eval", folder, "--suite", "laptop", "--num-tasks", "2", "--out", str(tmp_path / "out")],
        "play": ["play", "--policy", folder, "--out", str(tmp_path / "x.png")],
        "initial policy": ["train", "smoke", "--initial-policy", folder, "--run-dir", str(tmp_path / "new")],
        "resume": ["train", "--resume", str(run_dir), "--no-report"],
    }[command]


@pytest.mark.parametrize("index", range(len(OF_WEIGHTS)))
@pytest.mark.parametrize("command", COMMANDS)
def test_a_checkpoint_that_is_broken_is_refused_by_every_command(capsys, whole, tmp_path, command, index):
    break_it, expected = OF_WEIGHTS[index]
    run_dir = tmp_path / "run"
    shutil.copytree(whole, run_dir)
    break_it(run_dir / "checkpoints" / "imitation")
    if command == "resume" and "state.json" in expected:
        # A resume reads the state of what it goes on with: the clone's says nothing that it needs, PPO's does.
        shutil.copytree(run_dir / "checkpoints" / "imitation", run_dir / "checkpoints" / "iteration_000002")
        shutil.copytree(whole / "checkpoints" / "imitation", run_dir / "checkpoints" / "imitation", dirs_exist_ok=True)
    assert expected in refusal(capsys, *command_line(command, run_dir, tmp_path))
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("index", range(len(OF_CONFIG)))
@pytest.mark.parametrize("command", ["eval", "play"])
def test_a_checkpoint_of_another_policy_than_it_says_is_refused(capsys, whole, tmp_path, command, index):
    break_it, expected = OF_CONFIG[index]
    run_dir = tmp_path / "run"
    shutil.copytree(whole, run_dir)
    break_it(run_dir / "checkpoints" / "imitation")
    assert expected in refusal(capsys, *command_line(command, run_dir, tmp_path))


def test_a_run_of_another_checkout_s_preset_is_refused_with_the_file_that_names_it(capsys, whole, tmp_path):
    run_dir = tmp_path / "run"
    shutil.copytree(whole, run_dir)
    path = run_dir / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"preset": "mine"}))
    expected = f"{path}: names preset 'mine', which this checkout does not have"
    assert expected in refusal(capsys, *command_line("resume", run_dir, tmp_path))
    assert expected in refusal(capsys, "demos", "export", str(run_dir), "--out", str(tmp_path / "demos"))


@pytest.mark.parametrize("command", ["eval", "play", "initial policy"])
def test_a_pickle_is_never_read(capsys, whole, tmp_path, command):
    run_dir = tmp_path / "run"
    folder = run_dir / "checkpoints" / "imitation"
    folder.mkdir(parents=True)
    tensors = load((whole / "checkpoints" / "imitation" / "model.safetensors").read_bytes())
    torch.save(tensors, folder / "model.pt")
    argv = command_line(command, run_dir, tmp_path)
    assert "holds no checkpoint but model.pt, a pickle, which can run any code" in refusal(capsys, *argv)
    argv = [arg.replace(str(folder), str(folder / "model.pt")) for arg in argv]
    assert "model.pt: is a pickle, which can run any code and so is never read" in refusal(capsys, *argv)


def test_a_checkpoint_without_its_state_is_refused(capsys, whole, tmp_path):
    shutil.copytree(whole, tmp_path / "run")
    (tmp_path / "run" / "checkpoints" / "imitation" / "state.json").unlink()
    for command in ("eval", "play", "initial policy"):
        argv = command_line(command, tmp_path / "run", tmp_path)
        assert "state.json is missing, which says of which policy the weights are" in refusal(capsys, *argv)


def test_a_checkpoint_is_no_evaluation(capsys, whole):
    folder = str(whole / "checkpoints" / "imitation")
    assert "holds no episodes.jsonl; name a folder that `mcrl eval` finished" in refusal(capsys, "report", folder)


@pytest.mark.parametrize(
    ("folder", "files"),
    [("origin.json", "{"), ("origin.json", "[]"), ("episodes.jsonl", "{}\n"), ("tasks.jsonl", "\x80")],
)
def test_a_broken_evaluation_is_refused_by_the_name_of_its_file(capsys, tmp_path, folder, files):
    for name in ("episodes.jsonl", "tasks.jsonl"):
        (tmp_path / name).write_text("")
    (tmp_path / folder).write_text(files)
    assert str(tmp_path) in refusal(capsys, "report", tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "saved"),
    [
        (["--ppo.value-coef", "1e39"], "nan_batch_000001.npz"),
        (["--imitation.auxiliary-coef", "1e39"], "nan_demonstrations_000001.npz"),
    ],
)
def test_a_loss_that_is_not_finite_ends_the_run_with_its_batch_saved_and_named(capsys, whole, tmp_path, options, saved):
    import numpy as np

    run_dir = tmp_path / "run"
    run_dir.mkdir()
    argv = ["train", "smoke", "--run-dir", str(run_dir), "--no-report", "--tasks.num-train-tasks", "2"]
    argv += ["--tasks.num-val-tasks", "2"]
    if "nan_batch" in saved:
        argv += ["--initial-policy", str(whole / "checkpoints" / "imitation")]
    else:
        argv += ["--imitation.num-demo-steps", "64", "--imitation.num-val-demo-steps", "32"]
    assert main([*argv, *options]) == 1
    said = capsys.readouterr().err
    assert "Traceback" not in said
    assert f"no step was taken and the batch is in {run_dir / saved}" in said
    with np.load(run_dir / saved) as arrays:
        assert arrays["image_BTHWC"].dtype == np.uint8
