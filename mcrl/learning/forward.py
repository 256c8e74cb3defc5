"""One pass of a policy over a batch of fragments."""

from mcrl.learning.batch import FragmentBatch
from policies.interface import Evaluation, Policy
from policies.precision import Precision, autocast


def evaluate(policy: Policy, batch: FragmentBatch, precision: Precision) -> Evaluation:
    """Return what the policy says along the batch, in float32; each goal is encoded once."""
    goals = batch.goals
    with autocast(precision, "cpu"):
        encoded = policy.encode_goals(goals.image_GHWC, goals.mask_GHW, goals.interaction_G)
        evaluation = policy.evaluate(
            batch.image_BTHWC, encoded, batch.goal_index_BT, batch.first_BT, batch.previous_action_BTA, batch.memory
        )
    return Evaluation(
        logits_BTL=evaluation.logits_BTL.float(),
        value_BT=evaluation.value_BT.float(),
        auxiliary_BT7=evaluation.auxiliary_BT7.float(),
    )
