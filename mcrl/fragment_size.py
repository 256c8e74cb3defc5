"""How large a run's fragments are, for those who make room for them."""

import torch

from mcrl.config import TrainConfig
from policies.interface import Policy

# Goals of a fragment: its first and, at 20 decisions an episode, one or two more. Four is a safe upper end.
_GOALS = 4
# Bytes of numbers a step besides view and logits: actions, log-probability, values, labels, a critic's situation.
_STEP_BYTES = 512


def fragment_bytes(config: TrainConfig, policy: Policy) -> int:
    """Return about how large one fragment is: what was seen, goals, the policy's memory and numbers of every step.

    Of a policy with a frozen part a view is what that part makes of it; with a reference, its logits travel too.
    """
    px = config.env.image_px
    with torch.no_grad():
        device = next(policy.parameters()).device
        view = policy.look(torch.zeros(1, px, px, 3, dtype=torch.uint8, device=device))
    step_bytes = view.nbytes + _STEP_BYTES
    if config.ppo.kl_to_reference is not None:
        step_bytes += 4 * policy.num_logits
    memory_bytes = sum(tensor.nbytes for tensor in policy.initial_memory(1).values())
    return config.ppo.fragment_steps * step_bytes + _GOALS * 4 * px**2 + memory_bytes
