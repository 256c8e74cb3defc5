"""The clipped objective against TorchRL's, which is no dependency: CI installs it. GAE and V-trace: test_vtrace.py."""

import numpy as np
import pytest
import torch

from mcrl.learning.losses import ppo_clip

objectives = pytest.importorskip(
    "torchrl.objectives", reason="the oracle torchrl is not installed; it is no dependency"
)

NUM_STEPS, NUM_ACTIONS, CLIP_EPS = 200, 5, 0.2


def make_loss(logits_NL: torch.nn.Parameter):
    """TorchRL's loss of a policy whose logits at step n are row n of a table."""
    from tensordict.nn import ProbabilisticTensorDictModule, ProbabilisticTensorDictSequential, TensorDictModule

    table = torch.nn.Module()
    table.logits_NL = logits_NL
    table.forward = lambda index_N: table.logits_NL[index_N]
    actor = ProbabilisticTensorDictSequential(
        TensorDictModule(table, in_keys=["step"], out_keys=["logits"]),
        ProbabilisticTensorDictModule(
            in_keys=["logits"],
            out_keys=["action"],
            distribution_class=torch.distributions.Categorical,
            return_log_prob=True,
        ),
    )
    return objectives.ClipPPOLoss(
        actor, None, clip_epsilon=CLIP_EPS, entropy_bonus=False, normalize_advantage=False, critic_coeff=None
    )


def test_the_clipped_objective_its_gradient_and_the_clipped_share_are_torchrls():
    from tensordict import TensorDict

    rng = np.random.default_rng(0)
    logits_NL = torch.nn.Parameter(torch.tensor(rng.normal(size=(NUM_STEPS, NUM_ACTIONS))))
    action_N = torch.tensor(rng.integers(0, NUM_ACTIONS, NUM_STEPS))
    advantage_N = torch.tensor(rng.normal(size=NUM_STEPS))
    log_prob_N = logits_NL.log_softmax(-1).gather(1, action_N[:, None]).squeeze(1)
    behaviour_N = (log_prob_N + torch.tensor(rng.normal(0, 0.4, NUM_STEPS))).detach()

    ours, clip_fraction = ppo_clip(
        (log_prob_N - behaviour_N)[None],
        advantage_N[None],
        torch.ones(1, NUM_STEPS, dtype=torch.bool),
        clip_eps=CLIP_EPS,
    )
    (our_gradient,) = torch.autograd.grad(ours, logits_NL)

    loss = make_loss(logits_NL)
    steps = {"step": torch.arange(NUM_STEPS), "action": action_N, "advantage": advantage_N[:, None]}
    batch = TensorDict(steps | {loss.tensor_keys.sample_log_prob: behaviour_N}, batch_size=[NUM_STEPS])
    result = loss(batch)
    theirs = result["loss_objective"]
    (their_gradient,) = torch.autograd.grad(theirs, list(loss.actor_network_params.values(True, True)))

    torch.testing.assert_close(ours, theirs)
    torch.testing.assert_close(our_gradient, their_gradient)
    assert 0.2 < float(clip_fraction) < 0.9
    torch.testing.assert_close(clip_fraction, result["clip_fraction"].to(clip_fraction.dtype))
