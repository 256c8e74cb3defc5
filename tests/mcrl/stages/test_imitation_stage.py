"""Claims about the first stage of a run."""

import dataclasses

from mcrl.config import PPOConfig
from mcrl.telemetry.metrics import read_metrics
from mcrl.train import train
from tests.mcrl.corridor_policy import CORRIDOR
from tests.mcrl.corridor_run import make_config


def test_every_tenth_update_is_logged_and_every_validation_with_its_loss(tmp_path):
    config = make_config(tmp_path, ppo=PPOConfig(num_iterations=0))
    train(
        dataclasses.replace(config, imitation=dataclasses.replace(config.imitation, val_every_updates=7)),
        parts=CORRIDOR,
    )
    lines = [line for line in read_metrics(tmp_path / "run" / "metrics.jsonl") if line["stage"] == "imitation"]
    assert [line["step"] for line in lines] == [7, 10, 14, 20]
    assert [line["step"] for line in lines if "val_loss" in line] == [7, 14, 20]
