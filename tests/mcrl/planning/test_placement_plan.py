import dataclasses
import json

import pytest

from mcrl.cli import main
from mcrl.dataflow.groups.placement import ROLES, PlacementPlan, read_plan, standard_plan
from mcrl.planning.components import ComponentTimes, read_components
from mcrl.recipes import RECIPES

SPLIT = """
placement: split
num_workers: 2
max_staleness: 1
pools: {here: 1, there: 2}
roles: {learner: here, evaluator: here, rollout: there, inference: there, reference: there}
"""


def write_measured(path, times):
    """Write measurements as `mcrl plan --out` does."""
    path.write_text(json.dumps({"measured": dataclasses.asdict(times)}))


def refusal(capsys, *argv):
    capsys.readouterr()
    assert main([str(arg) for arg in argv]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    return line


def components(**changes):
    fields = dict.fromkeys(("publish_s", "load_s", "receive_s", "call_s", "fragment_bytes", "weight_bytes"), 0.0)
    fields |= {"collect_s": 0.5, "learn_s": 0.4, "num_cores": 2.0} | changes
    return ComponentTimes(recipe="smoke", envs_per_worker=16, fragment_steps=16, fragments_per_batch=16, **fields)


@pytest.mark.parametrize(("kind", "staleness"), [("inline", 0), ("colocated", 0), ("split", 2)])
def test_a_standard_plan_is_read_back_as_it_was_written(tmp_path, kind, staleness):
    plan = standard_plan(kind, num_workers=1, max_staleness=staleness)
    path = tmp_path / "plan.json"
    path.write_text(json.dumps({"plan": dataclasses.asdict(plan), "measured": {}}))
    assert read_plan(path) == plan
    assert set(plan.roles) == set(ROLES)


def test_a_plan_by_hand_places_the_rollout(tmp_path):
    path = tmp_path / "plan.yaml"
    path.write_text(SPLIT)
    config = RECIPES["smoke"]()
    rollout = dataclasses.replace(config.rollout, placement="split", num_workers=2, max_staleness=1)
    assert read_plan(path).apply(config) == dataclasses.replace(config, rollout=rollout)


def test_an_evaluator_in_another_pool_than_the_learner_is_a_process_with_something_to_do():
    plan = standard_plan("split", num_workers=1, max_staleness=0)
    roles = {**plan.roles, "evaluator": "actors"}
    beside = dataclasses.replace(plan, pools={"main": 1, "actors": 2}, roles=roles).apply(RECIPES["smoke"]())
    assert (beside.rollout.num_evaluators, beside.val_every) == (1, beside.checkpoint_every)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("split", "beside", "placement must be inline, colocated or split, got 'beside'"),
        ("split", "colocated", "learner and rollout take turns: they need one pool and max_staleness 0"),
        ("there: 2", "there: 1", "pools.there has 1 processors, its 2 processes need one each"),
        ("evaluator: here", "evaluator: there", "pools.there has 2 processors, its 3 processes need one each"),
        ("reference: there", "reference: here", "roles.reference runs in the processes of rollout"),
        ("learner: here", "learner: nowhere", "roles.learner is in pool 'nowhere', which is not among the pools"),
        ("pools: {here: 1,", "pools: {here: 1, spare: 3,", "pools.spare has no role"),
        ("{here: 1,", "{here: 0,", "pools.here must have at least 1 processor"),
        ("{here: 1,", "{here: many,", "pools.here must be an integer, got 'many'"),
        ("evaluator: here, ", "", "roles must name a pool for each of rollout"),
        ("num_workers: 2", "num_workers: 0", "num_workers must be at least 1"),
        ("num_workers: 2", "workers: 2", "num_workers is missing; is workers meant to be it?"),
        ("placement", "gpus: 1\nplacement", "gpus is not a field"),
    ],
)
def test_a_bad_plan_is_one_sentence(tmp_path, capsys, before, after, expected):
    path = tmp_path / "plan.yaml"
    assert before in SPLIT
    path.write_text(SPLIT.replace(before, after, 1))
    line = refusal(capsys, "train", "smoke", "--plan", path)
    assert expected in line
    assert str(path) in line


def test_a_plan_that_is_not_there_names_the_command(tmp_path, capsys):
    assert "mcrl plan --out" in refusal(capsys, "train", "smoke", "--plan", tmp_path / "plan.json")


def test_options_count_more_than_the_plan(tmp_path, capsys):
    path = tmp_path / "plan.yaml"
    path.write_text(SPLIT)
    assert main(["train", "smoke", f"--plan={path}", "--placement", "inline", "--print-config"]) == 0
    rollout = json.loads(capsys.readouterr().out)["rollout"]
    assert (rollout["placement"], rollout["max_staleness"]) == ("inline", 0)
    line = refusal(capsys, "train", "smoke", f"--plan={path}", "--placement", "inline", "--rollout.max-staleness", "1")
    assert "rollout.max_staleness 1 does nothing in placement inline" in line


def test_an_address_does_nothing_inline(capsys):
    assert "add --placement ray" in refusal(capsys, "train", "smoke", "--ray-address", "auto")


def test_plans_are_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        standard_plan("inline", num_workers=1, max_staleness=0).num_workers = 2
    assert PlacementPlan.__slots__


def test_measurements_are_read_back_as_they_were_written(tmp_path):
    times = components(detail={"act_s/1": 0.1})
    write_measured(tmp_path / "m.json", times)
    assert read_components(tmp_path / "m.json") == times


@pytest.mark.parametrize(
    "damage",
    [
        lambda fields: fields.pop("learn_s"),
        lambda fields: fields.update(learn_s="fast"),
        lambda fields: fields.update(learn_s=0),
        lambda fields: fields.update(collect_s=-1.0),
        lambda fields: fields.update(format_version=99),
        lambda fields: fields.update(fragments_per_batch=17),
        lambda fields: fields.update(num_cores=True),
    ],
)
def test_damaged_measurements_are_one_sentence(tmp_path, damage):
    fields = dataclasses.asdict(components())
    damage(fields)
    path = tmp_path / "m.json"
    path.write_text(json.dumps(fields))
    with pytest.raises(ValueError, match=r"m\.json: "):
        read_components(path)


@pytest.mark.parametrize("text", ["{", "[" * 200_000, "9" * 5000], ids=["torn", "deep", "long"])
def test_measurements_that_are_no_json_are_one_sentence(tmp_path, text):
    (tmp_path / "m.json").write_text(text)
    with pytest.raises(ValueError, match=r"m\.json: not JSON, so no file of `mcrl plan --out`"):
        read_components(tmp_path / "m.json")


@pytest.mark.parametrize(("name", "found"), [("", "a folder"), ("missing.json", "no such file")])
def test_measurements_that_are_no_file_name_the_command(tmp_path, name, found):
    with pytest.raises(ValueError, match=rf"{found}; give a file that `mcrl plan --out FILE` wrote"):
        read_components(tmp_path / name)


def test_a_plan_from_measurements_can_be_followed(tmp_path, capsys):
    pytest.importorskip("simpy", reason="the planner's extra is not installed: pip install 'mcrl[plan]'")
    write_measured(tmp_path / "m.json", components())
    out = tmp_path / "plan.json"
    argv = ["plan", "smoke", "--measured", str(tmp_path / "m.json"), "--out", str(out), "--max-workers", "16"]
    assert main(argv) == 0
    printed = capsys.readouterr().out
    assert "picked: " in printed
    result = json.loads(out.read_text())
    assert read_plan(out).placement == result["plan"]["placement"]
    assert {row["placement"] for row in result["placements"]} == {"inline", "colocated", "split"}
    assert result["cluster"][-1]["num_workers"] == 16
    assert main([*argv[:2], "--measured", str(out), "--json", "-", "--max-workers", "1"]) == 0
    assert json.loads(capsys.readouterr().out)["plan"] == result["plan"]
    for recipe, said in (
        ("smoke", ""),
        ("laptop", f"{out}: measured for recipe smoke; laptop is placed by it all the same\n"),
    ):
        assert main(["train", recipe, "--plan", str(out), "--print-config"]) == 0
        assert capsys.readouterr().err == said


def test_measurements_of_another_recipe_are_refused(tmp_path, capsys):
    pytest.importorskip("simpy", reason="the planner's extra is not installed: pip install 'mcrl[plan]'")
    write_measured(tmp_path / "m.json", components())
    assert "of recipe smoke, not of laptop" in refusal(capsys, "plan", "laptop", "--measured", tmp_path / "m.json")


def test_more_learners_than_a_step_has_fragments_are_refused_before_anything_is_measured(capsys):
    pytest.importorskip("simpy", reason="the planner's extra is not installed: pip install 'mcrl[plan]'")
    said = refusal(capsys, "plan", "smoke", "--num-learners", "9")
    assert "learner.num_processes 9 must be at most ppo.minibatch_sequences 8" in said


def test_validation_takes_no_recipe(capsys):
    pytest.importorskip("simpy", reason="the planner's extra is not installed: pip install 'mcrl[plan]'")
    assert "takes no recipe" in refusal(capsys, "plan", "smoke", "--validate")
