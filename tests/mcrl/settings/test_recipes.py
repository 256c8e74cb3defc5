"""Every recipe is a run that could start, says what it needs, and makes an update when it is cut short."""

import dataclasses
import json
import pickle

import pytest
import torch

from mcrl.cli import main
from mcrl.commands.training.train_options import recipe_and_overrides
from mcrl.config import RolloutConfig, TrainConfig, from_json
from mcrl.recipe_notes import RECIPE_NOTES
from mcrl.recipes import RECIPES
from mcrl.telemetry.metrics import read_metrics
from mcrl.train import train
from policies.presets import PRESETS, build_policy


def shortened(config: TrainConfig, run_dir) -> TrainConfig:
    """Return the recipe with its kinds of tasks, losses and stages, a handful of each, in one process."""
    is_large = config.preset in ("base", "rocket", "rocket_xl")
    return dataclasses.replace(
        config,
        run_dir=str(run_dir),
        preset="tiny" if is_large else config.preset,
        pretrained_weights=None,
        tasks=dataclasses.replace(
            config.tasks, bands={"near": 1.0}, num_train_tasks=10, num_val_tasks=2, num_eval_tasks=14
        ),
        env=dataclasses.replace(config.env, image_px=32 if is_large else config.env.image_px),
        imitation=dataclasses.replace(
            config.imitation,
            num_demo_steps=16,
            num_val_demo_steps=8,
            num_envs=2,
            fragment_steps=4,
            sequences_per_batch=2,
            num_updates=1,
            dagger_rounds=min(1, config.imitation.dagger_rounds),
            dagger_steps=16,
            dagger_updates=1,
        ),
        ppo=dataclasses.replace(
            config.ppo, num_iterations=1, fragment_steps=4, fragments_per_batch=2, minibatch_sequences=2
        ),
        rollout=RolloutConfig(envs_per_worker=2),
        num_threads=1,
        val_every=0,
        wandb="disabled",
    )


def test_every_recipe_is_told_of_and_nothing_else():
    assert list(RECIPE_NOTES) == list(RECIPES)


def test_a_recipe_without_a_note_is_one_sentence(capsys, monkeypatch, tmp_path):
    unnoted = dataclasses.replace(RECIPES["smoke"](), recipe="quick_look")
    monkeypatch.setitem(RECIPES, "quick_look", lambda: unnoted)
    for command in (["recipes"], ["train", "quick_look", "--run-dir", str(tmp_path / "run")]):
        assert main(command) == 2
        assert "recipe_notes.py" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_a_recipe_that_goes_by_the_name_of_the_one_it_began_from_is_told_so(capsys, monkeypatch):
    monkeypatch.setitem(RECIPES, "bedroom", RECIPES["smoke"])
    assert main(["train", "bedroom", "--print-config"]) == 2
    assert "recipe bedroom calls itself smoke; give it recipe='bedroom'" in capsys.readouterr().err


def test_recipes_are_listed_with_machine_and_duration(capsys):
    assert main(["recipes"]) == 0
    said = capsys.readouterr().out
    for name, note in RECIPE_NOTES.items():
        assert f"{name}: {note.summary}" in said
        assert note.machine in said
        assert note.duration in said


@pytest.mark.parametrize("name", RECIPES)
def test_the_printed_config_is_that_of_the_run_and_nothing_is_trained(capsys, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    assert main(["train", name, "--print-config", "--seed", "7"]) == 0
    printed = capsys.readouterr()
    config = from_json(printed.out, where="stdout")
    assert (config.recipe, config.seed) == (name, 7)
    assert dataclasses.replace(config, seed=0, tasks=RECIPES[name]().tasks) == RECIPES[name]()
    assert printed.err == ""
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("option", ["--placement", "--rollout.placement", "--num-learners", "--num_learners"])
def test_short_forms_and_names_with_underscores_mean_what_their_long_forms_do(capsys, option):
    value = "2" if "num" in option else "inline"
    assert main(["train", "laptop", option, value, "--print-config"]) == 0
    config = from_json(capsys.readouterr().out, where="stdout")
    if value == "inline":
        assert (config.rollout.placement, config.rollout.max_staleness) == ("inline", 0)
    else:
        assert config.learner.num_processes == 2


@pytest.mark.parametrize("name", RECIPES)
def test_the_preset_of_every_recipe_is_built_at_its_size(name):
    config = RECIPES[name]()
    sizes = PRESETS[config.preset]()
    assert sizes.image_px == config.env.image_px
    with torch.device("meta"):  # shapes alone: 0.3 B parameters take long to draw
        policy = build_policy(sizes, seed=0)
    assert policy.image_px == config.env.image_px
    assert sum(parameter.numel() for parameter in policy.parameters()) < 310_000_000


def test_the_paper_recipe_has_the_numbers_of_its_table():
    config = RECIPES["paper"]()
    ppo = config.ppo
    assert (ppo.learning_rate, ppo.final_learning_rate_share, ppo.num_epochs) == (2e-5, 1.0, 1)
    assert (ppo.discount, ppo.gae_lambda, ppo.clip_eps, ppo.value_coef) == (0.999, 0.95, 0.2, 0.5)
    assert (ppo.kl_to_reference, ppo.kl_decay, ppo.fragment_steps) == (0.2, 0.9995, 256)
    assert (ppo.num_iterations, ppo.minibatch_sequences, ppo.max_grad_norm) == (4000, 10, 0.5)
    assert (PRESETS[config.preset]().context_steps, config.rollout.max_staleness) == (128, 1)
    assert config.rollout.num_workers * config.rollout.envs_per_worker == 72
    fine_tuned = RECIPES["minecraft_finetune"]()
    assert (fine_tuned.env.action_repeat_ticks, fine_tuned.preset, fine_tuned.imitation.num_updates) == (1, "rocket", 0)
    assert (fine_tuned.ppo.kl_to_reference, fine_tuned.ppo.learning_rate) == (0.2, 2e-5)


def test_weights_that_are_not_there_are_refused_before_there_is_a_run(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["train", "minecraft_finetune"]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "rocket2.safetensors: no such file; name public ROCKET-2 or -3 weights with --pretrained-weights" in said
    assert not list(tmp_path.iterdir())


def test_weights_that_cannot_be_read_are_refused_before_there_is_a_run(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "junk.safetensors").write_bytes(b"junk")
    assert main(["train", "minecraft_finetune", "--pretrained-weights", "junk.safetensors"]) == 2
    assert "junk.safetensors" in capsys.readouterr().err.splitlines()[-1]
    assert [path.name for path in tmp_path.iterdir()] == ["junk.safetensors"]


@pytest.mark.parametrize("pretrains", [False, True])
def test_a_config_of_the_command_line_reaches_the_processes_of_a_run(pretrains):
    config = recipe_and_overrides(["smoke", "--seed", "7"], prog="mcrl train", pretrains=pretrains).config
    assert type(config) is TrainConfig
    assert pickle.loads(pickle.dumps(config)) == config


def test_a_recipe_that_cannot_do_yet_what_its_name_says_tells_so(capsys, tmp_path):
    argv = ["train", "gpu", "--device", "cpu", "--run-dir", str(tmp_path / "run"), "--report-suite", "none"]
    assert main(argv) == 2  # after the notice: nothing is to be trained here
    said = capsys.readouterr().err
    assert "recipe gpu is on the CPU here, of which it wants 16 cores" in said
    assert "--report-suite none: no such suite" in said


@pytest.mark.slow
@pytest.mark.parametrize("name", RECIPES)
def test_every_recipe_makes_an_update_when_it_is_cut_short(tmp_path, name):
    config = shortened(RECIPES[name](), tmp_path / "run")
    result = train(config)
    assert result.exit_code == 0
    written = json.loads((tmp_path / "run" / "config.json").read_text())
    assert from_json(json.dumps(written), where="config.json") == config
    assert [line["step"] for line in read_metrics(tmp_path / "run" / "metrics.jsonl") if line["stage"] == "ppo"] == [1]
