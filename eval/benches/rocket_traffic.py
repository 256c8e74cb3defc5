"""What weight sync moves for the rocket preset: the whole model, what is trained, and its exact delta."""

import zlib

import numpy as np
import torch
from torch import Tensor

from eval.benches.throughput import Measurement, measured
from mcrl.dataflow.weights.double_buffer import DoubleBuffer
from mcrl.dataflow.weights.params import ParamLayout
from mcrl.dataflow.weights.snapshot import ParamSnapshot
from mcrl.dataflow.weights.weight_delta import encode_delta
from mcrl.learning.optimizer import make_adam
from policies import action_codec
from policies.interface import Policy
from policies.presets import PRESETS, build_policy

# The paper's, see mcrl.settings.ppo_config.
_LEARNING_RATE = 2e-5
_NUM_STEPS = 2


def bench_traffic(*, seed: int, preset: str = "rocket") -> list[Measurement]:
    """Measure the bytes of one version in every format, and how many times less that is than a whole-model broadcast.

    The delta is that of an optimizer step of the policy at its first weights on a made-up frame: Adam's first steps are
    its largest, lr for every weight. It is checked to give back the weights to the bit, so acting and learning are the
    same policy: |dlogp| is 0.
    """
    policy = build_policy(PRESETS[preset](), seed).eval()
    layout = ParamLayout(policy)
    adam = make_adam(policy, _LEARNING_RATE)
    snapshots: list[ParamSnapshot] = []
    for version in range(_NUM_STEPS + 1):
        snapshots.append(layout.snapshot(policy, version))
        if version < _NUM_STEPS:
            adam.zero_grad()
            _loss(policy, seed).backward()
            adam.step()
    base, new = snapshots[-2:]
    delta = encode_delta(base.flat_P, new.flat_P, base_version=base.version)
    buffer = DoubleBuffer(layout)
    is_exact = buffer.write_whole(base) and buffer.write_delta(new.header, delta.packed_N)
    assert is_exact, f"delta of checksum {zlib.crc32(new.flat_P.data)} does not give its weights back"
    whole_bytes = sum(parameter.nbytes for parameter in policy.parameters())
    changed = float(np.mean(base.flat_P != new.flat_P))
    rows = [("whole model", whole_bytes), ("trained", new.flat_P.nbytes), ("trained, delta", delta.packed_N.nbytes)]
    measurements = []
    for what, num_bytes in rows:
        fields: dict[str, str | int | float] = {
            "preset": preset,
            "what": what,
            "mb_per_version": round(num_bytes / 1e6, 2),
            "bits_per_trained_value": round(8 * num_bytes / new.flat_P.size, 2),
            "share_of_values_changed": round(changed, 3),
        }
        measurements.append(measured("times_less_than_whole_model", "ratio", [whole_bytes / num_bytes], fields))
    return measurements


def _loss(policy: Policy, seed: int) -> Tensor:
    """Return a loss that reaches every trained weight, on one made-up frame."""
    generator = torch.Generator().manual_seed(seed)
    side_px = policy.image_px
    image_GHWC = torch.randint(0, 256, (1, side_px, side_px, 3), generator=generator, dtype=torch.uint8)
    mask_GHW = torch.zeros(1, side_px, side_px, dtype=torch.bool)
    mask_GHW[:, side_px // 4 : side_px // 2, side_px // 4 : side_px // 2] = True
    evaluation = policy.evaluate(
        image_GHWC.flip(1).unsqueeze(1),
        policy.encode_goals(image_GHWC, mask_GHW, torch.tensor([2])),
        torch.zeros(1, 1, dtype=torch.int64),
        torch.ones(1, 1, dtype=torch.bool),
        torch.zeros(1, 1, len(action_codec.FACTORS), dtype=torch.int64),
        policy.initial_memory(1),
    )
    action_BTA = action_codec.sample(evaluation.logits_BTL.flatten(0, 1), generator).unsqueeze(1)
    log_prob_BT = action_codec.log_prob(evaluation.logits_BTL, action_BTA)
    return (evaluation.value_BT - 1).square().mean() - log_prob_BT.mean() + evaluation.auxiliary_BT7.square().mean()
