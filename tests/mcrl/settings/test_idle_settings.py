import dataclasses
from dataclasses import replace

import pytest

from eval.ablation.ablation_plan import plan
from eval.ablation.ablations import ABLATIONS
from mcrl.cli import main
from mcrl.commands.evaluation.ablate import read_ablation_options
from mcrl.config import CurriculumConfig, ImitationConfig, LearnerConfig, PPOConfig, RolloutConfig, from_json
from mcrl.recipes import RECIPES
from mcrl.settings.idle_settings import check_read
from tests.mcrl.commands.command_line import refusal

LAPTOP = RECIPES["laptop"]()
NO_DAGGER = ("--imitation.dagger-rounds", "0")
PLAIN = replace(LAPTOP, imitation=ImitationConfig(), ppo=PPOConfig(), rollout=RolloutConfig())


@pytest.mark.parametrize("name", sorted(RECIPES))
def test_recipes_as_they_are_give_nothing(name):
    config = RECIPES[name]()
    check_read(config, config)


@pytest.mark.parametrize(
    ("config", "sentence"),
    [
        (
            replace(PLAIN, imitation=ImitationConfig(dagger_beta=0.25)),
            "--imitation.dagger-beta does nothing without rounds of DAgger; set --imitation.dagger-rounds above 0, or",
        ),
        (
            replace(PLAIN, imitation=ImitationConfig(ppo_from_dagger=True)),
            "--imitation.ppo-from-dagger does nothing without rounds of DAgger; set --imitation.dagger-rounds above 0, "
            "or",
        ),
        (
            replace(PLAIN, imitation=ImitationConfig(pair_coef=2.0)),
            "--imitation.pair-coef does nothing without pairs of pictures; set --imitation.pair-goals above 0, or",
        ),
        (
            replace(PLAIN, initial_policy="runs/a", imitation=ImitationConfig(num_demo_steps=9)),
            "--imitation.num-demo-steps does nothing where --initial-policy leaves imitation out; drop that one, or",
        ),
        (
            replace(
                PLAIN,
                imitation=ImitationConfig(num_updates=0, demos="d"),
                ppo=PPOConfig(kl_to_reference=None),
            ),
            "--imitation.demos does nothing where --imitation.num-updates 0 leaves imitation out; drop that one, or",
        ),
        (
            replace(PLAIN, imitation=ImitationConfig(demos="d", num_demo_steps=9)),
            "--imitation.num-demo-steps does nothing where --imitation.demos gives the demonstrations, all of them; "
            "drop that one, or",
        ),
        (
            replace(PLAIN, initial_policy="runs/a", imitation=ImitationConfig(num_updates=30)),
            "--imitation.num-updates does nothing where --initial-policy stands for the clone; drop that one, or",
        ),
        (
            replace(PLAIN, tasks=replace(PLAIN.tasks, curriculum=CurriculumConfig(exploration=0.9))),
            "--tasks.curriculum.exploration does nothing unless tasks are drawn by success; set "
            "--tasks.curriculum.order adaptive, or",
        ),
        (
            replace(PLAIN, rollout=RolloutConfig(worker_threads=2)),
            "--rollout.worker-threads does nothing inline, where --num-threads counts; set --rollout.placement ray, or",
        ),
        (
            replace(PLAIN, rollout=RolloutConfig(step_limit_s=7.0)),
            "--rollout.step-limit-s does nothing where nothing waits by it; set --rollout.ring-groups above 1, or",
        ),
        (
            replace(PLAIN, ppo=PPOConfig(kl_to_reference=None, kl_decay=0.9)),
            "--ppo.kl-decay does nothing without a reference; set --ppo.kl-to-reference to a weight, or",
        ),
        (
            replace(PLAIN, ppo=PPOConfig(kl_target=0.1, kl_decay=0.9)),
            "--ppo.kl-decay does nothing where --ppo.kl-target steers the weight; drop that one, or",
        ),
        (
            replace(
                PLAIN,
                env=replace(PLAIN.env, backend="luanti"),
                tasks=replace(PLAIN.tasks, companion_share=0.5),
                initial_policy="runs/a",
                imitation=ImitationConfig(num_updates=0),
            ),
            "--tasks.companion-share does nothing where tasks are made in the worlds of luanti; drop --env.backend, or",
        ),
        (
            replace(PLAIN, ppo=PPOConfig(aipo_rho=4.0)),
            "--ppo.aipo-rho does nothing with --ppo.loss ppo_clip; set that to aipo, or",
        ),
        (
            replace(PLAIN, ppo=PPOConfig(loss="vtrace", dual_clip=3.0)),
            "--ppo.dual-clip does nothing with --ppo.loss vtrace; set that to ppo_clip or decoupled_ppo, or",
        ),
        (
            replace(PLAIN, learner=LearnerConfig(timeout_s=9.0)),
            "--learner.timeout-s does nothing where one process learns; set --learner.num-processes above 1, or",
        ),
        *(
            (
                replace(PLAIN, **{"ppo": PPOConfig(num_iterations=0), **section}),
                f"--{name} does nothing without PPO; train with --ppo.num-iterations above 0, or",
            )
            for name, section in {
                "ppo.clip-eps": {"ppo": PPOConfig(num_iterations=0, clip_eps=0.1)},
                "rollout.envs-per-worker": {"rollout": RolloutConfig(envs_per_worker=8)},
                "learner.ema-decay": {"learner": LearnerConfig(ema_decay=0.9)},
                "tasks.curriculum.order": {"tasks": replace(PLAIN.tasks, curriculum=CurriculumConfig(order="mixed"))},
                "tasks.curriculum.exploration": {
                    "tasks": replace(PLAIN.tasks, curriculum=CurriculumConfig(exploration=0.9))
                },
            }.items()
        ),
    ],
)
def test_what_nothing_reads_is_refused_and_the_sentence_says_what_would(config, sentence):
    with pytest.raises(ValueError, match="does nothing") as caught:
        check_read(config, PLAIN)
    assert str(caught.value) == f"{sentence} leave the option out"


@pytest.mark.parametrize(
    "config",
    [
        replace(PLAIN, imitation=ImitationConfig(dagger_rounds=1, dagger_beta=0.25, dagger_updates=5)),
        replace(PLAIN, initial_policy="runs/a", imitation=ImitationConfig(dagger_rounds=1, num_demo_steps=9)),
        replace(PLAIN, initial_policy="runs/a", imitation=ImitationConfig(control_updates=9, num_envs=9)),
        replace(PLAIN, initial_policy="runs/a", imitation=ImitationConfig(num_updates=0)),
        replace(PLAIN, initial_policy="runs/a", imitation=ImitationConfig(num_envs=2)),  # success checks play in them
        replace(PLAIN, ppo=PPOConfig(kl_decay=0.9, kl_to_reference=0.1)),
        replace(PLAIN, ppo=PPOConfig(loss="decoupled_ppo", clip_eps=0.1, dual_clip=3.0)),
        replace(PLAIN, tasks=replace(PLAIN.tasks, curriculum=CurriculumConfig(order="adaptive", exploration=0.9))),
        replace(PLAIN, rollout=RolloutConfig(ring_groups=2, step_limit_s=7.0)),
        replace(PLAIN, ppo=PPOConfig(num_iterations=0)),
        replace(PLAIN, learner=LearnerConfig(num_processes=2, timeout_s=9.0)),
    ],
)
def test_what_is_read_is_taken(config):
    check_read(config, PLAIN)


def test_every_setting_named_is_one():
    known = {field.name for field in dataclasses.fields(ImitationConfig)}
    from mcrl.settings import idle_settings

    assert {*idle_settings._OF_DAGGER, *idle_settings._NUMBERS_OF_STAGES, *idle_settings._OF_CHECKS} <= known


def test_the_command_line_refuses_it_before_anything_is_made(tmp_path, capsys):
    run_dir = tmp_path / "run"
    said = refusal(
        capsys, "train", "laptop", "--ppo.kl-to-reference", "None", "--ppo.kl-decay", "0.9", "--run-dir", run_dir
    )
    assert said.startswith("mcrl: --ppo.kl-decay does nothing without a reference;")
    assert not run_dir.exists()


@pytest.mark.parametrize(
    ("option", "sentence"),
    [
        (("--ppo.clip-eps", "0.1"), "--ppo.clip-eps does nothing without PPO;"),
        (("--ppo.num-iterations", "9"), "--ppo.num-iterations: mcrl pretrain has no PPO; `mcrl train laptop` has"),
        (
            ("--val-every", "5"),
            "--val-every does nothing without PPO; train with `mcrl train laptop`, or leave the option out",
        ),
        (("--checkpoint-every", "5"), "--checkpoint-every does nothing without PPO;"),
        (("--resume", "runs/a"), "mcrl pretrain: --resume: `mcrl train --resume RUN_DIR` continues any run,"),
        (
            ("--imitation.num-updates", "0", *NO_DAGGER),
            "ppo.num_iterations 0 leaves nothing to do without imitation; set "
            "imitation.num_updates above 0, or train with PPO",
        ),
        (
            ("--initial-policy", "small", *NO_DAGGER),
            "ppo.num_iterations 0 leaves nothing to do without imitation; set "
            "imitation.dagger_rounds above 0, or train with PPO",
        ),
    ],
)
def test_a_pretraining_takes_nothing_of_ppo(option, sentence, tmp_path, capsys):
    said = refusal(capsys, "pretrain", "laptop", *option, "--run-dir", tmp_path / "run")
    assert said.removeprefix("mcrl: ").startswith(sentence)
    assert not (tmp_path / "run").exists()


def test_a_pretraining_from_a_policy_is_told_at_once_all_that_it_lacks(tmp_path, capsys):
    start = ("pretrain", "smoke", "--initial-policy", "small", "--run-dir", tmp_path / "run")
    said = refusal(capsys, *start)
    assert "set imitation.dagger_rounds above 0 and imitation.dagger_steps to the decisions of a round, or" in said
    assert said.endswith("give --preset small --env.image-px 64")
    given = ("--imitation.dagger-rounds", "1", "--imitation.dagger-steps", "64", "--preset", "small")
    assert main([*map(str, start), *given, "--env.image-px", "64", "--print-config"]) == 0


def test_a_recipe_without_imitation_is_pretrained_once_the_options_bring_some(tmp_path, capsys):
    clones = ("pretrain", "minecraft_finetune", "--imitation.num-updates", "5", "--print-config")
    assert main([*clones, "--no-report"]) == 0
    assert from_json(capsys.readouterr().out, where="printed").ppo.num_iterations == 0


@pytest.mark.parametrize("printed", [(), ("--print-config",)])
def test_a_start_of_another_preset_is_refused_where_the_settings_are_only_looked_at_too(printed, tmp_path, capsys):
    said = refusal(
        capsys, "train", "laptop", "--preset", "tiny", "--initial-policy", "small", "--run-dir", tmp_path / "run",
        *printed,
    )  # fmt: skip
    assert said.endswith("its preset is small, that of this run tiny; give --preset small")
    assert not (tmp_path / "run").exists()


def test_a_suite_of_the_report_must_exist_even_where_the_report_is_left_for_later(tmp_path, capsys):
    run_dir = tmp_path / "run"
    said = refusal(capsys, "train", "laptop", "--no-report", "--report-suite", "unseen_seedz", "--run-dir", run_dir)
    assert said == "mcrl: --report-suite unseen_seedz: no such suite; did you mean unseen_seeds?"
    assert not run_dir.exists()


def test_an_ablation_refuses_what_no_variant_reads_and_takes_what_one_does(tmp_path, capsys):
    argv = ("ablate", "kl", "--recipe", "smoke", "--out", tmp_path / "out")
    said = refusal(capsys, *argv, "--imitation.dagger-beta", "0.1")
    assert said.startswith("mcrl: --imitation.dagger-beta does nothing without rounds of DAgger;")
    assert not (tmp_path / "out").exists()
    options = read_ablation_options(ABLATIONS["kl"], ["--recipe", "smoke", "--ppo.kl-decay", "0.9"])
    assert options.config.ppo.kl_decay == 0.9
    refused = refusal(capsys, *argv, "--ppo.aipo-rho", "4")
    assert refused.startswith("mcrl: --ppo.aipo-rho does nothing with --ppo.loss ppo_clip; set that to aipo")


def test_an_ablation_of_losses_takes_the_settings_of_each(tmp_path):
    given = ["--recipe", "smoke", "--ppo.clip-eps", "0.1", "--ppo.aipo-rho", "4", "--ppo.vtrace-rho-bar", "2"]
    ablation = ABLATIONS["staleness"]
    options = read_ablation_options(ablation, given)
    for run in plan(ablation, options.config, [0], tmp_path):
        assert (run.config.ppo.clip_eps, run.config.ppo.aipo_rho, run.config.ppo.vtrace_rho_bar) == (0.1, 4.0, 2.0)


def test_the_paths_of_an_ablation_hold_from_any_folder(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "engine.py").write_text("", encoding="utf-8")
    config = read_ablation_options(ABLATIONS["kl"], ["--env.backend", "./engine.py", "--tasks.library", "mine"]).config
    assert (config.env.backend, config.tasks.library) == (str(tmp_path / "engine.py"), str(tmp_path / "mine"))
