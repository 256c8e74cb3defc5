"""One pass of a policy over a batch of fragments."""

from torch import Tensor

from mcrl.learning.batch import FragmentBatch
from mcrl.learning.losses import auxiliary_loss, cell_loss, extent_loss
from policies.device import device_of
from policies.interface import Evaluation, Policy
from policies.precision import Precision, autocast

# Summed over the cells, cross-entropy is some ten times what one visibility bit costs.
CELL_LOSS_COEF = 0.3


class Forward:
    """The passes of a policy that learns, in the way the learner's config asks for."""

    def __init__(self, policy: Policy, precision: Precision, *, recomputes_views: bool) -> None:
        """Change how `policy` computes its gradient, where asked; its results stay."""
        self._policy, self._precision = policy, precision
        policy.recomputes_views = recomputes_views
        self.device = device_of(policy)

    def __call__(self, batch: FragmentBatch) -> Evaluation:
        """Return what the policy says along the batch, which is on `device`, see `evaluate`."""
        return evaluate(self._policy, batch, self._precision)


def evaluate(policy: Policy, batch: FragmentBatch, precision: Precision) -> Evaluation:
    """Return what the policy says along the batch, which is where its weights are, in float32.

    Each goal is encoded once.
    """
    goals = batch.goals
    with autocast(precision, batch.action_BTA.device):
        encoded = policy.encode_goals(goals.image_GHWC, goals.mask_GHW, goals.interaction_G)
        evaluation = policy.evaluate(
            batch.image_BTHWC, encoded, batch.goal_index_BT, batch.first_BT, batch.previous_action_BTA, batch.memory
        )
    return Evaluation(
        logits_BTL=evaluation.logits_BTL.float(),
        value_BT=evaluation.value_BT.float(),
        auxiliary_BT7=evaluation.auxiliary_BT7.float(),
        cell_logit_BTK=None if evaluation.cell_logit_BTK is None else evaluation.cell_logit_BTK.float(),
        told_BTK3=evaluation.told_BTK3,
    )


def perception_loss(evaluation: Evaluation, batch: FragmentBatch) -> Tensor:
    """Return how badly the target was seen, a scalar: by the auxiliary predictions, and by the view's cells if any.

    That is where they see it and, if they tell, how large it is.
    """
    loss = auxiliary_loss(evaluation.auxiliary_BT7, batch.target_BT7, batch.is_valid_BT)
    if evaluation.cell_logit_BTK is None:
        return loss
    if evaluation.told_BTK3 is not None:
        loss = loss + extent_loss(evaluation.told_BTK3, batch.target_BT7, batch.is_valid_BT)
    return loss + CELL_LOSS_COEF * cell_loss(evaluation.cell_logit_BTK, batch.target_BT7, batch.is_valid_BT)
