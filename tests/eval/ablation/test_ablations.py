"""Claims about ablations: what their variants change, which runs they share, and what the table says."""

import dataclasses
import json

import pytest
import torch

from eval.ablation.ablation_curves import variant_curves
from eval.ablation.ablation_plan import plan
from eval.ablation.ablation_run import VariantResult
from eval.ablation.ablation_table import AblationTable, markdown, variant_rows, write_table
from eval.ablation.ablations import ABLATIONS, Ablation, Variant, changed, setting_of
from eval.numbers.statistics import compare_paired, wilson_interval
from mcrl.assembly import PRODUCT
from mcrl.commands.evaluation.ablate import of_variants, read_ablation_options, table_stem
from mcrl.recipes import RECIPES
from mcrl.telemetry.metrics import MetricsLog

BASE = RECIPES["smoke"]()
TWO = Ablation(name="two", question="?", variants=(Variant(name="first"), Variant(name="second")))


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


def test_every_goal_form_trains_the_same_network_from_the_same_weights():
    smoke = RECIPES["smoke"]()
    models = [
        PRODUCT.make_policy(changed(smoke, variant.settings)).state_dict() for variant in ABLATIONS["goal"].variants
    ]
    for model in models[1:]:
        assert model.keys() == models[0].keys()
        assert all(torch.equal(tensor, models[0][name]) for name, tensor in model.items())


def result(variant, seed, success, learning_s=60.0):
    return VariantResult(
        variant=variant,
        seed=seed,
        run_dir=f"runs/{variant}{seed}",
        success_N=tuple(None if s is None else bool(s) for s in success),
        commit="abc",
        ppo_ticks=1000,
        expert_ticks=500,
        learning_s=learning_s,
    )


def made_table(rows, failures=()):
    return AblationTable(
        ablation="two",
        question="Which?",
        command="mcrl ablate two",
        commit="abc",
        date="today",
        judged_on="val",
        num_tasks=8,
        rows=rows,
        failures=failures,
    )


RESULTS = [
    result("first", 0, [1, 0, 0, 0, 0, 0, 0, 0]),
    result("second", 0, [1, 1, 1, 1, 1, 0, 0, 0]),
    result("first", 1, [0, 0, 0, 0, 0, 0, 0, 1]),
    result("second", 1, [1, 1, 0, 0, 0, 0, 0, 0], learning_s=120.0),
]


def test_differences_are_paired_by_seed_and_task():
    first, second = variant_rows(TWO, RESULTS)
    assert (first.difference, first.p_pooled, first.p_by_seed) == (None, None, ())
    assert first.rate.value == pytest.approx(1 / 8)
    assert second.rate_by_seed == (5 / 8, 2 / 8)
    assert second.difference_by_seed == (4 / 8, 1 / 8)
    assert second.difference.value == pytest.approx(2.5 / 8)
    # 4 : 0 and 2 : 1 tasks that one alone solved, 6 : 1 together.
    assert second.p_by_seed == pytest.approx((0.125, 1.0))
    assert second.p_pooled == pytest.approx(0.125)
    assert second.learning_s == 90.0


def test_an_interval_over_seeds_is_students():
    _, second = variant_rows(TWO, RESULTS)
    # Mean 5 / 16, standard error 3 / 16, and 12.706 of it with one degree of freedom: all there can be.
    assert (second.difference.low, second.difference.high) == (-1.0, 1.0)
    three = [result("first", seed, [0] * 10) for seed in range(3)]
    three += [result("second", seed, [1] * (4 + seed) + [0] * (6 - seed)) for seed in range(3)]
    row = variant_rows(TWO, three)[1]
    assert row.difference.value == pytest.approx(0.5)
    assert row.difference.high - 0.5 == pytest.approx(4.30265 * 0.1 / 3**0.5, rel=1e-4)


def test_one_seed_has_intervals_over_tasks():
    first, second = variant_rows(TWO, RESULTS[:2])
    assert (first.rate.low, first.rate.high) == pytest.approx(wilson_interval(1, 8))
    paired = compare_paired(RESULTS[1].success_N, RESULTS[0].success_N)
    assert (second.difference.low, second.difference.high) == (paired.low, paired.high)


def test_tasks_that_the_engine_failed_count_for_neither_side():
    faulty = [result("first", 0, [1, 0, None, 0]), result("second", 0, [1, 1, 1, None])]
    first, second = variant_rows(TWO, faulty)
    assert (first.rate.low, first.rate.high) == pytest.approx(wilson_interval(1, 3))
    assert second.rate_by_seed == (1.0,)
    assert second.difference_by_seed == (1 / 2,)
    assert (first.num_faults, second.num_faults) == (1, 1)
    assert "count for nobody: first 1, second 1." in markdown(made_table(variant_rows(TWO, faulty)))
    assert "count for nobody" not in markdown(made_table(variant_rows(TWO, RESULTS)))


def test_runs_without_a_task_that_both_finished_are_not_compared():
    rows = variant_rows(TWO, [result("first", 0, [1, None]), result("second", 0, [None, 1])])
    assert (rows[1].difference, rows[1].p_pooled, rows[1].difference_by_seed) == (None, None, ())


def test_a_table_of_unfinished_runs_shows_what_there_is():
    rows = variant_rows(TWO, [RESULTS[0], RESULTS[1], RESULTS[3]])
    assert [row.seeds for row in rows] == [(0,), (0, 1)]
    assert rows[1].difference_by_seed == (4 / 8,)
    only_second = variant_rows(TWO, [RESULTS[3]])
    assert only_second[0].difference is None


def test_the_table_is_written_as_markdown_and_json(tmp_path):
    table = made_table(variant_rows(TWO, RESULTS), failures=("two, third, seed 0: it failed",))
    write_table(table, tmp_path / "two_far.v1")
    text = (tmp_path / "two_far.v1.md").read_text()
    assert text == markdown(table)
    assert "| second | 43.8 [0.0, 100.0] | 62.5, 25.0 | +31.2 [-100.0, +100.0] | +50.0, +12.5 |" in text
    assert "- two, third, seed 0: it failed" in text
    read = json.loads((tmp_path / "two_far.v1.json").read_text())
    assert read["rows"][1]["difference"]["value"] == pytest.approx(2.5 / 8)


def write_way(run_dir, updates):
    log = MetricsLog(run_dir / "metrics.jsonl")
    run_dir.mkdir()
    log.write("imitation", 1, {"elapsed_s": 99.0})
    for step, (update_s, num_episodes, success) in enumerate(updates, start=1):
        solved = {} if num_episodes == 0 else {"success": success}
        times = {"take_s": update_s / 2, "learn_s": update_s / 2, "lag_mean": 1.0}
        log.write("ppo", step, {**times, "episodes": num_episodes, **solved})
    return dataclasses.replace(RESULTS[0], variant=run_dir.name, run_dir=run_dir)


def test_a_slower_variant_has_had_fewer_samples_in_the_time_of_the_fastest(tmp_path):
    rising = [(1.0, 4, step / 8) for step in range(1, 9)]
    fast = write_way(tmp_path / "fast", rising)
    slow = write_way(tmp_path / "slow", [(2.0, ended, success) for _, ended, success in rising])
    curves = variant_curves([fast, slow])
    assert [curve.at_samples for curve in curves] == [(0.25, 0.5, 0.75, 1.0)] * 2
    assert curves[0].at_time == (0.25, 0.5, 0.75, 1.0)
    assert curves[1].at_time == (0.125, 0.25, 0.375, 0.5)
    assert [(curve.ppo_s, curve.lag_mean) for curve in curves] == [(8.0, 1.0), (16.0, 1.0)]


def test_a_rate_is_of_the_episodes_that_ended_and_none_where_none_did(tmp_path):
    # A tenth of 20 updates is 2: of each pair one ended many episodes, the other few.
    updates = [(1.0, 0, 0.0)] * 10 + [(1.0, 9, 1.0), (1.0, 1, 0.0)] * 5
    (curve,) = variant_curves([write_way(tmp_path / "run", updates)])
    assert curve.at_samples == (None, None, pytest.approx(0.9), pytest.approx(0.9))


def test_runs_without_ppo_have_no_curve(tmp_path):
    assert variant_curves([write_way(tmp_path / "alone", [])]) == ()


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
