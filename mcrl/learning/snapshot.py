"""What the weights at the start of an update say of a batch, pass by pass."""

import torch

from mcrl.learning.batch import FragmentBatch
from mcrl.learning.forward import Forward
from mcrl.learning.targets import Snapshot
from policies import action_codec


@torch.no_grad()
def take_snapshot(forward: Forward, batch: FragmentBatch, pass_sequences: int) -> Snapshot:
    """Return the present weights' view of the batch, computed in passes of `pass_sequences` as learning steps are.

    What is returned is on the CPU, wherever batch and policy are.
    """
    log_probs = [torch.zeros(0, batch.log_prob_BT.shape[1])]
    values = [torch.zeros(0, batch.log_prob_BT.shape[1])]
    for start in range(0, batch.num_sequences, pass_sequences):
        rows = torch.arange(start, min(start + pass_sequences, batch.num_sequences))
        part = batch.select(rows).to(forward.device)
        evaluation = forward(part)
        log_probs.append(action_codec.log_prob(evaluation.logits_BTL, part.action_BTA).cpu())
        values.append(evaluation.value_BT.cpu())
    return Snapshot(log_prob_BT=torch.cat(log_probs), value_BT=torch.cat(values))
