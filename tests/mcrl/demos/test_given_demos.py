"""Claims about runs on given demonstrations, and about the command that writes and checks them."""

import dataclasses
import errno
import json
from pathlib import Path

import pytest

from mcrl.cli import main
from mcrl.commands.training.demos import demos_command
from mcrl.config import PPOConfig
from mcrl.demos.episode import episodes_of
from mcrl.learning.demonstrations import collect_demonstrations
from mcrl.seeding import derive_seed
from mcrl.telemetry.metrics import read_metrics
from mcrl.train import train
from task_synthesis.playing.curriculum import ShuffledTasks
from tests.mcrl.corridor import CorridorEnv, CorridorExpert, make_task
from tests.mcrl.corridor_policy import CORRIDOR, CorridorPolicy
from tests.mcrl.corridor_run import make_config
from tests.mcrl.demos.demo_episodes import made_episode, written


def run_config(tmp_path, **imitation):
    config = make_config(tmp_path, ppo=PPOConfig(num_iterations=0))
    return dataclasses.replace(config, imitation=dataclasses.replace(config.imitation, **imitation))


def test_a_run_learns_from_given_demonstrations_as_from_those_it_records(lerobot, tmp_path):
    shown = []

    def keep_expert(env):
        shown.append(CORRIDOR.make_expert(env))
        return shown[-1]

    recording = run_config(tmp_path / "a", num_updates=10)
    own = train(recording, parts=CORRIDOR)
    # The same demonstrations as that run recorded, in its order.
    seed = derive_seed(recording.seed, "demonstrations", "imitation", "train")
    tasks = [make_task(index) for index in range(8)]
    source = ShuffledTasks(tasks, split="train", seed=derive_seed(seed, "curriculum"))
    fragments = collect_demonstrations(
        CorridorEnv(source, 8),
        CorridorExpert(),
        CorridorPolicy(),
        num_steps=256,
        fragment_steps=8,
        noise=recording.imitation.noise,
        seed=seed,
    )
    written(lerobot, tmp_path / "demos", list(episodes_of(fragments)))
    given = run_config(tmp_path / "b", num_updates=10, demos=str(tmp_path / "demos"))
    ended = train(given, parts=dataclasses.replace(CORRIDOR, make_expert=keep_expert))
    assert len(shown) == 1  # in val worlds alone
    # Only the order of the fragments differs: by env here, by time there.
    losses = [
        next(line["val_loss"] for line in read_metrics(result.run_dir / "metrics.jsonl") if "val_loss" in line)
        for result in (own, ended)
    ]
    assert losses[0] == pytest.approx(losses[1], rel=0.2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"split": "val"}, "its worlds are of the split 'val'"),
        ({"goal_form": "blank"}, "its goal_form is blank, that of this run cross_view; give --env.goal-form blank"),
        (
            {"episodes": [dataclasses.replace(made_episode(4), family="approach/diamond_block")]},
            "it shows approach/diamond_block, and that kind is held out of training",
        ),
        (
            {"action_repeat_ticks": 3},
            "its action_repeat_ticks is 3, that of this run 4; give --env.action-repeat-ticks 3",
        ),
    ],
)
def test_a_dataset_that_does_not_fit_is_refused_before_anything_is_written(lerobot, tmp_path, options, message):
    written(lerobot, tmp_path / "demos", **options)
    with pytest.raises(ValueError, match=message):
        train(run_config(tmp_path, demos=str(tmp_path / "demos")), parts=CORRIDOR)
    with pytest.raises(ValueError, match=r"info.json: missing"):
        train(run_config(tmp_path, demos=str(tmp_path / "nothing")), parts=CORRIDOR)
    assert not (tmp_path / "run").exists()


def test_a_dataset_with_a_broken_table_is_refused_before_anything_is_written(lerobot, tmp_path):
    written(lerobot, tmp_path / "demos")
    (path,) = (tmp_path / "demos" / "data").glob("*/*.parquet")
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(ValueError, match=r"parquet: missing, truncated or not a parquet file"):
        train(run_config(tmp_path, demos=str(tmp_path / "demos")), parts=CORRIDOR)
    path.unlink()
    with pytest.raises(ValueError, match=r"total_frames \d+, the data files hold 0"):
        train(run_config(tmp_path, demos=str(tmp_path / "demos")), parts=CORRIDOR)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ([], "say what to do; there are export, check"),
        (["exprt"], "exprt is no such thing to do; did you mean export?"),
        (["check"], "name a folder first"),
        (["export", "lib", "--out", "x", "--noise", "1"], r"--noise must be in \[0, 1\)"),
        (["export", "lib", "--out", "x", "--num-steps", "0"], "--num-steps must be at least 1"),
    ],
)
def test_wrong_arguments_are_one_sentence(args, message):
    with pytest.raises(ValueError, match=message):
        demos_command(args)


@pytest.mark.slow
def test_the_expert_plays_a_library_into_a_dataset_that_a_run_clones(lerobot, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    library, out, run_dir = (str(tmp_path / name) for name in ("library", "demos", "run"))
    assert main(["synth", "-n", "24", "--out", library, "--size", "32", "--image-px", "32", "--num-workers", "1"]) == 0
    export = ["demos", "export", library, "--out", out, "--num-steps", "512", "--num-envs", "8", "--image-px", "32"]

    def fill(path, text):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("mcrl.demos.lerobot_writer.write_whole", fill)
        assert main(export) == 2
    assert "the disk is full" in capsys.readouterr().err
    assert list(Path(out).iterdir()) == []
    assert main(export) == 0
    assert main(["demos", "check", out]) == 0
    assert "512 decisions of 4 ticks, 32 px, train worlds" in capsys.readouterr().out
    options = {
        "run-dir": run_dir,
        "tasks.library": library,
        "tasks.num-val-tasks": "8",
        "imitation.demos": "demos",
        "imitation.num-updates": "4",
        "imitation.num-val-demo-steps": "64",
        "imitation.dagger-rounds": "1",
        "imitation.dagger-steps": "64",
        "imitation.dagger-updates": "4",
    }
    given = [argument for name, value in options.items() for argument in (f"--{name}", value)]
    assert main(["pretrain", "smoke", *given, "--no-report"]) == 0
    assert json.loads((tmp_path / "run" / "config.json").read_text())["imitation"]["demos"] == out
    # A run folder is exported with its own tasks and config.
    again = ["demos", "export", run_dir, "--out", out + "-run", "--num-steps", "64", "--num-envs", "4"]
    assert main(again) == 0
    stages = {path.name for path in (tmp_path / "run" / "checkpoints").iterdir()}
    assert stages == {"imitation", "dagger", "final"}
    assert main(export) == 2


def test_without_pyarrow_the_way_to_get_it_is_named(monkeypatch, tmp_path):
    import sys

    monkeypatch.setitem(sys.modules, "pyarrow", None)
    from mcrl.demos.pyarrow_import import import_pyarrow

    with pytest.raises(ValueError, match="pip install 'pyarrow"):
        import_pyarrow()
