import dataclasses
import json
import math
import re

import pytest

from mcrl.config import (
    EnvConfig,
    ImitationConfig,
    LearnerConfig,
    PPOConfig,
    RewardConfig,
    RolloutConfig,
    TaskConfig,
    TrainConfig,
    from_json,
    read_config,
    to_json,
)
from mcrl.recipes import RECIPES


@pytest.mark.parametrize("name", sorted(RECIPES))
def test_every_recipe_survives_its_json(name):
    config = RECIPES[name]()
    assert from_json(to_json(config), where="config.json") == config
    assert config.recipe == name


@pytest.mark.parametrize(
    "name",
    [
        "mcrl.config",
        "mcrl.settings.imitation_config",
        "mcrl.settings.ppo_config",
        "mcrl.settings.task_config",
        "task_synthesis.playing.milestones",
    ],
)
def test_every_field_has_a_docstring(name):
    import ast
    import importlib
    import inspect

    module = importlib.import_module(name)
    for node in ast.parse(inspect.getsource(module)).body:
        if isinstance(node, ast.ClassDef):
            for field, following in zip(node.body, node.body[1:], strict=False):
                if isinstance(field, ast.AnnAssign):
                    is_documented = isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant)
                    assert is_documented, f"{node.name}.{ast.unparse(field.target)} has no docstring"


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: PPOConfig(clip_eps=1.5), "ppo.clip_eps"),
        (
            lambda: TaskConfig(num_same_kind=(0, 11)),
            "tasks.num_same_kind .* up to 15 objects .* 14 fit; lower its most",
        ),
        (lambda: TaskConfig(num_same_kind=(0, 5), companion_share=0.5), "up to 15 objects .* 3 others and companions"),
        (
            lambda: TaskConfig(skills={"approach": 1e308, "break": 1e308}),
            "tasks.skills sum to more than a number holds",
        ),
        (lambda: PPOConfig(kl_to_reference=0.0), "ppo.kl_to_reference"),
        (lambda: PPOConfig(loss="reinforce"), "ppo.loss must be one of ppo_clip, aipo"),
        (lambda: PPOConfig(loss="aipo", aipo_rho=0.5), "ppo.aipo_rho must be at least 1"),
        (lambda: PPOConfig(dual_clip=1.1), "ppo.dual_clip must be above"),
        (lambda: PPOConfig(loss="vtrace", vtrace_c_bar=2.0), "ppo.vtrace_c_bar"),
        (lambda: PPOConfig(loss="decoupled_ppo", behaviour_ratio_cap=0.0), "ppo.behaviour_ratio_cap"),
        (lambda: PPOConfig(kl_target=0.0), "ppo.kl_target must be positive"),
        (lambda: PPOConfig(kl_target=0.1, kl_to_reference=None), "ppo.kl_target needs a reference"),
        (lambda: PPOConfig(target_kl=0.02), "ppo.target_kl 0.02 is looked at between two epochs"),
        (lambda: PPOConfig(learning_rate=math.inf), "ppo.learning_rate must be positive and finite, got inf"),
        (lambda: ImitationConfig(learning_rate=0.0), "imitation.learning_rate must be positive and finite, got 0.0"),
        (lambda: LearnerConfig(timeout_s=math.inf), "learner.timeout_s must be positive and finite"),
        (lambda: RolloutConfig(placement="ray", collect_limit_s=math.nan), "rollout.collect_limit_s must be positive"),
        (lambda: TaskConfig(skills={"fly": 1.0}), "tasks.skills"),
        (lambda: TaskConfig(bands={}), "tasks.bands"),
        (
            lambda: TaskConfig(bands={"near": 1.0, "hard": 1.0}, side_blocks=64),
            "tasks.bands: 'hard' starts up to 60 blocks away, .* set tasks.side_blocks higher, or that",
        ),
        (lambda: RolloutConfig(num_workers=0), "rollout.num_workers"),
        (lambda: TrainConfig(recipe="x", rollout=RolloutConfig(max_staleness=1)), "rollout.max_staleness"),
        (
            lambda: RolloutConfig(exact_staleness=True, placement="ray"),
            "rollout.exact_staleness is for workers that take",
        ),
        (
            lambda: RolloutConfig(exact_staleness=True, ring_groups=2),
            "rollout.exact_staleness is for workers that take",
        ),
        (lambda: TrainConfig(recipe="x", rollout=RolloutConfig(envs_per_worker=48)), "ppo.fragments_per_batch"),
        (lambda: TrainConfig(recipe="x", report_suite=""), "report_suite is empty"),
        (lambda: EnvConfig(goal_form="oracle"), "env.goal_form"),
        (lambda: EnvConfig(image_px=100_000), "env.image_px must be at most 1024, got 100000"),
        (lambda: TrainConfig(recipe="x", num_threads=10**11), "num_threads must be at most 1024"),
        (lambda: RolloutConfig(num_workers=10**9), "rollout.num_workers must be at most 16384"),
        (lambda: TrainConfig(recipe="x", imitation=ImitationConfig(num_updates=0)), "ppo.kl_to_reference to None"),
        (
            lambda: TrainConfig(
                recipe="x", pretrained_weights="y", imitation=ImitationConfig(num_updates=0, control_updates=5)
            ),
            "imitation.control_updates to 0",
        ),
        (lambda: TrainConfig(recipe="x", initial_policy="y", ppo=PPOConfig(num_iterations=0)), "ppo.num_iterations 0"),
        (
            lambda: TrainConfig(
                recipe="x",
                pretrained_weights="y",
                imitation=ImitationConfig(num_updates=0),
                ppo=PPOConfig(num_iterations=0),
            ),
            "ppo.num_iterations 0 leaves nothing to do",
        ),
    ],
)
def test_a_wrong_value_is_refused_by_the_name_of_its_setting(make, name):
    with pytest.raises(ValueError, match=name):
        make()


def test_an_edited_config_is_refused_by_the_name_of_the_file():
    fields = json.loads(to_json(RECIPES["smoke"]()))
    fields["ppo"]["clip_epsilon"] = 0.2
    with pytest.raises(ValueError, match=r"run/config.json: ppo: .*clip_epsilon"):
        from_json(json.dumps(fields), where="run/config.json")
    for text in ("{", "[" * 100_000):
        with pytest.raises(ValueError, match=r"run/config.json is not JSON \(.*\); restore it"):
            from_json(text, where="run/config.json")


@pytest.mark.parametrize(
    ("part", "name", "value", "said"),
    [
        ("ppo", "num_iterations", "many", "ppo: num_iterations must be int, got 'many'"),
        ("ppo", "num_iterations", True, "ppo: num_iterations must be int, got True"),
        ("ppo", "kl_target", "x", "ppo: kl_target must be a finite float, got 'x'"),
        ("ppo", "loss", "ppo", "ppo: loss must be one of 'ppo_clip', "),
        ("tasks", "bands", {"near": "all"}, "tasks: bands.near must be a finite float, got 'all'"),
        ("tasks", "skills", [], "tasks: skills must be an object, got list"),
        ("env", "engine_options", "port=1", "env: engine_options must be a list, got str"),
        ("env", None, [1], "env must be an object, got list"),
    ],
)
def test_a_mistyped_value_is_refused_by_the_name_of_its_setting(part, name, value, said):
    fields = json.loads(to_json(RECIPES["smoke"]()))
    if name is None:
        fields[part] = value
    else:
        fields[part][name] = value
    with pytest.raises(ValueError, match=re.escape(f"run/config.json: {said}")):
        from_json(json.dumps(fields), where="run/config.json")


@pytest.mark.parametrize(
    ("part", "own", "named"),
    [
        ("ppo", {"max_grad_norm": math.inf}, "ppo.max_grad_norm"),
        ("imitation", {"pair_coef": math.inf}, "imitation.pair_coef"),
        ("tasks", {"skills": {"approach": math.inf}}, "tasks.skills.approach"),
        ("env", {"rewards": RewardConfig(shaping_per_block=math.inf)}, "env.rewards.shaping_per_block"),
    ],
)
def test_a_number_that_could_not_be_read_back_is_refused_before_anything_is_done(part, own, named):
    config = RECIPES["smoke"]()
    with pytest.raises(ValueError, match=f"^{named} must be finite, got inf$"):
        dataclasses.replace(config, **{part: dataclasses.replace(getattr(config, part), **own)})


def test_a_whole_number_is_a_number():
    fields = json.loads(to_json(RECIPES["smoke"]()))
    fields["ppo"]["discount"] = 1
    assert from_json(json.dumps(fields), where="config.json").ppo.discount == 1.0


def test_a_config_older_than_a_setting_reads_as_it_was():
    config = RECIPES["smoke"]()
    fields = json.loads(to_json(config))
    del fields["tasks"]["curriculum"], fields["env"]["rewards"], fields["env"]["goal_form"], fields["initial_policy"]
    for name in ("dagger_rounds", "dagger_steps", "dagger_updates", "dagger_beta"):
        del fields["imitation"][name]
    for name in ("loss", "dual_clip", "aipo_rho", "vtrace_rho_bar", "vtrace_c_bar", "behaviour_ratio_cap"):
        del fields["ppo"][name]
    del fields["ppo"]["kl_target"], fields["ppo"]["value_normalisation"]
    del fields["pretrained_weights"], fields["report"], fields["report_suite"]
    assert from_json(json.dumps(fields), where="config.json") == config
    assert config.imitation.dagger_rounds == 0
    assert config.tasks.curriculum.order == "shuffled"
    assert not config.env.rewards.is_on
    assert config.env.goal_form == "cross_view"
    assert config.initial_policy is None
    assert (config.ppo.loss, config.ppo.kl_target, config.ppo.value_normalisation) == ("ppo_clip", None, False)
    assert config.pretrained_weights is None
    assert (config.report, config.report_suite) == (True, "laptop")


def test_a_config_that_is_no_text_is_one_sentence_that_names_the_file(tmp_path):
    path = tmp_path / "config.json"
    path.write_bytes(to_json(RECIPES["smoke"]()).encode().replace(b"smoke", b"smok\xe9"))
    with pytest.raises(ValueError, match=f"^{path}: is no text in UTF-8; restore it from a copy$"):
        read_config(path)


def test_a_config_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        RECIPES["smoke"]().seed = 1


def test_two_words_for_one_placement_take_the_same_rings():
    rollout = RolloutConfig(placement="split", num_workers=2, ring_groups=4, max_staleness=1)
    smoke = RECIPES["smoke"]()
    dataclasses.replace(smoke, rollout=dataclasses.replace(rollout, envs_per_worker=16))
    with pytest.raises(ValueError, match=r"max_staleness 1 does nothing in placement colocated"):
        dataclasses.replace(smoke, rollout=dataclasses.replace(rollout, placement="colocated", envs_per_worker=16))


@pytest.mark.parametrize(
    ("rollout", "ppo"),
    [
        ({"ring_groups": 4}, {}),
        ({"placement": "ray", "inference": "remote"}, {}),
        ({"placement": "ray"}, {"duration_weighting": "linear"}),
        ({"placement": "ray"}, {"duration_weighting": "ipw"}),
    ],
)
def test_a_run_that_draws_or_weighs_by_the_clock_cannot_be_promised_to_repeat(rollout, ppo):
    smoke = RECIPES["smoke"]()
    config = dataclasses.replace(
        smoke,
        rollout=dataclasses.replace(smoke.rollout, **rollout),
        ppo=dataclasses.replace(smoke.ppo, **ppo),
    )
    with pytest.raises(ValueError, match="deterministic: "):
        dataclasses.replace(config, deterministic=True)
