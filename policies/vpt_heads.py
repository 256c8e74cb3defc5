"""The distribution over VPT's two action tokens. X any, L logits, M button tokens, N camera tokens, A action factors.

Logits are 8641 of the button token, then 121 of the camera token (Baker et al. 2022, appendix A.4). Actions themselves
are the factors of policies.action_codec in both kinds of heads, so environments and fragments know only one form.
The camera token counts only when the button token turns its meta bit on; VPT and MineStudio count it always, which
gives an action that does not turn 121 different log-probabilities. Everything is computed in float32.
"""

import torch
from torch import Tensor
from torch.nn import functional as F

# Mixed radix of the button token, most significant first: hotbar, forward/back, left/right, sprint/sneak, use, drop,
# attack, jump, camera meta. One more token is inventory, which excludes everything else.
BUTTON_RADIX = (10, 3, 3, 3, 2, 2, 2, 2, 2)
INVENTORY_TOKEN = 8640
NUM_BUTTON_TOKENS = INVENTORY_TOKEN + 1
NUM_CAMERA_BINS = 11
NUM_CAMERA_TOKENS = NUM_CAMERA_BINS**2
NUM_VPT_LOGITS = NUM_BUTTON_TOKENS + NUM_CAMERA_TOKENS

# Columns of an action, in the order of action_codec.FACTORS: the nine groups above, inventory, pitch, yaw.
_NUM_GROUPS = len(BUTTON_RADIX)
_INVENTORY, _PITCH, _YAW = _NUM_GROUPS, _NUM_GROUPS + 1, _NUM_GROUPS + 2


def tokens_of(action_XA: Tensor) -> tuple[Tensor, Tensor]:
    """Return the button token and the camera token, int64 [X] each, of factors int64 [X, 12]."""
    button_X = torch.zeros_like(action_XA[..., 0], dtype=torch.int64)
    for group, radix in enumerate(BUTTON_RADIX):
        button_X = button_X * radix + action_XA[..., group]
    button_X = torch.where(action_XA[..., _INVENTORY] == 1, INVENTORY_TOKEN, button_X)
    return button_X, action_XA[..., _PITCH].long() * NUM_CAMERA_BINS + action_XA[..., _YAW]


def factors_of(button_X: Tensor, camera_X: Tensor) -> Tensor:
    """Return the factors, int64 [X, 12], of the tokens; factors that do not count rest."""
    is_inventory_X = button_X == INVENTORY_TOKEN
    rest_X = torch.where(is_inventory_X, 0, button_X)
    group_X = []
    for radix in reversed(BUTTON_RADIX):
        group_X.append(rest_X % radix)
        rest_X = rest_X // radix
    camera_X = torch.where(_turns(button_X), camera_X, NUM_CAMERA_TOKENS // 2)
    bins_X = [camera_X // NUM_CAMERA_BINS, camera_X % NUM_CAMERA_BINS]
    return torch.stack([*reversed(group_X), is_inventory_X.long(), *bins_X], -1)


def log_prob(logits_XL: Tensor, action_XA: Tensor) -> Tensor:
    """Return float32 [X], the log-probability of the whole action."""
    log_p_XM, log_p_XN = _log_softmax(logits_XL)
    button_X, camera_X = tokens_of(action_XA.long())
    button_log_p_X = log_p_XM.gather(-1, button_X[..., None]).squeeze(-1)
    camera_log_p_X = log_p_XN.gather(-1, camera_X[..., None]).squeeze(-1)
    return button_log_p_X + torch.where(_turns(button_X), camera_log_p_X, 0.0)


def entropy(logits_XL: Tensor) -> Tensor:
    """Return float32 [X], the exact entropy of the joint action."""
    log_p_XM, log_p_XN = _log_softmax(logits_XL)
    p_XM = log_p_XM.exp()
    return -(p_XM * log_p_XM).sum(-1) - _turning(p_XM) * (log_p_XN.exp() * log_p_XN).sum(-1)


def kl(logits_p_XL: Tensor, logits_q_XL: Tensor) -> Tensor:
    """Return float32 [X], the exact KL(p || q) of the joint actions."""
    log_p_XM, log_p_XN = _log_softmax(logits_p_XL)
    log_q_XM, log_q_XN = _log_softmax(logits_q_XL)
    p_XM = log_p_XM.exp()
    camera_kl_X = (log_p_XN.exp() * (log_p_XN - log_q_XN)).sum(-1)
    return (p_XM * (log_p_XM - log_q_XM)).sum(-1) + _turning(p_XM) * camera_kl_X


def sample(logits_XL: Tensor, generator: torch.Generator | None = None, temperature: float = 1.0) -> Tensor:
    """Draw factors, int64 [X, 12]; those that do not count rest. `temperature` 0 takes the likeliest tokens."""
    token_X = []
    for log_p_XK in _log_softmax(logits_XL.detach()):
        if temperature > 0:
            # Gumbel-max: with W ~ Exp(1), argmax(log p / T - log W) is a draw from softmax(log p / T).
            log_p_XK = log_p_XK / temperature - waiting_like(log_p_XK, generator).log()
        token_X.append(log_p_XK.argmax(-1))
    return factors_of(token_X[0], token_X[1])


def waiting_like(log_p_X: Tensor, generator: torch.Generator | None) -> Tensor:
    """Return draws of Exp(1) in the shape and on the device of `log_p_X`, made where the generator is."""
    device = log_p_X.device if generator is None else generator.device
    return torch.empty_like(log_p_X, device=device).exponential_(generator=generator).to(log_p_X.device)


def _log_softmax(logits_XL: Tensor) -> tuple[Tensor, Tensor]:
    """Return log-probabilities of the button tokens, [X, M], and of the camera tokens, [X, N]."""
    button_XM, camera_XN = logits_XL.float().split((NUM_BUTTON_TOKENS, NUM_CAMERA_TOKENS), -1)
    return F.log_softmax(button_XM, -1), F.log_softmax(camera_XN, -1)


def _turns(button_X: Tensor) -> Tensor:
    """Tell where the camera token counts. The meta bit is the last digit, and inventory (8640) happens to be even."""
    return button_X % 2 == 1


def _turning(p_XM: Tensor) -> Tensor:
    """Return the probability, [X], that the camera token counts."""
    return p_XM[..., 1::2].sum(-1)
