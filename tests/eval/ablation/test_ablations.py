"""Claims about ablations: what their variants change, and which runs they share."""

import dataclasses

import pytest
import torch

from eval.ablation.ablation_plan import plan
from eval.ablation.ablations import ABLATIONS, changed, setting_of
from mcrl.assembly import PRODUCT
from mcrl.commands.evaluation.ablate import of_variants, read_ablation_options, table_stem
from mcrl.recipes import RECIPES

BASE = RECIPES["smoke"]()


def base_of(name):
    tasks = dataclasses.replace(BASE.tasks, bands={"near": 1.0, "easy": 0.0})
    return changed(dataclasses.replace(BASE, tasks=tasks), ABLATIONS[name].common)


@pytest.mark.parametrize("name", sorted(ABLATIONS))
def test_the_variants_of_an_ablation_differ_and_only_where_they_say(name):
    ablation, base = ABLATIONS[name], base_of(name)
    configs = [changed(base, variant.settings) for variant in ablation.variants]
    assert all(one != other for i, one in enumerate(configs) for other in configs[:i])
    for variant, config in zip(ablation.variants, configs, strict=True):
        assert all(setting_of(config, setting) == value for setting, value in variant.settings.items())
        undone = {setting: setting_of(base, setting) for setting in variant.settings}
        assert changed(config, undone) == base


def test_settings_are_made_at_once_so_that_only_the_result_has_to_be_valid():
    scratch = changed(BASE, {"imitation.num_updates": 0, "ppo.kl_to_reference": None})
    assert scratch.imitation.num_updates == 0
    with pytest.raises(ValueError, match="ppo.kl_to_reference"):
        changed(BASE, {"imitation.num_updates": 0})


def test_a_setting_that_no_config_has_is_an_error():
    with pytest.raises(AttributeError):
        changed(BASE, {"pppo.clip_eps": 0.1})
    with pytest.raises(TypeError):
        changed(BASE, {"ppo.clip_epsilon": 0.1})


def clones_of(name, tmp_path):
    planned = plan(ABLATIONS[name], base_of(name), [0, 1], tmp_path)
    return [[run.start.run_dir for run in planned if run.start and run.seed == seed] for seed in (0, 1)]


@pytest.mark.parametrize(
    ("name", "num_clones"),
    [
        ("kl", 1),
        ("critic", 1),
        ("curriculum", 1),
        ("bands", 3),
        ("goal", 5),
        ("auxiliary", 2),
        ("staleness", 1),
        ("asynchrony", 1),
    ],
)
def test_variants_with_one_first_stage_share_its_run_and_no_others_do(tmp_path, name, num_clones):
    seed_0, seed_1 = clones_of(name, tmp_path)
    assert len(set(seed_0)) == len(set(seed_1)) == num_clones
    assert not set(seed_0) & set(seed_1)


@pytest.mark.parametrize("recipe", ["laptop", "workstation"])
@pytest.mark.parametrize("name", ABLATIONS)
def test_every_variant_is_a_run_that_the_recipe_can_be_made_into(tmp_path, name, recipe):
    ablation = ABLATIONS[name]
    planned = plan(ablation, changed(RECIPES[recipe](), ablation.common), [0], tmp_path)
    assert [run.variant for run in planned] == [variant.name for variant in ablation.variants]


def with_dagger(base, **settings):
    dagger = {"imitation.dagger_rounds": 2, "imitation.ppo_from_dagger": True} | settings
    return changed(base, dagger)


def test_variants_share_the_dagger_that_ppo_goes_on_from(tmp_path):
    base = with_dagger(base_of("kl"), **{"imitation.dagger_steps": 128})
    *variants, alone = plan(ABLATIONS["kl"], base, [0], tmp_path)
    assert len({run.start.run_dir for run in variants}) == 1
    assert alone.config == variants[0].start
    assert (alone.config.imitation.dagger_rounds, alone.config.imitation.dagger_steps) == (2, 128)
    for run in variants:
        assert run.config.initial_policy == f"{run.start.run_dir}/checkpoints/dagger"
        assert (run.config.imitation.dagger_rounds, run.config.imitation.ppo_from_dagger) == (0, False)


def test_without_rounds_of_dagger_a_variant_goes_on_from_the_clone(tmp_path):
    base = with_dagger(base_of("kl"), **{"imitation.dagger_rounds": 0})
    for run in plan(ABLATIONS["kl"], base, [0], tmp_path)[:-1]:
        assert run.start.imitation.dagger_rounds == 0
        assert run.config.initial_policy == f"{run.start.run_dir}/checkpoints/imitation"


def test_a_shared_dagger_takes_as_many_decisions_as_the_ppo_after_it(tmp_path):
    base = with_dagger(base_of("auxiliary"))
    ppo = base.ppo
    for run in plan(ABLATIONS["auxiliary"], base, [0], tmp_path):
        num_steps = 2 * run.start.imitation.dagger_steps
        assert num_steps == ppo.num_iterations * ppo.fragments_per_batch * ppo.fragment_steps


def test_dagger_beside_ppo_is_left_out_of_an_ablation(tmp_path):
    base = with_dagger(base_of("auxiliary"), **{"imitation.ppo_from_dagger": False})
    for run in plan(ABLATIONS["auxiliary"], base, [0], tmp_path):
        assert run.start.imitation.dagger_rounds == run.config.imitation.dagger_rounds == 0
        assert run.config.initial_policy == f"{run.start.run_dir}/checkpoints/imitation"


def test_a_run_starts_from_the_policy_of_its_clone(tmp_path):
    for run in plan(ABLATIONS["kl"], base_of("kl"), [0], tmp_path):
        if run.start is not None:
            assert run.config.initial_policy == f"{run.start.run_dir}/checkpoints/imitation"
            assert run.start.ppo.num_iterations == 0
            assert run.start.imitation == run.config.imitation
            assert run.start.env == run.config.env


def test_a_variant_without_ppo_is_the_run_that_the_others_start_from(tmp_path):
    first, alone, scratch = plan(ABLATIONS["pretraining"], base_of("pretraining"), [0], tmp_path)
    assert alone.config == first.start
    assert alone.start is None
    assert scratch.start is None
    assert scratch.config.initial_policy is None


def test_equal_runs_of_two_ablations_are_one_run(tmp_path):
    kl = plan(ABLATIONS["kl"], base_of("kl"), [0], tmp_path)[0]
    pretraining = plan(ABLATIONS["pretraining"], base_of("pretraining"), [0], tmp_path)[0]
    assert kl.config == pretraining.config
    assert len({run.run_dir for run in plan(ABLATIONS["kl"], base_of("kl"), [0, 1, 2], tmp_path)}) == 12


def test_a_run_is_found_again_wherever_the_recipe_would_have_put_it(tmp_path):
    base = base_of("kl")
    elsewhere = dataclasses.replace(base, run_dir="elsewhere")
    assert plan(ABLATIONS["kl"], elsewhere, [0], tmp_path) == plan(ABLATIONS["kl"], base, [0], tmp_path)


def test_every_goal_form_trains_the_same_network_from_the_same_weights():
    smoke = RECIPES["smoke"]()
    models = [
        PRODUCT.make_policy(changed(smoke, variant.settings)).state_dict() for variant in ABLATIONS["goal"].variants
    ]
    for model in models[1:]:
        assert model.keys() == models[0].keys()
        assert all(torch.equal(tensor, models[0][name]) for name, tensor in model.items())


def test_acting_in_turns_brings_staleness_0_along():
    options = read_ablation_options(ABLATIONS["kl"], ["--rollout.placement", "inline"])
    assert options.config.rollout.max_staleness == 0


def test_more_seeds_grow_a_table_and_other_settings_make_another(tmp_path):
    def stem(*args):
        return table_stem(ABLATIONS["kl"], read_ablation_options(ABLATIONS["kl"], ["--out", str(tmp_path), *args]))

    assert stem("--seeds", "0") == stem("--seeds", "0,1")
    assert stem().parent == tmp_path
    others = (("--num-tasks", "8"), ("--ppo.num-iterations", "3"), ("--suite", "laptop"), ("--variants", "no KL"))
    assert len({stem(), *(stem(*other) for other in others)}) == 5
    # A table of a few variants must not take the place of one of all.
    assert stem("--variants", "no KL", "beta 0.2") == stem("--variants", "beta 0.2", "no KL")


def test_chosen_variants_come_with_the_one_they_are_held_against():
    def chosen(name, *names):
        options = read_ablation_options(ABLATIONS[name], ["--variants", *names] if names else [])
        return [variant.name for variant in of_variants(ABLATIONS[name], options.variants).variants]

    assert chosen("goal", "kind_card") == ["cross_view", "kind_card"]
    assert chosen("pretraining", "PPO from scratch") == ["imitation, then PPO", "PPO from scratch"]
    assert chosen("kl", "beta 0.2", "beta 0.05") == ["beta 0.05", "beta 0.2"]
    assert chosen("kl") == [variant.name for variant in ABLATIONS["kl"].variants]
    with pytest.raises(ValueError, match="--variants no-KL: ablation kl has no such variant; .*no KL"):
        chosen("kl", "no-KL")
