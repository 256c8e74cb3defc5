"""The policies that come with the package: by name wherever a checkpoint is wanted, small, and true to their card."""

import dataclasses
import errno
import json
import shutil
from pathlib import Path

import pytest

from eval.judging.suite_row import weights_sha256_of
from mcrl import checkpoint
from mcrl.assembly import PRODUCT
from mcrl.cli import main
from mcrl.commands.shipped.ship import MAX_WEIGHTS_BYTES
from mcrl.policy_card import read_card, write_card
from mcrl.recipes import RECIPES
from mcrl.run_commands import note_command
from mcrl.run_folder import checkpoint_of, config_of, run_dir_of
from mcrl.trained import load_policy
from policies.shipped import CARD_FILE, FOLDER, shipped_folder, shipped_name, shipped_names
from tests.eval.suite_fixtures import save_checkpoint
from tests.mcrl.commands.command_line import refusal


@pytest.fixture(scope="module")
def run_dir(tmp_path_factory):
    """A run of an untrained policy, with paths of its maker's machine in its config."""
    folder = tmp_path_factory.mktemp("runs") / "mine"
    config = dataclasses.replace(RECIPES["smoke"](), run_dir="/home/somebody/runs/mine")
    state = checkpoint.CheckpointState(
        stage="ppo",
        iteration=4,
        version=4,
        preset=config.preset,
        image_px=config.env.image_px,
        config=dataclasses.asdict(config),
        rng_state="00ff",
        high_water_marks=((0, 1, 5),),
        task_statistics={"a": 1},
    )
    model = PRODUCT.make_policy(config).state_dict()
    saved = checkpoint.Checkpoint(model=model, optimizer=dict(list(model.items())[:3]), state=state)
    checkpoint.save(folder / "checkpoints" / "final", saved)
    return folder


TRAINED_BY = ["--command", "mcrl train smoke --run-dir=/home/somebody/runs/mine", "--commit", "0123456789ab"]


@pytest.mark.parametrize("name", shipped_names())
def test_a_shipped_policy_fits_the_package_and_its_card(name):
    folder = shipped_folder(name)
    card = read_card(folder / CARD_FILE)
    policy = load_policy(folder, config_of(folder))
    assert all(weight.requires_grad for weight in policy.parameters())  # else autocast casts them at every step
    assert sum(parameter.numel() for parameter in policy.parameters()) == card.num_parameters
    assert (folder / "model.safetensors").stat().st_size == card.weights_bytes <= MAX_WEIGHTS_BYTES
    assert weights_sha256_of(folder) == card.weights_sha256
    assert checkpoint.load(folder).optimizer == {}
    assert card.name == name
    assert card.command.startswith("mcrl ")
    assert {score.row for score in card.scores} >= {"random", "shuffled goal", "expert"}
    # Whoever installs the package learns nothing of the machine that made it.
    assert not any('"/' in path.read_text() for path in folder.glob("*.json"))


def test_small_is_shipped():
    assert "small" in shipped_names()
    assert shipped_folder("none") is None


def test_a_name_is_a_checkpoint_and_what_is_made_of_it_stays_out_of_the_package(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = checkpoint_of(Path("small"))
    assert (folder, shipped_name(folder)) == (FOLDER / "small", "small")
    assert run_dir_of(folder) == Path("runs/small")


def test_a_folder_of_that_name_wins(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    mine = save_checkpoint(tmp_path / "small")
    assert checkpoint_of(Path("small")) == mine
    (mine / "state.json").unlink()
    assert "state.json is missing" in refusal(capsys, "eval", "small")
    (mine / "model.safetensors").unlink()
    assert checkpoint_of(Path("small")) == shipped_folder("small")
    (mine / "model.pt").write_bytes(b"")
    assert "small: holds no checkpoint but model.pt, a pickle" in refusal(capsys, "eval", "small")


def test_an_unknown_name_is_answered_with_those_there_are(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for argv in (["eval", "smal"], ["train", "smoke", "--initial-policy", "smal"]):
        sentence = refusal(capsys, *argv)
        assert "smal: no such checkpoint or run folder; did you mean small?" in sentence
    assert f"or a shipped policy: {', '.join(shipped_names())}" in refusal(capsys, "eval", "nothing")


def test_training_starts_from_a_shipped_policy_by_its_name(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["train", "laptop", "--preset", "small", "--initial-policy", "small", "--print-config"]) == 0
    assert json.loads(capsys.readouterr().out)["initial_policy"] == str(FOLDER / "small")


def test_a_checkpoint_is_shipped_without_what_only_its_run_needs(capsys, tmp_path, run_dir):
    assert main(["ship", str(run_dir), "--name", "mine", "--out", str(tmp_path), *TRAINED_BY]) == 0
    folder = tmp_path / "mine"
    assert str(folder) in capsys.readouterr().out
    shipped, source = checkpoint.load(folder), checkpoint.load(run_dir / "checkpoints" / "final")
    assert shipped.optimizer == {}
    assert (shipped.state.rng_state, shipped.state.high_water_marks, shipped.state.task_statistics) == ("", (), {})
    assert all((tensor == source.model[name]).all() for name, tensor in shipped.model.items())
    assert shipped.state.config == source.state.config | {"run_dir": "runs/mine"}
    card = read_card(folder / CARD_FILE)
    assert (card.stage, card.iteration, card.recipe) == ("ppo", 4, "smoke")
    assert (card.command, card.commit) == ("mcrl train smoke --run-dir=runs/mine", "0123456789ab")
    assert card.weights_sha256 == weights_sha256_of(run_dir / "checkpoints" / "final")
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o644}
    # Again: the folder is its own.
    again = ["ship", str(run_dir), "--name", "mine", "--out", str(tmp_path), *TRAINED_BY]
    assert main(again) == 0
    # Other weights are not put in its place unasked.
    other = ["ship", "small", *again[2:]]
    assert main(other) == 2
    assert "another policy of this name is there, of recipe smoke" in capsys.readouterr().err
    assert read_card(folder / CARD_FILE).weights_sha256 == card.weights_sha256
    assert main([*other, "--replace"]) == 0
    assert read_card(folder / CARD_FILE).recipe == "workstation"


def test_a_run_says_itself_what_trained_it_also_where_it_was_resumed(capsys, tmp_path, run_dir, monkeypatch):
    folder = tmp_path / "run"
    shutil.copytree(run_dir, folder)
    for command, commit in (("mcrl train smoke --run-dir=/home/x/runs/a", "1"), ("mcrl train --resume runs/a", "2")):
        monkeypatch.setattr("mcrl.run_commands.commit", lambda commit=commit: commit)
        note_command(folder, command)
    assert main(["ship", str(folder), "--name", "mine", "--out", str(tmp_path)]) == 0
    card = read_card(tmp_path / "mine" / CARD_FILE)
    assert (card.command, card.commit) == ("mcrl train smoke --run-dir=runs/a", "1, 2")
    (folder / "commands.jsonl").unlink()
    note_command(folder, "mcrl train --resume runs/a")  # of a copied config.json
    assert "give --command and --commit" in refusal(capsys, "ship", folder, "--name", "other", "--out", tmp_path)


def test_a_copy_of_a_shipped_policy_keeps_what_its_card_says(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["ship", "small", "--name", "copy", "--out", "copies"]) == 0
    original, copy = read_card(FOLDER / "small" / CARD_FILE), read_card(Path("copies/copy") / CARD_FILE)
    assert copy == dataclasses.replace(original, name="copy", date=copy.date, weights_bytes=copy.weights_bytes)
    # What is given counts more.
    assert main(["ship", "copies/copy", "--name", "again", "--out", "copies", *TRAINED_BY[2:]]) == 0
    again = read_card(Path("copies/again") / CARD_FILE)
    assert (again.command, again.commit, again.scores) == (original.command, "0123456789ab", original.scores)


def test_a_disk_that_fills_up_leaves_the_old_policy_with_its_card_and_scores(capsys, tmp_path, monkeypatch):
    ship = ["ship", "small", "--name", "mine", "--out", str(tmp_path)]
    assert main(ship) == 0
    before = {path.name: path.read_bytes() for path in (tmp_path / "mine").iterdir()}

    def full(card, path):
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    with monkeypatch.context() as patch:
        patch.setattr("mcrl.commands.shipped.ship.write_card", full)
        assert "the disk is full" in refusal(capsys, *ship)
    assert {path.name: path.read_bytes() for path in (tmp_path / "mine").iterdir()} == before
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]
    assert main(ship) == 0


def test_a_card_of_other_weights_says_nothing_of_these(capsys, tmp_path, run_dir):
    assert main(["ship", str(run_dir), "--name", "mine", "--out", str(tmp_path), *TRAINED_BY]) == 0
    write_card(read_card(FOLDER / "small" / CARD_FILE), tmp_path / "mine" / CARD_FILE)
    assert "give --command and --commit" in refusal(capsys, "ship", tmp_path / "mine", "--name", "x", "--out", tmp_path)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ([], "--name must be given"),
        (["--name", "dagger", *TRAINED_BY], "--name dagger: names a stage of training"),
        (["--name", "../mine"], "--name must be lower-case letters"),
        (["--name", "mine"], "give --command and --commit"),
        (["--name", "taken", *TRAINED_BY], "holds something else than a shipped policy"),
        (["--name", "mine", "--scores", "/nonexistent", *TRAINED_BY], "/nonexistent: holds no episodes.jsonl"),
    ],
)
def test_what_cannot_be_shipped_is_refused_and_nothing_is_written(capsys, tmp_path, run_dir, options, expected):
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "x").touch()
    assert expected in refusal(capsys, "ship", run_dir, "--out", tmp_path, *options)
    assert [path.name for path in tmp_path.rglob("*")] == ["taken", "x"]


def test_a_card_comes_back_as_it_was_and_another_file_is_refused(tmp_path):
    card = read_card(FOLDER / "small" / CARD_FILE)
    write_card(card, tmp_path / CARD_FILE)
    assert read_card(tmp_path / CARD_FILE) == card
    for text in ("{", "[]", '{"scores": []}'):
        (tmp_path / CARD_FILE).write_text(text)
        with pytest.raises(ValueError, match=r"card.json: not the card of a policy"):
            read_card(tmp_path / CARD_FILE)


def test_the_command_says_of_every_shipped_policy_what_its_card_does(capsys):
    assert main(["policies"]) == 0
    printed = capsys.readouterr().out
    for name in shipped_names():
        card = read_card(FOLDER / name / CARD_FILE)
        assert f"{name}: preset {card.preset}" in printed
        assert all(f"{100 * score.success:.1f} [" in printed for score in card.scores)


@pytest.mark.slow
def test_a_shipped_policy_is_judged_and_its_scores_ship_with_it(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    argv = ["eval", "small", "--suite", "laptop", "--num-tasks", "4", "--videos", "0", "--num-workers", "1"]
    assert main([*argv, "--out", "judged"]) == 0
    origin = json.loads((tmp_path / "judged" / "origin.json").read_text())
    assert origin["row_sources"]["rl"] == "small, shipped with mcrl"
    shipped = ["ship", "small", "--name", "again", "--out", str(tmp_path), "--scores", "judged", *TRAINED_BY]
    assert main(shipped) == 0
    scores = read_card(tmp_path / "again" / CARD_FILE).scores
    assert [score.row for score in scores] == ["random", "shuffled goal", "rl", "expert"]
    assert all((score.suite, score.num_tasks) == ("laptop.v1", 4) for score in scores)
    assert scores[0].command == " ".join(["mcrl", *argv, "--out", "judged"])
    # Scores of other weights are not this policy's.
    save_checkpoint(tmp_path / "other")
    capsys.readouterr()
    assert main(["ship", "other", "--name", "more", "--out", str(tmp_path), "--scores", "judged", *TRAINED_BY]) == 2
    assert "its row 'rl' played weights" in capsys.readouterr().err


@pytest.mark.slow
def test_a_shipped_policy_plays_a_task_of_a_suite_into_a_video(capsys, tmp_path):
    path = tmp_path / "small.webm"
    assert main(["play", "--policy", "small", "--guidance", "0.5", "--ticks", "40", "--out", str(path)]) == 0
    assert "task unseen_seeds:1: approach/white wool" in capsys.readouterr().out
    assert path.stat().st_size > 1000
