"""Claims about what the expert shows a run."""

import dataclasses

from mcrl.config import PPOConfig
from mcrl.stages import shown
from mcrl.train import train
from tests.mcrl.corridor_policy import CORRIDOR
from tests.mcrl.corridor_run import make_config


def test_the_control_is_shown_fresh_train_tasks_and_the_same_val_tasks(tmp_path, monkeypatch):
    recorded, recording_env = [], shown.recording_env

    def noting(run, tasks, split, num_steps, seed):
        recorded.append((split, seed))
        return recording_env(run, tasks, split, num_steps, seed)

    monkeypatch.setattr(shown, "recording_env", noting)
    config = make_config(tmp_path, ppo=PPOConfig(num_iterations=0))
    train(
        dataclasses.replace(config, imitation=dataclasses.replace(config.imitation, control_updates=5)), parts=CORRIDOR
    )
    (_, clone_train), (_, clone_val), (_, control_train), (_, control_val) = recorded
    assert [split for split, _ in recorded] == ["train", "val"] * 2
    assert clone_train != control_train
    assert clone_val == control_val
