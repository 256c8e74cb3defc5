"""A run folder outlives the settings of its day: those added since have defaults, and it plays without those gone."""

import dataclasses
import json
from pathlib import Path

import pytest

from mcrl.config import TrainConfig, from_json, to_json
from mcrl.recipes import laptop
from mcrl.settings.ppo_config import LOSS_SETTINGS
from mcrl.settings.unknown_settings import for_playing
from mcrl.settings.younger_settings import YOUNGER_SETTINGS

GOLDEN = Path(__file__).parents[2] / "golden" / "config_of_2026.json"


def test_a_config_of_2026_can_be_read():
    """A new setting that makes this fail belongs in mcrl/settings/younger_settings.py; the file stays."""
    config = from_json(GOLDEN.read_text(encoding="ascii"), where=str(GOLDEN))
    assert (config.recipe, config.ppo.loss, config.imitation.num_demo_steps) == ("laptop", "ppo_clip", 120_000)


def test_a_run_from_before_a_loss_can_be_read_without_its_settings():
    assert LOSS_SETTINGS.keys() - YOUNGER_SETTINGS == {"clip_eps"}  # which has been there from the first


def with_skills(**shares):
    fields = json.loads(to_json(laptop()))
    fields["tasks"]["skills"] |= shares
    return fields


def test_a_skill_that_was_taken_back_matters_only_to_runs_that_had_it():
    assert from_json(json.dumps(with_skills(circle=0.0)), where="it") == laptop()
    with pytest.raises(ValueError, match=r"tasks.skills: \['circle'\] is unknown"):
        from_json(json.dumps(with_skills(circle=0.5)), where="it")


def test_what_was_taken_back_keeps_no_policy_from_playing():
    fields = with_skills(circle=0.5)
    fields["ppo"] |= {"loss": "spo", "spo_eps": 0.3, "learning_rate": 1e-5}
    fields["a_part"] = {"of": "a branch"}
    config = from_json(json.dumps(for_playing(TrainConfig, fields)), where="it")
    assert config == dataclasses.replace(laptop(), ppo=dataclasses.replace(laptop().ppo, learning_rate=1e-5))


def test_a_policy_that_knows_only_a_skill_that_was_taken_back_plays_what_there_is():
    fields = with_skills(approach=0.0, **{"break": 0.0}, circle=1.0)  # a config names all that there are
    config = from_json(json.dumps(for_playing(TrainConfig, fields)), where="it")
    assert config.tasks.skills == {"approach": 1.0}


def test_what_is_known_is_read_as_strictly_for_playing():
    fields = with_skills()
    fields["env"]["image_px"] = "large"
    with pytest.raises(ValueError, match="image_px"):
        from_json(json.dumps(for_playing(TrainConfig, fields)), where="it")
