"""A run folder outlives the settings of its day: those added since have defaults."""

from pathlib import Path

from mcrl.config import from_json
from mcrl.settings.ppo_config import LOSS_SETTINGS
from mcrl.settings.younger_settings import YOUNGER_SETTINGS

GOLDEN = Path(__file__).parents[2] / "golden" / "config_of_2026.json"


def test_a_config_of_2026_can_be_read():
    """A new setting that makes this fail belongs in mcrl/settings/younger_settings.py; the file stays."""
    config = from_json(GOLDEN.read_text(encoding="ascii"), where=str(GOLDEN))
    assert (config.recipe, config.ppo.loss, config.imitation.num_demo_steps) == ("laptop", "ppo_clip", 120_000)


def test_a_run_from_before_a_loss_can_be_read_without_its_settings():
    assert LOSS_SETTINGS.keys() - YOUNGER_SETTINGS == {"clip_eps"}  # which has been there from the first
