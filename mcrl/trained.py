"""The policy of a checkpoint."""

from pathlib import Path

import torch

from mcrl import assembly, checkpoint
from mcrl.config import TrainConfig
from policies.device import CPU
from policies.interface import Policy


def load_policy(folder: Path, config: TrainConfig, *, device: torch.device = CPU) -> Policy:
    """Return the policy of a checkpoint on `device`, ready to act; ValueError names what does not fit."""
    policy = assembly.make_policy(config).to(device)
    checkpoint.load_into(policy, checkpoint.load(folder).model, where=folder)
    return policy.eval()  # its weights keep their gradients: autocast keeps casts of no others (agent.casts_kept)
