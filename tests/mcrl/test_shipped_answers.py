"""The policies that come with the package answer as they did when they were trained: the network is theirs."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
import torch

from mcrl.run_folder import config_of
from mcrl.trained import load_policy
from policies import action_codec
from policies.shipped import shipped_folder, shipped_names
from task_synthesis.interaction import Interaction

GOLDEN = Path(__file__).parents[1] / "golden" / "shipped_answers.json"
NUM_STEPS, NUM_PATCHES = 3, 8
# A CPU that rounds differently may see a byte of a likeness differ; of a network with another constant more does.
TOLERANCE = 0.02


@torch.no_grad()
def answers_of(name: str) -> dict[str, list[float]]:
    """Logits and values along an episode whose views are the goal picture moved: grainy patches, two marked."""
    folder = shipped_folder(name)
    policy = load_policy(folder, config_of(folder))
    side_px = policy.image_px // NUM_PATCHES
    rng = np.random.default_rng(0)
    smooth_HWC = rng.integers(256, size=(NUM_PATCHES, NUM_PATCHES, 3)).repeat(side_px, 0).repeat(side_px, 1)
    goal_HWC = np.clip(smooth_HWC + rng.integers(-30, 30, size=smooth_HWC.shape), 0, 255).astype(np.uint8)
    mask_HW = np.zeros(goal_HWC.shape[:2], bool)
    mask_HW[3 * side_px : 4 * side_px, 2 * side_px : 4 * side_px] = True
    view_THWC = np.stack([np.roll(goal_HWC, (step * 5, step * 11), (0, 1)) for step in range(NUM_STEPS)])
    goals = policy.encode_goals(
        torch.from_numpy(goal_HWC[None]), torch.from_numpy(mask_HW[None]), torch.tensor([int(Interaction.APPROACH)])
    )
    evaluation = policy.evaluate(
        torch.from_numpy(view_THWC[None]),
        goals,
        torch.zeros(1, NUM_STEPS, dtype=torch.int64),
        torch.tensor([[True, False, False]]),
        torch.tensor(action_codec.REST_ACTION).repeat(1, NUM_STEPS, 1),
        policy.initial_memory(1),
    )
    answers = {"logits": evaluation.logits_BTL, "values": evaluation.value_BT}
    return {part: [round(number, 4) for number in tensor.flatten().tolist()] for part, tensor in answers.items()}


@pytest.mark.parametrize("name", shipped_names())
def test_a_shipped_policy_answers_as_it_did_when_it_was_trained(name):
    """For a policy shipped anew: run with MCRL_UPDATE_GOLDEN=1."""
    stored = json.loads(GOLDEN.read_text(encoding="utf-8")) if GOLDEN.exists() else {}
    if os.environ.get("MCRL_UPDATE_GOLDEN"):
        stored |= {name: answers_of(name)}
        GOLDEN.write_text(json.dumps(dict(sorted(stored.items())), indent=1) + "\n", encoding="utf-8")
    for part, numbers in answers_of(name).items():
        np.testing.assert_allclose(numbers, stored[name][part], rtol=0, atol=TOLERANCE, err_msg=part)
