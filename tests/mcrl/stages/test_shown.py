"""Claims about what the expert shows a run, and the control that goes on cloning."""

import dataclasses

from mcrl.config import PPOConfig
from mcrl.stages import imitation_stage, shown
from mcrl.train import train
from tests.mcrl.corridor_policy import CORRIDOR
from tests.mcrl.corridor_run import make_config


def with_control(tmp_path):
    config = make_config(tmp_path, ppo=PPOConfig(num_iterations=0))
    return dataclasses.replace(config, imitation=dataclasses.replace(config.imitation, control_updates=5))


def test_the_control_is_shown_fresh_train_tasks_and_the_same_val_tasks(tmp_path, monkeypatch):
    recorded, recording_env = [], shown.recording_env

    def noting(run, tasks, split, num_steps, seed):
        recorded.append((split, seed))
        return recording_env(run, tasks, split, num_steps, seed)

    monkeypatch.setattr(shown, "recording_env", noting)
    train(with_control(tmp_path), parts=CORRIDOR)
    (_, clone_train), (_, clone_val), (_, control_train), (_, control_val) = recorded
    assert [split for split, _ in recorded] == ["train", "val"] * 2
    assert clone_train != control_train
    assert clone_val == control_val


def test_the_control_goes_on_for_its_updates_at_half_the_learning_rate(tmp_path, monkeypatch):
    learned, learn = [], imitation_stage.learn

    def noting(run, policy, train, val, config, stage, **named):
        learned.append((stage, config.num_updates, config.learning_rate))
        return learn(run, policy, train, val, config, stage, **named)

    monkeypatch.setattr(imitation_stage, "learn", noting)
    config = with_control(tmp_path)
    train(config, parts=CORRIDOR)
    clone = config.imitation
    assert learned == [
        ("imitation", clone.num_updates, clone.learning_rate),
        ("imitation-long", clone.control_updates, clone.learning_rate / 2),
    ]
